"""A board as CSV, LaTeX and SVG."""

import csv
import io
import xml.etree.ElementTree as ET

import pytest

from leaderboard.boards import exports, queries
from tests.leaderboard.played import by_people

pytestmark = pytest.mark.django_db
BOARD = {
    "campaign": "talk",
    "tournament": 7,
    "permalink": "/tournaments/7/",
    "signature": "judge:people/Overall|seed:0",
    "simulated": False,
    "comparator": None,
    "basis": "people",
    "judge": None,
    "people": {"population": "people", "annotators": 7},
    "speaks_of": {"population": "people", "annotators": 7},
    "judge_label": "people",
    "standings": [
        {
            "id": 1,
            "system": "A & B_50%",
            "human_written": False,
            "rank_low": 1,
            "rank_high": 2,
            "rating": 1600.4,
            "rd": 30.0,
            "volatility": 0.0,
            "low": 1550.0,
            "high": 1650.6,
            "games": 12,
            "wins": 9,
            "ties": 1,
            "losses": 2,
            "human_mean": 4.5,
        },
        {
            "id": 2,
            "system": "=cmd()",
            "human_written": True,
            "rank_low": 2,
            "rank_high": 2,
            "rating": 1400.0,
            "rd": 30.0,
            "volatility": 0.0,
            "low": 1350.0,
            "high": 1450.0,
            "games": 12,
            "wins": 2,
            "ties": 1,
            "losses": 9,
            "human_mean": None,
        },
    ],
}


def test_csv_has_a_row_for_each_system_that_names_its_board():
    first, second = csv.DictReader(io.StringIO(exports.as_csv(BOARD)))
    assert (first["system"], first["rating"], first["rank_high"]) == ("A & B_50%", "1600.4", "2")
    assert first["signature"] == second["signature"] == BOARD["signature"] and first["permalink"] == "/tournaments/7/"
    assert second["system"] == "'=cmd()"  # no spreadsheet runs it
    assert second["human_mean"] == ""
    assert first["population"] == "contexts and people like these (annotators: 7)"


def test_latex_is_escaped_and_signed():
    table = exports.as_latex(BOARD)
    assert r"1--2 & A \& B\_50\% & 1600 & 1550--1651 & 12 \\" in table
    assert table.endswith("% judge:people/Overall|seed:0\n") and "Simulated" not in table
    assert "% Simulated data" in exports.as_latex(BOARD | {"simulated": True})


def test_svg_stands_alone():
    """It is well formed, carries its signature, and needs no style sheet, script or font from elsewhere."""
    drawn = exports.as_svg(BOARD)
    root = ET.fromstring(drawn)
    assert root.tag.endswith("svg") and BOARD["signature"] in drawn
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not names & {"style", "script", "image", "foreignObject"} and "href" not in drawn
    circles = [float(e.get("cx")) for e in root.iter() if e.tag.endswith("circle")]
    assert len(circles) == 2 and circles[0] > circles[1]


def test_a_long_caption_of_an_svg_is_wrapped_and_not_cut():
    label = "people, mean score of Overall quality and fluency"
    drawn = exports.as_svg(BOARD | {"simulated": True, "judge_label": label})
    root = ET.fromstring(drawn)
    lines = [e for e in root.iter() if e.tag.endswith("text") and e.get("font-size") == "10"]
    said = " ".join(line.text for line in lines)
    assert said.startswith(f"Ratings with 95% intervals, judged by {label}, simulated data")
    assert max(len(line.text) for line in lines) <= 66  # what 342 of 360 units hold at this size
    heights = [float(line.get("y")) for line in lines]
    assert len(lines) > 1 and heights == sorted(set(heights)) and heights[-1] < float(root.get("height"))


def test_names_stand_on_the_row_of_their_dot_left_of_the_grid():
    drawn = ET.fromstring(exports.as_svg(BOARD))
    grid = [float(e.get("d")[1:].split()[0]) for e in drawn.iter() if e.tag.endswith("path") and "V" in e.get("d")]
    names = [e for e in drawn.iter() if e.tag.endswith("text") and e.get("fill") == "#1c2126"]
    assert [name.text for name in names] == ["A & B_50%", "=cmd()", "(human-written)"] and len(grid) > 1
    assert max(float(name.get("x")) + 7 * len(name.text) for name in names) < min(grid)  # Inter's letters at 12 are 6.5 wide
    dots = [float(e.get("cy")) for e in drawn.iter() if e.tag.endswith("circle")]
    y = [float(name.get("y")) - 4 for name in names]  # the middle of a small letter is 4 above its line
    assert [y[0], (y[1] + y[2]) / 2] == pytest.approx(dots)  # the second system's name has two lines


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
