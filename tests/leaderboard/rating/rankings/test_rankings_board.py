import numpy as np
import pytest

from leaderboard.rating.people_board import board_from_pairs
from leaderboard.rating.rankings.board import board_from_rankings, read_rankings


def drawn(seed=0, systems=5, block=4, contexts=30, people=10, each=2):
    """(ranking, system, rank), each (places,), and (context, annotator), each (rankings,)"""
    rng = np.random.default_rng(seed)
    context = np.repeat(np.arange(contexts), each)
    person = np.argsort(rng.random((contexts, people)), axis=1)[:, :each].ravel()
    system = np.argsort(rng.random((len(context), systems)), axis=1)[:, :block]
    leaning = rng.normal(0, 0.4, (people, systems))
    seen = 0.4 * system + leaning[person[:, None], system] + rng.gumbel(size=system.shape)
    rank = np.argsort(np.argsort(-seen, axis=1), axis=1)
    return (np.repeat(np.arange(len(context)), block), system.ravel(), rank.ravel()), (context, person)


def test_renamed_systems_people_and_contexts_have_the_same_board():
    (number, system, rank), (context, person) = drawn()
    turn, renamed = np.array([3, 0, 4, 1, 2]), np.random.default_rng(1).permutation(30)
    board = board_from_rankings(5, number, system, rank, context, person)
    other = board_from_rankings(5, number, turn[system], rank, renamed[context], 9 - person)
    for field in ("rating", "low", "high"):
        assert getattr(other, field)[turn] == pytest.approx(getattr(board, field), abs=1e-6)
    assert other.se[np.ix_(turn, turn)] == pytest.approx(board.se, abs=1e-6)
    assert (other.above[np.ix_(turn, turn)] == board.above).all() and board.above.any()


def test_turned_pairs_turn_the_ratings():
    """The best of more than two is not chosen as the worst is, so that this holds of two alone."""
    (number, system, rank), who = drawn(block=2)
    forth, back = (board_from_rankings(5, number, system, sign * rank, *who) for sign in (1, -1))
    assert back.rating - 1500 == pytest.approx(1500 - forth.rating, abs=1e-6)
    assert back.se == pytest.approx(forth.se, abs=1e-6)


def test_the_same_ranking_twice_is_no_more_certain():
    """Of one person on one context: what is copied says nothing new."""
    (number, system, rank), (context, person) = drawn()
    once = board_from_rankings(5, number, system, rank, context, person)
    twice = np.concatenate([number, number + len(context)])
    both = board_from_rankings(5, twice, *(np.tile(part, 2) for part in (system, rank, context, person)))
    assert both.rating == pytest.approx(once.rating, abs=1)  # the prior counts half as much
    off = ~np.eye(5, dtype=bool)
    assert (both.se[off] / once.se[off]).min() > 0.95


def test_rankings_of_two_are_as_sure_as_pairs():
    """By another estimator, the mixed model of pairs: to a tenth."""
    (number, system, rank), (context, person) = drawn(block=2, contexts=80, each=4)
    sides, ranks = system.reshape(-1, 2), rank.reshape(-1, 2)
    pairs = board_from_pairs(5, *sides.T, np.sign(ranks[:, 1] - ranks[:, 0]), context, person)
    board = board_from_rankings(5, number, system, rank, context, person)
    off = ~np.eye(5, dtype=bool)
    assert np.abs(board.difference - pairs.difference).max() < 0.5 * board.se[off].min()
    assert np.median(board.se[off] / pairs.se[off]) == pytest.approx(1, abs=0.1)


def test_contexts_move_the_ratings_by_what_they_say():
    """The infinitesimal jackknife: a context left out, against the whole board without it."""
    (number, system, rank), (context, person) = drawn(contexts=60)
    whole, without = (
        read_rankings(5, number[rows], system[rows], rank[rows], context[kept], person[kept])
        for kept in (context >= 0, context != 7)
        for rows in [kept[number]]
    )
    moved = without.rating - whole.rating
    assert moved == pytest.approx(-whole.by_context[7], abs=0.15 * np.abs(moved).max())


def test_systems_that_never_met_are_not_compared():
    places = [(0, 0, 0), (0, 1, 1), (1, 1, 0), (1, 0, 1), (2, 2, 0), (2, 3, 1), (3, 2, 0), (3, 3, 1)]
    board = board_from_rankings(4, *np.array(places).T, [0, 1, 2, 3], [0, 1, 0, 1])
    assert board.component.tolist() == [0, 0, 1, 1]
    assert np.isinf(board.se[0, 2]) and not board.above.any()
