"""How the outputs are split and counted, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.studies.judged_sets import SETS
from benchmarks.studies.three_head import PARTS, Labelled, _table, by_output, f1_and_accuracy, groups, labelled
from evaluator.judges.texts import Referenced, Text

TEXTS = [Text((f"m{i}",), "o") for i in range(3)]


def test_equal_meanings_and_equal_outputs_stay_together():
    """Rows 0 and 1 share a meaning, 1 and 3 an output, so 0, 1 and 3 are one group; an output may read like a meaning."""
    assert groups(["a", "a", "b", "c", "d"], ["x", "y", "z", "y", "a"]) == [0, 0, 2, 0, 4]


def test_f1_by_hand():
    """Said good: rows 0, 1, 2; good: 0, 1, 3. Precision and recall 2/3, so F1 2/3; two of four are right."""
    logits, good = np.array([1.0, 2.0, 0.5, -1.0]), np.array([1.0, 1.0, 0.0, 1.0])
    assert f1_and_accuracy(logits, good) == pytest.approx((2 / 3, 1 / 2))
    assert f1_and_accuracy(-np.ones(2), np.zeros(2)) == (0, 1)


def test_several_readings_of_an_output_are_averaged():
    data = Labelled(TEXTS, np.array([0, 0, 1]), np.zeros((2, 3)), np.zeros(2), ["a", "b"])
    assert by_output(data, np.array([[1.0], [3.0], [5.0]])).tolist() == [[2], [5]]


def test_five_of_six_is_good_and_a_meaning_is_in_one_part():
    known = SimpleNamespace(
        name="emnlp17",
        kind=SETS["emnlp17"],  # quality, naturalness, informativeness
        texts=[Referenced((f"m{i // 2}",), f"o{i}", ("r1", "r2")) for i in range(60)],
        scores=np.array([[(i % 6) / 5, 1.0, 0.6] for i in range(60)]),  # 1 to 6, as 0..1
    )
    data = labelled(known, beside_references=False, seed=1)
    assert data.good[:6].tolist() == [[1, float(i >= 4), 0] for i in range(6)]  # naturalness, quality, informativeness
    assert data.part[::2].tolist() == data.part[1::2].tolist() and set(data.part) == set(range(PARTS))
    assert data.texts[0] == Text(("m0",), "o0")
    known.name, known.kind, known.scores[0, 1] = "a campaign", SETS["dailydialog_zhao"], np.nan  # Overall, Relevance
    own = labelled(known, beside_references=False, seed=1)  # without the first output, which has no score by one criterion
    assert own.good[:5].tolist() == [[float(i >= 4), 1] for i in range(1, 6)] and own.texts[0] == Text(("m0",), "o1")
    known.name, known.kind = "emnlp17", SETS["emnlp17"]
    known.scores[0, 1] = 1.0
    beside = labelled(known, beside_references=True, seed=1)
    assert beside.texts[:2] == [Text(("o0",), "r1"), Text(("o0",), "r2")] and beside.owner[:4].tolist() == [0, 0, 1, 1]


def test_a_table_has_means_and_deviations_over_seeds_and_the_papers_numbers():
    """F1 of 80 and 90 percent: mean 85, deviation sqrt(50)."""
    flat = [[0.0, 0.0]] * 3
    of = lambda f1: {"separate": flat, "shared": [[f1, 0.0]] * 3, "usual": flat, "sizes": [9], "beta": [0.3] * 3, "beside": "x"}
    rows = _table([of(0.8), of(0.9)], "frozen", 0, "Table 5: F1").rows
    assert [*rows[0][:3], *rows[0][4:]] == ["naturalness", "0.00 (±0.00)", "85.00 (±7.07)", "0.00 (±0.00)", "81.81", "84.63"]
