"""What `check_judge` says as one HTML file that stands alone: plots before tables, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from leaderboard.offline.judge_report import answer, budget_sentences, ranks, shown, shown_share, sign_of, system_cells

WIDTH, LABEL, ROW = 760, 250, 34
STYLE = """
:root { color-scheme: light dark; --ink: #1c1917; --soft: #57534e; --line: #d6d3d1; --paper: #fdfcfa; --judge: #b45309;
  --people: #57534e; --corrected: #1d4ed8; }
@media (prefers-color-scheme: dark) { :root { --ink: #f5f5f4; --soft: #a8a29e; --line: #44403c; --paper: #1c1917;
  --judge: #fbbf24; --people: #a8a29e; --corrected: #93c5fd; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 48rem; padding: 2rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin-top: 2rem; }
ul.answers { padding-left: 1.2rem; } figure { margin: 1.5rem 0; } figcaption { color: var(--soft); font-size: .9rem; }
svg { width: 100%; min-width: 36rem; height: auto; display: block; }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg .soft { fill: var(--soft); } svg .grid { stroke: var(--line); } svg .zero { stroke: var(--soft); stroke-dasharray: 3 3; }
.judge { stroke: var(--judge); fill: var(--judge); } .people { stroke: var(--people); fill: var(--paper); }
.corrected { stroke: var(--corrected); fill: var(--corrected); } svg line.range { stroke-width: 2.5; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
.warning { border-left: 4px solid var(--judge); padding-left: .8rem; }
.about { color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
details { margin: 1rem 0; } summary { cursor: pointer; }
@media print { details > * { display: block; } }
"""


def page(result: Mapping[str, Any]) -> str:
    names = ", ".join(judge["judge"] for judge in result["judges"])
    title = f"Does {names} agree with people?"
    parts = [f"<h1>{escape(title)}</h1>"]
    parts += [f'<p class="warning">{escape(sentence)}</p>' for sentence in result["warnings"]]
    for judge in result["judges"]:
        parts += _judge(judge, result, len(result["judges"]) > 1)
    parts += _about(result)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def _judge(judge: Mapping[str, Any], result: Mapping[str, Any], named: bool) -> list[str]:
    parts = [f"<h2>{escape(judge['judge'])}</h2>"] if named else []
    parts.append(
        '<ul class="answers">' + "".join(f"<li>{escape(sentence)}</li>" for sentence in answer(judge, result)) + "</ul>"
    )
    parts += [_systems_plot(judge, result), _agreement_plot(judge, result), _budget_plot(judge, result)]
    parts.append(_details("Systems, as a table", _systems_table(judge, sign_of(result))))
    parts.append(_details("Gaps of each two systems", _gaps_table(judge)))
    sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in budget_sentences(judge))
    parts.append(f"<h3>What more labels would buy</h3><ul>{sentences}</ul>")
    return parts


class _Axis:
    """From values to places between the labels and the right edge."""

    def __init__(self, values: Sequence[float]):
        low, high = min(values), max(values)
        pad = (high - low or 1.0) * 0.06
        self.low, self.high = low - pad, high + pad

    def x(self, value: float) -> float:
        return round(LABEL + (WIDTH - LABEL - 20) * (value - self.low) / (self.high - self.low), 1)

    def ticks(self) -> list[float]:
        span = self.high - self.low
        step = next(s for s in (0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e3, 1e4, 1e6, 1e9) if span / s <= 8)
        first = -(-self.low // step)
        return [round(step * (first + i), 6) for i in range(9) if step * (first + i) <= self.high]


def _plot(
    title: str, about: str, rows: Sequence[tuple[str, Sequence[tuple[str, Mapping[str, Any]]]]], zero: float | None
) -> str:
    """rows: (label, [(class, {"value", "low", "high"})])"""
    marks = [mark for _, shown_marks in rows for _, mark in shown_marks if mark["value"] is not None]
    if not marks:
        return ""
    values = [value for mark in marks for value in (mark["value"], mark.get("low"), mark.get("high")) if value is not None]
    axis, height = _Axis([*values, *([zero] if zero is not None else [])]), ROW * len(rows) + 40
    drawn = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}. {escape(about)}">']
    for tick in axis.ticks():
        x = axis.x(tick)
        drawn.append(f'<line class="grid" x1="{x}" x2="{x}" y1="4" y2="{height - 30}"/>')
        drawn.append(f'<text class="soft" x="{x}" y="{height - 12}" text-anchor="middle">{tick:g}</text>')
    if zero is not None:
        drawn.append(f'<line class="zero" x1="{axis.x(zero)}" x2="{axis.x(zero)}" y1="4" y2="{height - 30}"/>')
    for i, (label, shown_marks) in enumerate(rows):
        middle = ROW * i + ROW / 2 + 4
        name = label if len(label) < 36 else label[:34] + "…"
        drawn.append(
            f'<text x="{LABEL - 12}" y="{middle + 4}" text-anchor="end"><title>{escape(label)}</title>{escape(name)}</text>'
        )
        for place, (kind, mark) in enumerate(shown_marks):
            drawn += _mark(axis, kind, mark, middle + 8 * (place - (len(shown_marks) - 1) / 2))
    drawn.append("</svg>")
    return f'<figure><div class="scroll" tabindex="0">{"".join(drawn)}</div><figcaption>{escape(about)}</figcaption></figure>'


def _mark(axis: _Axis, kind: str, mark: Mapping[str, Any], y: float) -> list[str]:
    if mark["value"] is None:
        return []
    drawn, x = [], axis.x(mark["value"])
    if mark.get("low") is not None and mark.get("high") is not None:
        drawn.append(f'<line class="range {kind}" x1="{axis.x(mark["low"])}" x2="{axis.x(mark["high"])}" y1="{y}" y2="{y}"/>')
    if kind == "judge":
        drawn.append(f'<rect class="{kind}" x="{x - 4}" y="{y - 4}" width="8" height="8"/>')
    else:
        drawn.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="4" stroke-width="2"/>')
    return drawn


def _systems_plot(judge: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    rows = []
    for row in judge["systems"]:
        marks = [("judge", {"value": row["judge"]})]
        marks += [(kind, row[kind]) for kind in ("people", "corrected") if row[kind]]
        rows.append((f"{ranks(row)}. {row['system']}", marks))
    about = (
        f"Each system, the best first ({result['unit']}). Square: the judge alone. Open circle: people's labels alone. Filled"
        " circle: corrected, with 95% intervals, each by itself. Numbers are the ranks that known differences leave possible."
    )
    return _plot(
        "The systems, by the judge, by people, and corrected", about, rows, 0.0 if result["about"] == "pairs" else None
    )


def _agreement_plot(judge: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    rows = (
        [(judge["judge"], [("corrected", judge["pairs_ordered_as_people_do"])])] if judge["pairs_ordered_as_people_do"] else []
    )
    rows += [
        (row["name"], [("people", row["pairs_ordered_as_people_do"])])
        for row in result["beside"]
        if row["pairs_ordered_as_people_do"]
    ]
    about = (
        "The share of pairs that are ordered as people order them, of those that people prefer clearly, with 95% intervals."
        " The dashed line is chance."
    )
    return _plot("Agreement with people", about, rows, 0.5)


def _budget_plot(judge: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    rows = [
        (
            f"{one['labels']:,} labels",
            [("people", {"value": one["half_width_of_people_alone"]}), ("corrected", {"value": one["half_width"]})],
        )
        for one in judge["more_labels"]
    ]
    about = (
        f"Half the width of a system's 95% interval, by the number of people's labels ({result['unit']}). Open: people alone."
        " Filled: corrected."
    )
    return _plot("What more labels would buy", about, rows, 0.0)


def _systems_table(judge: Mapping[str, Any], sign: str) -> str:
    head = ["rank", "system", "judge", "people", "corrected", "the judge is off by", "labels"]
    return _table(head, [system_cells(row, sign) for row in judge["systems"]])


def _gaps_table(judge: Mapping[str, Any]) -> str:
    rows = []
    for gap in judge["gaps"]:
        figure = "" if gap["judge"] is None else f"{gap['judge']:+.3f}"
        rows.append(
            [
                gap["first"],
                gap["second"],
                figure,
                shown(gap["people"]),
                shown(gap["corrected"]),
                "yes" if gap["known"] else "not yet",
            ]
        )
    return _table(["first", "less", "judge", "people", "corrected", "known to be above"], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    header = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></div>'


def _details(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def _file(file: Mapping[str, Any]) -> str:
    left_out = sum(file["left_out"].values())
    return f"{file['file']}: {file['read']:,} answers read, {left_out:,} left out. SHA-256 {file['sha256']}"


def _about(result: Mapping[str, Any]) -> list[str]:
    judge = result["judges"][0]
    lines = [
        f"Intervals hold for {judge['population']}. {result['condition']}",
        *result["assumed"],
        f"Method: {result['method']}.",
        f"Seed {result['seed']}. Code {result['code']}.",
        *map(_file, result["files"]),
        f"Again: {result['command']}",
    ]
    beside = [
        [row["name"], shown_share(row["pairs_ordered_as_people_do"]) if row["pairs_ordered_as_people_do"] else ""]
        for row in result["beside"]
    ]
    parts = [_details("Others, beside the judge", _table(["who", "pairs ordered as people do"], beside))]
    return [*parts, "<h2>How this was made</h2>", *(f'<p class="about">{escape(line)}</p>' for line in lines)]
