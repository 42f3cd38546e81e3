"""Correlations over outputs, within contexts and over systems, against SciPy, and their intervals against simulation."""

import numpy as np
import pytest
from scipy import stats

from evaluator.metaevaluation.correlation import kendall
from evaluator.metaevaluation.correlation_levels import levels, within_contexts

MEASURES = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def campaign(rng, contexts=30, systems=4, annotators=6, noise=1.0):
    """Scores from 1 to 5 with ties, one in five missing; a judge that knows the truth with an error."""
    c, s = np.repeat(np.arange(contexts), systems), np.tile(np.arange(systems), contexts)
    truth = 3 + 0.5 * s - 0.75 + rng.normal(size=contexts)[c] * 0.5 + rng.normal(size=len(c)) * 0.5
    taste = rng.normal(size=annotators) * 0.3
    scores = np.clip(np.round(truth[:, None] + taste + noise * rng.normal(size=(len(c), annotators))), 1, 5)
    scores[rng.random(scores.shape) < 0.2] = np.nan
    return truth + rng.normal(size=len(c)) * 0.5, scores, c, s


def test_kendall_by_hand():
    # Of the ten pairs of 1 2 3 4 5 and 2 1 4 3 5 two are discordant: (8 - 2) / 10.
    assert kendall([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]) == pytest.approx(0.6)


@pytest.mark.parametrize("name", MEASURES)
def test_the_values_are_scipys(name):
    u, scores, c, s = campaign(np.random.default_rng(0))
    u[:7] = np.nan
    found = levels(u, scores, c, s, seed=0)
    assert levels(u, scores, c, s, 0, [name]) == {key: of for key, of in found.items() if key.endswith(name)}
    mean = np.nanmean(scores, axis=1)
    rows = np.isfinite(u) & np.isfinite(mean)
    of = lambda x, y: MEASURES[name](x, y).statistic
    assert found[f"sample_{name}"].value == pytest.approx(of(u[rows], mean[rows]))
    assert found[f"sample_{name}"].n == rows.sum()
    each = [of(u[rows & (c == k)], mean[rows & (c == k)]) for k in range(30) if (rows & (c == k)).sum() > 1]
    assert found[f"context_{name}"].value == pytest.approx(np.mean(each)) and found[f"context_{name}"].n == len(each)
    by_system = [[v[rows & (s == k)].mean() for k in range(4)] for v in (u, mean)]
    assert found[f"system_{name}"].value == pytest.approx(of(*by_system)) and found[f"system_{name}"].n == 4


@pytest.mark.parametrize("name", MEASURES)
def test_contexts_with_equal_scores_say_nothing(name):
    u, scores = np.array([1.0, 2, 3, 1, 2, 3, 5]), np.array([2.0, 2, 4, 3, 3, 3, np.nan])
    found = within_contexts(u, scores, np.array([7, 7, 7, 9, 9, 9, 9]), name)
    assert found[0] == pytest.approx(MEASURES[name]([1, 2, 3], [2, 2, 4]).statistic) and np.isnan(found[1])


def test_a_judge_that_says_the_same_of_all_has_none():
    _, scores, c, s = campaign(np.random.default_rng(1))
    assert levels(np.ones(len(c)), scores, c, s, seed=0) == {}


def test_two_systems_have_no_correlation():
    u, scores, c, s = campaign(np.random.default_rng(1), systems=2)
    assert {name.split("_")[0] for name in levels(u, scores, c, s, seed=0)} == {"sample", "context"}


@pytest.mark.long
@pytest.mark.parametrize("annotators", [6, 2])
def test_intervals_hold_the_value_and_narrow_with_contexts(annotators):
    """With two annotators these alone are spoken of, and contexts are drawn."""
    widths = []
    for contexts in (15, 120):
        u, scores, c, s = campaign(np.random.default_rng(2), contexts, annotators=annotators)
        found = levels(u, scores, c, s, seed=0)
        assert all(f.low <= f.value <= f.high for name, f in found.items() if not name.startswith("system"))
        widths.append(found["sample_pearson"].high - found["sample_pearson"].low)
    assert widths[1] < widths[0] / 1.8


def test_the_interval_of_few_systems_is_never_a_point():
    """The order of two of four systems changes from draw to draw, which leaving out one context at a time does not show."""
    u, scores, c, s = campaign(np.random.default_rng(3), contexts=15)
    figure = levels(u, scores, c, s, seed=0)["system_spearman"]
    assert figure.high - figure.low > 0.1


@pytest.mark.long
def test_contexts_of_one_group_are_drawn_together():
    """Each context four times over, with all that was written and said there, tells nothing new: drawn by groups, the
    intervals are those of the contexts once; drawn one by one they are about half as wide."""
    u, scores, c, s = campaign(np.random.default_rng(4), contexts=20, annotators=2)
    once = levels(u, scores, c, s, seed=0)
    copies = np.concatenate([c + 20 * k for k in range(4)])
    four = np.tile(u, 4), np.tile(scores, (4, 1)), copies, np.tile(s, 4)
    grouped, apart = levels(*four, seed=0, units=np.tile(c, 4)), levels(*four, seed=0)
    for name in ("sample_pearson", "sample_spearman", "context_pearson", "system_pearson"):
        assert grouped[name].value == pytest.approx(once[name].value)
        assert (grouped[name].low, grouped[name].high) == pytest.approx((once[name].low, once[name].high))
    width = {key: of["sample_pearson"].high - of["sample_pearson"].low for key, of in {"once": once, "apart": apart}.items()}
    assert width["apart"] == pytest.approx(width["once"] / 2, rel=0.2)
