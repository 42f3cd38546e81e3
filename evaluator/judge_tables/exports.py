"""The judges' table as text, CSV and LaTeX, from the record that `worker.judge_tables.evaluation` makes of it."""

import csv
import io
import shlex
from collections.abc import Iterator
from typing import Any

from annotation.data.spreadsheets import without_formulas
from annotation.quality.crossed import ANNOTATORS, PEOPLE
from annotation.quality.p_values import p_value
from evaluator.judge_tables.cautions import cautions
from evaluator.judge_tables.text_tables import aligned, notes, tabular
from evaluator.metaevaluation.robustness import FEWEST_CASES

SCOPES = {"all": "All outputs", "without_human": "Without outputs that people wrote"}
LEVELS = {"sample": "over all outputs", "context": "within contexts", "system": "over systems"}
MEASURES = ("pearson", "spearman", "kendall")
PAIRS = "judgments of pairs"  # what a table is about where there is no criterion
KINDS = {"expert": "experts", "skilled": "skilled annotators", "crowd": "crowd workers"}


WORTH = "worth: how many more answers of these annotators 10,000 answers of the judge replace, with a lower bound (97.5%)"
ATTACKS = (
    f"Share of good answers preferred to spoilt ones, in two wordings of each attack; - where it had under {FEWEST_CASES} cases"
)
OMEGA = (
    "omega: the share of annotators whom the judge may replace by the alternative annotator test, and of how many, * from 0.5,"
    " when it may replace one; rho: how often it agrees with the others at least as well as one of them does"
)
_CHANGES = (("noise", 0.1), ("noise", 0.5), ("discrete", None))  # `metaevaluation.score_changes`


def again(record: dict[str, Any]) -> str:
    """The command that gives the same table."""
    criterion = ["--criterion", record["criterion"]] if record["criterion"] != PAIRS else []
    words = [record["campaign"], "--snapshot", record["snapshot"], *criterion, "--annotators", record["annotators"]]
    return "manage.py evaluate_judges " + shlex.join([*words, "--seed", str(record["seed"]), *record.get("options", [])])


def signature(record: dict[str, Any]) -> str:
    """What the table was made from."""
    digest = record["digest"][:12]
    digest = "" if record["snapshot"] == digest else f" ({digest})"
    return (
        f"snapshot {record['snapshot']}{digest}, {record['criterion']}, seed {record['seed']},"
        f" epsilon for {KINDS[record['annotators']]}, code {record['code']}"
    )


def as_text(record: dict[str, Any]) -> str:
    lines = [line for text in cautions(record) for line in (text, "")]
    for scope, found in record["tables"].items():
        lines += [SCOPES[scope], *aligned(list(_cells(found["rows"]))), WORTH, brackets(found), OMEGA, ""]
        lines += [f"  {row['name']}: {row['lacks']}" for row in found["rows"] if row["lacks"]]
        lines += [f"  {row['name']}: {_cost(row)}" for row in found["rows"] if "games" in row["settings"]]
        lines += [f"  {row['name']}: {row['alternative_of']}" for row in found["rows"] if _untested(row)]
        lines += [f"  {row['name']}: {took(row)}" for row in found["rows"] if took(row)]
        lines += [f"  {row['name']}: {own_in_words(row)}" for row in found["rows"] if own_in_words(row)]
        lines += [f"  {words}." for words in (together(found), apart(found)) if words]
        better = [_better(d) for d in found["differences"] if d["corrected"] < 0.05]
        lines += [*(better or ["  No difference between judges in their agreement with these people is established."]), ""]
    lines += _attacks(record.get("attacks", []))
    lines += [f"Not judged by {', '.join(names)}: {why}." for why, names in absent(record).items()]
    lines += [signature(record), f"To reproduce: {again(record)}"]
    return "\n".join(lines)


def as_csv(record: dict[str, Any]) -> str:
    """A row for each judge and scope; empty where there is nothing."""
    out = io.StringIO()
    attacks = {one["judge"]: one["attacks"] for one in record.get("attacks", [])}
    names = list(dict.fromkeys(name for found in attacks.values() for name in _attack_shares(found)))
    rows = [
        {
            "scope": scope,
            **_flat(row, coverage(row, found["rows"])),
            **dict.fromkeys(names),
            **_attack_shares(attacks.get(row["name"], [])),
        }
        for scope, found in record["tables"].items()
        for row in found["rows"]
    ]
    about = {name: record[name] for name in ("campaign", "snapshot", "criterion", "annotators", "seed", "code", "simulated")}
    about |= {"intervals": brackets(record["tables"]["all"]), "warnings": " ".join(cautions(record))}
    writer = csv.DictWriter(out, [*rows[0], *about], lineterminator="\n")
    writer.writeheader()
    writer.writerows(without_formulas({**row, **about}) for row in rows)
    stacks = ((scope, found["stack"]) for scope, found in record["tables"].items() if found.get("stack"))
    for scope, stack in stacks:
        worth = stack["worth"] or {}
        figures = {"worth": worth.get("more"), "worth_low": worth.get("low"), "worth_high": worth.get("high")}
        told = {"scope": scope, "judge": "all together", "kind": "stack", "pairs": stack["pairs"], **figures}
        writer.writerow(told | {"worth_beside": worth.get("people")} | about)
    return out.getvalue()


def as_latex(record: dict[str, Any]) -> str:
    """A tabular for each scope, without packages, and below them what must be said with them."""
    parts = [f"% {signature(record)}", f"% {again(record)}"]
    for scope, found in record["tables"].items():
        parts += [f"% {SCOPES[scope]}", *tabular(list(_cells(found["rows"])))]
        parts += [*notes([brackets(found)]), f"% {WORTH}", f"% {OMEGA}"]
        parts += [f"% {words}" for words in (together(found), apart(found)) if words]
        parts += [f"% {one['name']}: {own_in_words(one)}" for one in found["rows"] if own_in_words(one)]
        if rows := _change_rows(found["rows"]):
            parts += ["% Pearson's correlation if people's scores had noise, or the judge's were rounded", *tabular(rows)]
    if rows := _attack_rows(record.get("attacks", [])):
        parts += [f"% {ATTACKS}", *tabular(rows)]
    return "\n".join([*parts, *notes(cautions(record))]) + "\n"


def _change_rows(rows: list[dict[str, Any]]) -> list[list[str]]:
    """The header and a row for each judge whose correlations with changed scores are known; empty where there is none."""
    header = ["judge", "as they are", *("rounded" if sigma is None else f"noise {sigma}" for _, sigma in _CHANGES)]
    found = []
    for row in rows:
        by_change = {(one["change"], one["sigma"]): one["pearson"] for one in row.get("changes", [])}
        as_it_is = row["correlations"].get("sample_pearson")
        cells = [_number(as_it_is and as_it_is["value"]), *(_number(by_change.get(change)) for change in _CHANGES)]
        found += [[row["name"], *cells]] if by_change else []
    return [header, *found] if found else []


def _attack_column(one: dict[str, Any]) -> str:
    return f"attack_{one['attack']}" + ("_other_words" if one["other_words"] else "")


def _attack_shares(found: list[dict[str, Any]]) -> dict[str, Any]:
    told = {_attack_column(one): one["share"] if one["n"] >= FEWEST_CASES else None for one in found}
    return told | {f"{_attack_column(one)}_n": one["n"] for one in found}


def _attacks(found: list[dict[str, Any]]) -> list[str]:
    """Of each judge that was attacked, the share of good answers preferred to spoilt ones: in the suite's words, and others."""
    if not found:
        return []
    lines = [ATTACKS, *aligned(_attack_rows(found) or [["judge"]])]
    return [*lines, *(f"{one['judge']}: not attacked, {one['why']}." for one in found if one["why"]), ""]


def _attack_rows(found: list[dict[str, Any]]) -> list[list[str]]:
    """The header and a row for each judge that was attacked; empty where none was."""
    names = list(dict.fromkeys(one["attack"] for judge in found for one in judge["attacks"]))
    rows = [["judge", *names]] if names else []
    for judge in found:
        told = {(one["attack"], one["other_words"]): _attack_share(one) for one in judge["attacks"]}
        cells = ["/".join(told[name, other] for other in (False, True) if (name, other) in told) for name in names]
        rows += [[judge["judge"], *cells]] if judge["attacks"] else []
    return rows


def _attack_share(one: dict[str, Any]) -> str:
    return f"{one['share']:.2f}" if one["n"] >= FEWEST_CASES else "-"


def _priced(used: dict[str, Any]) -> str:
    if silent := used.get("replies_without_usage", 0):
        return f"cost not known: {silent:,} replies say nothing of tokens"
    return f"cost {used['cost']:.2f}" if used["cost"] else "no price is set"


def absent(record: dict[str, Any]) -> dict[str, list[str]]:
    """{why: names of the judges that could not judge}; of metrics that lack the same, one reason."""
    found: dict[str, list[str]] = {}
    for one in record["without"]:
        found.setdefault(one["why"].replace(f"The metric {one['judge']!r}", "The metric"), []).append(one["judge"])
    return found


def took(row: dict[str, Any]) -> str:
    """What a judge's answers cost, how many flipped, and why some pairs have none, in words; empty where they cost nothing."""
    used, said = row["settings"], []
    if "pairs_of_jury" in used:
        said.append(f"{len(used['jurors'])} judges together, by {used['by']}")
    if "calls" in used:
        kept = f" and {used['kept']:,} replies kept from before" if used["kept"] else ""
        tokens = f"{used['prompt_tokens']:,} tokens read, {used['completion_tokens']:,} written"
        said += [f"{used['calls']:,} calls{kept}", tokens, _priced(used)]
    if "flips" in used:
        said.append(f"{used['flips']:,} of {used['pairs']:,} answers flipped when the sides changed")
    if "by_probabilities" in used:
        said.append(f"{used['by_probabilities']:,} of {used['outputs']:,} scores are means by probabilities")
    if used.get("without_references"):
        said.append(f"{used['without_references']:,} texts have no references, and were judged without")
    silent = "{} of {:,} pairs" if "pairs_of_jury" in used else "not judged, {} ({:,})"  # of a jury others may have answered
    said += [silent.format(why, count) for why, count in used.get("why_unjudged", {}).items()]
    said += [f"{name} answered in its place ({count:,} replies)" for name, count in used.get("other_models", {}).items()]
    return "; ".join(said)


def _cells(rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    """The header and a row for each judge, as they are read."""
    agreement = ["Pearson", "Spearman", "Kendall", "within", "systems", "pairs", "with ties", "omega", "rho"]
    yield ["judge", "worth", "outputs", "judged", *agreement, "length", "calibration error", "cost", "s"]
    for row in rows:
        known, accuracy, test = row["correlations"], row["accuracy"], row["alternative"]
        correlations = [_figure(known.get(f"sample_{name}")) for name in MEASURES]
        yield [
            row["name"],
            worth_figure(row),
            str(row["outputs"]),
            "" if (part := coverage(row, rows)) is None else f"{part:.0%}",
            *correlations,
            _figure(known.get("context_pearson")),
            _figure(known.get("system_pearson")),
            _figure(accuracy),
            _number(row["three_way"]),
            "" if test is None else _winning_rate(test),
            _number(test and test["advantage"]),
            *_profile_cells(row.get("profile") or {}),
            price(row),
            "" if row["seconds"] is None else f"{row['seconds']:.1f}",
        ]


def _profile_cells(profile: dict[str, Any]) -> list[str]:
    length = profile.get("length")
    return [_number(length and length["judge"]), _number(profile.get("calibration_error"))]


def coverage(row: dict[str, Any], rows: list[dict[str, Any]]) -> float | None:
    """The share that a judge judged of the outputs that people scored, or of the pairs that they judged; None for people."""
    judges = [one for one in rows if one["kind"] != "ceiling"]
    of = "outputs" if any(one["outputs"] for one in judges) else "pairs"
    most = max((one[of] for one in judges), default=0)
    return None if row["kind"] == "ceiling" or not most else row[of] / most


def price(row: dict[str, Any]) -> str:
    """What its answers cost; empty where it was not asked for money or has no price, "?" where its replies do not say."""
    used = row["settings"]
    if used.get("replies_without_usage"):
        return "?"
    return f"{used['cost']:.2f}" if used.get("cost") else ""


def own_in_words(row: dict[str, Any]) -> str:
    """Whether the judge prefers the systems of its own family; empty where none were named."""
    found = row.get("own")
    if not found:
        return ""
    interval = "" if found["low"] is None else f" (95% interval {found['low']:+.2f} to {found['high']:+.2f})"
    if found["of"] == "scores":
        said = f"its own systems score {found['judge']:+.2f} points beside the others, {found['people']:+.2f} with people"
    else:
        said = f"it prefers its own systems to others in {found['judge']:.2f} of pairs, people in {found['people']:.2f}"
    return f"{said}: preference for its own {found['favour']:+.2f}{interval}"


def worth_in_words(row: dict[str, Any]) -> str:
    """What a judge's answers are worth beside people's; empty where that is not known."""
    return _worth_of(f"its {_judgments(row):,} answers", (row.get("profile") or {}).get("worth"))


def _worth_of(answers: str, found: dict[str, Any] | None) -> str:
    if not found:
        return ""
    least = "" if found["low"] is None else f" (at least {_floor(found['low'])})"
    return (
        f"{answers} are worth {found['more']:,.0f}{least} more answers of these annotators, beside the"
        f" {found['people']:,} pairs that they judged; about people in general they say less where tastes differ"
    )


def _judgments(row: dict[str, Any]) -> int:
    return int(((row.get("profile") or {}).get("worth") or {"judgments": 0})["judgments"])


def worth_figure(row: dict[str, Any]) -> str:
    """The same as a figure."""
    found = (row.get("profile") or {}).get("worth")
    return "" if not found else f"{found['more']:,.0f}" + (f" (>= {least})" if (least := worth_least(row)) else "")


def worth_least(row: dict[str, Any]) -> str:
    """Its lower bound; empty where there is none."""
    found = (row.get("profile") or {}).get("worth")
    return "" if not found or found["low"] is None else _floor(found["low"])


def _floor(low: float) -> str:
    return f"{int(low):,}"  # a bound is never rounded upwards


def together(found: dict[str, Any]) -> str:
    """What all judges of a table are worth together; empty where it has fewer than two, or was made before this was known."""
    stack = found.get("stack")
    if not stack or not stack["worth"]:
        return ""
    count = sum(weight > 0 for weight in stack["judges"].values())
    said = _worth_of(f"{stack['worth']['judgments']:,} answers of all {len(stack['judges'])} judges together", stack["worth"])
    left_out = f"; left out, as they answered too few: {', '.join(stack['left_out'])}" if stack["left_out"] else ""
    return f"{said}; {count} of them have a weight{left_out}"


def brackets(found: dict[str, Any]) -> str:
    """What a table's intervals are over, and of whom they speak (`quality.crossed.of_whom`)."""
    shares = [row["accuracy"] for row in found["rows"] if row["kind"] != "ceiling" and row["accuracy"]]
    of = {(one["population"], one["annotators"]) for one in shares if one["population"]}
    said, contexts = "In brackets: 95% intervals over", "contexts, of a group all together"
    if {population for population, _ in of} == {PEOPLE}:
        return f"{said} annotators and {contexts}; for people like these {max(n for _, n in of)} annotators"
    if {population for population, _ in of} == {ANNOTATORS}:
        return f"{said} {contexts}; for these {max(n for _, n in of)} annotators only"
    return f"{said} {contexts}, and over annotators where enough answered"


def apart(found: dict[str, Any]) -> str:
    """That some rows are not comparable; empty where all are of the same outputs."""
    judged = {(row["outputs"], row["pairs"]) for row in found["rows"] if row["kind"] != "ceiling"}
    said = "rows of other outputs or pairs are not ordered among each other; those with the most come first"
    return said if len(judged) > 1 else ""


def _flat(row: dict[str, Any], part: float | None) -> dict[str, Any]:
    worth = (row.get("profile") or {}).get("worth") or {}
    flat = {"judge": row["name"], "worth": worth.get("more"), "worth_low": worth.get("low"), "worth_high": worth.get("high")}
    flat |= {"kind": row["kind"], "outputs": row["outputs"], "coverage": part}
    figures = {f"{level}_{name}": row["correlations"].get(f"{level}_{name}") for level in LEVELS for name in MEASURES}
    for name, figure in (figures | {"pairs_accuracy": row["accuracy"]}).items():
        flat |= {
            name: figure and figure["value"],
            f"{name}_low": figure and figure["low"],
            f"{name}_high": figure and figure["high"],
        }
    test = row["alternative"] or {}
    flat |= {"pairs": row["pairs"], "three_way_accuracy": row["three_way"], "winning_rate": test.get("winning_rate")}
    flat |= {"advantage_probability": test.get("advantage"), "epsilon": test.get("epsilon"), "tested_on": row["alternative_of"]}
    changes = {(one["change"], one["sigma"]): one for one in row.get("changes", [])}
    for change, sigma in _CHANGES:
        one = changes.get((change, sigma), {})
        flat |= {f"{change}{sigma or ''}_{name}": one.get(name) for name in ("pearson", "spearman")}
    profile = row.get("profile") or {}
    spread, length = (profile.get(name) or {} for name in ("spread", "length"))
    names = ("low", "high", "deviation", "distinct", "people_deviation")
    flat |= {f"score_{name}": spread.get(name) for name in names}
    flat |= {"length_spearman": length.get("judge"), "length_spearman_people": length.get("people")}
    flat |= {"calibration_error": profile.get("calibration_error"), "worth_beside": worth.get("people")}
    own = row.get("own") or {}
    flat |= {f"own_{name}": own.get(name) for name in ("of", "judge", "people", "favour", "low", "high")}
    flat |= {name: row["settings"].get(name) for name in ("calls", "kept", "cost", "flips")}
    flat |= {"prompt": row["settings"].get("prompt_file"), "prompt_sha256": row["settings"].get("prompt")}
    return flat | {"seconds": row["seconds"], "lacks": row["lacks"]}


def _figure(figure: dict[str, Any] | None) -> str:
    if figure is None:
        return ""
    return f"{figure['value']:.2f}" + ("" if figure["low"] is None else f" [{figure['low']:.2f}, {figure['high']:.2f}]")


def _winning_rate(test: dict[str, Any]) -> str:
    """With how many annotators it was tested against, and a star where it passes."""
    star = " *" if test["winning_rate"] >= 0.5 else ""
    return f"{test['winning_rate']:.2f} of {len(test['comparisons'])}{star}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _untested(row: dict[str, Any]) -> bool:
    return row["kind"] == "judge" and row["alternative"] is None


def _cost(row: dict[str, Any]) -> str:
    """Of comparisons made scores (`comparison_scores.Scored`)"""
    games, read, what = (row["settings"][name] for name in ("games", "read", "reads"))
    return f"{games:,} games, for which {read:,} {'pairs in both orders' if what == 'pairwise' else 'outputs'} were read"


def _better(d: dict[str, Any]) -> str:
    first, second = (d["first"], d["second"]) if d["difference"] > 0 else (d["second"], d["first"])
    return f"  {first} agrees more than {second}, by {abs(d['difference']):.2f} (corrected p {p_value(d['corrected'])})"
