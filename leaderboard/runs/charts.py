"""Geometry of a run's charts, as plain numbers for SVG: over steps, strength, balance against the previous ones, loss."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from evaluator.selection.best_checkpoint import is_known

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BASE = 360, 190, 46, 350, 22, 160
SPARK_WIDTH, SPARK_HEIGHT, SPARK_EDGE = 120, 28, 4
MANY = 40  # points, from which on they are drawn small
LETTER = 6.5  # of Inter at 12, on average

Point = dict[str, Any]


def of_run(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The charts of what `overview.of_run` gives, those that have something to show; of one checkpoint, none. All have the same
    axis of steps."""
    points = run["points"]
    if len(points) < 2:
        return []
    steps = [point["step"] for point in points]
    x, ticks = _steps_axis(steps, run["total_steps"])
    frame = {"width": WIDTH, "left": LEFT, "right": RIGHT, "top": TOP, "steps": ticks, "is_dense": len(points) > MANY}
    charts = [
        {
            "key": "strength",
            "title": "Strength",
            "label": "log-odds of winning against the first checkpoint, with 95% intervals",
            "has_band": True,
            "height": HEIGHT,
            **_drawn(points, x, lambda p: (p["strength"], p["strength_low"], p["strength_high"])),
            **_marks(run, x),
        },
        {
            "key": "balance",
            "title": f"Against the previous {run['rules']['previous']}",
            "label": "win rate less loss rate in points, with 95% intervals",
            "is_thin": True,
            "height": HEIGHT,
            **_drawn(points, x, balance, is_even=True),
        },
        {
            "key": "loss",
            "title": "Validation loss",
            "label": "as the training sent it; lower is better",
            "height": HEIGHT,
            **_drawn(points, x, lambda p: (p["validation_loss"], None, None), has_zero=False),
        },
    ]
    return [frame | chart for chart in charts if chart["dots"]]


def balance(point: Point) -> tuple[float | None, float | None, float | None]:
    """Win rate less loss rate in points, with its interval; None where nothing was compared."""
    compared = point["wins"] + point["ties"] + point["losses"]
    if not compared:
        return None, None, None
    ends = [None if point[end] is None else 100 * point[end] for end in ("low", "high")]
    return 100 * (point["wins"] - point["losses"]) / compared, *ends


def sparkline(strengths: Iterable[tuple[int, float | None]]) -> dict[str, Any] | None:
    """A small line of the strengths on a scale of its own, and the same in words."""
    known = [(step, value) for step, value in strengths if value is not None]
    if not known:
        return None
    x = _place([step for step, _ in known], SPARK_EDGE, SPARK_WIDTH - SPARK_EDGE)
    y = _place([value for _, value in known], SPARK_HEIGHT - SPARK_EDGE, SPARK_EDGE)
    places = [(x(step), y(value)) for step, value in known]
    first, last, most = known[0][1], known[-1][1], max(value for _, value in known)
    said = f"Strength over {len(known)} checkpoints: from {first:.2f} to {last:.2f}, at most {most:.2f}"
    return {
        "width": SPARK_WIDTH,
        "height": SPARK_HEIGHT,
        "line": _line(places),
        "end": places[-1],
        "label": said if len(known) > 1 else "One checkpoint",
    }


def _drawn(points: Sequence[Point], x, of, is_even: bool = False, has_zero: bool = True) -> dict[str, Any]:
    """of: from a point (value, low, high), each None where it is not known. is_even: as far down as up from zero."""
    rows = [(point["step"], *of(point)) for point in points]
    ends = [v for _, *values in rows for v in values if v is not None]
    if not ends:
        return {"dots": []}
    if has_zero and not any(ends):
        ends += [-1.0, 1.0]  # nobody won anything: zero stands in the middle
    if is_even:
        ends += [-max(map(abs, ends)), max(map(abs, ends))]
    values = ticks_between(*(min([0.0, *ends]), max([0.0, *ends])) if has_zero else (min(ends), max(ends)))
    y = _place([*values, *ends], BASE, TOP)
    dots = [
        {
            "step": step,
            "x": x(step),
            "y": y(value),
            "low": None if low is None else y(low),
            "high": None if high is None else y(high),
        }
        for step, value, low, high in rows
        if value is not None
    ]
    banded = [dot for dot in dots if dot["low"] is not None]
    band = [(dot["x"], dot["high"]) for dot in banded] + [(dot["x"], dot["low"]) for dot in reversed(banded)]
    return {
        "dots": dots,
        "base": BASE,
        "lines": [_line(part) for part in _unbroken(rows, x, y) if len(part) > 1],
        "band": _line(band) if len(banded) > 1 else "",
        "values": [(y(value), _written(value, values)) for value in values],
        "zero": y(0.0) if min(values) <= 0 <= max(values) and has_zero else None,
    }


def _unbroken(rows, x, y) -> list[list[tuple[float, float]]]:
    """Lines between neighbours; a checkpoint without a value parts two of them."""
    parts: list[list[tuple[float, float]]] = [[]]
    for step, value, *_ in rows:
        if value is None:
            parts.append([])
        else:
            parts[-1].append((x(step), y(value)))
    return parts


def _marks(run: dict[str, Any], x) -> dict[str, Any]:
    """The best checkpoint with those that are not known to be worse, and each advice to stop where it was given."""
    best = run["best"]
    advice = [
        entry | {"x": x(entry["step"]), "label_x": x(entry["step"]), "number": n}
        for n, entry in enumerate(run["advice_given"], 1)
    ]
    for before, mark in zip(advice, advice[1:], strict=False):  # two rules that speak at the same step, or almost
        mark["label_x"] = max(mark["label_x"], before["label_x"] + 1.5 * LETTER)
    among = set(best["not_worse"]) if best else set()
    known = is_known(len(among), len(run["points"]))
    return {"best_step": best and best["step"], "best_known": known, "among_best": among, "advice": advice}


def _steps_axis(steps: Sequence[int], total: int | None):
    last = max(steps[-1], total or 0)
    first = 0 if 2 * steps[0] <= last else steps[0]
    ticks = [int(tick) for tick in ticks_between(first, last) if first <= tick <= last and tick == int(tick)]
    x = _place([first, last], LEFT + 8, RIGHT - 20)
    return x, [(x(tick), f"{tick:,}") for tick in ticks]


def ticks_between(low: float, high: float, most: int = 5) -> list[float]:
    """At most so many round numbers, 1, 2 or 5 times a power of ten apart, the outer ones at low and high or beyond."""
    span = high - low or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / most))
    for step in (power * factor for factor in (1, 2, 5, 10, 20)):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first < most:
            return [round(n * step, 12) for n in range(first, max(last, first + 1) + 1)]
    raise AssertionError((low, high))


def _place(values: Sequence[float], start: float, end: float):
    """Maps the least to start and the greatest to end; where all are one, to the middle."""
    low, high = min(values), max(values)

    def place(value: float) -> float:
        return round(start + (end - start) * ((value - low) / (high - low) if high > low else 0.5), 1)

    return place


def _line(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)


def _written(value: float, values: Sequence[float]) -> str:
    """With as many decimals as part it from its neighbours."""
    decimals = max(0, -math.floor(math.log10(values[1] - values[0]) + 1e-9))
    return f"{value:.{decimals}f}".replace("-", "−")
