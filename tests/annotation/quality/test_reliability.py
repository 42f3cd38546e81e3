"""The generalizability coefficient by hand and by the formulas of analysis of variance, and what its verdict accepts."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.more_judgments import outlook_on_taste
from annotation.quality.reliability import Reliability, reliability_of_pairs, reliability_of_scores
from annotation.quality.report import assess_judgments, assess_scores, decided
from annotation.quality.verdict import Asks, decide_as_zhao, decide_on_taste

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data"


def crossed(rng, people, contexts, systems, order=0.0, taste=0.0, noise=1.0):
    """Everybody scores everything: (annotator, context, system, value), (answers,) each."""
    who, what, which = (x.ravel() for x in np.indices((people, contexts, systems)))
    means, tastes = order * rng.normal(size=systems), taste * rng.normal(size=(people, systems))
    severity, difficulty = rng.normal(size=people), rng.normal(size=contexts)
    value = means[which] + tastes[who, which] + severity[who] + difficulty[what] + noise * rng.normal(size=who.size)
    return who, what, which, value


def by_mean_squares(who, what, which, value):
    """G of a balanced crossed design from cell means: systems' variance over that of their means' error (people, contexts),
    each variance over clusters as the textbook's variance of a mean."""
    cube = np.zeros((who.max() + 1, what.max() + 1, which.max() + 1))
    cube[who, what, which] = value
    cube -= cube.mean(axis=2, keepdims=True)
    means = cube.mean(axis=(0, 1))
    of_people = cube.mean(axis=1).var(axis=0, ddof=1).sum() / cube.shape[0]
    of_contexts = cube.mean(axis=0).var(axis=0, ddof=1).sum() / cube.shape[1]
    both = (cube - means).reshape(-1, cube.shape[2]).var(axis=0).sum() / (cube.shape[0] * cube.shape[1] - 1)
    error = max(of_people, of_contexts, of_people + of_contexts - both) / (cube.shape[2] - 1)
    return max(0.0, 1 - error / means.var(ddof=1))


def test_it_is_that_of_mean_squares_in_a_balanced_design():
    answers = crossed(np.random.default_rng(1), 8, 30, 5, order=0.6, taste=0.4)
    found = reliability_of_scores(*answers)
    assert (found.systems, found.people, found.contexts, found.answers) == (5, 8, 30, 1200)
    assert found.coefficient == pytest.approx(by_mean_squares(*answers), abs=0.01)  # which counts parameters otherwise
    assert 0 < found.low < found.coefficient < found.high < 1 and found.p < 0.001 and found.split_half > 0.8


def test_one_sample_of_contexts_is_the_t_test():
    """Two systems, people who answer alike: F is the square of the paired t over contexts, with one degree for the systems."""
    rng = np.random.default_rng(0)
    difference = rng.normal(0.4, 1, size=25)
    who, what, which = (x.ravel() for x in np.indices((2, 25, 2)))
    found = reliability_of_scores(who, what, which, np.where(which == 0, difference[what], 0.0))
    t = difference.mean() / (difference.std(ddof=1) / 5)
    spare = 100 / (100 - 28)  # residuals of 25 difficulties, 2 - 1 severities, 1 system and a mean
    assert found.coefficient == pytest.approx(1 - spare / t**2, abs=0.02)
    assert found.split_half is None


def test_pairs_and_scores_that_say_the_same_agree():
    rng = np.random.default_rng(2)
    who, what, _, _ = crossed(rng, 6, 20, 1)
    value = rng.normal(size=3) @ np.ones((3, 1)) + rng.normal(size=(len(who), 3)) + np.array([1.0, 0.5, 0.0])
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    points = (value[:, first] - value[:, second]).ravel()
    pairs = reliability_of_pairs(np.repeat(who, 3), np.repeat(what, 3), np.tile(first, 120), np.tile(second, 120), points)
    scores = reliability_of_scores(np.repeat(who, 3), np.repeat(what, 3), np.tile(np.arange(3), 120), value.ravel())
    assert pairs.coefficient == pytest.approx(scores.coefficient, abs=0.05)


def test_sides_may_swap():
    rng = np.random.default_rng(3)
    who, what = rng.integers(6, size=300), rng.integers(15, size=300)
    first = rng.integers(4, size=300)
    second = (first + rng.integers(1, 4, size=300)) % 4
    points = np.sign(second - first + rng.normal(size=300)).round()
    one, other = reliability_of_pairs(who, what, first, second, points), reliability_of_pairs(who, what, second, first, -points)
    assert one == pytest.approx(other) if isinstance(one, float) else one.coefficient == pytest.approx(other.coefficient)


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (([0, 1], [0, 1], [0, 0], [1, 2]), "only one system was judged"),
        (([0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1], [1, 2, 1, 3]), "only one person answered"),
        (([0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1], [1, 2, 1, 3]), "all answers are about one context"),
        (([0, 1], [0, 1], [0, 1], [1, 2]), "there are too few answers to tell systems from people and contexts"),
    ],
)
def test_what_is_not_defined_says_why(answers, why):
    with pytest.raises(UndefinedAgreement, match=why):
        reliability_of_scores(*answers)


def test_systems_that_never_met_are_judged_within_their_groups():
    """Pairs of (0, 1) and of (2, 3) alone: two differences are known, not three."""
    rng = np.random.default_rng(4)
    group = rng.integers(2, size=200)
    points = np.sign(1 + rng.normal(size=200))
    found = reliability_of_pairs(rng.integers(8, size=200), rng.integers(20, size=200), 2 * group, 2 * group + 1, points)
    assert found.systems == 4 and found.coefficient > 0.8


def of(coefficient, low, high, p, split_half=None):
    return Reliability(coefficient, low, high, p, split_half, systems=5, people=10, contexts=20, answers=400)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (of(0.8, 0.4, 0.9, 0.01), "accepted"),
        (of(0.79, 0.4, 0.9, 0.01), "tentative"),
        (of(0.66, 0.1, 0.9, 0.01), "collect more"),
        (of(0.85, 0.0, 0.9, 0.03), "collect more"),  # equal systems reach it in 3%
    ],
)
def test_the_verdict_on_taste(found, verdict):
    given, reason = decide_on_taste(found)
    assert given == verdict and f"generalizability coefficient of {found.coefficient:.2f}" in reason


def test_how_many_more_is_spearman_and_browns():
    """G of .5 is F - 1 = 1: four times as much gives .8, since 4 / (1 + 4) = .8."""
    found = outlook_on_taste(of(0.5, 0.2, 0.8, 0.01), 0.8, units=100)
    assert (found.units, found.scores, found.units_low, found.units_high) == (300, 1200, 0, 1500)
    assert found.sentence.startswith("With 4.0 times as many people and contexts (about 1,200 more answers)")
    assert "or it may take 16.0 times" in found.sentence
    assert "no realistic" not in outlook_on_taste(of(0.9, 0.7, 0.95, 0.001), 0.8, 100).sentence
    assert outlook_on_taste(of(0.0, 0.0, 0.5, 0.4), 0.8, 100).scores is None


class TestWhatAQuestionAsks:
    def test_people_who_differ_may_have_a_reliable_order(self):
        """40 people of own tastes, six systems: single answers hardly agree, their means do."""
        rng = np.random.default_rng(5)
        who, what = rng.integers(40, size=1600), rng.integers(40, size=1600)
        first = rng.integers(6, size=1600)
        second = (first + rng.integers(1, 6, size=1600)) % 6
        tastes = rng.normal(size=(40, 6)) + np.linspace(1, -1, 6)
        points = np.sign(tastes[who, first] - tastes[who, second] + 2 * rng.normal(size=1600))
        table = np.full((40, 1600), np.nan)
        table[who, (what * 36 + first * 6 + second) % 1600] = 1 - points
        alone = assess_judgments(table[:, ~np.isnan(table).all(axis=0)], replicates=20)
        found = reliability_of_pairs(who, what, first, second, points)
        report = decided(alone, Asks.TASTE, found)
        assert alone.verdict == "collect more" and report.verdict == "accepted"
        assert (report.rule, report.asks, report.alpha) == ("reliability", "taste", alone.alpha)
        assert "would not help" not in " ".join([report.reason, *(one.sentence for one in report.outlook)])
        truth = decided(alone, Asks.TRUTH, found)
        assert (truth.verdict, truth.rule, truth.reliability) == ("collect more", "agreement", found)

    def test_without_a_coefficient_there_is_no_verdict_on_taste(self):
        report = decided(assess_judgments([[0, 2], [0, 2]], replicates=5), Asks.TASTE, None, "only one system was judged")
        assert report.verdict == "undefined" and report.reason.endswith("is not defined: only one system was judged.")

    def test_zhaos_rule_looks_at_what_the_filter_left(self):
        """Two who agree outvote the third: dropping him gives alpha 1, whatever he said."""
        scores = np.array([[1, 2, 3, 4, 5, 1, 2, 3], [1, 2, 3, 4, 5, 1, 2, 3], [5, 4, 1, 1, 2, 3, 5, 1]], dtype=float)
        ours = assess_scores(scores, replicates=20)
        theirs = decided(ours, Asks.TRUTH, None, as_zhao=True)
        assert ours.verdict == "collect more" and (theirs.verdict, theirs.rule) == ("accepted", "zhao-2020")
        assert theirs.reason == decide_as_zhao(1.0, 8, 24)[1] and "The filter dropped 8 of 24 scores" in theirs.reason


@pytest.mark.skipif(not (SHARED / "llmfao.votes.jsonl").exists(), reason="../shared/data is absent")
def test_a_public_arena_is_reliable():
    """LLMFAO (Ustalov 2023): alpha .29 of single votes, and an order of 59 models that stays."""
    votes = [json.loads(line) for line in (SHARED / "llmfao.votes.jsonl").open(encoding="utf-8")]
    points = {"A": 1, "tie": 0, "B": -1}
    columns = [[vote[name] for vote in votes] for name in ("annotator", "context_id", "system_a", "system_b")]
    found = reliability_of_pairs(*columns, [points[vote["choice"]] for vote in votes])
    assert decide_on_taste(found)[0] == "accepted" and found.split_half > 0.85
    rng = np.random.default_rng(0)
    noise = reliability_of_pairs(*columns, rng.permutation([points[vote["choice"]] for vote in votes]))
    assert decide_on_taste(noise)[0] == "collect more"


@pytest.mark.long
def test_noise_is_not_accepted():
    """At most 2.5% of campaigns by the F distribution; none of these 40 should have luck twice."""
    accepted = 0
    for seed in range(40):
        answers = crossed(np.random.default_rng(seed), 4, 10, 3)
        accepted += decide_on_taste(reliability_of_scores(*answers))[0] == "accepted"
    assert accepted <= 3  # P(more than 3 of 40 at 2.5%) is 1.7%
    assert stats.binom.sf(3, 40, 0.025) < 0.02


def test_people_who_agree_fully_are_reliable_where_they_are_enough():
    """All 24 say that 0 is better than 1, and 1 than 2; of four answers alike a sign test says p = 1/8."""
    who, what, which = (x.ravel() for x in np.indices((3, 4, 2)))
    found = reliability_of_pairs(who, what, which, which + 1, np.ones(24))
    assert found.coefficient == pytest.approx(1) and decide_on_taste(found)[0] == "accepted"
    few = reliability_of_pairs([0, 0, 1, 1], [0, 1, 0, 1], [0] * 4, [1] * 4, [1] * 4)
    assert few.p == 1 / 8 and decide_on_taste(few)[0] == "collect more"
