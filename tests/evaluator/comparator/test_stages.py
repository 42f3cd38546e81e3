"""What nobody judged first, then people's answers; or both together. Shown pairs are counted by hand."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from evaluator.comparator.examples import Examples
from evaluator.comparator.settings import Settings
from evaluator.comparator.training.dataset import JUDGED, MIXED, UNJUDGED, Step, plan, shown_by, stages
from evaluator.comparator.training.train import fit
from evaluator.comparator.training.utility_training import batches
from evaluator.judges.texts import Text
from evaluator.metaevaluation.pairs import JudgedPair

# Three contexts of two texts: people's pair, a pair of checkpoints 30% apart, and one of people against a system.
MARGINS = np.array([1.0, 0.3, 1.0])
BY_PEOPLE = np.array([True, False, False])


def data(by_people=BY_PEOPLE, scores=math.nan):
    return SimpleNamespace(
        a=np.array([0, 2, 4]),
        b=np.array([1, 3, 5]),
        by_people=by_people,
        margins=MARGINS,
        scores=np.full((6, 1), scores),
        contexts=np.array([0, 0, 1, 1, 2, 2]),
        taught_without=lambda fold: np.full(6, fold != 0),  # all are in fold 0
        sequences=SimpleNamespace(lengths=np.full(6, 5)),
    )


def test_a_stage_without_anything_to_learn_is_left_out():
    two = Settings(two_stages=True)
    assert stages(data(), Settings()) == [MIXED]
    assert stages(data(), two) == [UNJUDGED, JUDGED]
    assert stages(data(by_people=np.ones(3, dtype=bool)), two) == [JUDGED]
    assert stages(data(by_people=np.zeros(3, dtype=bool)), two) == [UNJUDGED]
    assert stages(data(by_people=np.zeros(3, dtype=bool), scores=0.5), two) == [UNJUDGED, JUDGED]


@pytest.mark.parametrize(
    "stage, progress, shown",
    [
        (MIXED, 0.0, [True, False, True]),  # margins of 80% and more at first
        (MIXED, 0.7, [True, True, True]),
        (UNJUDGED, 0.0, [False, False, True]),
        (UNJUDGED, 0.7, [False, True, True]),
        (JUDGED, 0.0, [True, False, False]),
        (JUDGED, 0.7, [True, False, False]),
    ],
)
def test_a_stage_shows_its_own_pairs_by_the_curriculum(stage, progress, shown):
    assert shown_by(data(), Step(np.arange(6), stage, progress)).tolist() == shown


@pytest.mark.parametrize("stage, texts", [(MIXED, range(6)), (UNJUDGED, [2, 3, 4, 5]), (JUDGED, [0, 1])])
def test_a_stage_reads_its_own_contexts(stage, texts):
    made = batches(data(), 1, 4, np.random.default_rng(0), stage)
    assert sorted(np.concatenate(made)) == list(texts)


def test_each_stage_counts_its_own_progress():
    of_epoch = {UNJUDGED: [np.array([0])] * 2, JUDGED: [np.array([1])] * 4}
    planned = plan(data(), Settings(two_stages=True, epochs=2), of_epoch.get)
    assert [(step.stage, step.progress) for step in planned.steps] == [
        *((UNJUDGED, i / 4) for i in range(4)),
        *((JUDGED, i / 8) for i in range(8)),
    ]
    assert planned.stages == [4, 8] and planned.epochs == [2, 4, 8, 12]


def test_people_have_the_last_word(judged, settings, tmp_path):
    """Supervision says the opposite of people about every pair: learnt together they cancel out, and supervision alone would
    give less than a half."""
    texts, pairs, _ = judged
    pairs = pairs[:90]
    wrong = [JudgedPair(p.a, p.b, p.target[::-1], 1.0, "strong") for p in pairs]
    two = replace(settings, two_stages=True, strong=True, folds=2, epochs=14)
    result = fit(Examples(texts[:90], [*wrong, *pairs]), two, 3, tmp_path)
    assert result.heldout_pairwise_interval[0] > 0.5
    assert [point["epoch"] for point in result.curve] == list(range(1, 2 * two.epochs + 1)) * two.folds


def test_a_joint_comparator_has_two_stages_too(judged, settings, tmp_path):
    texts, pairs, _ = judged
    strong = [replace(pair, source="strong") for pair in pairs[:18]]
    two = replace(settings, architecture="joint", two_stages=True, strong=True, epochs=1, batch_size=20)
    result = fit(Examples(texts[:36], [*strong, *pairs[18:36]]), two, 3, tmp_path)
    ends = [(point["epoch"], point["step"]) for point in result.curve]
    assert ends == [(1, 1), (2, 2)] * two.folds  # a step holds all pairs of a stage


def test_without_people_the_figures_are_the_supervisions(judged, settings, tmp_path):
    texts, pairs, scores = judged
    unjudged = replace(settings, human_scores=False, human_judgments=False, strong=True, folds=2, epochs=6)
    strong = [replace(pair, source="strong") for pair in pairs]
    result = fit(Examples(texts, [*strong, *pairs], scores=scores), unjudged, 3, tmp_path)
    assert math.isnan(result.heldout_pairwise_accuracy) and math.isnan(result.calibration_error) and result.ties is None
    assert result.learnt_from["strong"] == result.pairs == 180 and result.learnt_from["scored outputs"] == 0
    assert result.supervision["low"] > 0.7 and result.supervision["clear_pairs"] == 180


def test_nothing_to_learn_without_people_is_one_sentence(settings, tmp_path):
    unjudged = replace(settings, human_scores=False, human_judgments=False)
    with pytest.raises(ValueError, match="without judgments: no human-written text"):
        fit(Examples([Text(("a",), "b")], []), unjudged, 3, tmp_path)
