import numpy as np
import pytest
from scipy.stats import t as student

from annotation.quality.people.random_effects import both_tails, lower_tail

NAN = np.nan


def test_equal_errors_and_no_prior_are_the_studentised_residual():
    # With equal errors below the spread, s^2 + tau^2 is the variance of the others: (y - mean) / (SD sqrt(1 + 1 / 4)), as in
    # the t-test of one against four. Its 3 degrees of freedom take mu as known: 2 total^2 / (2 usual^2 / 3) at 5/4 usual.
    y = np.array([0.1, 0.9, 1.1, 1.3, 0.7])
    others = y[1:]
    t = (y[0] - others.mean()) / (others.std(ddof=1) * np.sqrt(1 + 1 / 4))
    p, usual = lower_tail(y, np.full(5, 1e-3), 0.0, 0.0)
    assert usual[0] == pytest.approx(1.0)
    assert p[0] == pytest.approx(student.cdf(t, 3 * (5 / 4) ** 2), rel=0.02)


def test_nan_stays_nan_and_nobody_is_compared_with_nobody():
    p, usual = lower_tail([0.5, NAN, 0.6], [0.1, 0.1, 0.1], 0.05, 4)
    assert np.isnan([p[1], usual[1]]).all() and np.isfinite(p[[0, 2]]).all()
    assert usual[[0, 2]] == pytest.approx([0.6, 0.5])
    for alone in ([0.5], [0.5, NAN]):
        assert np.isnan(lower_tail(alone, np.full(len(alone), 0.1), 0.05, 4)[0]).all()


def test_two_far_off_do_not_hide_each_other():
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.normal(0.6, 0.05, 8), [0.0, 0.02]])
    p, _ = lower_tail(y, np.full(10, 0.05), 0.05, 4)
    assert (p[8:] < 1e-4).all() and (p[:8] > 0.01).all()


@pytest.mark.parametrize("tau", [0.0, 0.05, 0.1])
def test_level_where_the_model_holds(tau):
    # y ~ N(0.5, s^2 + tau^2), the errors differ by a third; the prior as in suspicion. 200 campaigns of ten at 5%: SE 1.5%.
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(200):
        s = 0.09 * np.exp(rng.normal(0, 0.3, 10))
        p, _ = lower_tail(rng.normal(0.5, np.sqrt(s**2 + tau**2)), s, 0.05, 4)
        rejected += p.min() * 10 <= 0.05
    assert rejected / 200 <= 0.05 + 3 * 0.015


@pytest.mark.parametrize("tau", [0.0, 0.3])
def test_level_of_both_tails(tau):
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(200):
        y = rng.normal(0, np.sqrt(0.2**2 + tau**2), (10, 5))
        p, _ = both_tails(y - y.mean(axis=1, keepdims=True), np.full((10, 5), 0.2 * np.sqrt(4 / 5)))
        rejected += p.min() * 10 <= 0.05
    assert rejected / 200 <= 0.05 + 3 * 0.015


def test_where_all_are_alike_nobody_is_far():
    assert lower_tail(np.full(5, 0.4), np.full(5, 0.1), 0.0, 0.0)[0] == pytest.approx(0.5)
    assert both_tails(np.zeros((4, 3)), np.zeros((4, 3)))[0] == pytest.approx(1.0)
