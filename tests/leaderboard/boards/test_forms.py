"""What every form of a board carries: all its warnings, and every field, or why not."""

import csv
import html
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from datetime import datetime
from typing import Any, Literal, get_args, get_origin

import pytest
from django.template.loader import render_to_string

from annotation.models import Campaign
from leaderboard.boards import cautions as every
from leaderboard.boards import charts, exports, public_boards, wording
from leaderboard.boards.board import Board
from leaderboard.boards.estimates import Estimate
from leaderboard.boards.tree import from_json, hints, renamed, to_json, without_none
from tests.leaderboard.boards.dropped import DROPPED
from tests.leaderboard.boards.example import ANT, BEE, CAT, example

PLAYED = datetime.fromisoformat(example().provenance.finished_at)
PAGE = {"campaign": Campaign(slug="talk", title="Small talk"), "here": "permalink", "member": True, "marks": []}


def page(board: Board) -> str:
    return render_to_string("leaderboard/board.html", {**PAGE, "board": board, "chart": charts.whiskers([board])})


def embedded(board: Board) -> str:
    tournament = {"finished_at": PLAYED}
    context = {**PAGE, "board": board, "chart": charts.whiskers([board]), "tournament": tournament}
    return render_to_string("leaderboard/embed.html", context)


def listed(board: Board) -> str:
    row = {**public_boards.in_short(board), "campaign": PAGE["campaign"], "played": PLAYED}
    return render_to_string("leaderboard/public_boards.html", {"boards": [row], "asked": "", "page": None})


FORMS = {
    "json": lambda board: json.dumps(exports.as_json(board), ensure_ascii=False),
    "csv": exports.as_csv,
    "latex": exports.as_latex,
    "text": exports.as_text,
    "svg": exports.as_svg,
    "page": page,
    "embed": embedded,
    "public index": listed,
}
WARNINGS = {
    "gate": "Comparator v3 did not pass its gate.",
    "verdict": "The scores of Overall are not accepted: Alpha is 0.26, below 0.667.",
    "absent": "No game was played by Dew, so it has no rating here.",
    "groups": "the groups cannot be compared: Ant & Co_50%, =bee(); Cat.",
    "start": "A comparator chose which pairs people judged.",
    "left out": "256 of 900 answers are left out, because a filter dropped them.",
    "unjudged": "The judge says nothing of 4 of 76 pairs, which do not count. Why: It refused. 4.",
    "other model": "The server says that other models than v3 gave these replies: tiny-2 5.",
    "since": "About its snapshot 9f2c: Outputs of Bee were replaced after it was frozen.",
    "newer": "Newer answers have come since its snapshot was frozen on 2026-11-28. They are not in this board.",
    "retired": "Cat is retired now. A board that is played today is without it.",
    "looks": "This is board 3 of this question, each on newer answers.",
    "simulated": "Simulated data: judgments made by a program, not by people.",
}


def words(form: str, board: Board) -> str:
    """What a reader of the form sees, in one line."""
    text = FORMS[form](board)
    if form == "svg":
        text = " ".join(element.text or "" for element in ET.fromstring(text).iter() if element.tag.endswith("text"))
    if form == "csv":
        text = " ".join(" ".join(row.values()) for row in csv.DictReader(io.StringIO(text)))
    if form in ("page", "embed"):
        text = re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
    if form == "latex":
        text = re.sub(r"\\([&%$#_{}])", r"\1", text)
    return " ".join(html.unescape(text).split())


@pytest.mark.parametrize("form", FORMS)
def test_every_warning_is_in_every_form(form):
    board = example()
    assert {one.kind for one in every.cautions(board)} == set(WARNINGS)
    seen = words(form, board)
    for kind, text in WARNINGS.items():
        assert text in seen, kind
    calm = replace(
        board,
        basis=replace(board.basis, simulated=False, judge=None, people=replace(board.basis.people, verdict=None, left_out=())),
        groups=(),
        absent=(),
        doubts=(),
        since=(),
        newer_than="",
        retired=(),
        method=replace(board.method, campaign_looks=1),
    )
    assert every.cautions(calm) == () and not any(text in words(form, calm) for text in WARNINGS.values())


@pytest.mark.parametrize("form", ["latex", "text", "svg", "page", "embed"])
def test_groups_that_never_met_are_no_one_list(form):
    """A head for each group, its systems after it."""
    seen = words(form, example())
    places = [seen.index("Group 1"), seen.index("Group 2")]
    assert "Group 1" not in words(form, replace(example(), groups=()))
    assert places == sorted(places)
    if form != "svg":  # which names its groups before its systems, each at its own height
        tail = seen[places[1] :]
        assert "Cat" in tail and "=bee()" in seen[places[0] : places[1]]


def test_groups_are_apart_in_a_chart_and_in_a_table():
    chart = charts.whiskers([example()])
    heads, rows = [head["y"] for head in chart["heads"]], [row["labels"][0]["y"] for row in chart["rows"]]
    assert heads[0] < rows[0] < rows[1] < heads[1] < rows[2]
    assert [row["group"] for row in csv.DictReader(io.StringIO(exports.as_csv(example())))] == ["1", "1", "2"]


def test_intervals_in_a_tables_rows_stand_on_one_scale():
    """By hand: 4% of the cell stay free on either side, so that 1 to 5 are 92%: 1 at 4, 3 at 50, 5 at 96, and 2 at 27. On a
    scale whose lowest point is the best, better is right all the same."""
    own = [Estimate(3.0, 1.0, 5.0), Estimate(2.0, 1.0, 3.0)]
    rows = tuple(replace(row, own=one) for row, one in zip(example().standings, own, strict=False))
    board = replace(example(), standings=rows)
    drawn = charts.row_intervals(board)
    assert drawn["rows"] == {1: {"low": 4.0, "high": 96.0, "at": 50.0}, 2: {"low": 4.0, "high": 50.0, "at": 27.0}}
    assert drawn["ticks"] == [(27.0, "2"), (73.0, "4")]
    turned = charts.row_intervals(replace(board, question=replace(board.question, best="low")))
    assert turned["rows"][2] == {"low": 50.0, "high": 96.0, "at": 73.0} and turned["ticks"] == [(73.0, "2"), (27.0, "4")]
    of_ratings = charts.row_intervals(replace(board, standings=tuple(replace(row, own=None) for row in rows)))
    assert [label for _, label in of_ratings["ticks"]] == ["1500", "1600"]
    assert charts.row_intervals(replace(board, standings=())) == {"rows": {}, "ticks": []}


def test_an_interval_ends_where_the_scale_ends():
    """0.87 to 1.05 on a scale from 0 to 1."""
    board = example()
    own = Estimate(0.96, 0.87, 1.05)
    board = replace(
        board,
        question=replace(board.question, low=0.0, high=1.0),
        standings=tuple(replace(row, own=own) for row in board.standings),
    )
    assert board.on_scale(own) == Estimate(0.96, 0.87, 1.0)
    upwards = replace(board, question=replace(board.question, high=None))  # sums of errors' weights have no upper end
    assert upwards.on_scale(Estimate(0.5, -0.2, 1.2)) == Estimate(0.5, 0.0, 1.2)
    assert wording.own_name(upwards) == "Score"
    assert board.on_scale(replace(own, low=None)).high == 1.05 and board.on_scale(None) is None
    read = board.within_scale()
    assert "0.87 to 1.00" in page(read) and "0.87 to 1.00" in exports.as_text(read) and "1.05" not in exports.as_latex(read)
    assert {row["own_high"] for row in csv.DictReader(io.StringIO(exports.as_csv(read)))} == {"1.0"}
    assert {row["own"]["high"] for row in exports.as_json(read)["standings"]} == {1.0}


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [
        (0.31, 0.78, [0.4, 0.5, 0.6, 0.7]),
        (1210, 1890, [1400, 1600, 1800]),
        (5, 5, [5]),
        (-0.3, 0.3, [-0.2, 0, 0.2]),
        (1.01, 1.02, [1.01, 1.015, 1.02]),
    ],
)
def test_round_values_between_two_numbers(low, high, values):
    assert charts.round_values(low, high) == pytest.approx(values)


def test_a_system_has_one_colour_and_neighbours_differ():
    assert len({charts.colour(system) for system in range(8)}) == 8 and charts.colour(3) == charts.colour(11)


# ---- fields


def leaves(value: Any, kind: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, its type) of everything in the tree; of several of a kind the first."""
    kind = without_none(kind)
    if is_dataclass(kind):
        for name, inside in hints(kind).items():
            yield from leaves(getattr(value, name), inside, f"{path}.{name}" if path else name)
    elif get_origin(kind) is tuple:
        yield from leaves(next(one for one in value if one is not None), get_args(kind)[0], path)
    else:
        yield path, kind


def changed(value: Any, kind: Any, path: str) -> Any:
    """The tree with another value there."""
    kind = without_none(kind)
    if get_origin(kind) is tuple:
        at = next(i for i, one in enumerate(value) if one is not None)
        return (*value[:at], changed(value[at], get_args(kind)[0], path), *value[at + 1 :])
    if is_dataclass(kind):
        name, _, rest = path.partition(".")
        return replace(value, **{name: changed(getattr(value, name), hints(kind)[name], rest)})
    if get_origin(kind) is Literal:
        return next(other for other in get_args(kind) if other != value)
    if kind is bool:
        return not value
    if kind in (int, float):
        return value + 3 if kind is int or abs(value) > 1 else value / 3
    return f"{value}-other"


def test_the_example_has_something_everywhere():
    """So that no field is left unseen below."""
    empty = [path for path, _ in leaves(example(), Board) if _at(example(), path) is None]
    assert empty == []


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        while isinstance(value, tuple):
            value = next(one for one in value if one is not None)
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("form", FORMS)
def test_every_field_is_in_the_form_or_listed_as_dropped(form):
    """Another value there changes the form."""
    board, paths = example(), [path for path, _ in leaves(example(), Board)]
    was = FORMS[form](board)
    dropped = {path for path in paths if FORMS[form](changed(board, Board, path)) == was}
    below = lambda path, name: f"{path}.".startswith(f"{name}.")
    listed = [name for name, forms, why in DROPPED if form in forms.split(", ") and why]
    assert {path for path in dropped if not any(below(path, name) for name in listed)} == set(), "nowhere is said why"
    assert {path for path in paths if any(below(path, name) for name in listed)} <= dropped, "not dropped any more"


def test_json_leads_back_to_the_board():
    assert from_json(Board, json.loads(json.dumps(to_json(example())))) == example()
    with pytest.raises(ValueError, match="is not"):
        from_json(Board, {**to_json(example()), "schema": "1"})


def test_a_field_that_came_later_takes_its_default():
    stored = to_json(example())
    del stored["doubts"], stored["method"]["campaign_looks"]
    read = from_json(Board, stored)
    assert read.doubts == () and read.method.campaign_looks is None


def test_systems_are_renamed_wherever_they_stand():
    names = {ANT: "Bee", BEE: "Ant"}  # each takes the other's
    board = renamed(example(), names)
    assert ANT not in json.dumps(to_json(board)) and board.groups == (("Bee", "Ant"), (CAT,))
    assert board.length.systems[0].system == "Bee" and board.differences[0].lower == "Ant"
    assert renamed(board, {"Bee": ANT, "Ant": BEE}) == example()


# ---- who took part


def test_a_system_that_nothing_spoke_of_has_no_place():
    """Cat had no game. What is left are two systems that met, whose ranks are 1 and 2 as far as that is known."""
    whole = replace(example(), absent=())
    silent = [replace(row, games=0, answers=None) if row.system == CAT else row for row in whole.standings]
    board = replace(whole, standings=tuple(silent)).of_those_present()
    assert board.absent == (CAT,) and board.groups == ((ANT, BEE),) and board.joining == ()
    assert [(row.system, row.rank_low, row.rank_high) for row in board.standings] == [(ANT, 1, 2), (BEE, 1, 2)]
    assert [(one.upper, one.lower) for one in board.differences] == [(ANT, BEE)]
    assert [(row.rank_low, row.rank_high) for row in board.narrow.standings] == [(1, 1), (2, 2)]  # there it is known
    assert CAT not in [row.system for row in board.narrow.standings] and not board.is_split


def test_ranks_are_those_within_a_group():
    board = replace(example(), absent=()).of_those_present()
    assert board.absent == () and [(row.rank_low, row.rank_high) for row in board.standings] == [(1, 2), (1, 2), (1, 1)]


def test_a_board_on_which_nobody_played_stays_as_it_is():
    board = replace(example(), standings=tuple(replace(row, games=0, answers=None) for row in example().standings))
    assert board.of_those_present() is board
