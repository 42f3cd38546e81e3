import numpy as np
import pytest
from scipy import stats

from leaderboard.rating.games import Games
from leaderboard.rating.rules import DEFAULT, PAPER, Rules, standings
from leaderboard.rating.stability import CHOICES, rank_stability


def test_each_choice_and_each_other_set_of_games_is_tried(noisy_games):
    games, other = noisy_games(5, 400, 20), noisy_games(5, 400, 20, seed=1)
    found = rank_stability(5, games, DEFAULT, {"another seed": other})
    assert [order.name for order in found] == [name for name, rules in CHOICES.items() if rules != DEFAULT] + ["another seed"]
    ours, theirs = standings(5, games).rating, standings(5, other).rating
    assert found[-1].order.tolist() == np.argsort(-theirs).tolist()
    assert found[-1].tau == pytest.approx(stats.kendalltau(ours, theirs).statistic)
    assert found[-1].moved.tolist() == sorted(np.flatnonzero(stats.rankdata(ours) != stats.rankdata(theirs)))


def test_the_boards_own_rules_are_not_an_alternative(noisy_games):
    names = [order.name for order in rank_stability(5, noisy_games(5, 100, 20), PAPER, {})]
    assert "Glicko-2, order-free" in names and "Glicko-2 game by game, as in the paper" not in names


def test_a_tie_rule_that_turns_the_order_is_seen():
    # Against 2, in 20 games each: 0 wins 4, ties 16, loses none; 1 wins 15 and loses 5. With a tie as half a win 1 has 15 and
    # 0 only 12; without ties 0 has won 4 of 4 and 1 15 of 20.
    decided = Games([0] * 20 + [1] * 20, [2] * 40, [1] * 4 + [0] * 16 + [1] * 15 + [-1] * 5, list(range(20)) * 2)
    found = {order.name: order for order in rank_stability(3, decided, Rules(), {})}["Glicko-2, ties left out"]
    assert standings(3, decided).rating.argsort()[::-1].tolist() == [1, 0, 2]
    assert (found.order.tolist(), found.moved.tolist()) == ([0, 1, 2], [0, 1])
    assert found.tau == pytest.approx(1 / 3)  # two of three pairs as before


def test_who_did_not_play_is_left_out(noisy_games):
    games, fewer = noisy_games(5, 200, 20), noisy_games(3, 200, 20)
    found = rank_stability(6, games, DEFAULT, {"fewer": fewer})
    assert sorted(found[0].order.tolist()) == [0, 1, 2, 3, 4]
    assert sorted(found[-1].order.tolist()) == [0, 1, 2]


def test_without_games_there_is_no_order():
    none = Games([], [], [], [])
    assert all(np.isnan(order.tau) and len(order.order) == 0 for order in rank_stability(3, none, DEFAULT, {}))
