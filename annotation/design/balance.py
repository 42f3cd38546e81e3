"""Which system, or pair of systems, somebody should judge next so that they see every system equally often."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Cell = tuple[str, ...]  # (system,) to score or (system, system) to compare


@dataclass(frozen=True)
class Ranked:
    """excess: by how much, after one more item of this cell, the systems' counts would differ beyond one."""

    cell: Cell
    excess: int


def ranked(cells: Iterable[Cell], judged: Mapping[Cell, int], seed: str) -> list[Ranked]:
    """The cells, the one to judge next first.

    First those that keep the counts of this person's systems within one of each other (scores and pairs counted
    apart), of these the kind judged less so far, then the systems judged least; the rest is drawn from the seed.
    """
    cells = sorted(cells)
    random.Random(seed).shuffle(cells)
    counts: dict[int, Counter[str]] = {len(cell): Counter() for cell in cells}
    for cell in cells:
        counts[len(cell)].update(dict.fromkeys(cell, judged.get(cell, 0)))
    spreads = {kind: _Spread(count) for kind, count in counts.items()}
    of_kind: Counter[int] = Counter()
    for cell in cells:
        of_kind[len(cell)] += judged.get(cell, 0)

    def key(entry: Ranked) -> tuple[int, int, int]:
        kind = len(entry.cell)
        return entry.excess, of_kind[kind], sum(counts[kind][system] for system in entry.cell)

    return sorted((Ranked(cell, spreads[len(cell)].excess(cell)) for cell in cells), key=key)


class _Spread:
    def __init__(self, counts: Counter[str]):
        self.counts = counts
        self.least, self.most = min(counts.values()), max(counts.values())
        self.at_least = sum(count == self.least for count in counts.values())

    def excess(self, cell: Cell) -> int:
        after = [self.counts[system] + 1 for system in cell]
        raised = sum(count == self.least + 1 for count in after)
        least = self.least + (raised == self.at_least)
        return max(0, max(self.most, *after) - least - 1)
