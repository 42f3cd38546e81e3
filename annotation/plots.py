"""Geometry of the charts that pages share, as plain numbers for SVG: rows of intervals, a scatter, a heat map. The templates
are `includes/dot_plot.html`, `scatter.html` and `heat_map.html`; `js/plots.js` saves what they drew as SVG or PNG."""

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

WIDTH, SIDE, TOP, FOOT = 400, 16, 10, 22
NAMES = 140  # the column of names
# How wide letters of Inter at 12 are at most, as Chromium measures them; the line of a text, and half of it; a dot's half.
WIDTHS = {**dict.fromkeys("ijlI !,.:;'`|", 4.0), **dict.fromkeys('ftr()[]/\\1{}-_"^', 5.7), **dict.fromkeys("mwMW@%…", 12.0)}
EAST_ASIAN, CAPITAL, OTHER = 12.5, 9.2, 8.0
HALF_LINE, HALF_DOT = 8.0, 5.0
ROW = 20  # of a dot plot
WIDE, LEFT, TALL = 560, 44, 320  # of a scatter
COLOURS = 8
LOGARITHMIC = 30  # times the least value of x
MANY = 25  # dots, from which on a scatter has no intervals
CELL, SMALL, FEW = 40, (14, 24), 16  # of a heat map: cells of fewer systems than FEW have numbers, others are small


Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Mark:
    """Something at a value, with its interval if that is known. colour: one of a system's colours, 0 for none; x: where it
    stands in a scatter; note: said of it when it is pointed at."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    colour: int = 0
    x: float = 0.0
    note: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        return (self.value if self.low is None else self.low, self.value if self.high is None else self.high)


def colour(system: int) -> int:
    """Which of the colours a system has, on every page; system: its id."""
    return 1 + system % COLOURS


def figure(value: float) -> str:
    """A number on an axis or in a table: up to six digits."""
    return f"{value:,.6g}"


def round_values(low: float, high: float, most: int = 4) -> list[float]:
    """Round numbers from low to high, at most so many: multiples of 1, 2 or 5 times a power of ten."""
    size = 10.0 ** math.floor(math.log10((high - low) or abs(high) or 1))
    for step in (size * factor for factor in (0.1, 0.2, 0.5, 1, 2, 5)):
        first, last = math.ceil(round(low / step, 9)), math.floor(round(high / step, 9))
        if last - first < most:
            return [round(step * n, 9) for n in range(first, last + 1)] or [low]
    return [low]


def text_width(text: str) -> float:
    """At most so wide is it, in Inter at 12."""
    return sum(WIDTHS.get(letter) or _width(letter) for letter in text)


def _width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "FW":
        return EAST_ASIAN
    return CAPITAL if letter.isupper() else OTHER


def short(name: str, width: float = NAMES) -> str:
    """Cut in its middle to what fits into a column of names: names that begin alike differ at their ends."""
    if text_width(name) <= width:
        return name
    for most in range(len(name) - 1, 2, -1):
        tail = most // 3
        cut = f"{name[: most - tail - 1].rstrip()}…{name[-tail:]}"
        if text_width(cut) <= width:
            break
    return cut


def span(marks: Sequence[Mark]) -> tuple[float, float]:
    """The lowest and the highest end of their intervals."""
    return min(mark.ends[0] for mark in marks), max(mark.ends[1] for mark in marks)


def _axis(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    return lambda value: round(start + (end - start) * (value - low) / ((high - low) or 1), 1)


def _log_axis(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    place = _axis(math.log10(low), math.log10(high), start, end)
    return lambda value: place(math.log10(value))


def round_powers(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers of a logarithmic axis from low to high, which has a power of ten between them: powers of ten, with 3 times
    those where there is room, or each second, third ... of them."""
    first, last = math.ceil(round(math.log10(low), 9)), math.floor(round(math.log10(high), 9))
    powers = [float(f"1e{exponent}") for exponent in range(first, last + 1)]
    values = [float(f"{digit}e{exponent}") for exponent in range(first - 1, last + 1) for digit in (1, 3)]
    with_threes = [value for value in values if low <= value <= high]
    return with_threes if len(with_threes) <= most else powers[:: math.ceil(len(powers) / most)]


def dot_plot(marks: Sequence[Mark], ends: tuple[float, float] | None = None, write=str, width: int = WIDTH) -> dict | None:
    """A row for each mark: its name, its interval and a dot. ends: of the axis; default: of the intervals."""
    if not marks:
        return None
    names = min(NAMES, width // 3)
    low, high = ends or span(marks)
    x = _axis(low, high, names + 8, width - SIDE)
    base = TOP + ROW * len(marks)
    rows = [
        {
            "name": short(mark.name, names),
            "mark": mark,
            "y": TOP + ROW * i + ROW // 2,
            "low": x(max(low, mark.ends[0])),
            "high": x(min(high, mark.ends[1])),
            "at": x(mark.value),
            "said": write(mark.value),
        }
        for i, mark in enumerate(marks)
    ]
    ticks = [(x(value), write(value)) for value in round_values(low, high)]
    return {"width": width, "height": base + FOOT, "base": base, "top": TOP, "rows": rows, "ticks": ticks}


def shares(rows: Sequence[tuple[str, Sequence[int]]], classes: Sequence[str]) -> dict | None:
    """A bar for each row, parted by how often each class was given, from light to dark. rows: (name, a count for each
    class)."""
    there = [(name, counts) for name, counts in rows if sum(counts)]
    if not there:
        return None
    names, base = min(NAMES, WIDTH // 3), TOP + ROW * len(there)
    left, wide = names + 8, WIDTH - names - 8 - 2
    bars = []
    for i, (name, counts) in enumerate(there):
        ends = [0, *accumulate(counts)]
        parts = [
            {
                "x": round(left + wide * start / ends[-1], 1),
                "width": round(wide * n / ends[-1], 1),
                "strength": _strength(k, len(classes)),
                "said": f"{name}: {classes[k]}, {n:,} of {ends[-1]:,} ({n / ends[-1]:.0%})",
            }
            for k, (start, n) in enumerate(zip(ends, counts))
            if n
        ]
        bars.append({"name": short(name, names), "y": TOP + ROW * i, "parts": parts})
    step = wide / len(classes)
    legend = [(round(left + step * k, 1), name, _strength(k, len(classes))) for k, name in enumerate(classes)]
    return {
        "width": WIDTH,
        "height": base + FOOT,
        "base": base,
        "bar": ROW - 4,
        "middle": ROW // 2 + 2,
        "rows": bars,
        "legend": legend,
    }


def _strength(k: int, classes: int) -> float:
    """How opaque the colour of class k is."""
    return round(0.12 + 0.88 * k / max(classes - 1, 1), 2)


def scatter(marks: Sequence[Mark], write=str, write_x=str) -> dict | None:
    """Value by x; a name stands beside its dot where it covers no other. x is logarithmic where it covers more than a factor of
    LOGARITHMIC. None below three."""
    if len(marks) < 3:
        return None
    shown = marks if len(marks) < MANY else [replace(mark, low=None, high=None) for mark in marks]
    (low, high), xs = span(shown), [mark.x for mark in marks]
    is_log = min(xs) > 0 and max(xs) > LOGARITHMIC * min(xs)
    x = (_log_axis if is_log else _axis)(min(xs), max(xs), LEFT + 16, WIDE - SIDE)
    x_values = (round_powers if is_log else round_values)(min(xs), max(xs), 5)
    base = TALL - 2 * FOOT
    y = _axis(low, high, base - 6, TOP + 4)
    dots, taken = [], [_box(x(mark.x) - HALF_DOT, x(mark.x) + HALF_DOT, y(mark.value), HALF_DOT) for mark in marks]
    for mark in marks:
        at = x(mark.x), y(mark.value)
        dot = {"mark": mark, "x": at[0], "y": at[1], "low": y(mark.ends[0]), "high": y(mark.ends[1])}
        dots.append(dot | _label(mark, *at, taken))
    return {
        "width": WIDE,
        "height": TALL,
        "left": LEFT,
        "right": WIDE - SIDE // 2,
        "top": TOP,
        "base": base,
        "middle": (LEFT + WIDE) // 2,
        "dots": dots,
        "has_intervals": len(marks) < MANY,
        "ticks": [(y(value), write(value)) for value in round_values(low, high)],
        "is_log": is_log,
        "x_ticks": [(x(value), write_x(value)) for value in x_values],
    }


def _box(left: float, right: float, middle: float, half: float) -> Box:
    return left, middle - half, right, middle + half


def _label(mark: Mark, x: float, y: float, taken: list[Box]) -> dict[str, Any]:
    """{name, anchor, name_x}: on the right of its dot or on the left, where no name and no dot stands yet; else nothing."""
    name = short(mark.name, 130)
    width = text_width(name)
    for anchor, start in (("start", x + 7), ("end", x - 7 - width)):
        box = _box(start, start + width, y, HALF_LINE)
        if start > LEFT and start + width < WIDE and not any(_meet(box, other) for other in taken):
            taken.append(box)
            return {"name": name, "anchor": anchor, "name_x": x + (7 if anchor == "start" else -7)}
    return {"name": ""}


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def heat_map(names: Sequence[str], shares: Sequence[Sequence[float | None]], say: Callable[[int, int], str]) -> dict | None:
    """A cell for each two, coloured by how far a share (0 to 1) is from a half. say(row, column): said of a cell."""
    if len(names) < 2:
        return None
    is_large = len(names) < FEW
    small = max(SMALL[0], min(SMALL[1], WIDE // len(names)))
    wide, tall = (CELL, CELL * 2 // 3) if is_large else (small, small)
    left, top = NAMES + 26, 20
    cells = [
        {"x": left + wide * j, "y": top + tall * i, "heat": heat(share), "said": f"{share:.0%}", "title": say(i, j)}
        for i, row in enumerate(shares)
        for j, share in enumerate(row)
        if share is not None
    ]
    step = 1 if is_large else 5
    return {
        "width": left + wide * len(names) + 2,
        "height": top + tall * len(names) + 2,
        "cell": (wide - 1, tall - 1),
        "middle": (wide // 2, tall // 2 + 4),
        "left": left,
        "is_large": is_large,
        "rows": [{"name": short(name), "number": i + 1, "y": top + tall * i + tall // 2 + 4} for i, name in enumerate(names)],
        "columns": [(left + wide * j + wide // 2, j + 1) for j in range(len(names)) if not j or not (j + 1) % step],
        "cells": cells,
    }


def heat(share: float | None) -> str:
    """The class of a cell: how far a share (0 to 1) is above or below a half, in four steps each way."""
    if share is None or abs(share - 0.5) < 0.02:
        return ""
    return f"heat-{'up' if share > 0.5 else 'down'}-{min(4, 1 + int(abs(share - 0.5) * 8))}"
