"""Places in pictures: numbers in, coordinates out. The templates write the SVG; no script and no style is needed."""

from collections.abc import Sequence

from annotation.design.needed import Way
from annotation.design.power import POWER
from annotation.quality.verdict import ACCEPTED, TENTATIVE

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 210, 44, 14, 12, 40
EDGE = 24  # between an axis and the first dot of a chart whose steps have names
PEOPLE = 60  # annotators in one picture; the table holds them all
FRAME = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": WIDTH - RIGHT, "base": HEIGHT - BOTTOM, "middle": WIDTH // 2}
ROW, MAP = 22, 600  # height of a row, width of a picture with names beside it
LETTER, LONGEST = 7, 20  # width of a letter; longer names are cut


def over_time(points: list[dict]) -> dict | None:
    """Alpha with its interval against the number of answers; None below two points. points: picturing's over_time."""
    if len(points) < 2:
        return None
    most = points[-1]["answers"]
    low = min(-0.05, *(p["low"] for p in points))
    lines = [0, TENTATIVE, ACCEPTED, 1]

    def x(answers):
        return round(LEFT + (WIDTH - LEFT - RIGHT) * answers / most, 1)

    def y(alpha):
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - alpha) / (1 - low), 1)

    edge = [(x(p["answers"]), y(p["high"])) for p in points] + [(x(p["answers"]), y(p["low"])) for p in reversed(points)]
    return {
        **FRAME,
        "line": _path((x(p["answers"]), y(p["alpha"])) for p in points),
        "area": _path(edge),
        "dots": [(x(p["answers"]), y(p["alpha"])) for p in points],
        "ticks": [(y(value), f"{value:g}") for value in lines],
        "x_ticks": [(x(p["answers"]), f"{p['answers']:,}") for p in (points[0], points[-1])],
    }


def power_curve(ways: Sequence[Way]) -> dict | None:
    """The chance to find a difference against how one number of judgments is shared out; None below two ways."""
    if len(ways) < 2:
        return None
    ordered = sorted(ways, key=lambda way: way.per_item)
    step = (WIDTH - LEFT - RIGHT - 2 * EDGE) / (len(ordered) - 1)
    height = HEIGHT - TOP - BOTTOM
    dots = [(round(LEFT + EDGE + step * i, 1), round(TOP + height * (1 - way.power), 1)) for i, way in enumerate(ordered)]
    return {
        **FRAME,
        "line": _path(dots),
        "dots": dots,
        "ticks": [(round(TOP + height * (1 - share), 1), f"{share:.0%}") for share in (0, 0.5, POWER, 1)],
        "x_ticks": [(x, f"{way.per_item} × {way.contexts:,}") for (x, _), way in zip(dots, ordered)],
    }


def agreement_by_annotator(people: list[dict]) -> dict | None:
    """A line from low to high with a dot, one row an annotator; None where nobody has an agreement."""
    known = [p for p in people if p["agreement"] is not None]
    if not known:
        return None
    labels, lowest = _labels(known), min(p["agreement_low"] for p in known)
    start = 0.0 if lowest >= 0 else -0.5 if lowest >= -0.5 else -1.0

    def x(r):
        return round(labels + (MAP - labels - 20) * (r - start) / (1 - start), 1)

    rows = [
        {
            "name": p["name"],
            "y": TOP + ROW * i + ROW // 2,
            "flagged": p["flagged"],
            "low": x(p["agreement_low"]),
            "high": x(p["agreement_high"]),
            "at": x(p["agreement"]),
        }
        for i, p in enumerate(known)
    ]
    base = TOP + ROW * len(known)
    ticks = [start + step / 2 for step in range(round((1 - start) * 2) + 1)]
    return {
        "width": MAP,
        "height": base + 24,
        "base": base,
        "top": TOP,
        "label": labels - 8,
        "rows": rows,
        "ticks": [(x(tick), f"{tick:g}".replace("-", "−")) for tick in ticks],
    }


def outlier_map(figures: dict) -> dict:
    """A cell for each annotator and item (or bin of items), the darker the more is dropped; empty where none answered."""
    columns = len(figures["columns"])
    labels = _labels(figures["rows"])
    width = (MAP - labels) / max(columns, 1)
    rows = [
        {
            "name": row["name"],
            "y": TOP + ROW * i,
            "middle": TOP + ROW * i + ROW // 2 + 3,
            "cells": [
                {"x": round(labels + width * j, 2), "shade": round(share, 2)} for j, share in enumerate(row["cells"]) if share
            ],
            "given": _stretches([share is not None for share in row["cells"]], labels, width),
        }
        for i, row in enumerate(figures["rows"])
    ]
    return {
        "width": MAP,
        "height": TOP + ROW * len(rows) + 8,
        "cell": round(width, 2),
        "tall": ROW - 3,
        "label": labels - 8,
        "rows": rows,
        "binned": max(figures["columns"], default=1) > 1,
        "hidden": figures["annotators"] - len(rows),
    }


def _labels(rows: list[dict]) -> int:
    """How wide the column of names is."""
    return 20 + LETTER * min(max((len(row["name"]) for row in rows), default=0), LONGEST)


def _stretches(answered: list[bool], labels: int, width: float) -> list[dict]:
    """Stretches of neighbouring cells that were answered, as one rectangle each."""
    found: list[dict] = []
    for j, is_answered in enumerate(answered):
        if is_answered and j and answered[j - 1]:
            found[-1]["cells"] += 1
        elif is_answered:
            found.append({"x": round(labels + width * j, 2), "cells": 1})
    return [{"x": one["x"], "width": round(width * one["cells"], 2)} for one in found]


def _path(points) -> str:
    return " ".join(f"{x},{y}" for x, y in points)
