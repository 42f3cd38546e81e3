"""Several outputs in order, and what an order says of each two of them."""

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

MOST = 7


def name_of(systems: Iterable[str]) -> str:
    """What a ranking of these is called, where nobody named it: a person ranks a set of outputs of a context once."""
    return hashlib.sha256("\n".join(sorted(systems)).encode()).hexdigest()[:8]


def judged_pairs(ranks: Sequence[int], is_open: bool = False) -> Iterator[tuple[int, int, str]]:
    """(i, j, choice), i < j, of outputs with these ranks, 1 the best. choice: A where i is better, B where j is, else tie.
    is_open: nothing is known of those that share a rank, so that no pair of them is given."""
    for i, j in combinations(range(len(ranks)), 2):
        if ranks[i] != ranks[j]:
            yield i, j, "A" if ranks[i] < ranks[j] else "B"
        elif not is_open:
            yield i, j, "tie"


def shown_order(n: int, seed: str, turn: int, is_swapped: bool) -> str:
    """The places of n outputs, from 0, the first shown first, for the item's person number `turn`, from 0. One order is drawn
    for the item; every second turn moves it on by one place, so that an output stands everywhere; and it is turned round where
    that puts the item's second output before its first, as `is_swapped` says. So each two stand in both orders."""
    order = list(range(n))
    random.Random(seed).shuffle(order)
    by = turn // 2 % n
    order = order[by:] + order[:by]
    if (order.index(1) < order.index(0)) != is_swapped:
        order.reverse()
    return "".join(map(str, order))
