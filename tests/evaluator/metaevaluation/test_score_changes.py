"""Noise on people's scores and rounded judges, against arithmetic and the attenuation of correlations."""

import numpy as np
import pytest

from evaluator.metaevaluation.correlation import pearson
from evaluator.metaevaluation.score_changes import rounded, score_changes


def test_noise_lowers_a_correlation_as_attenuation_says():
    """One person's scores from 1 to 5 with variance v; noise of variance s adds to it and to nothing else, so that Pearson's
    correlation is multiplied by sqrt(v / (v + s)) (Spearman 1904); one of 4,000 outputs moves that little."""
    rng = np.random.default_rng(0)
    scores = rng.integers(1, 6, (4000, 1)).astype(float)
    u = scores[:, 0] + rng.normal(0, 1, 4000)
    small, large, rounded = score_changes(u, scores)
    plain, v = pearson(u, scores[:, 0]), scores.var()
    for changed, sigma in ((small, 0.1), (large, 0.5)):
        assert (changed.change, changed.sigma) == ("noise", sigma)
        assert changed.pearson == pytest.approx(plain * np.sqrt(v / (v + sigma**2)), abs=0.003)
    assert small.spearman > large.spearman
    assert rounded.change == "discrete" and rounded.sigma is None and 0 < rounded.pearson < plain


def test_the_noise_is_in_points_of_a_scale_from_1_to_5():
    """The same scores on a scale from 0 to 100 lose the same."""
    rng = np.random.default_rng(1)
    scores = rng.integers(1, 6, (200, 3)).astype(float)
    scores[rng.random((200, 3)) < 0.3] = np.nan
    u = np.nan_to_num(np.nanmean(scores, axis=1)) + rng.normal(0, 1, 200)
    as_given, in_percent = score_changes(u, scores), score_changes(u, 25 * (scores - 1))
    for one, other in zip(as_given, in_percent):
        assert (one.pearson, one.spearman) == pytest.approx((other.pearson, other.spearman))


def test_rounding_is_to_the_nearest_point_of_the_scale():
    """Zhao et al. 2020, appendix D: "from [1, 5] to {1, 2, 3, 4, 5}"; by hand. A scale from 0 to 100 has as many points."""
    u = np.array([1.1, 1.4, 2.6, 4.9, 4.8, 4.7])
    assert rounded(u, 1, 5).tolist() == [1, 1, 3, 5, 5, 5]
    assert rounded(25 * (u - 1), 0, 100).tolist() == [0, 0, 50, 100, 100, 100]
    people = np.array([[1.0], [2], [3], [4], [5], [5]])
    *_, found = score_changes(u, people, (1, 5))
    assert found.pearson == pytest.approx(pearson([1, 1, 3, 5, 5, 5], people[:, 0]))
    *_, moved = score_changes(100 * u, people, (1, 5))  # beyond the scale: at people's mean 10/3 and spread 1.491
    by_hand = 10 / 3 + (u - u.mean()) / u.std() * people.std()
    assert moved.pearson == pytest.approx(pearson(np.floor(by_hand + 0.5), people[:, 0]))


def test_noise_is_added_to_means_in_points_of_the_whole_scale():
    """Four people's means with noise of variance s: multiplied by sqrt(v / (v + s)), v being the means' variance, although
    nobody gave 1 or 5."""
    rng = np.random.default_rng(0)
    scores = rng.integers(2, 5, (4000, 4)).astype(float)
    u = scores.mean(1) + rng.normal(0, 1, 4000)
    plain, v = pearson(u, scores.mean(1)), scores.mean(1).var()
    _, large, _ = score_changes(u, scores, (1, 5))
    assert large.pearson == pytest.approx(plain * np.sqrt(v / (v + 0.25)), abs=0.003)


def test_where_nothing_varies_there_is_nothing_to_change():
    assert score_changes(np.ones(5), np.arange(5.0)[:, None]) == []
    assert score_changes(np.full(5, np.nan), np.ones((5, 2))) == []
