"""A drawn design: balanced, and the same whenever it is drawn."""

import random
from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.design.draw import Design, draw
from annotation.design.sides import orient


def corpus(systems, contexts):
    return [(f"c{c}", f"s{s}", 0) for c in range(contexts) for s in range(systems)]


def spread(counts: Counter, keys) -> int:
    found = [counts[key] for key in keys]
    return max(found) - min(found)


def names(systems):
    return [f"s{s}" for s in range(systems)]


designs = st.builds(
    Design,
    seed=st.integers(0, 9),
    likert=st.just(False),
    pairwise=st.just(True),
    pair_design=st.sampled_from(["ring", "all", "number"]),
    pairs=st.integers(1, 150),
    overlap=st.integers(1, 5),
    overlap_percent=st.integers(0, 100),
)


@given(st.integers(2, 8), st.integers(1, 20), designs)
def test_systems_pairs_and_sides_come_equally_often(systems, contexts, design):
    items = draw(corpus(systems, contexts), design)
    shown, left, right = Counter(), Counter(), Counter()
    pair_left = Counter()
    for item in items:
        shown.update(item.cell)
        for place in range(item.places):
            on_left, on_right = (item.b, item.a) if item.swapped ^ (place % 2 == 1) else (item.a, item.b)
            left[on_left] += 1
            right[on_right] += 1
            pair_left[item.cell] += 1 if on_left == item.a else -1
    assert spread(shown, names(systems)) <= 1
    assert spread(Counter(item.cell for item in items), combinations(names(systems), 2)) <= 1
    assert all(abs(left[s] - right[s]) <= 1 for s in names(systems))
    assert all(abs(difference) <= 1 for difference in pair_left.values())
    assert len({(item.context, item.cell) for item in items}) == len(items)


@pytest.mark.parametrize(
    ("design", "number"),
    [("ring", 12 * 5), ("all", 12 * 10), ("number", 50)],  # 5 systems on 12 contexts: 5 pairs a ring, 10 in all
)
def test_each_design_has_its_number_of_pairs(design, number):
    assert len(draw(corpus(5, 12), Design(likert=False, pairwise=True, pair_design=design, pairs=50))) == number


def test_a_number_beyond_all_pairs_is_all_pairs():
    assert len(draw(corpus(3, 4), Design(likert=False, pairwise=True, pair_design="number", pairs=99))) == 12


def test_a_drawn_number_spreads_over_the_contexts():
    items = draw(corpus(5, 12), Design(likert=False, pairwise=True, pair_design="number", pairs=50))
    assert spread(Counter(item.context for item in items), [f"c{c}" for c in range(12)]) <= 1


@given(st.integers(1, 8), st.integers(1, 20), st.integers(0, 100), st.integers(2, 5))
def test_the_overlap_is_that_share_of_each_system_alike(systems, contexts, percent, k):
    items = draw(corpus(systems, contexts), Design(overlap=k, overlap_percent=percent))
    shared = Counter(item.a for item in items if item.places == k)
    assert shared.total() == round(systems * contexts * percent / 100)
    assert spread(shared, names(systems)) <= 1
    assert {item.places for item in items} <= {1, k}


@given(st.integers(2, 8), st.integers(2, 20), st.integers(0, 9))
def test_the_same_corpus_and_seed_give_the_same_design_in_any_order(systems, contexts, seed):
    outputs, design = corpus(systems, contexts), Design(seed=seed, pairwise=True)
    shuffled = random.Random(seed).sample(outputs, len(outputs))
    assert draw(outputs, design) == draw(shuffled, design)


def test_another_seed_gives_another_order():
    assert draw(corpus(4, 9), Design(seed=1)) != draw(corpus(4, 9), Design(seed=2))


def test_file_order_is_kept_where_it_is_asked_for():
    outputs = [(f"c{c}", f"s{s}", 0) for c in (3, 1, 2) for s in (1, 0)]
    assert [(i.context, i.a) for i in draw(outputs, Design(in_file_order=True))] == [(c, s) for c, s, _ in outputs]


def test_neighbours_differ_in_context_and_system():
    items = draw(corpus(5, 40), Design())
    alike = sum(one.context == next_.context or one.a == next_.a for one, next_ in pairwise(items))
    assert alike < len(items) / 4  # at random: 1/5 have the same system, and 1/40 the same context


def test_systems_missing_on_some_contexts_leave_each_group_balanced():
    outputs = corpus(4, 12) + [(f"d{c}", f"s{s}", 0) for c in range(12) for s in range(2)]
    items = draw(outputs, Design(likert=False, pairwise=True))
    full = [item for item in items if item.context.startswith("c")]
    assert spread(Counter(item.cell for item in full), combinations(names(4), 2)) <= 1
    assert {item.cell for item in items if item.context.startswith("d")} == {("s0", "s1")}


def test_what_is_there_already_is_left_out():
    outputs = corpus(3, 4)
    items = draw(outputs, Design(pairwise=True), scored={("c0", "s0", 0)}, paired={"c1"})
    assert ("c0", ("s0",)) not in {(item.context, item.cell) for item in items}
    assert all(item.b is None for item in items if item.context == "c1")
    assert len(items) == 11 + 9


def test_samples_are_scored_but_only_the_first_is_paired():
    outputs = [("c", "a", 0), ("c", "a", 1), ("c", "b", 0)]
    items = draw(outputs, Design(pairwise=True))
    assert sorted((i.a, i.b, i.sample) for i in items if i.b is None) == [("a", None, 0), ("a", None, 1), ("b", None, 0)]
    assert [(i.a, i.b, i.sample) for i in items if i.b] == [("a", "b", 0)]


def test_an_empty_corpus_draws_nothing():
    assert draw([], Design(pairwise=True)) == []


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda e: e[0] != e[1]), max_size=40))
def test_orienting_leaves_at_every_vertex_as_many_edges_out_as_in_up_to_one(edges):
    balance = Counter()
    for (a, b), reverse in zip(edges, orient(edges)):
        balance[b if reverse else a] += 1
        balance[a if reverse else b] -= 1
    assert all(abs(difference) <= 1 for difference in balance.values())
