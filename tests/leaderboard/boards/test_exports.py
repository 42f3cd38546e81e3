"""A board as CSV, LaTeX and SVG."""

import csv
import io
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from leaderboard.boards import exports, queries
from tests.leaderboard.boards.example import ANT, BEE, CAT, SIGNATURE, example
from tests.leaderboard.played import by_people

pytestmark = pytest.mark.django_db
BOARD = example()


def test_csv_has_a_row_for_each_system_that_names_its_board():
    first, second, _ = csv.DictReader(io.StringIO(exports.as_csv(BOARD)))
    assert (first["system"], first["rating"], first["rank_high"]) == ("Ant & Co_50%", "1600.4", "2")
    assert first["signature"] == second["signature"] == SIGNATURE and first["permalink"] == "/tournaments/7/"
    assert second["system"] == "'=bee()"  # no spreadsheet runs it
    assert second["mean_length"] == ""
    assert (second["cost"], second["cost_unit"]) == ("3.0", "US dollars per 1,000 outputs")
    assert first["population"] == "groups of contexts and people like these (annotators: 7)"
    assert (first["own"], first["own_low"]) == ("3.2008", "3.0908")


def test_latex_is_escaped_and_signed():
    table = exports.as_latex(BOARD)
    assert r"1--2 & Ant \& Co\_50\% & 1600 & 1550--1651 & 3.20 (3.09 to 3.32) & 62\% & 36 \\" in table
    assert table.endswith(f"% {SIGNATURE}\n") and "Simulated" in table


def test_svg_stands_alone():
    """It is well formed, carries its signature, and needs no style sheet, script or font from elsewhere."""
    drawn = exports.as_svg(BOARD)
    root = ET.fromstring(drawn)
    assert root.tag.endswith("svg") and SIGNATURE in drawn
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not names & {"style", "script", "image", "foreignObject"} and "href" not in drawn
    circles = [float(e.get("cx")) for e in root.iter() if e.tag.endswith("circle")]
    assert len(circles) == 3 and circles[0] > circles[1] > circles[2]


def test_a_long_caption_of_an_svg_is_wrapped_and_not_cut():
    label = "annotators (some or all simulated) and the comparator together"
    drawn = exports.as_svg(BOARD)
    root = ET.fromstring(drawn)
    lines = [e for e in root.iter() if e.tag.endswith("text") and e.get("font-size") == "10"]
    said = " ".join(line.text for line in lines)
    assert said.startswith(f"Ratings with 95% intervals, simulated data. Judged by {label}, on ")
    assert max(len(line.text) for line in lines) <= 66  # what 342 of 360 units hold at this size
    heights = [float(line.get("y")) for line in lines]
    assert len(lines) > 1 and heights == sorted(set(heights)) and heights[-1] < float(root.get("height"))


def test_names_stand_on_the_row_of_their_dot_left_of_the_grid():
    drawn = ET.fromstring(exports.as_svg(replace(BOARD, groups=())))
    grid = [float(e.get("d")[1:].split()[0]) for e in drawn.iter() if e.tag.endswith("path") and "V" in e.get("d")]
    names = [e for e in drawn.iter() if e.tag.endswith("text") and e.get("fill") == "#1c2126"]
    assert [name.text for name in names] == [ANT, BEE, "(human-written)", CAT] and len(grid) > 1
    assert max(float(name.get("x")) + 7 * len(name.text) for name in names) < min(grid)  # Inter's letters at 12 are 6.5 wide
    dots = [float(e.get("cy")) for e in drawn.iter() if e.tag.endswith("circle")]
    y = [float(name.get("y")) - 4 for name in names]  # the middle of a small letter is 4 above its line
    assert [y[0], (y[1] + y[2]) / 2, y[3]] == pytest.approx(dots)  # the second system's name has two lines


def test_they_are_served(world):
    board = by_people(world.campaign)
    overview = world.get(world.alice, "/c/talk/").content.decode()
    assert f'<a href="/tournaments/{board.pk}/">{board.job.title}</a>' in overview
    for kind, type_ in (("csv", "text/csv"), ("tex", "text/x-tex"), ("svg", "image/svg+xml")):
        served = world.get(world.alice, f"/tournaments/{board.pk}.{kind}")
        assert served["Content-Type"].startswith(type_)
        assert board.signature in served.content.decode()
    assert served.content.decode() == exports.as_svg(queries.board(board))
    assert world.get(world.alice, f"/tournaments/{board.pk}.exe").status_code == 404
    assert world.get(world.charlie, f"/tournaments/{board.pk}.csv").status_code == 404
