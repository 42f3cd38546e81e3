from itertools import combinations

import numpy as np
import pytest

from leaderboard.rating.games import Games
from leaderboard.rating.glicko2_sequential import rate
from leaderboard.rating.rules import PAIRINGS, PAPER, Rules
from leaderboard.rating.tournament import run


def everywhere(n_systems, n_contexts=10):
    return {pair: range(n_contexts) for pair in combinations(range(n_systems), 2)}


def higher_is_better(first, second, context, rng):
    return np.sign(first - second)


def noisy(first, second, context, rng):
    return np.sign(np.round((first - second) / 2 + rng.normal(size=len(first)))).astype(int)


def meetings(games):
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    return list(zip(low.tolist(), high.tolist(), games.context.tolist(), strict=True))


@pytest.mark.parametrize("pairing", ["random", "round-robin", "active"])
def test_every_pair_meets_once_on_every_shared_context(pairing):
    contexts = {(0, 1): [7], (0, 2): [], (1, 2): [3, 4]}
    played = run(4, contexts, noisy, Rules(pairing=pairing, stop="all"))
    assert sorted(meetings(played.games)) == [(0, 1, 7), (1, 2, 3), (1, 2, 4)]
    assert played.ending == "all"


def test_round_robin_plays_each_pair_as_often_as_the_others():
    games = run(4, everywhere(4), noisy, Rules(pairing="round-robin"), games=15).games
    times = np.unique(np.array(meetings(games))[:, :2], axis=0, return_counts=True)[1]
    assert sorted(times.tolist()) == [2, 2, 2, 3, 3, 3]


def test_the_papers_pairs_meet_again_and_again_on_random_sides():
    games = run(3, everywhere(3, 2), noisy, PAPER, games=400).games
    assert len(games) == 400 and len(set(meetings(games))) == 6
    assert 150 < (games.first < games.second).sum() < 250


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("cut", [1, 20, 33])
def test_resumed_is_uninterrupted_game_for_game(pairing, cut):
    rules = Rules(pairing=pairing)
    whole = run(4, everywhere(4, 20), noisy, rules, seed=3, games=90).games
    begun = run(4, everywhere(4, 20), noisy, rules, seed=3, games=cut).games
    resumed = run(4, everywhere(4, 20), noisy, rules, seed=3, games=90, so_far=begun).games
    assert begun.same_as(whole.take(slice(cut))) and resumed.same_as(whole)


@pytest.mark.parametrize("rules", [Rules(), PAPER, Rules(pairing="active")])
def test_resumed_ends_where_uninterrupted_does(rules):
    whole = run(3, everywhere(3, 200), higher_is_better, rules, seed=1)
    kept = []

    def cancel(games, most):
        kept.append(games)
        if len(games) >= 20:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        run(3, everywhere(3, 200), higher_is_better, rules, seed=1, on_batch=cancel)
    resumed = run(3, everywhere(3, 200), higher_is_better, rules, seed=1, so_far=kept[-1])
    assert resumed.games.same_as(whole.games) and resumed.ending == whole.ending == "settled"


def test_games_of_another_tournament_cannot_be_gone_on_with():
    begun = run(4, everywhere(4), noisy, seed=1, games=15).games
    with pytest.raises(ValueError, match="were not played with these"):
        run(4, everywhere(4), noisy, seed=2, games=30, so_far=begun)


def test_a_seed_is_a_tournament_and_the_judge_does_not_change_what_is_drawn():
    games = run(4, everywhere(4), noisy, seed=1, games=50).games
    assert games.same_as(run(4, everywhere(4), noisy, seed=1, games=50).games)
    assert not games.same_as(run(4, everywhere(4), noisy, seed=2, games=50).games)
    other = run(4, everywhere(4), higher_is_better, seed=1, games=50).games
    assert meetings(games) == meetings(other)


def test_it_stops_when_asked_or_at_the_limit_or_when_settled():
    assert run(6, everywhere(6), noisy, max_games=20).ending == "limit"
    assert len(run(6, everywhere(6), noisy, max_games=20).games) == 20
    asked = run(3, everywhere(3, 200), higher_is_better, games=500)
    assert (len(asked.games), asked.ending, asked.looks) == (500, "asked", 1)
    settled = run(3, everywhere(3, 200), higher_is_better)
    assert settled.ending == "settled" and len(settled.games) < 500 and settled.looks > 1


def test_systems_that_look_equal_are_not_played_for_ever():
    always_tied = run(3, everywhere(3, 1000), lambda first, *_: 0 * first)
    assert always_tied.ending == "settled" and len(always_tied.games) < 1000


def test_the_papers_end_is_the_first_at_which_the_order_of_two_blocks_is_one():
    played = run(4, everywhere(4, 50), noisy, PAPER, seed=5)
    games, orders, start = played.games, [], 0
    for end in range(1, len(games) + 1):
        chosen = np.bincount(np.concatenate([games.first[start:end], games.second[start:end]]), minlength=4)
        if chosen.min() >= 50:
            orders.append(np.argsort(-rate(4, games.take(slice(end))).rating).tolist())
            start = end
    assert played.ending == "settled" and start == len(games)
    assert orders[-1] == orders[-2]
    assert all(a != b for a, b in zip(orders[:-2], orders[1:-1], strict=True))


def test_progress_is_told_after_each_batch():
    told = []
    run(3, everywhere(3, 20), noisy, games=50, on_batch=lambda games, most: told.append((len(games), most)))
    assert told == [(20, 50), (40, 50), (50, 50)]


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
        run(n_systems, contexts, noisy)


@pytest.mark.parametrize("answer", [None, 2, 0.5, "tie", float("nan")])
def test_an_unreadable_verdict_is_no_tie(answer):
    with pytest.raises(ValueError, match="judge must answer"):
        run(2, everywhere(2), lambda first, *game: [answer] * len(first))
    with pytest.raises(ValueError, match="each of 10 games"):
        run(2, everywhere(2), lambda *game: [1])


def test_no_games_asked_for_are_none():
    played = run(3, everywhere(3), noisy, games=0)
    assert played.games.same_as(Games([], [], [], [])) and played.ending == "asked"
