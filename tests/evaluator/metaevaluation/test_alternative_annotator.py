"""The alternative annotator test against its authors' published results, by hand, and on simulated annotators."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evaluator.metaevaluation.alternative_annotator import (
    UntestableJudge,
    aligned,
    alternative_annotator,
    discoveries,
    in_peoples_scores,
    over_annotators,
)

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/alternative_annotator.json").read_text())
JUDGES = [(data, judge) for data, published in GOLDEN.items() for judge in published["judges"]]


@pytest.mark.parametrize(("data", "judge"), JUDGES)
def test_the_published_results(data, judge):
    """counts, by annotator: on how many instances the judge, neither, the annotator fits the others better."""
    published = GOLDEN[data]["judges"][judge]
    advantages = []
    for ahead, equal, behind in published["counts"]:
        judge_as_good = np.repeat([True, True, False], [ahead, equal, behind])
        advantages.append((judge_as_good, np.repeat([False, True, True], [ahead, equal, behind])))
    result = over_annotators(list(range(len(advantages))), advantages, GOLDEN[data]["epsilon"])
    assert result.winning_rate == pytest.approx(published["winning_rate"], abs=0.005001)
    assert result.advantage == pytest.approx(published["advantage"], abs=0.005001)
    assert result.passes == (published["winning_rate"] >= 0.5)
    assert [c.instances for c in result.comparisons] == [sum(counts) for counts in published["counts"]]


def test_the_p_value_is_scipys():
    people = np.random.default_rng(0).integers(0, 3, (60, 3)).astype(float)
    judge = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    result = alternative_annotator(people, judge, "accuracy", 0.15)
    others = people[:, 1:]
    fit = [(others == one[:, None]).mean(1) for one in (judge, people[:, 0])]
    difference = (fit[1] >= fit[0]).astype(float) - (fit[0] >= fit[1])
    assert result.comparisons[0].p == pytest.approx(stats.ttest_1samp(difference, 0.15, alternative="less").pvalue)


def test_alignments_by_hand():
    others = np.array([[1.0, 3.0, np.nan], [4.0, 4.0, 5.0]])
    answers = np.array([3.0, 4.0])
    assert aligned(answers, others, "accuracy") == pytest.approx([1 / 2, 2 / 3])
    assert aligned(answers, others, "neg_rmse") == pytest.approx([-np.sqrt((4 + 0) / 2), -np.sqrt(1 / 3)])
    assert aligned(answers, others, "neg_mae") == pytest.approx([-1.0, -1 / 3])


def test_discoveries_by_hand():
    """m = 4: 1 + 1/2 + 1/3 + 1/4 = 25/12, so the bounds at q = 0.05 are 0.006, 0.012, 0.018 and 0.024."""
    assert discoveries(np.array([0.0179, 0.5, 0.001, 0.0119])).tolist() == [True, False, True, True]
    assert discoveries(np.array([0.0061, 0.5, 0.5, 0.0241])).tolist() == [False] * 4
    # 0.017 lies above its own bound, 0.012; the third, below 0.018, carries it along (the step-up procedure).
    assert discoveries(np.array([0.0179, 0.017, 0.5, 0.016])).tolist() == [True, True, False, True]


def test_what_cannot_be_tested():
    few = np.ones((40, 2))
    with pytest.raises(UntestableJudge, match="needs at least 3 annotators; there are 2"):
        alternative_annotator(few, np.ones(40), "accuracy", 0.2)
    with pytest.raises(UntestableJudge, match="No annotator shares 30 annotations"):
        alternative_annotator(np.ones((29, 3)), np.ones(29), "accuracy", 0.2)


def test_missing_answers_and_an_annotator_with_few():
    people = np.full((60, 4), 2.0)
    people[:31, 3] = np.nan  # 29 instances
    people[0, :2] = np.nan  # one person is left there: nobody to be compared with
    judge = np.full(60, 2.0)
    judge[1] = np.nan
    result = alternative_annotator(people, judge, "accuracy", 0.2)
    assert result.left_out == (3,) and [c.instances for c in result.comparisons] == [58, 58, 58]
    assert (result.winning_rate, result.advantage, result.passes) == (1.0, 1.0, True)


def test_a_judges_scale_becomes_peoples():
    people = np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0], [5.0, 5.0]])
    assert in_peoples_scores(np.array([-30.0, 0.1, 0.2, 900.0]), people).tolist() == [1, 2, 4, 5]
    assert in_peoples_scores(np.array([7.0, 7.0, 7.0, 7.0]), people).tolist() == [4, 4, 4, 4]
    mapped = in_peoples_scores(np.array([3.0, np.nan, 2.0, 1.0]), people)
    assert np.isnan(mapped[1]) and mapped[[0, 2, 3]].tolist() == [5, 4, 1]  # people's other scores: 1, 1, 4, 4, 5, 5


def test_it_seldom_passes_a_judge_that_is_worse_by_epsilon():
    """On the border person - judge = epsilon the true hypotheses are rejected in at most 5% of tests: Benjamini & Yekutieli's
    rate is that of any rejection where all hypotheses are true. The generator shares nothing with the test."""
    rng, epsilon, runs = np.random.default_rng(2), 0.2, 1000
    false = 0
    for _ in range(runs):
        ahead, behind = 0.2, 0.2 + epsilon
        drawn = rng.choice(3, size=(3, 100), p=[ahead, 1 - ahead - behind, behind])
        false += over_annotators([0, 1, 2], [(row < 2, row > 0) for row in drawn], epsilon).winning_rate > 0
    assert false / runs < 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_it_tells_a_good_judge_from_a_poor_one():
    """Three annotators who are right on 80% of four labels; one judge as they are, and one that is right on 45%."""
    rng, passed = np.random.default_rng(3), {0.8: 0, 0.45: 0}
    for _ in range(40):
        truth = rng.integers(0, 4, 100)

        def answers(right, truth=truth):
            return np.where(rng.random(100) < right, truth, rng.integers(0, 4, 100)).astype(float)

        people = np.stack([answers(0.8) for _ in range(3)], axis=1)
        for right in passed:
            passed[right] += alternative_annotator(people, answers(right), "accuracy", 0.2).passes
    assert passed[0.8] >= 32 and passed[0.45] == 0
