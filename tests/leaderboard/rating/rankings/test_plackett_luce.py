from itertools import permutations, product

import numpy as np
import pytest

from leaderboard.rating import bradley_terry
from leaderboard.rating.glicko2 import SCALE
from leaderboard.rating.people_board import contrasts_of
from leaderboard.rating.rankings.plackett_luce import Rankings, strengths

# Best first, of six systems.
RANKED = """35124 01543 045 40235 0315 2103 03 523 2035 03 3042 02 5014 412 053 21 5234 20354 02 12054 52310 3012 051 25
02534 21453 10253 5123 10253 054 023 104 231 52034 103 35210 03524 53 0325 0534""".split()
# choix 0.4.1 (PyPI): ilsr_rankings(6, RANKED, max_iter=1000, tol=1e-10); its opt_rankings gives the same to 0.000001
CHOIX = [0.956094, 0.53757, 0.361203, -0.513055, -1.297648, -0.044164]
# The same with the best alone known: ilsr_top1
CHOIX_BEST = [0.839283, 0.140831, 0.069691, -0.540964, -0.622725, 0.113885]
SHAPES = [(1, 1, 1), (2, 1), (1, 3, 1), (2, 2), (1, 5, 1), (3, 2, 1)]


def rankings(ranked, rank=lambda place: place, is_open=False):
    places = [(n, int(system), rank(place)) for n, sheet in enumerate(ranked) for place, system in enumerate(sheet)]
    return Rankings.of(*np.array(places).T, [is_open] * len(ranked))


def likeliest(given, systems=6):
    basis = contrasts_of(np.zeros(systems, dtype=int))
    return basis @ strengths(given, basis)


def test_rankings_of_two_to_six_are_as_in_choix():
    assert likeliest(rankings(RANKED)) == pytest.approx(CHOIX, abs=1e-5)


def test_the_best_of_others_in_an_order_that_nobody_asked_is_as_in_choix():
    assert likeliest(rankings(RANKED, lambda place: min(place, 1), True)) == pytest.approx(CHOIX_BEST, abs=1e-5)


def test_the_best_and_the_worst_of_three_are_a_whole_ranking():
    three = [sheet[:3] for sheet in RANKED if len(sheet) > 2]
    assert likeliest(rankings(three, is_open=True)) == pytest.approx(likeliest(rankings(three)), abs=1e-9)


def test_two_are_bradley_and_terrys_pair_and_a_tie_is_half_a_win():
    pairs = [sheet[:2] for sheet in RANKED]
    tied = [*range(0, len(pairs), 4)]
    places = [(n, int(s), 0 if n in tied else place) for n, pair in enumerate(pairs) for place, s in enumerate(pair)]
    met, score = np.zeros((6, 6)), np.zeros((6, 6))
    for n, (winner, loser) in enumerate((int(a), int(b)) for a, b in pairs):
        met[winner, loser] += 1
        met[loser, winner] += 1
        score[winner, loser] += 0.5 if n in tied else 1
        score[loser, winner] += 0.5 if n in tied else 0
    theirs = (bradley_terry.fit(met, score).rating - 1500) / SCALE
    assert likeliest(Rankings.of(*np.array(places).T)) == pytest.approx(theirs, abs=1e-6)


def by_orders(theta, sizes, is_open):
    """Every order of those that share a place, written out: the logarithm of their chances' sum, or the mean of logarithms."""
    ends = np.cumsum(sizes)
    shared = [range(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    logs = []
    for parts in product(*map(permutations, shared)):
        order = [place for part in parts for place in part]
        logs.append(sum(theta[order[k]] - np.log(np.exp(theta[order[k:]]).sum()) for k in range(len(order))))
    return np.log(np.exp(logs).sum()) if is_open else np.mean(logs)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("sizes", SHAPES)
def test_shared_places_are_all_their_orders(sizes, is_open):
    n, step = sum(sizes), 1e-5
    theta = np.random.default_rng(3).normal(size=n)
    given = Rankings.of(np.zeros(n, dtype=int), np.arange(n), np.repeat(np.arange(len(sizes)), sizes), [is_open])
    value, slope, [(rows, information)] = given.told(theta)
    sides = [[by_orders(theta + sign * step * one, sizes, is_open) for one in np.eye(n)] for sign in (1, -1)]
    slopes = [[given.told(theta + sign * step * one)[1] for one in np.eye(n)] for sign in (1, -1)]
    assert rows.tolist() == [list(range(n))]
    assert value == pytest.approx(by_orders(theta, sizes, is_open), abs=1e-12)
    assert slope == pytest.approx((np.array(sides[0]) - sides[1]) / (2 * step), abs=1e-8)
    assert information[0] == pytest.approx(-(np.array(slopes[0]) - slopes[1]) / (2 * step), abs=1e-8)


def test_a_prior_bounds_a_system_that_always_comes_first():
    found = strengths(rankings(["01", "012", "02"]), contrasts_of(np.zeros(3, dtype=int)), ridge=0.25)
    assert np.isfinite(found).all() and np.abs(found).max() < 4


@pytest.mark.parametrize(
    "ranked, why", [(["0"], "2 to 7"), (["01234567"], "2 to 7"), (["010"], "two outputs of one system")], ids=str
)
def test_what_is_no_ranking_is_refused(ranked, why):
    with pytest.raises(ValueError, match=why):
        rankings(ranked)
