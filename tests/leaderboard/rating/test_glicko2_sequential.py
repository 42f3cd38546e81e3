from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.rating.games import Games
from leaderboard.rating.glicko2 import SCALE, update
from leaderboard.rating.glicko2_sequential import rate

N = 4
ONE_GAME = st.tuples(st.integers(0, N - 1), st.integers(1, N - 1), st.sampled_from([-1, 0, 1]))
GAMES = st.lists(ONE_GAME, max_size=30).map(
    lambda games: Games(*np.array([(a, (a + b) % N, o, 0) for a, b, o in games], dtype=int).reshape(-1, 4).T)
)


def same(a, b):
    return all((x == y).all() for x, y in zip(astuple(a), astuple(b), strict=True))


def test_a_game_is_a_rating_period_of_both_players():
    # Two games by hand with the array rule: 0 beats 1, then 2 beats 0. System 1's RD does not grow while it is idle.
    new = (1500, 350, 0.06)
    winner, loser = update(*new, [1500], [350], [1]), update(*new, [1500], [350], [0])
    third, beaten = update(*new, [winner[0]], [winner[1]], [1]), update(*winner, [1500], [350], [0])
    standings = rate(3, Games([0, 2], [1, 0], [1, 1], [0, 0]))
    found = np.transpose([standings.rating, standings.rd, standings.volatility])
    assert found == pytest.approx(np.array([beaten, loser, third], dtype=float), rel=1e-9)
    assert (standings.games.tolist(), standings.wins.tolist()) == ([2, 1, 1], [1, 0, 1])
    assert (standings.ties.tolist(), standings.losses.tolist()) == ([0, 0, 0], [1, 1, 0])


def test_a_tie_moves_a_tenth_of_what_winning_or_losing_would():
    # Zhou & Xu 2020, section 3.2. After one win the two stand apart; then they tie.
    before, after = rate(2, Games([0], [1], [1], [0])), rate(2, Games([0, 0], [1, 1], [1, 0], [0, 0]))
    strong, weak = ((before.rating[i], before.rd[i], before.volatility[i]) for i in (0, 1))
    lost = update(*strong, [weak[0]], [weak[1]], [0])[0] - strong[0]
    won = update(*weak, [strong[0]], [strong[1]], [1])[0] - weak[0]
    assert after.rating - before.rating == pytest.approx([0.1 * lost, 0.1 * won])
    tied = [update(*strong, [weak[0]], [weak[1]], [0.5]), update(*weak, [strong[0]], [strong[1]], [0.5])]
    assert after.rd == pytest.approx([player[1] for player in tied])
    assert after.volatility == pytest.approx([player[2] for player in tied])
    assert (after.ties.tolist(), after.games.tolist()) == ([1, 1], [2, 2])


def test_the_ratio_is_a_setting():
    games = Games([0, 0], [1, 1], [1, 0], [0, 0])
    frozen, full = rate(2, games, draw_ratio=0.0), rate(2, games, draw_ratio=1.0)
    assert frozen.rating == pytest.approx(rate(2, games.take([0])).rating)
    assert full.rating == pytest.approx(rate(2, Games([0, 0], [1, 1], [1, -1], [0, 0])).rating)


@given(st.integers(0, 20))
def test_a_tie_between_equals_moves_no_rating(ties):
    standings = rate(2, Games([0] * ties, [1] * ties, [0] * ties, [0] * ties))
    assert standings.rating.tolist() == [1500, 1500]
    assert ties == 0 or (standings.rd < 350).all()


@given(GAMES)
def test_swapping_sides_changes_nothing(games):
    assert same(rate(N, games.swapped()), rate(N, games))


@given(GAMES, st.permutations(range(N)))
def test_permuting_the_systems_permutes_the_standings(games, names):
    names = np.array(names)
    renamed = rate(N, Games(names[games.first], names[games.second], games.outcome, games.context))
    assert same(type(renamed)(*(column[names] for column in astuple(renamed))), rate(N, games))


@given(GAMES)
def test_turning_every_outcome_turns_the_ratings(games):
    turned = rate(N, Games(games.first, games.second, -games.outcome, games.context))
    assert turned.rating - 1500 == pytest.approx(1500 - rate(N, games).rating, abs=1e-6)
    assert (turned.wins == rate(N, games).losses).all()


def test_no_games_leave_everyone_at_the_start():
    standings = rate(3, Games([], [], [], []))
    assert (standings.rating.tolist(), standings.games.tolist()) == ([1500] * 3, [0] * 3)


@pytest.mark.parametrize(
    ("games", "sentence"),
    [
        (([0], [0], [1], [0]), "against itself"),
        (([0], [1], [2], [0]), "outcome must be"),
        (([0], [1], [0.5], [0]), "whole numbers"),
        (([0, 1], [1], [1], [0]), "as many"),
        (([-1], [1], [1], [0]), "from 0"),
        (([[0]], [[1]], [[1]], [[0]]), "flat list"),
        (([0], [7], [1], [0]), "only 2 systems"),
    ],
)
def test_games_that_cannot_be(games, sentence):
    with pytest.raises(ValueError, match=sentence):
        rate(2, Games(*games))


def test_without_a_ratio_a_tie_is_half_a_win():
    games = Games([0, 0], [1, 1], [1, 0], [0, 0])
    before, after = rate(2, games.take([0])), rate(2, games, draw_ratio=None)
    strong, weak = ((before.rating[i], before.rd[i], before.volatility[i]) for i in (0, 1))
    expected = update(*strong, [weak[0]], [weak[1]], [0.5])
    assert (after.rating[0], after.rd[0], after.volatility[0]) == pytest.approx(expected, rel=1e-9)


def test_rd_of_the_idle_grows_only_when_asked():
    # Glickman 2012, step 6: phi* = sqrt(phi^2 + sigma^2), for each of two games that system 2 sits out.
    games = Games([0, 0], [1, 1], [1, 0], [0, 0])
    assert rate(3, games).rd[2] == 350
    assert rate(3, games, idle_growth=True).rd[2] == pytest.approx(np.sqrt(350**2 + 2 * (SCALE * 0.06) ** 2))
    assert rate(3, games, idle_growth=True).rd[:2] == pytest.approx(rate(3, games).rd[:2])
