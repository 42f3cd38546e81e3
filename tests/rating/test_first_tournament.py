from dataclasses import astuple
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.rating.by_game import rate
from leaderboard.rating.first_tournament import play
from leaderboard.rating.games import Games
from leaderboard.rating.glicko2 import update

N = 4
ONE_GAME = st.tuples(st.integers(0, N - 1), st.integers(1, N - 1), st.sampled_from([-1, 0, 1]))
GAMES = st.lists(ONE_GAME, max_size=30).map(
    lambda games: Games(*np.array([(a, (a + b) % N, o, 0) for a, b, o in games], dtype=int).reshape(-1, 4).T)
)


def everywhere(n_systems, n_contexts=10):
    return {pair: range(n_contexts) for pair in combinations(range(n_systems), 2)}


def higher_is_better(first, second, context, rng):
    return 1 if first > second else -1


def noisy(first, second, context, rng):
    return int(np.sign(np.round((first - second) / 2 + rng.normal())))


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


def test_a_clear_order_settles_after_two_blocks():
    games, standings, settled = play(3, everywhere(3), higher_is_better, min_selections=5)
    assert settled
    assert standings.rating.argsort().tolist() == [0, 1, 2]
    assert same(standings, rate(3, games))
    # It stops with the second block at the earliest: each system was chosen ten times or more.
    assert standings.games.min() >= 10


def test_the_end_is_the_first_at_which_the_order_of_two_blocks_is_one():
    games, _, settled = play(4, everywhere(4), noisy, seed=5, min_selections=10)
    orders, start = [], 0
    for end in range(1, len(games) + 1):
        chosen = np.bincount(np.concatenate([games.first[start:end], games.second[start:end]]), minlength=4)
        if chosen.min() >= 10:
            orders.append(np.argsort(-rate(4, games.take(np.arange(end))).rating).tolist())
            start = end
    assert settled and start == len(games)
    assert orders[-1] == orders[-2]
    assert all(a != b for a, b in zip(orders[:-2], orders[1:-1], strict=True))


def test_it_gives_up_at_the_limit_and_plays_exactly_what_was_asked():
    assert len(play(6, everywhere(6), noisy, max_games=20)[0]) == 20
    assert play(6, everywhere(6), noisy, max_games=20)[2] is False
    games, _, settled = play(3, everywhere(3), higher_is_better, games=500, min_selections=5)
    assert (len(games), settled) == (500, True)
    assert len(play(3, everywhere(3), noisy, games=0)[0]) == 0


def test_a_seed_is_a_tournament_and_the_judge_does_not_change_the_draw():
    games, standings, _ = play(4, everywhere(4), noisy, seed=1, games=100)
    again, same_standings, _ = play(4, everywhere(4), noisy, seed=1, games=100)
    assert same(games, again) and same(standings, same_standings)
    assert not same(games, play(4, everywhere(4), noisy, seed=2, games=100)[0])
    other, _, _ = play(4, everywhere(4), higher_is_better, seed=1, games=100)
    assert (other.first == games.first).all() and (other.context == games.context).all()


def test_more_games_go_on_where_fewer_stopped():
    short, long = (play(4, everywhere(4), noisy, seed=1, games=n)[0] for n in (60, 100))
    assert same(short, long.take(np.arange(60)))


def test_only_shared_contexts_are_played_on_random_sides():
    contexts = {(0, 1): [7], (0, 2): [], (1, 2): [3, 4]}
    games, standings, _ = play(4, contexts, noisy, games=400)
    played = set(zip(games.first.tolist(), games.second.tolist(), games.context.tolist(), strict=True))
    assert played == {(0, 1, 7), (1, 0, 7), (1, 2, 3), (2, 1, 3), (1, 2, 4), (2, 1, 4)}
    assert standings.games[3] == 0
    assert 150 < (games.first < games.second).sum() < 250


def test_progress_is_told():
    told = []
    play(3, everywhere(3), noisy, games=120, on_progress=lambda *progress: told.append(progress))
    assert told == [(50, 120), (100, 120), (120, 120)]


@pytest.mark.parametrize(
    ("n_systems", "contexts", "sentence"),
    [
        (1, {}, "at least two systems"),
        (2, {}, "No two systems"),
        (2, {(0, 1): []}, "No two systems"),
        (2, {(1, 0): [1]}, "lower number first"),
        (2, {(0, 2): [1]}, "two of the 2 systems"),
    ],
)
def test_tournaments_that_cannot_be(n_systems, contexts, sentence):
    with pytest.raises(ValueError, match=sentence):
        play(n_systems, contexts, noisy)


@pytest.mark.parametrize("answer", [None, 2, 0.5, "tie", float("nan")])
def test_an_unreadable_verdict_is_no_tie(answer):
    with pytest.raises(ValueError, match="judge must answer"):
        play(2, everywhere(2), lambda *game: answer)
