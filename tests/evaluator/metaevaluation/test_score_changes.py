"""Noise on people's scores and rounded judges, against arithmetic and the attenuation of correlations."""

import numpy as np
import pytest

from evaluator.metaevaluation.correlation import pearson
from evaluator.metaevaluation.score_changes import score_changes


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


def test_rounding_gives_a_judge_peoples_points():
    """Six utilities in the order of people's 1 1 2 2 3 3 become just these: a correlation of 1, where theirs was less."""
    scores = np.array([[1.0], [1], [2], [2], [3], [3]])
    *_, rounded = score_changes(np.array([0.1, 0.2, 5.0, 5.1, 5.2, 900.0]), scores)
    assert (rounded.pearson, rounded.spearman) == pytest.approx((1.0, 1.0))


def test_where_nothing_varies_there_is_nothing_to_change():
    assert score_changes(np.ones(5), np.arange(5.0)[:, None]) == []
    assert score_changes(np.full(5, np.nan), np.ones((5, 2))) == []
