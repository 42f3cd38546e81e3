"""A finished board as JSON and as files: CSV, a LaTeX table, text, and an SVG to embed. All of them carry its warnings."""

import csv
import io
import textwrap
from collections.abc import Iterator
from typing import Any

from django.template.loader import render_to_string

from annotation.data.spreadsheets import without_formulas
from leaderboard.boards import diagnoses, wording
from leaderboard.boards.board import Board
from leaderboard.boards.cautions import cautions
from leaderboard.boards.charts import whiskers
from leaderboard.boards.estimates import Estimate, Name, Standing
from leaderboard.boards.tree import hints, to_json

SENTENCES = {
    "question": wording.question,
    "judged_by": wording.judged_by,
    "method": wording.method,
    "headline": wording.headline,
    "own_name": wording.own_name,
    "ranks": wording.ranks,
    "best_meaning": wording.best_meaning,
    "population": wording.population,
    "intervals": wording.intervals,
    "answers": wording.answers,
    "verdict": wording.verdict,
    "worth": wording.worth,
    "gate": wording.gate_verdict,
    "ending": wording.ending,
    "length": diagnoses.length,
    "costs": diagnoses.costs,
    "circles": diagnoses.circles,
    "side": diagnoses.side,
}
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {c: "\\" + c for c in "&%$#_{}"}
WIDTH = 58  # characters of a line under a chart, also in the wider letters of DejaVu, which Linux draws where Inter is not


def as_json(board: Board) -> dict[str, Any]:
    """The whole tree, with its sentences under `said`, and all its warnings."""
    said = {name: say(board) for name, say in SENTENCES.items()}
    return {**to_json(board), "said": said, "warnings": [to_json(one) for one in cautions(board)]}


def warnings(board: Board) -> str:
    return " ".join(one.text for one in cautions(board))


def as_csv(board: Board) -> str:
    """A row per system; what made the board in every row, so that no row travels without it."""
    out = io.StringIO()
    beside = _lengths(board)
    rows = [{**_flat(row), **beside.get(row.system, {}), **_cost(board, row), **_made(board)} for row in board.standings]
    writer = csv.DictWriter(out, list(rows[0]) if rows else [])
    writer.writeheader()
    writer.writerows(map(without_formulas, rows))
    return out.getvalue()


def _flat(row: Standing) -> dict[str, Any]:
    """Its fields; an estimate takes three columns."""
    found: dict[str, Any] = {}
    for name in hints(Standing):
        found |= _ends(name, row.own) if name == "own" else {name: getattr(row, name)}
    return found


def _ends(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """{name, name_low, name_high}"""
    ends = (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))


def _lengths(board: Board) -> dict[Name, dict[str, float | None]]:
    """By system: the plain win rate, that at equal length with its interval, the mean length in characters."""
    found = {row.system: {"win_rate": None, **_ends("equal_length", None), "mean_length": None} for row in board.standings}
    for row in board.length.systems if board.length else ():
        found[row.system] = {"win_rate": row.plain, **_ends("equal_length", row.controlled), "mean_length": row.length}
    return found


def _cost(board: Board, row: Standing) -> dict[str, float | str | None]:
    known = {one.system: one.cost for one in board.costs.systems} if board.costs else {}
    unit = board.costs.unit if board.costs and row.system in known else None
    return {"cost": known.get(row.system), "cost_unit": unit}


def _made(board: Board) -> dict[str, str | int | bool | None]:
    made = board.provenance
    return {
        "question": wording.question(board),
        "unit": board.question.unit,
        "judge": wording.judged_by(board),
        "method": wording.method(board),
        "error_is": wording.error_name(board),
        "best_is": wording.best_meaning(board),
        "population": wording.population(board),
        "answers_of_people": wording.answers(board),
        "verdict": wording.verdict(board),
        "gate": wording.gate(board),
        "warnings": warnings(board),
        "simulated": board.basis.simulated,
        "snapshot": made.snapshot,
        "finished_at": made.finished_at,
        "tournament": made.tournament,
        "signature": made.signature,
        "permalink": made.permalink,
    }


def as_latex(board: Board) -> str:
    """A booktabs table with its intervals, a rule between clusters, and below it what it is about and its warnings; the
    signature is its last line."""
    best = any(row.best is not None for row in board.standings)
    own = wording.own_name(board)
    columns = 5 + best + bool(own)
    head = ["Rank", "System", "Rating", r"95\% interval", *([_latex(own)] if own else []), *(["Best"] if best else [])]
    lines = [
        rf"\begin{{tabular}}{{ll{'r' * (columns - 2)}}}",
        r"\toprule",
        rf"{' & '.join([*head, wording.counted(board)])} \\",
        *_latex_rows(board, best, bool(own), columns),
        r"\bottomrule",
        *(
            rf"\multicolumn{{{columns}}}{{p{{0.9\linewidth}}}}{{\footnotesize {_latex(text)}}} \\"
            for text in (f"{wording.caption(board)} {wording.made(board)}", *(one.text for one in cautions(board)))
        ),
        r"\end{tabular}",
    ]
    if any(row.cluster for row in board.standings):
        lines.append("% Rules separate clusters: every system above a rule is known to be better than every system below it.")
    if best:
        lines.append(f"% {wording.best_meaning(board)}")
    if own:
        lines.append(f"% {wording.own_meaning(board)}")
    lines += [f"% Rated by {wording.method(board)}."]
    verdict = wording.verdict(board) and f"Answers: {wording.verdict(board)}."
    said = (wording.gate(board), verdict, wording.ranks(board))
    lines += [f"% {one}" for one in said if one]
    return "\n".join([*lines, f"% {board.provenance.signature}", ""])


def _latex_rows(board: Board, best: bool, own: bool, columns: int) -> Iterator[str]:
    if not board.is_split:
        yield r"\midrule"
    for row, line, group in board.rows:
        if line:
            yield r"\midrule"
        if group:
            yield r"\midrule"
            yield rf"\multicolumn{{{columns}}}{{l}}{{\textit{{Group {group}}}}} \\"
        name = _latex(row.system) + (" (human)" if row.human_written else "")
        cells = [_latex(wording.rank(row)), name, f"{row.rating:.0f}", f"{row.low:.0f}--{row.high:.0f}"]
        cells += [_latex(own_estimate(board, row.own))] if own else []
        cells += [_latex(wording.chance(row.best))] if best else []
        yield " & ".join([*cells, str(wording.count(row))]) + r" \\"


def own_estimate(board: Board, estimate: Estimate | None) -> str:
    """In the question's unit, with its interval: 3.42 (3.10 to 3.74), or 71% (64% to 77%)."""
    if estimate is None:
        return "–"
    write = "{:.0%}".format if board.question.unit == "share" else "{:.2f}".format
    ends = () if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
    return write(estimate.value) + (f" ({' to '.join(map(write, ends))})" if ends else "")


def as_text(board: Board) -> str:
    """For a terminal."""
    own = wording.own_name(board)
    width = max(22, len(own) + 1)
    head = f"{'system':<32}{'rank':>6}{'rating':>8}{wording.error_name(board):>6}  {'95% interval':<15}"
    head += f"{own.lower():<{width}}" if own else ""
    counts = f"{wording.counted(board).lower():>8}{'W':>6}{'T':>6}{'L':>6}{'people':>8}"
    head += f"{'best':>6}{counts}"
    lines = [f"Judged by {wording.judged_by(board)}, on {wording.question(board)}.", head]
    for row, line, group in board.rows:
        if group:
            lines.append(f"Group {group}")
        if line:
            lines.append("-" * len(head))
        mean = "" if row.human_mean is None else f"{row.human_mean:.2f}"
        name = row.system + (" (human)" if row.human_written else "")
        estimate = f"{own_estimate(board, row.own):<{width}}" if own else ""
        lines.append(
            f"{name:<32}{wording.rank(row):>6}{row.rating:>8.0f}{row.error:>6.0f}  {row.low:>6.0f}–{row.high:<8.0f}{estimate}"
            f"{wording.chance(row.best):>6}{wording.count(row):>8}{row.wins:>6}{row.ties:>6}{row.losses:>6}{mean:>8}"
        )
    verdict = wording.verdict(board) and f"Answers: {wording.verdict(board)}."
    lines += [f"Rated by {wording.method(board)}.", wording.error_meaning(board), wording.answers(board), verdict]
    lines += [
        wording.best_meaning(board),
        *_agreement_lines(board),
        wording.worth(board),
        wording.gate(board),
        wording.headline(board),
        wording.ranks(board),
    ]
    lines += [wording.intervals(board), *(f"Warning: {one.text}" for one in cautions(board)), board.provenance.signature]
    return "\n".join(filter(None, lines))


def _agreement_lines(board: Board) -> Iterator[str]:
    if board.agreement is None:
        return
    for who, found in (("all", board.agreement.all), ("generated", board.agreement.generated)):
        yield f"Spearman with people, {who} ({found.systems} systems): {diagnoses.correlation(found)}"
        if found.true_spearman and found.ceiling:
            yield f"  without noise {_interval(found.true_spearman)}; ceiling {_interval(found.ceiling)}"


def _interval(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def said_below(board: Board) -> list[str]:
    """What is written below every picture of a board, a line for each."""
    passed = "" if any(one.kind == "gate" for one in cautions(board)) else wording.gate(board)
    texts = [wording.caption(board), f"Rated by {wording.method(board)}.", passed, *(one.text for one in cautions(board))]
    return [*filter(None, texts), wording.made(board)]


def as_svg(board: Board) -> str:
    chart = whiskers([board])
    below = (chart or {"height": 0})["height"] + 14  # of the chart's last line
    data = ", simulated data" if board.basis.simulated else ""
    said = [line for text in (f"Ratings with 95% intervals{data}.", *said_below(board)) for line in textwrap.wrap(text, WIDTH)]
    lines = [(below + 14 * i, line) for i, line in enumerate(said)]
    shown = {"board": board, "chart": chart, "said": lines, "height": below + 14 * len(said) - 4}
    return render_to_string("leaderboard/embed.svg", shown)


def _latex(text: str) -> str:
    written = "".join(LATEX.get(character, character) for character in text)
    return written.replace("<", "$<$").replace(">", "$>$").replace("–", "--")
