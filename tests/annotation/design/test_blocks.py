"""Which systems are ranked together: balance by hand, and of known designs."""

from collections import Counter
from itertools import combinations

import pytest

from annotation.design.blocks import blocks, dealt, most_on_a_context
from annotation.design.draw import Design, draw
from annotation.design.plan import Protocol, plan


def meetings(made: list[tuple[int, ...]], n: int) -> list[int]:
    met = Counter(pair for block in made for pair in combinations(block, 2))
    return [met[pair] for pair in combinations(range(n), 2)]


def test_seven_systems_three_at_a_time_are_the_fano_plane():
    """Moved round by hand from {0, 1, 3}: 013 124 235 346 045 156 026; each two meet once."""
    by_hand = {(0, 1, 3), (1, 2, 4), (2, 3, 5), (3, 4, 6), (0, 4, 5), (1, 5, 6), (0, 2, 6)}
    assert set(blocks(7, 3, 7)) == by_hand and meetings(blocks(7, 3, 7), 7) == [1] * 21


# (v, k, lambda) of cyclic designs with v blocks: Colbourn & Dinitz, Handbook of Combinatorial Designs, II.18, difference sets
@pytest.mark.parametrize("n, size, times", [(7, 4, 2), (11, 5, 2), (13, 4, 1), (15, 7, 3), (21, 5, 1), (6, 5, 4)])
def test_difference_sets_are_found(n, size, times):
    assert set(meetings(blocks(n, size, n), n)) == {times}


@pytest.mark.parametrize("n, size", [(6, 3), (8, 5), (9, 4), (12, 5), (17, 3)])
def test_without_such_a_design_two_systems_meet_as_often_as_two_others_up_to_one(n, size):
    made = blocks(n, size, n)
    assert max(meetings(made, n)) - min(meetings(made, n)) <= 1
    assert set(Counter(system for block in made for system in block).values()) == {size}


def test_a_part_of_the_blocks_leaves_no_system_far_behind():
    came = Counter(dict.fromkeys(range(11), 0))
    for block in blocks(11, 5, 22):
        came.update(block)
        assert max(came.values()) - min(came.values()) <= 3
    assert set(came.values()) == {10}


def test_no_two_blocks_of_a_context_share_a_pair():
    """Fano: each of two contexts can have all seven."""
    made = dealt(7, 3, ["x", "y"], 14)
    assert len(made) == 14 == 2 * most_on_a_context(7, 3)
    for context in "xy":
        assert max(meetings([block for at, block in made if at == context], 7)) == 1
    assert dealt(5, 7, ["x"], 9) == [("x", (0, 1, 2, 3, 4))]  # all fit: nothing more to ask


OUTPUTS = [(f"c{c:02}", f"s{s}", 0) for c in range(14) for s in range(7)]


def test_a_campaign_draws_one_ranking_for_each_context_in_balance():
    items = draw(OUTPUTS, Design(likert=False, pairwise=True, at_once=3, overlap=2))
    assert len(items) == 14 == len({item.context for item in items}) and {item.places for item in items} == {2}
    number = {f"s{s}": s for s in range(7)}
    assert set(meetings([tuple(number[s] for s in item.cell) for item in items], 7)) == {2}
    assert all(list(item.cell) == sorted(item.cell) for item in items)
    assert items == draw(OUTPUTS, Design(likert=False, pairwise=True, at_once=3, overlap=2))
    assert items != draw(OUTPUTS, Design(seed=1, likert=False, pairwise=True, at_once=3, overlap=2))


def test_a_number_of_rankings_or_all_that_ask_no_pair_twice():
    some = draw(OUTPUTS, Design(likert=False, pairwise=True, at_once=3, pair_design="number", pairs=20))
    assert len(some) == 20 and max(Counter(item.context for item in some).values()) == 2
    assert len(draw(OUTPUTS, Design(likert=False, pairwise=True, at_once=3, pair_design="all"))) == 14 * 7
    of_all = draw(OUTPUTS, Design(likert=False, pairwise=True, at_once=7))
    assert [len(item.cell) for item in of_all] == [7] * 14


def test_contexts_with_fewer_outputs_have_smaller_rankings_or_none():
    outputs = [("a", "s1", 0), ("b", "s1", 0), ("b", "s2", 0), ("c", "s1", 0), ("c", "s2", 0), ("c", "s3", 0)]
    items = draw(outputs, Design(likert=False, pairwise=True, at_once=5))
    assert sorted(item.cell for item in items) == [("s1", "s2"), ("s1", "s2", "s3")]


def test_a_plan_counts_rankings():
    """Seven systems, 14 contexts: 14 rankings by 2 people are 28, not 84 pairs; each two systems meet in 14 x 3 / 21 = 2."""
    protocol = Protocol(7, 14, likert=False, pairwise=True, outputs_at_once=3, overlap=2)
    assert (protocol.pair_items, protocol.contexts_per_pair, plan(protocol).pairs) == (14, 2.0, 28)
