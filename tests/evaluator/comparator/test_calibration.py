"""Thresholds, probabilities and what is fitted, against hand arithmetic and second formulas."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import brentq

from evaluator.comparator.utility_model import log_probabilities
from evaluator.judges.calibration import Head, cross_entropy, decide, fit_head, fit_level, tie_threshold, worth_beside


def test_threshold_leaves_the_wanted_share_below():
    d = np.array([-4.0, 1.0, 0.5, -2.0])  # sizes 0.5, 1, 2, 4
    assert tie_threshold(d, 0.5) == 1.5  # between 1 and 2
    assert tie_threshold(d, 0.25) == 0.75
    assert tie_threshold(d, 0.0) == 0.0
    assert (decide(d, tie_threshold(d, 0.5)) == ["B", "tie", "tie", "B"]).all()
    assert (decide(d, tie_threshold(d, 1.0)) == "tie").all()
    assert (decide(d, tie_threshold(d, 0.0)) == ["B", "A", "A", "B"]).all()


def test_equal_utilities_are_a_tie_even_where_people_never_tie():
    assert decide(np.array([0.0]), 0.0).tolist() == ["tie"]


def test_answers_and_outcomes_keep_to_the_threshold():
    said = Head(1.0, 0.6, 1.0).preferences(np.array([2.0, 0.5, 0.0, -3.0]), np.zeros(4))
    assert said.choices.tolist() == ["A", "tie", "tie", "B"] and said.outcomes.tolist() == [1, 0, 0, -1]


def test_probabilities_are_rao_and_kuppers():
    # Rao & Kupper 1967: P(i > j) = pi_i / (pi_i + k pi_j), with pi = exp(u), k = exp(theta).
    u_a, u_b, theta = 0.7, -0.4, 0.6
    a, b, k = math.exp(u_a), math.exp(u_b), math.exp(theta)
    p_a, p_b = a / (a + k * b), b / (b + k * a)
    expected = [p_a, 1 - p_a - p_b, p_b]
    assert _probabilities(np.array([u_a - u_b]), theta)[0] == pytest.approx(expected, abs=1e-12)
    logs = log_probabilities(torch.tensor([u_a - u_b]), torch.tensor(theta))
    assert logs.exp()[0].tolist() == pytest.approx(expected, abs=1e-6)


def test_far_differences_stay_finite():
    logs = log_probabilities(torch.tensor([80.0, -80.0]), torch.tensor(0.5))
    assert torch.isfinite(logs).all()


def test_swapping_the_sides_swaps_the_answer():
    d = np.linspace(-5, 5, 21)
    assert np.array_equal(_probabilities(d, 0.3), _probabilities(-d, 0.3)[:, ::-1])
    swapped = {"A": "B", "tie": "tie", "B": "A"}
    assert decide(-d, 1.1).tolist() == [swapped[choice] for choice in decide(d, 1.1)]


def test_the_head_is_found_again_from_its_own_probabilities():
    d = np.random.default_rng(0).normal(size=400)
    head = fit_head(d, _probabilities(1.7 * d, 0.8), np.ones(400))
    assert head.scale == pytest.approx(1.7, abs=0.01)
    assert head.theta == pytest.approx(0.8, abs=0.01)


def test_a_head_without_ties_and_with_nothing_but_ties_is_finite():
    d = np.array([1.0, -1.0, 2.0])
    for target in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        head = fit_head(d, np.array([target] * 3), np.ones(3))
        assert all(math.isfinite(value) for value in (head.scale, head.theta, head.tie_threshold))
    assert (decide(head.scale * d, head.tie_threshold) == "tie").all()


def test_a_head_without_the_tie_option():
    d = np.random.default_rng(0).normal(size=400)
    p_a = 1 / (1 + np.exp(-1.7 * d))
    ties = np.full(400, 0.1)  # people's ties count half for each side
    head = fit_head(d, np.stack([p_a - ties / 2, ties, 1 - p_a - ties / 2], axis=-1), np.ones(400), ties=False)
    assert head.scale == pytest.approx(1.7, abs=0.01)
    assert (head.theta, head.tie_threshold) == (0.0, 0.0)
    assert head.probabilities(d)[:, 1].tolist() == [0.0] * 400


def test_cross_entropy_by_hand():
    one, even = np.ones(1), np.array([[0.5, 0.0, 0.5]])
    assert cross_entropy(np.zeros(1), even, one, 0.0) == pytest.approx(math.log(2))
    # Rao & Kupper: at d = 0 and theta = log 3 each side has 1 / (1 + 3) and the tie the other half.
    assert cross_entropy(np.zeros(1), even, one, math.log(3)) == pytest.approx(math.log(4))
    assert cross_entropy(np.zeros(1), np.array([[0.0, 1.0, 0.0]]), one, math.log(3)) == pytest.approx(math.log(2))


def test_the_level_is_found_again_from_its_own_scores():
    u = np.linspace(-3, 3, 41)
    scores = 1 / (1 + np.exp(-(0.5 * u - 1)))
    scores[7] = np.nan
    assert fit_level(u, scores) == pytest.approx((0.5, -1.0), abs=1e-3)
    head = Head(1.0, 0.5, 0.0, slope=0.5, intercept=-1.0)
    assert head.expected(np.array([2.0, 4.0])) == pytest.approx([0.5, 1 / (1 + math.exp(-1))])


def test_without_scores_the_median_output_is_expected_in_the_middle():
    assert fit_level(np.array([1.0, 4.0, 2.0, np.nan]), np.full(4, np.nan)) == (1.0, -2.0)


NO_SCORES = (np.empty(0),) * 3
FIRST, SECOND = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def test_what_stands_beside_a_utility_is_worth_its_log_odds():
    """By hand: where d says nothing, three of four for the side that is ahead are log 3; where the other is liked, nothing.
    Of four pairs alone the prior leaves what solves 3 - 4 sigmoid(x) = x, the slope of the likelihood and of the prior."""
    targets = np.array([FIRST, FIRST, FIRST, SECOND])
    many = np.zeros(40_000), np.ones(40_000), np.tile(targets, (10_000, 1)), np.ones(40_000)
    assert worth_beside(*many, 9.0, NO_SCORES)[1] == pytest.approx(math.log(3), abs=1e-3)
    d, ahead = np.zeros(4), np.ones(4)
    few = brentq(lambda x: 3 - 4 / (1 + math.exp(-x)) - x, 0, 2)
    assert 0.5 < few < 0.51
    assert worth_beside(d, ahead, targets, np.ones(4), 9.0, NO_SCORES)[1] == pytest.approx(few, abs=1e-3)
    assert worth_beside(d, ahead / 50, targets, np.ones(4), 90.0, NO_SCORES)[1] == pytest.approx(50 * few, rel=1e-3)
    assert worth_beside(d, ahead, targets[:, ::-1], np.ones(4), 9.0, NO_SCORES) == (1.0, 0.0)
    assert worth_beside(d, ahead, targets, np.ones(4), 0.0, NO_SCORES)[1] == 0
    assert worth_beside(d, ahead, targets, np.ones(4), 0.5, NO_SCORES)[1] == pytest.approx(0.5)
    assert worth_beside(np.empty(0), np.empty(0), np.empty((0, 3)), np.empty(0), 9.0, NO_SCORES) == (1.0, 0.0)


def test_a_utility_that_says_it_already_leaves_nothing_to_the_rest():
    """d agrees with people three times of four, and what is beside it is even: by symmetry d is worth log 3, the rest 0."""
    d, ahead = np.ones(4), np.array([1.0, -1.0, 1.0, -1.0])
    even = np.array([[0.75, 0.0, 0.25]] * 4)
    assert worth_beside(d, ahead, even, np.ones(4), 9.0, NO_SCORES) == pytest.approx((math.log(3), 0.0), abs=1e-3)


def _probabilities(d: np.ndarray, theta: float) -> np.ndarray:
    return Head(1.0, theta, 0.0).probabilities(d)
