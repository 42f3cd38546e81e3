import numpy as np
import pytest

from annotation.quality.people.influence import _by_context, _opinions, influences, ranks, ratings
from leaderboard.rating import bradley_terry
from leaderboard.rating.games import Games
from leaderboard.rating.games_from_answers import games_from_scores
from leaderboard.rating.pair_counts import scores
from leaderboard.rating.rules import standings

SYSTEMS = 5
FIELDS = "first", "second", "outcome", "context"


def played(seed, rigger=None, people=6, contexts=40, k=3, taste=0.0):
    """(games, annotator of each): k of the people score every system on each context; the rigger gives system 0 a five."""
    rng = np.random.default_rng(seed)
    truth = 3 + np.linspace(-0.5, 0.5, SYSTEMS) + rng.normal(0, 0.7, (contexts, SYSTEMS))
    chosen = np.argsort(rng.random((contexts, people)), axis=1)[:, :k]
    context, person = (x.ravel() for x in np.broadcast_arrays(np.arange(contexts)[:, None], chosen))
    system, context, person = np.tile(np.arange(SYSTEMS), len(context)), np.repeat(context, SYSTEMS), np.repeat(person, SYSTEMS)
    noise, tastes = rng.normal(0, 0.7, len(context)), rng.normal(0, taste, (people, SYSTEMS))
    value = np.clip(np.rint(truth[context, system] + tastes[person, system] + noise), 1, 5)
    value = np.where((person == rigger) & (system == 0), 5, value)
    by_person = [games_from_scores(*(x[person == p] for x in (system, context, person, value))) for p in range(people)]
    games = Games(*(np.concatenate([getattr(g, f) for g in by_person]) for f in FIELDS))
    return games, np.repeat(np.arange(people), [len(g) for g in by_person])


def test_who_pushes_a_system_is_found():
    for seed in range(5):
        games, annotator = played(seed, rigger=2)
        first, second, *_ = influences(SYSTEMS, games, annotator)
        assert (first.annotator, first.is_flagged, second.is_flagged) == (2, True, False)
        assert np.argmax(first.push) == 0 and first.spreads > 2 * second.spreads
        assert first.push[0] > 2 * max(np.abs(second.push))
    assert influences(SYSTEMS, *played(1, rigger=2))[0].rank_without[0] == 5  # the weakest by construction


@pytest.mark.parametrize("taste", [0.0, 0.3, 0.6])
def test_honest_annotators_hardly_ever_raise_the_alarm(taste):
    alarms = [influences(SYSTEMS, *played(seed, taste=taste))[0].is_flagged for seed in range(20)]
    assert np.mean(alarms) <= 0.05  # one of 20


def test_two_riggers_do_not_hide_each_other():
    games, annotator = played(0, rigger=2, people=10, contexts=100)
    others, whose = played(1, rigger=2, people=10, contexts=100)  # the second rigger pushes the same system elsewhere
    kept, theirs = annotator != 3, whose == 2
    both = Games(*(np.concatenate([getattr(games, f)[kept], getattr(others, f)[theirs]]) for f in FIELDS))
    rows = influences(SYSTEMS, both, np.concatenate([annotator[kept], np.full(theirs.sum(), 3)]))
    assert {row.annotator for row in rows if row.is_flagged} == {2, 3}


def test_opinions_are_the_ratings_moved_in_the_first_order():
    # All games 200 times and an annotator's once more: the ratings move by that small part of the opinion.
    games, annotator = played(3)
    contexts = games.context.max() + 1
    blocks, block = np.unique(annotator * contexts + games.context, return_inverse=True)
    met, score = _by_context(SYSTEMS, Games(games.first, games.second, games.outcome, block))
    rating = np.asarray(bradley_terry.fit(*scores(SYSTEMS, games)[:2]).rating)
    opinion, _ = _opinions(rating, met, score, blocks // contexts)
    for person in range(annotator.max() + 1):
        own = np.flatnonzero(annotator == person)
        more = games.take(np.concatenate([np.tile(np.arange(len(games)), 200), own]))
        moved = np.asarray(bradley_terry.fit(*scores(SYSTEMS, more)[:2]).rating) - rating
        assert 200 * moved * len(games) / len(own) == pytest.approx(opinion[person], rel=0.05, abs=2)


def test_a_push_is_the_rating_with_less_the_rating_without():
    games, annotator = played(3)
    full = standings(SYSTEMS, games).rating
    for found in influences(SYSTEMS, games, annotator):
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
