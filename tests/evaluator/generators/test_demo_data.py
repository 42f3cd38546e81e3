"""The committed demo files say what their README says."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import krippendorff
import numpy as np
import pytest

from leaderboard.demo import make_demo_data, simulated_annotators

FOLDER = Path(make_demo_data.__file__).parent
SYSTEMS = {"Human", "Retrieval", "N-gram", "Generic", "Random reply", "LSTM"}


def rows(name):
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def outputs():
    return rows("outputs")


def test_no_test_context_or_reply_is_in_the_training_dialogues():
    trained = {turn for dialogue in rows("training_dialogues") for turn in dialogue["turns"]}
    assert not trained & {text for c in rows("contexts") for text in (*c["turns"], *c["replies"])}


def test_every_system_answers_every_context_once_and_the_lstm_thrice(outputs):
    contexts = {c["context_id"] for c in rows("contexts")}
    assert len(contexts) == 68
    assert {row["system"] for row in outputs} == SYSTEMS
    answered = Counter((row["context_id"], row["system"]) for row in outputs)
    assert answered == {(c, s): 3 if s == "LSTM" else 1 for c in contexts for s in SYSTEMS}
    assert all(row["output"].strip() for row in outputs)


def test_the_human_output_is_never_its_own_reference(outputs):
    assert not [row for row in outputs if row["system"] == "Human" and row["output"] in row["references"]]


def test_scores_meet_final_outputs_of_the_first_44_contexts(outputs):
    final = {(r["context_id"], r["system"], r.get("checkpoint")) for r in make_demo_data.final_rows(outputs)}
    scored = defaultdict(set)
    for row in rows("scores"):
        assert row["annotator"].startswith("simulated-") and row["simulated"] is True
        assert row["score"] in range(1, 6) and row["scale"] == [1, 5]
        scored[row["context_id"], row["system"], row.get("checkpoint")].add((row["aspect"], row["annotator"]))
    first = {c["context_id"] for c in rows("contexts")[:44]}
    assert scored.keys() == {key for key in final if key[0] in first}
    assert {len(given) for given in scored.values()} == {2 * 4}  # criteria x annotators


def test_judgments_show_the_texts_that_the_systems_wrote(outputs):
    text = {(r["context_id"], r["system"], r.get("checkpoint")): r["output"] for r in outputs}
    judgments = rows("judgments")
    assert len(judgments) == 210
    for row in judgments:
        assert row["annotator"].startswith("simulated-") and row["simulated"] is True
        for side in "ab":
            key = (row["context_id"], row[f"system_{side}"], row.get(f"checkpoint_{side}"))
            assert row[f"output_{side}"] == text[key]
    assert {row["choice"] for row in judgments} == {"A", "tie", "B"}


def test_agreement_is_good_after_the_filter_and_not_perfect_before():
    matrix = make_demo_data.score_matrix(rows("scores"), "Overall")
    kept = make_demo_data.without_outliers(matrix)
    before, after = (krippendorff.alpha(m, level_of_measurement="interval") for m in (matrix, kept))
    assert 0.6 < before < 0.8 < after < 1


def test_outlier_filter_by_hand():
    # Median 3, MAD 0.5: the limit is 0.7413, so 2 and 4 go. Median 3, MAD 0: all but 3 goes.
    matrix = np.array([[2.0, 3], [3, 3], [3, 3], [4, 5]])
    kept = np.array([[np.nan, 3], [3, 3], [3, 3], [np.nan, np.nan]])
    np.testing.assert_array_equal(make_demo_data.without_outliers(matrix), kept)


def test_a_simulated_choice_swaps_with_its_sides():
    careful = simulated_annotators.SimulatedAnnotator("careful", severity=1.0, noise=0.0, careless=0.0)
    assert simulated_annotators.choice(careful, 4.0, 2.0, Random(0)) == "A"
    assert simulated_annotators.choice(careful, 2.0, 4.0, Random(0)) == "B"
    assert simulated_annotators.choice(careful, 3.0, 3.1, Random(0)) == "tie"
    assert simulated_annotators.score(careful, 9.0, Random(0)) == 5
