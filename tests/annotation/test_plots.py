"""Geometry of the charts that pages share; expected places by hand."""

import random
from itertools import combinations

from annotation import plots
from annotation.plots import Mark

WAYS = [Mark("Ant", 3.0, 2.0, 5.0, 1, 100), Mark("Bee", 1.0, 1.0, 2.0, 2, 300), Mark("Cat", 2.0, None, None, 0, 200)]


def test_intervals_stand_in_rows_on_one_axis():
    """From 1 at 133 + 8 to 5 at 400 - 16: 60.75 a point, so 3 is at 262.5. The column of names is a third of the width."""
    chart = plots.dot_plot(WAYS)
    assert [row["y"] for row in chart["rows"]] == [20, 40, 60]
    assert (chart["rows"][0]["low"], chart["rows"][0]["at"], chart["rows"][0]["high"]) == (201.8, 262.5, 384.0)
    assert chart["ticks"] == [(201.8, "2.0"), (323.2, "4.0")]
    assert plots.dot_plot([]) is None


def test_an_axis_that_is_given_cuts_an_interval_at_its_end():
    """An interval of a mean on a scale from 0 to 1 may reach over 1; the drawing does not."""
    chart = plots.dot_plot([Mark("Ant", 0.95, 0.87, 1.05)], (0, 1))
    assert chart["rows"][0]["high"] == plots.WIDTH - plots.SIDE


def test_a_scatter_names_no_dot_over_another_name():
    """Three dots on one spot have room for two names: one on the right, one on the left."""
    same = [Mark(name, 1.0, 0.0, 2.0, x=x) for name, x in (("Ant", 5), ("Bee", 5), ("Cat", 5), ("Dew", 1), ("Eel", 9))]
    names = [dot["name"] for dot in plots.scatter(same)["dots"]]
    assert len([name for name in names[:3] if name]) == 2 and names[3:] == ["Dew", "Eel"]
    assert plots.scatter(same[:2]) is None


def test_no_name_lies_on_another_or_on_a_dot():
    """As wide as Chromium measures "WM" (22.6) and "il" (5.8) of Inter at 12; a line is 15 high, a dot 9 wide."""
    assert plots.text_width("WM") >= 22.6 and 5.8 <= plots.text_width("il") < plots.text_width("通义") == 25
    draw = random.Random(0)
    names = ["WMT SYSTEM", "gpt-4", "通义千问大模型", "llama-3-70b-instruct-of-somebody"]
    for n in (3, 15, 59):
        marks = [Mark(f"{names[i % 4]} {i}", draw.gauss(3, 0.5), 0.0, 6.0, x=draw.gauss(60, 15)) for i in range(n)]
        dots = plots.scatter(marks)["dots"]
        boxes = [(dot["x"] - 4.5, dot["x"] + 4.5, dot["y"] - 4.5, dot["y"] + 4.5) for dot in dots]
        for dot in (dot for dot in dots if dot["name"]):
            wide = plots.text_width(dot["name"]) * (1 if dot["anchor"] == "start" else -1)
            boxes.append((*sorted((dot["name_x"], dot["name_x"] + wide)), dot["y"] - 7.5, dot["y"] + 7.5))
        assert len(boxes) > n and max(box[1] for box in boxes) < plots.WIDE
        for (a, b, c, d), (e, f, g, h) in combinations(boxes[n:] + boxes[:n], 2):
            if (a, b, c, d) in boxes[n:]:  # two dots may meet
                assert b <= e or f <= a or d <= g or h <= c


def test_what_spans_a_factor_above_thirty_is_logarithmic():
    """From 0.1 at 60 to 100 at 544, so 161.3 for each of three powers of ten; linear up to a factor of 30, and with a zero."""
    at = lambda *places: plots.scatter([Mark(str(x), 1.0, x=x) for x in places])
    chart = at(0.1, 1, 100)
    assert chart["is_log"] and [dot["x"] for dot in chart["dots"]] == [60, 221.3, 544]
    assert [x for x, _ in chart["x_ticks"]] == [60, 221.3, 382.7, 544]
    assert plots.round_powers(0.2, 9) == [0.3, 1, 3] and plots.round_powers(1e-3, 1e4) == [1e-3, 1e-1, 1e1, 1e3]
    assert not at(1, 2, 30)["is_log"] and not at(0, 1, 100)["is_log"]


def test_many_dots_have_no_intervals():
    many = [Mark(str(i), i, i - 1.0, i + 1.0, x=i) for i in range(plots.MANY)]
    assert not plots.scatter(many)["has_intervals"] and plots.scatter(many[1:])["has_intervals"]


def test_cells_of_few_systems_are_large_enough_for_numbers():
    shares = [[None, 0.75], [0.25, None]]
    chart = plots.heat_map(["Ant", "Bee"], shares, lambda i, j: f"{i}{j}")
    assert [(cell["title"], cell["heat"], cell["said"]) for cell in chart["cells"]] == [
        ("01", "heat-up-3", "75%"),
        ("10", "heat-down-3", "25%"),
    ]
    n = plots.FEW
    many = plots.heat_map([str(i) for i in range(n)], [[None] * n] * n, lambda i, j: "")
    assert chart["is_large"] and not many["is_large"] and many["columns"][1][1] == 5


def test_bars_are_parted_as_often_as_each_class_was_given():
    """400 - 133 - 8 - 2 = 257 wide: a quarter is 64.25. Whoever gave nothing has no bar."""
    chart = plots.shares([("Ant", [1, 0, 3]), ("Bee", [0, 0, 0])], ("1", "2", "3"))
    [row] = chart["rows"]
    assert [(part["x"], part["width"], part["strength"]) for part in row["parts"]] == [(141.0, 64.2, 0.12), (205.2, 192.8, 1.0)]
    assert row["parts"][1]["said"] == "Ant: 3, 3 of 4 (75%)"
