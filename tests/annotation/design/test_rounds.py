"""Round robins: every system and every pair equally often, wherever they are cut off."""

from collections import Counter
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.design.rounds import ring, rounds

systems = st.integers(2, 25)


def spread(counts: Counter, keys) -> int:
    found = [counts[key] for key in keys]
    return max(found) - min(found)


def unordered(pairs):
    return [tuple(sorted(pair)) for pair in pairs]


@given(systems)
def test_every_pair_meets_exactly_once(n):
    assert sorted(unordered(chain(*rounds(n)))) == sorted(combinations(range(n), 2))


@given(systems)
def test_each_round_is_as_many_games_for_everyone(n):
    for played in rounds(n):
        assert set(Counter(chain(*played)).values()) == {1 if n % 2 == 0 else 2}


@given(systems, st.data())
def test_cut_off_anywhere_nobody_has_played_two_more_than_another(n, data):
    games = list(chain(*rounds(n))) * 2
    cut = data.draw(st.integers(0, len(games)))
    assert spread(Counter(chain(*games[:cut])), range(n)) <= 1


@given(st.integers(3, 25), st.integers(1, 60))
def test_a_ring_gives_everyone_two_others_and_keeps_pairs_within_one(n, contexts):
    pairs = Counter()
    for context in range(contexts):
        met = unordered(ring(n, context))
        assert len(set(met)) == len(met) == n
        assert set(Counter(chain(*met)).values()) == {2}
        pairs.update(met)
    assert spread(pairs, combinations(range(n), 2)) <= 1


def test_walecki_on_five():
    # By hand: the fixed point 4, then the zigzag k, k+1, k-1, k+2 modulo 4, closed: 4-0-1-3-2 and 4-1-2-0-3.
    cycles = [set(unordered(played)) for played in rounds(5)]
    assert cycles == [{(0, 4), (0, 1), (1, 3), (2, 3), (2, 4)}, {(1, 4), (1, 2), (0, 2), (0, 3), (3, 4)}]


@pytest.mark.parametrize("n", [0, 1])
def test_one_system_meets_nobody(n):
    assert rounds(n) == [] and ring(n, 3) == []
