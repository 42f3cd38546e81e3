"""The tables of docs/results/validity.md, each between two marks."""

import math
from collections import Counter
from collections.abc import Sequence

from benchmarks.results import between
from benchmarks.validity.claims import Claim, Row

MARGINS_FROM = 12  # scenarios, that are looked at together as well


def table(claim: Claim, rows: Sequence[Row]) -> str:
    """Markdown."""
    if not rows:
        return "Not measured yet."
    beside = list(rows[0].figure.beside)
    lines = [_line(["scenario", "N", "figure", "SE", *beside, "holds"]), "|---|" + "---:|" * (3 + len(beside)) + "---|"]
    lines += [
        _line([r.scenario, r.n, *_shown(claim, r.figure.value, r.figure.se), *r.figure.beside.values(), r.holds]) for r in rows
    ]
    return "\n\n".join(filter(None, [summary(claim, rows), margins(claim, rows), "\n".join(lines)]))


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _shown(claim: Claim, value: float, se: float) -> tuple[str, str]:
    return (f"{value:.1%}", f"{se:.1%}") if claim.share else (f"{value:+.3f}", f"{se:.3f}")


def summary(claim: Claim, rows: Sequence[Row]) -> str:
    """How many scenarios keep the promise, and the mean over all simulations."""
    count = {verdict: sum(row.holds == verdict for row in rows) for verdict in ("yes", "unsure", "no")}
    n, figure, error = _pooled(claim, rows)
    return (
        f"Holds in {count['yes']} of {len(rows)} scenarios, is unsure in {count['unsure']}, fails in {count['no']}. "
        f"Over all {n:,} simulations: {figure} (SE {error})."
    )


def margins(claim: Claim, rows: Sequence[Row]) -> str:
    """The mean over all scenarios whose names have a part in common; empty where there are few scenarios."""
    parts = Counter(part for row in rows for part in row.scenario.split(", "))
    common = [part for part, number in parts.items() if 1 < number < len(rows)]
    if len(rows) < MARGINS_FROM or not common:
        return ""
    lines = [[part, *_pooled(claim, [row for row in rows if part in row.scenario.split(", ")])] for part in common]
    return "\n".join([_line(["all scenarios with", "N", "figure", "SE"]), "|---|---:|---:|---:|", *map(_line, lines)])


def _pooled(claim: Claim, rows: Sequence[Row]) -> tuple[int, str, str]:
    """(N, mean, standard error), each scenario by its number of simulations"""
    n = sum(row.n for row in rows)
    value = sum(row.n * row.figure.value for row in rows) / n
    return n, *_shown(claim, value, math.sqrt(sum((row.n * row.figure.se) ** 2 for row in rows)) / n)


def replaced(document: str, name: str, text: str) -> str:
    """The document with this text between the marks of this name. Raises ValueError where there are none."""
    return between(document, f"validity: {name}", text)
