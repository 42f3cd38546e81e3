"""Drawing a design: from the outputs of a corpus to the items that people are to judge, in balance and in order.

A pure function of the outputs' names, the settings and the seed: no primary key, no clock, no global random state.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from math import lcm

from annotation.design.blocks import dealt, most_on_a_context
from annotation.design.rounds import ring, rounds
from annotation.design.sides import starts_swapped

Output = tuple[str, str, int]  # context, system, sample


@dataclass(frozen=True)
class Design:
    """What a campaign asks for. pair_design: "ring", "all" or "number"; pairs: how many, for "number" (None: all). at_once: how
    many outputs are compared at a time; where there are more than two, "ring" is one ranking on each context, "all" as many as
    have no pair of outputs in common."""

    seed: int = 0
    likert: bool = True
    pairwise: bool = False
    pair_design: str = "ring"
    pairs: int | None = None
    at_once: int = 2
    overlap: int = 3
    overlap_percent: int = 100
    in_file_order: bool = False


@dataclass(frozen=True)
class DrawnItem:
    """One output to score (`b` empty), a pair of them, or several. They are in the order of their names.

    further: the third and those that follow it. places: how many people are to judge it. swapped: the first of them sees b on
    the left, or before a among several; sides alternate from there.
    """

    context: str
    a: str
    b: str | None = None
    sample: int = 0
    places: int = 1
    swapped: bool = False
    further: tuple[str, ...] = ()

    @property
    def cell(self) -> tuple[str, ...]:
        """The system, or the systems, that it is about."""
        return (self.a,) if self.b is None else (self.a, self.b, *self.further)


def draw(
    outputs: Sequence[Output], design: Design, scored: Container[Output] = (), paired: Container[str] = ()
) -> list[DrawnItem]:
    """The items for these outputs (context, system, sample), in the order in which they are handed out.

    Scores: one item for each output. Pairs, and rankings of several: of the outputs with sample 0. `overlap_percent` of the
    items, equally many of each system or set of systems, get `overlap` places, the rest one. What is there already is left
    out: outputs that are `scored`, and contexts that are `paired`.
    """
    items = []
    if design.likert:
        items += [DrawnItem(context, system, sample=n) for context, system, n in outputs if (context, system, n) not in scored]
    if design.pairwise:
        players: dict[str, list[str]] = defaultdict(list)
        for context, system, sample in outputs:
            if sample == 0 and context not in paired:
                players[context].append(system)
        for context, together in (_several if design.at_once > 2 else _pairs)(players, design):
            a, b, *further = sorted(together)
            items.append(DrawnItem(context, a, b, further=tuple(further)))
    if design.in_file_order:
        rank = {context: number for number, context in enumerate(dict.fromkeys(context for context, _, _ in outputs))}
        items.sort(key=lambda item: rank[item.context])
    else:
        items = _in_rotation(items, design.seed)
    return _with_sides(_with_places(items, design))


def mix(seed: int, *names: object) -> str:
    """A seeded key to order by: looks random, and is the same on every machine."""
    return hashlib.sha256("\x1f".join(map(str, (seed, *names))).encode()).hexdigest()


def _pairs(systems: dict[str, list[str]], design: Design) -> Iterable[tuple[str, tuple[str, str]]]:
    """(context, pair of systems), contexts that have the same systems together: balance needs a common round robin."""
    groups = _groups(systems, design.seed)
    wanted = _shares(design, groups, lambda n: n * (n - 1) // 2)
    for players, contexts in groups.items():
        n = len(players)
        if design.pair_design == "number":
            meetings = _numbered(n, contexts, wanted[players])
        elif design.pair_design == "all":
            meetings = [(context, pair) for context in contexts for round_ in rounds(n) for pair in round_]
        else:
            meetings = [(context, pair) for number, context in enumerate(contexts) for pair in ring(n, number)]
        for context, (i, j) in meetings:
            yield context, (players[i], players[j])


def _several(systems: dict[str, list[str]], design: Design) -> Iterable[tuple[str, tuple[str, ...]]]:
    """(context, systems that are ranked together there); all of a context's where they fit."""
    groups = _groups(systems, design.seed)

    def on_each(n: int) -> int:
        return most_on_a_context(n, design.at_once) if n > 1 else 0

    shares = _shares(design, groups, on_each)
    for players, contexts in groups.items():
        n = len(players)
        on_all = len(contexts) * (on_each(n) if design.pair_design == "all" else min(on_each(n), 1))
        wanted = shares[players] if design.pair_design == "number" else on_all
        for context, block in dealt(n, design.at_once, contexts, wanted):
            yield context, tuple(players[number] for number in block)


def _groups(systems: dict[str, list[str]], seed: int) -> dict[tuple[str, ...], list[str]]:
    """The contexts that have the same systems; both in an order of their own."""
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for context in sorted(systems, key=lambda context: mix(seed, "context", context)):
        players = tuple(sorted(set(systems[context]), key=lambda system: mix(seed, "system", system)))
        groups[players].append(context)
    return groups


def _shares(
    design: Design, groups: dict[tuple[str, ...], list[str]], on_each: Callable[[int], int]
) -> dict[tuple[str, ...], int]:
    """How many pairs each group of contexts gives: in proportion to what it has, by largest remainders. on_each: how many a
    context has of so many systems."""
    has = {players: len(contexts) * on_each(len(players)) for players, contexts in groups.items()}
    total = sum(has.values())
    wanted = total if design.pairs is None else min(design.pairs, total)
    share = {players: wanted * count // total if total else 0 for players, count in has.items()}
    behind = sorted(share, key=lambda players: -(wanted * has[players] % total if total else 0))
    for players in behind[: wanted - sum(share.values())]:
        share[players] += 1
    return share


def _numbered(n: int, contexts: list[str], wanted: int) -> list[tuple[str, tuple[int, int]]]:
    """The first `wanted` of all (context, pair), along the diagonals of the table: contexts, pairs and systems each
    come equally often up to one, and no pair twice on a context."""
    order = [pair for round_ in rounds(n) for pair in round_]
    if not order:
        return []
    wrap = lcm(len(order), len(contexts))
    return [(contexts[(t + t // wrap) % len(contexts)], order[t % len(order)]) for t in range(wanted)]


def _in_rotation(items: list[DrawnItem], seed: int) -> list[DrawnItem]:
    """Each system (or pair of systems) walks through the contexts in one seeded order, each a step ahead of the next:
    neighbours differ in both, and a campaign that stops early has judged all systems on nearly the same contexts."""
    cells: dict[tuple[str, ...], list[DrawnItem]] = defaultdict(list)
    for item in sorted(items, key=lambda item: (mix(seed, "context", item.context), item.context, item.sample)):
        cells[item.cell].append(item)
    keyed = []
    for step, cell in enumerate(sorted(cells, key=lambda cell: mix(seed, "cell", *cell))):
        walk = cells[cell]
        start = step % len(walk)
        for rank, item in enumerate(walk[start:] + walk[:start]):
            keyed.append(((rank + 0.5) / len(walk), mix(seed, "place", *item.cell, item.context, item.sample), item))
    return [item for _, _, item in sorted(keyed, key=lambda entry: entry[:2])]


def _with_places(items: list[DrawnItem], design: Design) -> list[DrawnItem]:
    """The share that gets the overlap is split over the cells alike (up to one), and lies evenly along each cell's walk."""
    cells: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, item in enumerate(items):
        cells[item.cell].append(index)
    shared = round(len(items) * design.overlap_percent / 100)
    order = sorted((rank, mix(design.seed, "overlap", *cell), cell) for cell in cells for rank in range(len(cells[cell])))
    wanted = Counter(cell for _, _, cell in order[:shared])
    places = [1] * len(items)
    for cell, walk in cells.items():
        for rank, index in enumerate(walk):
            if (rank + 1) * wanted[cell] // len(walk) > rank * wanted[cell] // len(walk):
                places[index] = design.overlap
    return [replace(item, places=number) for item, number in zip(items, places)]


def _with_sides(items: list[DrawnItem]) -> list[DrawnItem]:
    """Sides alternate among an item's people, so only an odd number of them leaves one side over: that one is balanced."""
    odd = [index for index, item in enumerate(items) if item.b is not None and item.places % 2]
    even = [index for index, item in enumerate(items) if item.b is not None and item.places % 2 == 0]
    items = list(items)
    for indices in (odd, even):
        for index, swapped in zip(indices, starts_swapped([(items[i].a, items[i].b) for i in indices])):
            items[index] = replace(items[index], swapped=swapped)
    return items
