"""A finished board as a file: CSV, a LaTeX table, and an SVG to embed. What is in them is what the page shows."""

import csv
import io
import textwrap

from django.template.loader import render_to_string

from leaderboard.boards.charts import whiskers
from leaderboard.boards.queries import with_lines

COLUMNS = [
    "system",
    "human_written",
    "rank_low",
    "rank_high",
    "rating",
    "low",
    "high",
    "rd",
    "games",
    "wins",
    "ties",
    "losses",
    "human_mean",
    "cluster",
    "best",
    "win_rate",
    "equal_length_win_rate",
    "equal_length_low",
    "equal_length_high",
    "mean_length",
]
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {c: "\\" + c for c in "&%$#_{}"}


def as_csv(board: dict) -> str:
    """A row per system; the signature, tournament and address in every row, so that no row travels without them."""
    out = io.StringIO()
    made = {
        "judge": board["judge_label"],
        "population": population(board),
        "gate": gate(board),
        "signature": board["signature"],
    }
    made |= {"permalink": board["permalink"], "simulated": board["simulated"]}
    writer = csv.DictWriter(out, [*COLUMNS, *made], extrasaction="ignore")
    writer.writeheader()
    rates = _win_rates(board)
    for row in board["standings"]:
        writer.writerow({**row, **rates.get(row["id"], {}), **made, "system": _no_formula(row["system"])})
    return out.getvalue()


def _win_rates(board: dict) -> dict[int, dict]:
    """By a system's id: plain, and at equal length with its 95% interval; the mean length in characters."""
    found = {}
    for row in (board.get("length_control") or {"systems": []})["systems"]:
        rate = row["controlled"] or {"value": None, "low": None, "high": None}
        at_equal_length = {"win_rate": rate["value"], "low": rate["low"], "high": rate["high"]}
        found[row["id"]] = {"win_rate": row["plain"], "mean_length": row["length"]}
        found[row["id"]] |= {f"equal_length_{name}": value for name, value in at_equal_length.items()}
    return found


def population(board: dict) -> str:
    """Whom the intervals speak of."""
    people, contexts = board["speaks_of"], "groups of contexts" if board.get("groups") else "contexts"
    if people is None:
        return (
            f"{contexts} like these"
            if board["judge"] in ("comparator", "other")
            else f"{contexts} like these, these annotators"
        )
    if people["population"] == "annotators":
        return f"{contexts} like these, these {people['annotators']} annotators"
    return f"{contexts} and people like these (annotators: {people['annotators']})"


def gate(board: dict) -> str:
    """The verdict of the gate on its comparator, with the reasons; empty where people alone judged."""
    asked = board.get("gate")
    return " ".join([asked["verdict"], *asked["reasons"]]) if asked else ""


def as_latex(board: dict) -> str:
    """A booktabs table with its intervals, a rule between clusters; the signature is its last line. That a comparator did not
    pass its gate stands in the table."""
    best = any(row.get("best") is not None for row in board["standings"])
    asked = board.get("gate")
    doubt = []
    if asked and not asked["passed"]:
        doubt = [rf"\multicolumn{{{5 + best}}}{{l}}{{\footnotesize {_latex(asked['verdict'])}}} \\"]
    rows = [_latex_row(row, best) for row in board["standings"]]
    lines = [
        rf"\begin{{tabular}}{{llrrr{'r' * best}}}",
        r"\toprule",
        rf"Rank & System & Rating & 95\% interval & {'Best & ' * best}{'Answers' if board['people'] else 'Games'} \\",
        r"\midrule",
        *(rf"\midrule{chr(10)}{row}" if line else row for row, (_, line) in zip(rows, with_lines(board["standings"]))),
        r"\bottomrule",
        *doubt,
        r"\end{tabular}",
    ]
    if any(row.get("cluster") for row in board["standings"]):
        lines.append("% Rules separate clusters: every system above a rule is known to be better than every system below it.")
    if best:
        lines.append("% Best: the probability that a system is the best of these.")
    lines.append(f"% Judged by {board['judge_label']}.")
    if asked:
        lines.append(f"% {gate(board)}")
    if board["simulated"]:
        lines.append("% Simulated data: judgments made by a program, not by people.")
    return "\n".join([*lines, f"% Intervals: {population(board)}.", f"% {board['signature']}", ""])


def as_svg(board: dict) -> str:
    chart = whiskers([board])
    below = (chart or {"height": 0})["height"] + 14  # of the chart's last line
    caption = f"Ratings with 95% intervals, judged by {board['judge_label']}{', simulated data' if board['simulated'] else ''}"
    said = [line for text in (caption, gate(board)) for line in textwrap.wrap(text, 66)]
    lines = [(below + 14 * i, line) for i, line in enumerate(said)]
    return render_to_string(
        "leaderboard/embed.svg", {"board": board, "chart": chart, "said": lines, "height": below + 14 * len(said) - 4}
    )


def _latex_row(row: dict, best: bool) -> str:
    chance = ""
    if best:
        chance = _latex(chance_in_percent(row["best"])).replace("<", "$<$").replace(">", "$>$").replace("–", "--") + " & "
    return (
        rf"{ranks(row)} & {_latex(row['system'])} & {row['rating']:.0f} & "
        rf"{row['low']:.0f}--{row['high']:.0f} & {chance}{row['games']} \\"
    )


def chance_in_percent(chance: float | None) -> str:
    """Whole percents, as far as the draws settle them; never 0% or 100%, which no sample shows."""
    if chance is None:
        return "–"
    return "<1%" if chance < 0.01 else ">99%" if chance > 0.99 else f"{100 * chance:.0f}%"


def ranks(row: dict) -> str:
    """A rank interval in print: 2, or 2-4."""
    if row["rank_low"] is None:
        return ""
    return str(row["rank_low"]) if row["rank_low"] == row["rank_high"] else f"{row['rank_low']}--{row['rank_high']}"


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)


def _no_formula(text: str) -> str:
    """A spreadsheet runs a cell that begins like a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
