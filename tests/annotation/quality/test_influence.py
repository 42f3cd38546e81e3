import numpy as np
import pytest

from annotation.quality.influence import influences, ranks, ratings
from leaderboard.rating import bradley_terry
from leaderboard.rating.games import Games
from leaderboard.rating.games_from_answers import games_from_scores
from leaderboard.rating.pair_counts import scores
from leaderboard.rating.rules import standings

SYSTEMS = 5


def played(seed, rigger=None, people=6, contexts=40, k=3):
    """(games, annotator of each): k of the people score every system on each context; the rigger gives system 0 a five."""
    rng = np.random.default_rng(seed)
    truth = 3 + np.linspace(-0.5, 0.5, SYSTEMS) + rng.normal(0, 0.7, (contexts, SYSTEMS))
    chosen = np.argsort(rng.random((contexts, people)), axis=1)[:, :k]
    context, person = (x.ravel() for x in np.broadcast_arrays(np.arange(contexts)[:, None], chosen))
    system, context, person = np.tile(np.arange(SYSTEMS), len(context)), np.repeat(context, SYSTEMS), np.repeat(person, SYSTEMS)
    value = np.clip(np.rint(truth[context, system] + rng.normal(0, 0.7, len(context))), 1, 5)
    value = np.where((person == rigger) & (system == 0), 5, value)
    by_person = [games_from_scores(*(x[person == p] for x in (system, context, person, value))) for p in range(people)]
    games = Games(*(np.concatenate([getattr(g, f) for g in by_person]) for f in ("first", "second", "outcome", "context")))
    return games, np.repeat(np.arange(people), [len(g) for g in by_person])


def test_who_pushes_a_system_is_found():
    games, annotator = played(1, rigger=2)
    first, second, *_ = influences(SYSTEMS, games, annotator)
    assert (first.annotator, first.is_flagged) == (2, True)
    assert np.argmax(first.push) == 0 and first.push[0] > first.usual
    assert first.rank_without[0] == 5  # the weakest by construction
    assert first.push[0] > 2 * max(np.abs(second.push))


def test_honest_annotators_hardly_ever_raise_the_alarm():
    alarms = [influences(SYSTEMS, *played(seed), draws=199)[0].is_flagged for seed in range(20)]
    assert np.mean(alarms) <= 0.1


def test_a_push_is_the_rating_with_less_the_rating_without():
    games, annotator = played(3)
    full = standings(SYSTEMS, games).rating
    for found in influences(SYSTEMS, games, annotator, draws=9):
        without = standings(SYSTEMS, games.take(annotator != found.annotator)).rating
        assert found.push == pytest.approx(full - without, abs=1e-4)
        assert found.rank_without == ranks(without).tolist()
        assert found.games == (annotator == found.annotator).sum()


def test_the_order_is_that_of_bradley_terry():
    games, _ = played(4)
    met, score, _ = scores(SYSTEMS, games)
    assert ranks(ratings(SYSTEMS, games)).tolist() == ranks(bradley_terry.fit(met, score).rating).tolist()


def test_whoever_judged_alone_has_nobody_to_stand_in():
    (alone,) = influences(2, Games([0, 0], [1, 1], [1, 0], [0, 1]), [0, 0])
    assert (alone.p, alone.p_corrected, alone.is_flagged, alone.rank_without) == (None, None, False, [1, 1])


def test_no_games_and_equal_ratings():
    assert influences(3, Games([], [], [], []), []) == []
    assert ratings(3, Games([], [], [], [])).tolist() == [1500.0] * 3
    assert ranks([1500.0, 1600.0, 1500.0]).tolist() == [2, 1, 2]
