"""The pictures of Progress: what is seen at first sight, and what is opened with the numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.text import slugify

from annotation.plots import Mark, colour, dot_plot, shares
from annotation.questions import registry

ROWS_AT_ONCE = 12  # of a picture at first sight
OUTCOMES = ("lost", "tied", "won")


@dataclass(frozen=True)
class Plot:
    """Rows of intervals (dots) or parted bars, as `annotation.plots` draws them. key: in its file's name; said: what leaves
    with it; label: read aloud."""

    key: str
    caption: str
    note: str
    said: str
    label: str
    dots: dict | None = None
    bars: dict | None = None

    @property
    def rows(self) -> int:
        return len((self.dots or self.bars or {"rows": ()})["rows"])


def of_scores(figure: dict, people: dict[int, str], is_alone: bool, said_below: str) -> dict[str, list[Plot]]:
    """{shown, opened}. At first sight a criterion's means, of many systems the best; beside them what else is small, where no
    other criterion has scores. figure: of `live.score_figures`, with systems and a criterion; people: their names."""
    criterion, only = figure["criterion"], registry.about_output(figure["criterion"]).asked_only
    said = f"{criterion.name}: {figure['scores']:,} scores.\n{said_below}"

    def plot(key: str, label: str, notes: Sequence[str] = (), **drawn: dict | None) -> Plot:
        note = ", ".join(filter(None, [*notes, only]))
        of_criterion = f"{slugify(criterion.name) or criterion.pk}-{key}"
        return Plot(of_criterion, label, note, said, f"{label} on {criterion.name}; the numbers are in the table.", **drawn)

    def means(key: str, rows: Sequence[dict], cut: str) -> Plot:
        notes = [cut, "with 95% intervals", "lowest is best" if criterion.best == "low" else ""]
        return plot(key, "Means of systems", notes, dots=_means(criterion, rows))

    by_system, by_person = _by_class(figure, people)
    parted = [plot("systems", "Scores by system", bars=by_system)]
    parted += [plot("people", "Scores by annotator", ["the strictest first"], bars=by_person)]
    shown, opened = _cut(means, "means", figure["systems"])
    for one in parted:
        (shown if is_alone and one.rows <= ROWS_AT_ONCE else opened).append(one)
    return {"shown": [one for one in shown if one.rows], "opened": [one for one in opened if one.rows]}


def of_pairs(pairs: dict, said_below: str) -> dict[str, list[Plot]]:
    """{shown, opened}: judgments by system, at first sight of the best. pairs: of `live.pair_figures`, with systems."""
    from_rankings = f" from {pairs['rankings']:,} rankings" if pairs["rankings"] else ""
    caption = f"{pairs['judgments']:,} judgments{from_rankings}, by system"
    label = "Judgments lost, tied and won by system; the numbers are in the table."

    def plot(key: str, rows: Sequence[dict], cut: str) -> Plot:
        counts = [(row["system"].name, [row[outcome] for outcome in OUTCOMES]) for row in rows]
        return Plot(key, caption, cut, said_below, label, bars=shares(counts, OUTCOMES))

    shown, opened = _cut(plot, "pairs", pairs["systems"])
    return {"shown": [one for one in shown if one.rows], "opened": opened}


def _cut(draw: Callable[[str, Sequence[dict], str], Plot], key: str, rows: Sequence[dict]) -> tuple[list[Plot], list[Plot]]:
    """What is seen of rows, the best first, and what is opened. draw(key, rows, what is said of a cut)."""
    if len(rows) <= ROWS_AT_ONCE:
        return [draw(key, rows, "")], []
    return [draw(key, rows[:ROWS_AT_ONCE], f"the best {ROWS_AT_ONCE} of {len(rows):,}")], [draw(f"all-{key}", rows, "")]


def _means(criterion: Any, rows: Sequence[dict]) -> dict | None:
    marks = [
        Mark(row["system"].name, row["mean"], row["low"], row["high"], colour(row["system"].pk), note=f"{row['n']:,} scores")
        for row in rows
    ]
    return dot_plot(marks, (criterion.low, criterion.high), "{:.3g}".format)


def _by_class(figure: dict, people: dict[int, str]) -> tuple[dict | None, dict | None]:
    """Bars by system and by person; None where the figures are from before there were any."""
    found = figure.get("shares")
    if not found:
        return None, None
    of_system = dict(found["systems"])
    names = [(row["system"].name, row["system"].pk) for row in figure["systems"] if row["system"].pk in of_system]
    by_system = [(name, of_system[pk]) for name, pk in names]
    by_person = [(people[pk], counts) for pk, counts in found["people"] if pk in people]
    return shares(by_system, found["classes"]), shares(by_person, found["classes"])
