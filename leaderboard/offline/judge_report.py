"""What `check_judge` says, as one dict, from which JSON, text and HTML are made; figures are rounded once, here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.metaevaluation.agreement import Share
from evaluator.metaevaluation.alternative_annotator import AlternativeAnnotator
from evaluator.metaevaluation.correlation_levels import Figure
from evaluator.metaevaluation.judges_table import JudgeRow
from leaderboard.offline.correction import Interval
from leaderboard.offline.judge_check import Budget, Check, Checked, Gap, SystemRow
from leaderboard.offline.text import account_lines

DIGITS = 6
NAMELESS = "all outputs"  # of a file that names no system
MOST_GAPS = 5  # neighbours that a sentence is given to
POPULATIONS = {
    "people": "people in general, like these annotators",
    "annotators": "these annotators only",
    None: "nobody is named",
}
METHOD = (
    "corrected: prediction-powered, power-tuned, contexts and annotators resampled together"
    " (Angelopoulos, Duchi & Zrnic 2023; Cameron, Gelbach & Miller 2011); differences known: Tukey's range, 95% together"
)


def as_dict(found: Check) -> dict[str, Any]:
    rows = {row.name: row for row in found.table.rows}
    limit = found.ends[1] - found.ends[0] if found.ends and found.about == "scores" else 1.0
    return {
        "about": found.about,
        "unit": "points of people's scale" if found.about == "scores" else "wins less losses, from -1 to 1",
        "criterion": found.criterion,
        "scale": list(found.ends) if found.ends else None,
        "judges": [_judge(one, rows[one.judge], limit) for one in found.judges],
        "beside": [_agreement(row) for row in found.table.rows if row.kind != "judge"],
        "differences": [
            {"first": d.first, "second": d.second, "difference": _round(d.difference), "p": _round(d.corrected)}
            for d in found.table.differences
        ],
        "method": METHOD,
        "warnings": found.warnings,
        "assumed": found.assumed,
        "condition": "What people labelled must not have been chosen by the judge.",
    }


def _judge(one: Checked, row: JudgeRow, limit: float) -> dict[str, Any]:
    return {
        **_agreement(row),
        "judge": one.judge,
        "labels": one.labels,
        "judged": one.judged,
        "contexts": one.contexts,
        "annotators": one.annotators,
        "population": POPULATIONS[one.population],
        "weight": _round(one.weight),
        "scale": one.scale or None,
        "unmatched_labels": one.unmatched,
        "alternative_annotator": _alternative(row.alternative, row.alternative_of),
        "systems": [_system(system) for system in one.rows],
        "gaps": [_gap(gap, limit) for gap in one.gaps],
        "more_labels": [_budget(budget) for budget in one.budget],
    }


def _agreement(row: JudgeRow) -> dict[str, Any]:
    named = {"sample_pearson": "pearson", "sample_spearman": "spearman", "context_pearson": "pearson_within_contexts"}
    figures = {name: _figure(row.correlations.get(level)) for level, name in named.items()}
    return {
        "name": row.name,
        "kind": row.kind,
        "pairs_ordered_as_people_do": _share(row.accuracy),
        "pairs": row.pairs,
        "with_ties": _round(row.three_way),
        **{name: figure for name, figure in figures.items() if figure is not None},
    }


def _alternative(test: AlternativeAnnotator | None, of: str) -> dict[str, Any]:
    if test is None:
        return {"tested": False, "why": of}
    return {
        "tested": True,
        "of": of,
        "passes": test.passes,
        "winning_rate": _round(test.winning_rate),
        "advantage": _round(test.advantage),
        "epsilon": test.epsilon,
        "annotators": len(test.comparisons),
        "left_out": len(test.left_out),
    }


def _system(row: SystemRow) -> dict[str, Any]:
    return {
        "system": row.system or NAMELESS,
        "labels": row.labels,
        "judge": _round(row.judge),
        "people": _interval(row.people),
        "corrected": _interval(row.corrected),
        "misstated": _interval(row.misstated),
        "rank": [row.rank_low, row.rank_high],
    }


def _gap(gap: Gap, limit: float) -> dict[str, Any]:
    """limit: no gap is wider."""
    return {
        "first": gap.first or NAMELESS,
        "second": gap.second or NAMELESS,
        "judge": _round(gap.judge),
        "people": _interval(gap.people, limit),
        "corrected": _interval(gap.corrected, limit),
        "known": gap.known,
        "times_the_labels_to_tell": gap.times,
    }


def _budget(budget: Budget) -> dict[str, Any]:
    return {
        "labels": budget.labels,
        "half_width": _round(budget.corrected),
        "half_width_of_people_alone": _round(budget.people),
    }


def _interval(one: Interval | None, limit: float = float("inf")) -> dict[str, float | None] | None:
    if one is None:
        return None
    low, high = max(one.low, -limit), min(one.high, limit)
    return {"value": _round(one.value), "low": _round(low), "high": _round(high)}


def _share(share: Share | None) -> dict[str, Any] | None:
    if share is None:
        return None
    return {"value": _round(share.value), "low": _round(share.low), "high": _round(share.high)}


def _figure(figure: Figure | None) -> dict[str, Any] | None:
    return None if figure is None else {"value": _round(figure.value), "low": _round(figure.low), "high": _round(figure.high)}


def _round(value: float | None) -> float | None:
    """None where there is no number; a figure carries no more digits than sums in another order keep."""
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return None
    return round(float(value), DIGITS) + 0.0


def answer(judge: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    """What is asked first, in sentences."""
    said = []
    share = judge["pairs_ordered_as_people_do"]
    ceiling = next((row["pairs_ordered_as_people_do"] for row in result["beside"] if row["kind"] == "ceiling"), None)
    if share:
        said.append(
            f"It orders {shown_share(share)} of the pairs that people prefer clearly as they do; by chance it would be 50%."
        )
    if share and ceiling and ceiling["value"] is not None:
        said.append(f"One person agrees with the rest of the people in {shown_share(ceiling)}: no judge can be asked for more.")
    test = judge["alternative_annotator"]
    if test["tested"]:
        word = "may" if test["passes"] else "may not"
        said.append(
            f"It {word} stand in for an annotator: it wins against {test['winning_rate']:.0%} of {test['annotators']} people,"
            f" and 50% are asked for (alternative annotator test, epsilon {test['epsilon']:g})."
        )
    else:
        said.append(f"Whether it may stand in for an annotator is not known. {test['why']}")
    said.append(_misstated(judge, result))
    return said


def _misstated(judge: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    wrong = [row for row in judge["systems"] if row["misstated"] and _apart(row["misstated"])]
    if not wrong:
        return "For no system is it known to be off."
    words = [
        f"{row['system']} by {row['misstated']['value']:+.2f}"
        for row in sorted(wrong, key=lambda row: -abs(row["misstated"]["value"]))
    ]
    more = f" and {len(words) - 5} more" if len(words) > 5 else ""
    return f"It is off for {', '.join(words[:5])}{more} ({result['unit']}; 95% intervals below, each by itself)."


def _apart(interval: Mapping[str, float]) -> bool:
    return interval["low"] > 0 or interval["high"] < 0


def shown_share(share: Mapping[str, float | None]) -> str:
    if share["low"] is None or share["high"] is None:
        return f"{share['value']:.0%}"
    return f"{share['value']:.0%} [{share['low']:.0%}, {share['high']:.0%}]"


def shown(interval: Mapping[str, float | None] | None, sign: str = "+") -> str:
    """sign: "+" for a difference, empty for a mean."""
    if interval is None or interval["value"] is None:
        return "not known"
    if interval["low"] is None:
        return f"{interval['value']:{sign}.2f}"
    return f"{interval['value']:{sign}.2f} [{interval['low']:{sign}.2f}, {interval['high']:{sign}.2f}]"


def sign_of(result: Mapping[str, Any]) -> str:
    """Of systems' figures: wins less losses have a sign, scores have not."""
    return "" if result["about"] == "scores" else "+"


def system_cells(row: Mapping[str, Any], sign: str) -> list[str]:
    """rank, system, judge, people, corrected, the judge is off by, labels"""
    judge = "not known" if row["judge"] is None else f"{row['judge']:{sign}.2f}"
    people, corrected = (shown(row[name], sign) for name in ("people", "corrected"))
    return [ranks(row), row["system"], judge, people, corrected, shown(row["misstated"]), f"{row['labels']:,}"]


def ranks(row: Mapping[str, Any]) -> str:
    low, high = row["rank"]
    return f"{low}" if low == high else f"{low}-{high}"


def text(result: Mapping[str, Any]) -> str:
    lines: list[str] = []
    for judge in result["judges"]:
        lines += [judge["judge"], *(f"  {sentence}" for sentence in answer(judge, result)), ""]
        contexts = "context" if judge["contexts"] == 1 else "contexts"
        lines += [f"  Systems ({result['unit']}), corrected by {judge['labels']:,} labels on {judge['contexts']:,} {contexts}:"]
        lines += [f"  {line}" for line in _aligned(_system_table(judge, sign_of(result)))]
        lines += ["", *(f"  {line}" for line in budget_sentences(judge)), ""]
    first = result["judges"][0]
    lines += [f"Intervals hold for {first['population']}. {result['condition']}"]
    lines += [line for file in result.get("files", ()) for line in account_lines(file)]
    lines += [f"Note: {sentence}" for sentence in result["assumed"]]
    lines += [f"Warning: {sentence}" for sentence in result["warnings"]]
    lines += [f"Method: {result['method']}."]
    return "\n".join(lines)


def _system_table(judge: Mapping[str, Any], sign: str) -> list[list[str]]:
    head = ["rank", "system", "judge", "people", "corrected", "judge is off by", "labels"]
    return [head, *(system_cells(row, sign) for row in judge["systems"])]


def budget_sentences(judge: Mapping[str, Any]) -> list[str]:
    """What more labels would buy."""
    said = [
        f"With {one['labels']:,} labels a system would be known to ±{one['half_width']:.2f}"
        f" (people alone: ±{one['half_width_of_people_alone']:.2f})."
        for one in judge["more_labels"]
        if one["half_width"] is not None
    ]
    open_gaps = [gap for gap in neighbours(judge) if not gap["known"] and gap["corrected"] is not None]
    for gap in open_gaps[:MOST_GAPS]:
        times = gap["times_the_labels_to_tell"]
        more = f"about {times:g} times the labels would, if this is the true gap" if times else "ten times the labels might not"
        said.append(f"{gap['first']} and {gap['second']} are not told apart; {more}.")
    if len(open_gaps) > MOST_GAPS:
        said.append(f"{len(open_gaps) - MOST_GAPS} more neighbours are not told apart.")
    return said


def neighbours(judge: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    order = [row["system"] for row in judge["systems"]]
    return [gap for gap in judge["gaps"] if order.index(gap["second"]) == order.index(gap["first"]) + 1]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
