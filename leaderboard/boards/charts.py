"""Geometry of the board's charts, computed here so that a page needs no script: plain numbers for SVG attributes."""

import textwrap
from collections.abc import Callable, Mapping, Sequence

from annotation import plots
from annotation.plots import Mark, colour, round_values
from leaderboard.boards.board import Board
from leaderboard.boards.estimates import Name
from leaderboard.boards.panels import Category

WIDTH, SIDE, TOP = 360, 18, 8
LINE, GAP = 11, 10  # of a whisker chart: each whisker of a system, and what parts the systems
# Its names' column: 120 units hold 18 letters of Inter at 12 (6.5 on average), however wide the screen.
NAMES, ROOM, LETTERS, NAME_LINE, BASELINE = 130, 120, 18, 14, 4
MARGIN = 4  # percent of a cell that stay free on either side of its intervals
SMALL, SHOWN = 280, 12  # of a slice's plot: its width, and the most systems in it
STEPS = (25, 50, 100, 200, 500, 1000, 2000)


def scale(values: list[float], low: float, high: float):
    """(place, ticks): place maps a value to low..high, ticks are [(place, value)] at round numbers."""
    step = next((s for s in STEPS if max(values) - min(values) <= 6 * s), STEPS[-1])
    first, last = int(min(values) // step * step), int(-(-max(values) // step) * step)

    def place(value: float) -> float:
        return round(low + (high - low) * (value - first) / ((last - first) or 1), 1)

    return place, [(place(value), value) for value in range(first, last + 1, step)]


def short(name: str, most: int = 40) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def name_lines(name: str, human: bool) -> list[str]:
    """A system's name on at most two lines of the column; a longer one is cut."""
    width = plots.text_width(name)  # of capitals and of letters of East Asia fewer have room
    most = LETTERS if width <= plots.OTHER * len(name) else max(1, int(ROOM * len(name) / width))
    lines = textwrap.wrap(name, most) or [""]
    if len(lines) > 2:
        lines = [lines[0], f"{lines[1][: most - 1]}…"]
    return [*lines, "(human-written)"] if human else lines


def whiskers(boards: Sequence[Board]) -> dict | None:
    """One row per system of the first board: its name in a column on the left, and on the same row its interval there and on
    each other board. Groups of systems that never met stand one after the other, each under its number."""
    rows_of = [{row.system: row for row in board.standings} for board in boards]
    ends = [end for rows in rows_of for row in rows.values() for end in (row.low, row.high, row.rating)]
    if not ends:
        return None
    x, ticks = scale(ends, NAMES, WIDTH - SIDE)
    y, rows, heads = TOP, [], []
    for system, _, group in boards[0].rows:
        if group:
            heads.append({"text": f"Group {group}", "y": y + NAME_LINE})
            y += NAME_LINE + BASELINE
        names = name_lines(system.system, system.human_written)
        height = max(LINE * len(boards), NAME_LINE * len(names)) + GAP
        middle = y + height / 2
        first = middle - LINE * (len(boards) - 1) / 2
        lines = [
            {"low": x(r.low), "high": x(r.high), "at": x(r.rating), "y": first + LINE * k, "board": k + 1}
            for k, r in enumerate(rows.get(system.system) for rows in rows_of)
            if r
        ]
        top = middle - NAME_LINE * (len(names) - 1) / 2 + BASELINE
        labels = [{"text": text, "y": top + NAME_LINE * k} for k, text in enumerate(names)]
        rows.append({"name": system.system, "labels": labels, "lines": lines})
        y += height
    return {"width": WIDTH, "height": y + 20, "base": y, "top": TOP, "rows": rows, "heads": heads, "ticks": ticks}


def row_intervals(board: Board) -> dict:
    """{rows: {a system's id: {low, high, at}}, ticks: [(place, label)]}: each system's interval on one scale for all, as places
    in percent of a table's cell; better is right. In the question's unit, where each system has an estimate in it, else as
    ratings."""
    found, turned = _own_intervals(board), board.question.unit == "points" and board.question.best == "low"
    write = _writer(board)
    if len(found) < len(board.standings):
        found = {row.id: (row.low, row.rating, row.high) for row in board.standings}
        write, turned = "{:g}".format, False
    ends = [end for row in found.values() for end in row]
    if not ends:
        return {"rows": {}, "ticks": []}
    values = round_values(min(ends), max(ends))
    low, high = min(ends), max(ends)

    def place(value: float) -> float:
        share = (value - low) / ((high - low) or 1)
        return round(MARGIN + (100 - 2 * MARGIN) * (1 - share if turned else share), 1)

    rows = {}
    for pk, (least, value, most) in found.items():
        first, last = sorted((place(least), place(most)))
        rows[pk] = {"low": first, "high": last, "at": place(value)}
    return {"rows": rows, "ticks": [(place(value), write(value)) for value in values]}


def own_number(board: Board, value: float) -> str:
    """A value in the question's unit: 71%, or 3.42."""
    return f"{value:.0%}" if board.question.unit == "share" else f"{value:.2f}"


def _writer(board: Board) -> Callable[[float], str]:
    """How a value in the question's unit is written on an axis."""
    return "{:.0%}".format if board.question.unit == "share" else "{:g}".format


def _own_intervals(board: Board) -> dict[int, tuple[float, float, float]]:
    """{a system's id: (low, value, high)} in the question's unit, of the systems of which they are known"""
    known = ((row.id, row.own) for row in board.standings)
    return {pk: (own.low, own.value, own.high) for pk, own in known if own and own.low is not None and own.high is not None}


def history(systems: list[dict]) -> list[dict]:
    """A small chart for each system: its rating with its interval over the boards, on one scale for all.

    systems: {name, system: its id, points: one a board, {rating, low, high} or None where it did not play}.
    """
    width, height, left, base = 240, 110, 34, 92
    values = [v for s in systems for p in s["points"] if p for v in (p["low"], p["high"])]
    if not values:
        return []
    y, ticks = scale(values, base, TOP)
    ticks = [ticks[0], ticks[len(ticks) // 2], ticks[-1]] if len(ticks) > 3 else ticks
    boards = max(len(s["points"]) for s in systems)
    step = (width - left - 12) / max(boards - 1, 1)

    def panel(system: dict) -> dict:
        there = [(round(left + 6 + i * step, 1), p) for i, p in enumerate(system["points"]) if p]
        band = [(x, y(p["high"])) for x, p in there] + [(x, y(p["low"])) for x, p in reversed(there)]
        dots = [{"x": x, "y": y(p["rating"]), "low": y(p["low"]), "high": y(p["high"])} for x, p in there]
        return {
            "name": system["name"],
            "system": system["system"],
            "dots": dots,
            "width": width,
            "height": height,
            "left": left,
            "base": base,
            "line": " ".join(f"{d['x']},{d['y']}" for d in dots),
            "band": " ".join(f"{x},{v}" for x, v in band),
            "ticks": ticks,
            "right": width - 4,
        }

    return [panel(system) for system in systems]


def by_length(board: Board) -> dict | None:
    """Each system's estimate by the mean length of its outputs; None where fewer than three are known."""
    lengths = {row.system: row.length for row in board.length.systems if row.length is not None} if board.length else {}
    return _scatter(board, lengths, "{:,.0f}".format, "characters")


def by_cost(board: Board) -> dict | None:
    """Each system's estimate by what it costs; None where fewer than three are known."""
    if board.costs is None:
        return None
    return _scatter(board, {one.system: one.cost for one in board.costs.systems}, plots.figure, board.costs.unit)


def _scatter(board: Board, places: Mapping[Name, float], write_place: Callable[[float], str], unit: str) -> dict | None:
    """Each system's estimate by its place; and `rows`, [(standing, its place as written)], best first."""
    found, write = _own_intervals(board), _writer(board)
    in_own = len(found) == len(board.standings)
    marks = []
    for row in board.standings:
        if row.system not in places:
            continue
        x = places[row.system]
        low, value, high = found[row.id] if in_own else (row.low, row.rating, row.high)
        note = f"{own_number(board, value) if in_own else f'{value:.0f}'}, {write_place(x)} {unit}"
        marks.append(Mark(row.system, value, low, high, colour(row.id), x, note))
    rows = [(row, write_place(places[row.system])) for row in board.standings if row.system in places]
    chart = plots.scatter(marks, write if in_own else "{:g}".format, plots.figure)
    return chart and chart | {"rows": rows}


def head_to_head(rows: Sequence[dict]) -> dict | None:
    """rows: {system, cells: [won, tied, lost] or None}, best first, as the table has them."""

    def say(i: int, j: int) -> str:
        won, tied, lost = rows[i]["cells"][j]
        return f"{rows[i]['system']} against {rows[j]['system']}: {won} won, {tied} tied, {lost} lost"

    names = [row["system"] for row in rows]
    return plots.heat_map(names, [[share_of(cell) for cell in row["cells"]] for row in rows], say)


def share_of(cell: Sequence[int] | None) -> float | None:
    """[won, tied, lost] as the share of the points; None where nothing was played."""
    return (cell[0] + cell[1] / 2) / sum(cell) if cell and sum(cell) else None


def slices(category: Category, ids: Mapping[str, int]) -> list[dict]:
    """A small dot plot for each value of a category, all on one scale: {value, contexts, chart, more: systems left out}."""
    ends = [end for row in category.systems for cell in row.cells if cell for end in (cell.low, cell.high)]
    made = []
    for k, value in enumerate(category.values):
        there = [(row.system, row.cells[k]) for row in category.systems]
        marks = [Mark(name, c.rating, c.low, c.high, colour(ids[name]) if name in ids else 0) for name, c in there if c]
        shown = sorted(marks, key=lambda mark: -mark.value)[:SHOWN]
        chart = plots.dot_plot(shown, (min(ends), max(ends)), "{:.0f}".format, SMALL) if shown else None
        made.append({"value": value.value, "contexts": value.contexts, "chart": chart, "more": len(marks) - len(shown)})
    return made


def dumbbells(results) -> dict | None:
    """One row per output: people's share of the points and the comparator's on one line from 0 to 1.

    results: rows with `people`, `comparator` (None where unknown) and `system`.
    """
    rows = []
    for i, result in enumerate(r for r in results if r.people is not None or r.comparator is not None):
        y = TOP + i * 40
        place = lambda share: None if share is None else round(SIDE + (WIDTH - 2 * SIDE) * share, 1)
        rows.append(
            {
                "name": short(result.system.name),
                "label_y": y + 14,
                "y": y + 27,
                "people": place(result.people),
                "comparator": place(result.comparator),
            }
        )
    if not rows:
        return None
    base = TOP + len(rows) * 40
    ticks = [(round(SIDE + (WIDTH - 2 * SIDE) * share, 1), f"{100 * share:.0f}%") for share in (0, 0.25, 0.5, 0.75, 1)]
    return {"width": WIDTH, "height": base + 20, "base": base, "top": TOP, "side": SIDE, "rows": rows, "ticks": ticks}
