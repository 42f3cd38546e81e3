"""Simulated answers as files have them: of integers, one row an answer. Columns are (answers,)"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

Row = dict[str, Any]


def outputs(campaign: Any, more: str = "") -> Iterator[Row]:
    """Of all its systems on all its contexts."""
    for c in range(campaign.contexts):
        for s in range(campaign.systems):
            alone = {"group": f"c{c:03}"}  # the harness has no texts, by which contexts might be grouped
            text = f"output {s} on {c}{more}"
            yield alone | {"context_id": f"c{c:03}", "context": [f"context {c}"], "system": f"s{s}", "output": text}


def scores(context, system, person, value, aspect: str = "Quality", column: str = "score") -> Iterator[Row]:
    for c, s, a, said in zip(context, system, person, value):
        place = {"context_id": f"c{c:03}", "system": f"s{s}", "annotator": f"a{a:02}"}
        yield place | {"aspect": aspect, column: float(said) if isinstance(said, np.number) else said}


def judgments(context, first, second, person, outcome, beside: Iterable[Row] | None = None) -> Iterator[Row]:
    """outcome: +1 the first is better, 0 a tie, -1; beside: more of each row"""
    for c, i, j, a, said, more in zip(context, first, second, person, outcome, beside or iter(dict, None)):
        place = {"context_id": f"c{c:03}", "context": [f"context {c}"], "annotator": f"a{a:02}"}
        sides = {"system_a": f"s{i}", "output_a": f"output {i} on {c}", "system_b": f"s{j}", "output_b": f"output {j} on {c}"}
        yield place | sides | {"choice": {1: "A", 0: "tie", -1: "B"}[int(said)]} | more
