from itertools import combinations

import numpy as np
import pytest

from leaderboard.rating.rankings.from_pairs import rankings_from_pairs


def read(pairs, systems=8):
    """pairs: (first, second, outcome, sheet); {judgment: ({output: rank from 0}, is open)}"""
    found = rankings_from_pairs(*np.array(pairs).T, np.arange(systems) % 7)
    sheets = {}
    for number, judgment in enumerate(found.judgment.tolist()):
        rows = found.ranking == number
        ranks = np.unique(found.rank[rows], return_inverse=True)[1].tolist()
        sheets[judgment] = dict(zip(found.output[rows].tolist(), ranks, strict=True)), bool(found.is_open[number])
    return sheets


def exploded(rank, sheet=0, without=()):
    """All pairs of a ranking {output: rank}."""
    pairs = [pair for pair in combinations(rank, 2) if set(pair) not in without]
    return [(a, b, int(np.sign(rank[b] - rank[a])), sheet) for a, b in pairs]


@pytest.mark.parametrize(
    "rank", [{0: 0, 1: 1}, {3: 0, 1: 1, 2: 1}, {4: 2, 1: 0, 2: 1, 5: 1, 0: 3}, {0: 0, 1: 0, 2: 0}], ids=str
)
def test_a_ranking_comes_back_from_its_pairs(rank):
    turned = [(b, a, -outcome, sheet) for a, b, outcome, sheet in exploded(rank)]
    assert read(exploded(rank)) == {0: (rank, False)}
    assert read(turned) == {0: (rank, False)}


def test_the_best_and_the_worst_leave_the_others_open():
    rank = {2: 0, 4: 1, 1: 1, 0: 1, 3: 2}
    assert read(exploded(rank, without=({4, 1}, {4, 0}, {1, 0}))) == {0: (rank, True)}


def test_several_rankings_and_pairs_alone():
    pairs = [*exploded({0: 0, 1: 1, 2: 2}, 0), (0, 1, 0, -1), *exploded({0: 1, 1: 0}, 5), (2, 1, 1, -1)]
    assert read(pairs) == {
        0: ({0: 0, 1: 1, 2: 2}, False),
        3: ({0: 0, 1: 0}, False),
        4: ({0: 1, 1: 0}, False),
        5: ({2: 0, 1: 1}, False),
    }


@pytest.mark.parametrize(
    "pairs",
    [
        [(0, 1, 1, 0), (1, 2, 1, 0), (2, 0, 1, 0)],  # a circle, after somebody changed an answer
        [(0, 1, 1, 0), (1, 2, 1, 0)],  # a pair is missing that has an order
        [(0, 1, 0, 0), (1, 2, 1, 0)],  # what is tied, and what was not asked
        [(0, 1, 1, 0), (0, 7, 1, 0), (1, 7, 1, 0)],  # 0 and 7 are of one system
    ],
    ids=["circle", "missing", "tied", "one system"],
)
def test_what_is_no_order_is_its_pairs(pairs):
    expected = {
        row: ({a: 0, b: 1 - abs(outcome) and 0} if not outcome else {a: 0, b: 1}, False)
        for row, (a, b, outcome, _) in enumerate(pairs)
    }
    assert read(pairs) == expected
