from dataclasses import astuple
from itertools import combinations

import numpy as np
import pytest

from leaderboard.rating.by_game import rate
from leaderboard.rating.first_tournament import play


def everywhere(n_systems, n_contexts=10):
    return {pair: range(n_contexts) for pair in combinations(range(n_systems), 2)}


def higher_is_better(first, second, context, rng):
    return 1 if first > second else -1


def noisy(first, second, context, rng):
    return int(np.sign(np.round((first - second) / 2 + rng.normal())))


def same(a, b):
    return all((x == y).all() for x, y in zip(astuple(a), astuple(b), strict=True))


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
