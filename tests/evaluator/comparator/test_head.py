"""Thresholds, probabilities and what is fitted, against hand arithmetic and second formulas."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import brentq

from evaluator.comparator.head import (
    Head,
    bent,
    clearly_better,
    cross_entropy,
    decide,
    fit_head,
    fit_level,
    least_loss,
    least_score_loss,
    probabilities,
    tie_threshold,
    worth_beside,
)
from evaluator.comparator.utility_model import log_probabilities


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


def test_probabilities_are_rao_and_kuppers():
    # Rao & Kupper 1967: P(i > j) = pi_i / (pi_i + k pi_j), with pi = exp(u), k = exp(theta).
    u_a, u_b, theta = 0.7, -0.4, 0.6
    a, b, k = math.exp(u_a), math.exp(u_b), math.exp(theta)
    p_a, p_b = a / (a + k * b), b / (b + k * a)
    expected = [p_a, 1 - p_a - p_b, p_b]
    assert probabilities(np.array([u_a - u_b]), theta)[0] == pytest.approx(expected, abs=1e-12)
    logs = log_probabilities(torch.tensor([u_a - u_b]), torch.tensor(theta))
    assert logs.exp()[0].tolist() == pytest.approx(expected, abs=1e-6)


def test_far_differences_stay_finite():
    logs = log_probabilities(torch.tensor([80.0, -80.0]), torch.tensor(0.5))
    assert torch.isfinite(logs).all()


def test_swapping_the_sides_swaps_the_answer():
    d = np.linspace(-5, 5, 21)
    assert np.array_equal(probabilities(d, 0.3), probabilities(-d, 0.3)[:, ::-1])
    swapped = {"A": "B", "tie": "tie", "B": "A"}
    assert decide(-d, 1.1).tolist() == [swapped[choice] for choice in decide(d, 1.1)]


def test_the_head_is_found_again_from_its_own_probabilities():
    d = np.random.default_rng(0).normal(size=400)
    head = fit_head(d, probabilities(1.7 * d, 0.8), np.ones(400))
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
    assert probabilities(d, head.theta)[:, 1].tolist() == [0.0] * 400


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


def test_the_least_loss_does_not_depend_on_the_scale():
    a_better, tie, b_better = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    targets, weights = np.array([a_better, a_better, b_better, tie]), np.ones(4)
    mostly, less = np.array([2.0, -0.5, -1.0, 0.1]), np.array([2.0, -1.5, -1.0, 0.1])  # of a_better one is misjudged
    assert least_loss(mostly, targets, weights) < least_loss(less, targets, weights)
    assert least_loss(mostly, targets, weights) == pytest.approx(least_loss(5 * mostly, targets, weights), rel=1e-3)
    assert least_loss(np.zeros(4), targets, weights, ties=False) == pytest.approx(math.log(2))


def test_a_bent_difference_by_hand():
    # A bend of log 2 makes e^bend - 1 = 1, and so log2(1 + |d|), with the sign of d.
    assert bent(np.array([0.0, 1.0, 3.0, -7.0]), math.log(2)) == pytest.approx([0.0, 1.0, 2.0, -3.0])
    d = np.array([-4.0, 0.0, 0.3])
    assert np.array_equal(bent(d, 0.0), d)
    assert bent(d, 1e-6) == pytest.approx(d, abs=1e-5)


def test_the_bend_is_stukels():
    """Stukel 1988, section 2: for shape a < 0, h(eta) = -log(1 - a |eta|) / -a on either side of 0 with its sign."""
    a, d = -3.0, np.array([-2.0, -0.1, 0.5, 4.0])
    eta = d * (math.exp(3) - 1) / 3  # in units where a difference of 1 is one logit
    assert bent(d, 3.0) == pytest.approx([math.copysign(math.log(1 - a * abs(x)) / -a, x) for x in eta])


def test_a_bent_head_keeps_the_order_and_swaps_with_the_sides():
    head, d = Head(1.0, 0.4, 0.1, bend=5.0), np.linspace(-3, 3, 61)
    p = head.probabilities(d)
    assert np.array_equal(p, head.probabilities(-d)[:, ::-1])
    assert (np.diff(p[:, 0]) > 0).all() and p.sum(1) == pytest.approx(np.ones(61))


@pytest.mark.parametrize("ties", [True, False])
def test_the_bend_is_found_again_from_its_own_probabilities(ties):
    d = np.random.default_rng(0).normal(size=2000)
    p = probabilities(bent(1.7 * d, 3.0), 0.8 if ties else 0.0)
    head = fit_head(d, p, np.ones(2000), ties)
    assert (head.scale, head.bend) == pytest.approx((1.7, 3.0), abs=0.05)
    assert head.theta == pytest.approx(0.8 if ties else 0.0, abs=0.01)
    assert least_loss(d, p, np.ones(2000), ties) == pytest.approx(
        cross_entropy(bent(1.7 * d, 3.0), p, np.ones(2000), 0.8 if ties else 0.0), abs=1e-5
    )


def test_pairs_that_are_few_or_follow_the_plain_link_do_not_bend():
    d = np.random.default_rng(0).normal(size=2000)
    assert fit_head(d[:20], probabilities(bent(1.7 * d[:20], 3.0), 0.8), np.ones(20)).bend == 0
    assert fit_head(d, probabilities(1.7 * d, 0.8), np.ones(2000)).bend == 0


def test_a_number_more_must_be_likelier_than_one_in_a_thousand_by_chance():
    assert clearly_better(0.94, 1.0, pairs=100)  # 2 * 100 * 0.06 = 12, above 10.83
    assert not clearly_better(0.95, 1.0, pairs=100)  # 10


FIRST, SECOND = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def test_what_stands_beside_a_utility_is_worth_its_log_odds():
    """By hand: where d says nothing, three of four for the side that is ahead are log 3; where the other is liked, nothing.
    Of four pairs alone the prior leaves what solves 3 - 4 sigmoid(x) = x, the slope of the likelihood and of the prior."""
    targets = np.array([FIRST, FIRST, FIRST, SECOND])
    many = np.zeros(40_000), np.ones(40_000), np.tile(targets, (10_000, 1)), np.ones(40_000)
    assert worth_beside(*many, 9.0)[1] == pytest.approx(math.log(3), abs=1e-3)
    d, ahead = np.zeros(4), np.ones(4)
    few = brentq(lambda x: 3 - 4 / (1 + math.exp(-x)) - x, 0, 2)
    assert 0.5 < few < 0.51
    assert worth_beside(d, ahead, targets, np.ones(4), 9.0)[1] == pytest.approx(few, abs=1e-3)
    assert worth_beside(d, ahead / 50, targets, np.ones(4), 90.0)[1] == pytest.approx(50 * few, rel=1e-3)
    assert worth_beside(d, ahead, targets[:, ::-1], np.ones(4), 9.0) == (1.0, 0.0)
    assert worth_beside(d, ahead, targets, np.ones(4), 0.0)[1] == 0
    assert worth_beside(d, ahead, targets, np.ones(4), 0.5)[1] == pytest.approx(0.5)
    assert worth_beside(np.empty(0), np.empty(0), np.empty((0, 3)), np.empty(0), 9.0) == (1.0, 0.0)


def test_a_utility_that_says_it_already_leaves_nothing_to_the_rest():
    """d agrees with people three times of four, and what is beside it is even: by symmetry d is worth log 3, the rest 0."""
    d, ahead = np.ones(4), np.array([1.0, -1.0, 1.0, -1.0])
    even = np.array([[0.75, 0.0, 0.25]] * 4)
    assert worth_beside(d, ahead, even, np.ones(4), 9.0) == pytest.approx((math.log(3), 0.0), abs=1e-3)


def test_the_least_loss_of_scores_is_that_of_the_best_level():
    """Where u says nothing of scores 0.25 and 0.75, the best level is 0.5 everywhere: log 2. Unknown scores are left out."""
    assert least_score_loss(np.zeros(2), np.array([0.25, 0.75])) == pytest.approx(math.log(2), abs=1e-4)
    assert least_score_loss(np.zeros(3), np.array([0.25, 0.75, np.nan])) == pytest.approx(math.log(2), abs=1e-4)
    assert least_score_loss(np.zeros(2), np.full(2, np.nan)) == 0.0
    exact = least_score_loss(np.log([1 / 3, 3.0]), np.array([0.25, 0.75]))
    assert exact == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)), abs=1e-4)
