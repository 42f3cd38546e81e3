"""How a board is written on a page."""

from inspect import isfunction
from typing import Any

from django import template
from django.template.defaultfilters import floatformat

from annotation import plots
from annotation.plots import heat as heat_of
from leaderboard.boards import charts, diagnoses, wording
from leaderboard.boards.board import Board
from leaderboard.boards.cautions import Caution
from leaderboard.boards.cautions import cautions as every_caution
from leaderboard.boards.estimates import Difference, Estimate, Name, Standing
from leaderboard.boards.exports import own_estimate
from leaderboard.boards.exports import said_below as lines_below
from leaderboard.boards.panels import Category
from leaderboard.boards.queries import asked_by, link_label

register = template.Library()

SENTENCES = {name: say for module in (wording, diagnoses) for name, say in vars(module).items() if isfunction(say)}


@register.filter
def say(about, name: str) -> str:
    """What `wording` or `diagnoses` says of a board, or of a part of one."""
    return SENTENCES[name](about)


@register.filter
def cautions(board: Board) -> tuple[Caution, ...]:
    return every_caution(board)


@register.filter
def said_below(board: Board) -> str:
    """What is written below a picture of it, in lines."""
    return "\n".join(lines_below(board))


@register.filter
def own(estimate: Estimate | None, board: Board) -> str:
    """In the question's unit."""
    return own_estimate(board, estimate)


@register.filter
def own_difference(pair: Difference, board: Board) -> str:
    return own_estimate(board, pair.own)


@register.filter
def estimate(row: Standing, board: Board) -> dict[str, str]:
    """{value, ends} as the table's first figure says them: in the question's unit where that is known, else the rating."""
    if row.own is None:
        value, low, high = (floatformat(figure, 0) for figure in (row.rating, row.low, row.high))  # as other tables round
        return {"value": value, "ends": f"{low} to {high}"}
    value, _, ends = own_estimate(board, row.own).partition(" (")
    return {"value": value, "ends": ends.removesuffix(")")}


@register.filter
def drawn(board: Board) -> dict[str, Any]:
    """Its intervals, as rows of a table draw them."""
    return charts.row_intervals(board)


@register.filter
def of_row(found: dict[str, Any], row: Standing) -> dict[str, float]:
    return found["rows"][row.id]


@register.filter
def colour(system: int) -> str:
    """The class of a system's mark; system: its id."""
    return f"system-{charts.colour(system)}"


@register.filter
def known(board: Board) -> list[dict]:
    """For each system, best first: {system, above, below, open}: those it is known to be above, below, or neither."""
    found: dict[Name, dict[str, Any]] = {
        row.system: {"system": row.system, "above": [], "below": [], "open": []} for row in board.standings
    }
    for pair in board.differences:
        found[pair.upper]["above" if pair.known else "open"].append(pair.lower)
    for row in board.standings:
        for other in board.standings:
            if (above := board.by_pair.get((other.system, row.system))) is not None:
                found[row.system]["below" if above.known else "open"].append(other.system)
    place = {row.system: i for i, row in enumerate(board.standings)}
    for lists in found.values():
        lists["open"].sort(key=place.__getitem__)
    return list(found.values())


@register.filter
def head_to_head(board: Board) -> list[dict]:
    """Best first: {system, cells}, a cell [won, tied, lost] against each system in the same order, None for itself."""
    names = [row.system for row in board.standings]

    def cell(one: Name, other: Name) -> list[int] | None:
        if pair := board.by_pair.get((one, other)):
            return [pair.won, pair.tied, pair.lost]
        pair = board.by_pair.get((other, one))
        return [pair.lost, pair.tied, pair.won] if pair else None

    return [{"system": one, "cells": [cell(one, other) for other in names]} for one in names]


@register.filter
def heat_map(rows: list[dict]) -> dict | None:
    """head_to_head, drawn."""
    return charts.head_to_head(rows)


@register.filter
def by_length(board: Board) -> dict | None:
    return charts.by_length(board)


@register.filter
def by_cost(board: Board) -> dict | None:
    return charts.by_cost(board)


@register.filter
def cost(value: float) -> str:
    """What a system costs, as axes and tables write it."""
    return plots.figure(value)


@register.filter
def slices(category: Category, board: Board) -> list[dict]:
    return charts.slices(category, {row.system: row.id for row in board.standings})


@register.filter
def ranks(row) -> str:
    """A rank interval: 2, or 2–4. row: of a board, or a category's cell."""
    return wording.rank(row)


@register.filter
def any_has(standings, name: str) -> bool:
    """Does any system have it?"""
    return any(getattr(row, name) is not None for row in standings)


@register.filter
def points(cell) -> float | None:
    """[won, tied, lost] as the share of the points; None where nothing was played."""
    return charts.share_of(cell)


@register.filter
def heat(share) -> str:
    return heat_of(share)


@register.filter
def percent(share) -> str:
    return "–" if share is None else f"{100 * share:.0f}%"


@register.filter
def signed_percent(share) -> str:
    """A difference of two shares, in percentage points."""
    return "–" if share is None else f"{100 * share:+.0f}".replace("-", "−")


@register.filter
def excerpt(turns: list[str], most: int = 90) -> str:
    """What a context is recognised by: its last turn."""
    text = " ".join((turns[-1] if turns else "").split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


@register.filter
def rating_heat(row) -> str:
    """The class of a cell that holds a rating: coloured only where its interval leaves out 1500, the mean of all."""
    if not row:
        return ""
    return heat_of(0.5 + (row.rating - 1500) / 800) if row.low > 1500 or row.high < 1500 else ""


@register.filter
def judge_name(tournament) -> str:
    """Short, for links."""
    return link_label(*asked_by(tournament))
