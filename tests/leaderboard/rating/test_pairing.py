from itertools import combinations

import numpy as np
import pytest
from scipy import integrate, stats

from leaderboard.rating import bradley_terry
from leaderboard.rating.games import Games
from leaderboard.rating.pairing import Cells, _after_game, _information, _neglected_share, _value, order_to_ask


@pytest.fixture
def four_systems():
    """0 far above 1, 2 and 3, which are close; every pair has met 20 times."""
    rng, pairs = np.random.default_rng(0), np.repeat(list(combinations(range(4), 2)), 20, axis=0)
    strength = np.array([4.0, 0.2, 0.1, 0.0])
    seen = strength[pairs[:, 0]] - strength[pairs[:, 1]] + rng.logistic(size=len(pairs))
    return Games(*pairs.T, np.where(np.abs(seen) < 0.3, 0, np.sign(seen)).astype(int), np.tile(np.arange(20), 6))


def cells(contexts=60):
    return Cells(4, {pair: range(contexts) for pair in combinations(range(4), 2)})


def chosen_pairs(drawn, there):
    return [tuple(pair) for pair in there.pairs[there.pair[drawn]].tolist()]


def test_where_strengths_vary_as_supposed_close_pairs_are_chosen(four_systems):
    there = cells()
    assert all(0 not in pair for pair in chosen_pairs(there.most_telling(four_systems, 40, np.random.default_rng(0)), there))


def test_the_closer_the_strengths_the_more_games_go_to_neglected_pairs():
    def share(lead, se):  # of two systems
        return _neglected_share(bradley_terry.Fit(np.array([1500 + lead, 1500 - lead]), se**2 * np.eye(2), np.array(0.0)))

    # By hand, s^2 = 2 lead^2 + 2 se^2: 25,000 of the start's 122,500, then more than that.
    assert share(lead=100, se=50) == pytest.approx(1 - 25_000 / 122_500)
    assert share(lead=300, se=50) == 0


def test_neglected_pairs_catch_up_with_the_others():
    there, played = cells(), np.array([3, 0, 1, 2, 2, 2])
    drawn = there._greedy(np.zeros(4), np.eye(4), 0.0, played, 8 * [True], np.random.default_rng(0))
    assert len(drawn) == 8 and played.tolist() == 6 * [3]


def test_at_first_chance_plays_no_part_and_every_system_plays_as_often():
    there, nothing = cells(), Games([], [], [], [])
    drawn = [there.most_telling(nothing, 20, np.random.default_rng(seed)) for seed in (0, 1)]
    assert drawn[0].tolist() == drawn[1].tolist()
    assert np.ptp(np.bincount(there.pairs[there.pair[drawn[0]]].ravel())) <= 1


def test_a_choice_is_an_unplayed_context_of_its_pair(four_systems):
    there = cells(25)
    drawn = there.most_telling(four_systems, 100, np.random.default_rng(0))
    assert len(drawn) == len(set(drawn.tolist())) == 30  # 5 of 25 are left to each of 6 pairs
    assert (np.bincount(there.pair[drawn]) == 5).all()


def test_the_rank_one_update_is_one_more_game():
    # Sherman-Morrison against the inverse of the information with the game added.
    root = np.random.default_rng(0).normal(size=(4, 4))
    information = root @ root.T + np.eye(4)
    along = np.array([0.0, 1.0, 0.0, -1.0])
    expected = np.linalg.inv(information + 0.2 * np.outer(along, along))
    assert _after_game(np.linalg.inv(information), 1, 3, 0.2) == pytest.approx(expected)


def test_a_games_information_is_the_variance_of_its_score():
    # Fisher information of the difference under Davidson's model: variance of (1, 1/2, 0) with these chances.
    for win, tie, lose in ((0.5, 0.0, 0.5), (0.6, 0.3, 0.1), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)):
        mean = win + tie / 2
        assert _information(win, tie, lose) == pytest.approx(win * (1 - mean) ** 2 + tie * (0.5 - mean) ** 2 + lose * mean**2)


def value(difference, variance, information):
    """Of a game between two systems where there are no others."""
    differences, covariance = np.array([[0.0, difference], [-difference, 0.0]]), variance / 2 * np.eye(2)
    return _value(differences, covariance, np.array([0]), np.array([1]), np.array([information]))[0]


def test_close_unsure_and_decisive_games_tell_most():
    assert value(0.0, 1.0, 0.2) > value(1.0, 1.0, 0.2)  # closer
    assert value(0.0, 1.0, 0.2) > value(0.0, 0.1, 0.2)  # less sure
    assert value(0.0, 1.0, 0.2) > value(0.0, 1.0, 0.05)  # fewer ties
    # The share of variance removed is that of a normal posterior after one observation of that information.
    posterior, _ = integrate.quad(lambda d: d**2 * stats.norm.pdf(d) * np.exp(-0.2 * d**2 / 2), -9, 9)
    weight, _ = integrate.quad(lambda d: stats.norm.pdf(d) * np.exp(-0.2 * d**2 / 2), -9, 9)
    assert value(0.0, 1.0, 0.2) == pytest.approx(1 - posterior / weight)


def test_a_game_is_worth_what_it_tells_of_all_differences():
    # Each variance before and after from an inverse, each weight from a density; no rank-one formula, no Laplacian.
    rng = np.random.default_rng(0)
    root, strength = rng.normal(size=(4, 4)), rng.normal(size=4)
    precision, pairs = root @ root.T + np.eye(4), np.array(list(combinations(range(4), 2)))
    between = np.eye(4)[pairs[:, 0]] - np.eye(4)[pairs[:, 1]]  # (pairs, systems)

    def variances(information):
        return np.einsum("ps,st,pt->p", between, np.linalg.inv(information), between)

    before = variances(precision)
    spread = np.sqrt(before)
    weight = stats.norm.pdf(0, between @ strength, spread) / stats.norm.pdf(0, 0, spread)
    expected = [(weight * (1 - variances(precision + 0.2 * np.outer(game, game)) / before)).sum() for game in between]
    found = _value(np.subtract.outer(strength, strength), np.linalg.inv(precision), *pairs.T, np.full(6, 0.2))
    assert found == pytest.approx(np.array(expected))


def test_two_outputs_of_one_system_come_last(four_systems):
    order = order_to_ask(4, four_systems, [1, 0, 1, 2], [2, 1, 1, 1])
    assert order[3] == 2 and order[2] == 1  # everybody knows that 0 is above 1
    assert order_to_ask(4, four_systems, [2, 1, 1, 1], [1, 0, 1, 2]).tolist() == order.tolist()  # whichever side they are on
    assert order_to_ask(4, four_systems, [1, 1], [1, 1]).tolist() == [0, 1]


def test_chance_decides_which_outputs_of_two_systems_come_first(four_systems):
    """Of 30 pairs of outputs each is first as often as another, in 600 orders: 20 times, chi-square of 29 degrees."""
    first = [order_to_ask(4, four_systems, [1] * 30, [2] * 30, seed)[0] for seed in range(600)]
    assert ((np.bincount(first, minlength=30) - 20) ** 2 / 20).sum() < stats.chi2.ppf(0.999, 29)


def test_all_are_in_order_whatever_was_played_elsewhere(four_systems):
    pairs = np.repeat(list(combinations(range(4), 2)), 30, axis=0)
    order = order_to_ask(4, four_systems, *pairs.T)
    assert sorted(order) == list(range(180))
    asked = [tuple(pair) for pair in pairs[order[:40]].tolist()]
    assert len(set(asked)) > 1 and all(0 not in pair for pair in asked)  # spread over the close ones
    again = order_to_ask(4, four_systems, *pairs.T, seed=1)
    assert sorted(again) == sorted(order) and again.tolist() != order.tolist()
