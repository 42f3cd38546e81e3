"""Circles and flips, counted by hand."""

import numpy as np
import pytest

from evaluator.metaevaluation.consistency import circular_triples, measure_consistency


def test_circles_among_four():
    # 0 > 1 > 2 > 0, and all three beat 3: one circle among the four triples.
    beats = np.zeros((4, 4), dtype=bool)
    for better, worse in ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)):
        beats[better, worse] = True
    assert circular_triples(beats) == (1, 4)


def test_ties_and_orders_are_no_circles():
    assert circular_triples(np.zeros((5, 5), dtype=bool)) == (0, 10)  # all tie
    assert circular_triples(np.triu(np.ones((5, 5), dtype=bool), 1)) == (0, 10)  # the first beats all
    assert circular_triples(np.zeros((2, 2), dtype=bool)) == (0, 0)


def test_as_many_circles_as_kendall_and_smith_say():
    # Kendall & Babington Smith 1940: C(n, 3) - sum of w (w - 1) / 2 over the wins w of each
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((9, 9)) < 0.5, 1)
    beats = upper | np.tril(~upper.T, -1)
    wins = beats.sum(1)
    assert circular_triples(beats) == (84 - int((wins * (wins - 1) / 2).sum()), 84)


def test_shares_of_all_contexts_together():
    flipped, contexts = np.array([True, False, False, True]), np.array([7, 7, 7, 9])
    found = measure_consistency(flipped, contexts, [(1, 4), (0, 0), (0, 4)], seed=0)
    assert (found.flips, found.pairs) == (0.5, 4)
    assert found.flips_interval == pytest.approx((1 / 3, 1.0))  # either context alone
    assert (found.circular, found.triples) == (0.125, 8)
    assert found.circular_interval == pytest.approx((0.0, 0.25))


def test_nothing_to_count():
    found = measure_consistency(np.zeros(0, bool), np.zeros(0, int), [(0, 0)], seed=0)
    assert (found.flips, found.flips_interval, found.circular, found.circular_interval) == (None, None, None, None)
