"""What judging a checkpoint takes: from the judge's earlier evaluations where there are any, else a figure that was measured
elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.selection.rules import Rules, amount, asked_of

OUTPUTS = 1000
NEWEST = 10  # earlier evaluations that count
FAR = 10**6  # a checkpoint with all those before it that a judge of pairs is asked about
# Seconds for OUTPUTS: two threads on a quiet machine with two cores, the installed encoder; common words, and made-up ones
# (benchmarks.selection.evaluation_cost of commit bd7988cb, docs/judges/training-runs.md).
REFERENCES = {"utility": (3.5, 11.7), "joint": (37.0, 56.0)}
MACHINE = "measured elsewhere, with the installed encoder and two threads on a quiet machine"


@dataclass(frozen=True)
class Cost:
    """low, high: seconds for OUTPUTS, None where nobody knows. evaluations: from how many here; 0: elsewhere."""

    low: float | None
    high: float | None
    evaluations: int

    @property
    def said(self) -> str:
        if self.low is None or self.high is None:
            return f"What {OUTPUTS:,} outputs of a checkpoint take with it is not known before it has judged some here."
        ends = [_shown(self.low), _shown(self.high)]
        took = amount(ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}", "second")
        source = f"by its newest {amount(f'{self.evaluations}', 'evaluation')} here" if self.evaluations else MACHINE
        return f"{OUTPUTS:,} outputs of a checkpoint take {took} with it ({source})."


def cost(earlier: Sequence[tuple[int, float]], reads_pairs: bool, architecture: str = "", rules: Rules | None = None) -> Cost:
    """earlier: (outputs or pairs, seconds) of evaluations, the newest first, without runs' first ones, which load what others
    find; architecture: a comparator's."""
    reads = OUTPUTS * (len(asked_of(FAR, rules or Rules(), best=FAR // 2)) if reads_pairs else 1)
    took = [seconds * reads / count for count, seconds in earlier if count][:NEWEST]
    if took:
        return Cost(min(took), max(took), len(took))
    low, high = REFERENCES.get(architecture, (None, None))
    return Cost(low, high, 0)


def _shown(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.1f}".removesuffix(".0")
