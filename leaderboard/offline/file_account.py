"""What a file is, what an import would store of it, what could be computed, and the command to run: `comparena doctor`."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from annotation.data.fields import JUDGES_ARE_PEOPLE, guess
from annotation.data.files import Reading, is_archive
from annotation.data.shapes.registry import shape_of
from annotation.data.shapes.shape import JUDGE_PAIRS, JUDGE_SCORES, JUDGMENTS, OUTPUTS, SCORES
from annotation.data.shapes.values import LANGUAGE_MODEL
from annotation.questions.answer_files import FILES
from core.errors import ImportRefused, Refused, RowError
from core.rowfiles import read_rows
from core.rows import paths_in
from core.table_rows import REPEATED_HEADER, TITLE
from leaderboard.offline.answers import AS_SCORES, KINDS, VERDICTS, Answers, How, read, sample_of, systems_of

ANSWERS = (JUDGMENTS, SCORES, *AS_SCORES)  # people's
NAMES = {
    OUTPUTS: "outputs",
    **{kind: FILES[kind].called for kind in ANSWERS},
    JUDGE_PAIRS: "a judge's answers about pairs",
    JUDGE_SCORES: "a judge's scores",
}
IN_DOUBT = {JUDGMENTS: "judgments of pairs, by people or by judges", SCORES: "scores, by people or by judges"}
OF_JUDGES = {JUDGMENTS: ("its judgments as a judge's", " --pairs"), SCORES: ("its scores as a judge's", "")}
IMPORTS = {kind: f"import_{kind}" for kind in (OUTPUTS, *ANSWERS)}
NO_ANSWERS = (TITLE, REPEATED_HEADER)
FEW = 12  # different values of a column that may be a verdict or a grade
MISSING = {"", "na", "n/a", "nan", "none", "null", "-", "unlabeled"}


def account(path: str | Path) -> dict[str, Any]:
    """Raises ImportRefused or Refused where the file cannot be read at all."""
    path = Path(path)
    sample = sample_of(path)
    if not sample and path.suffix == ".xlsx":  # whose first sheet may say what the others hold
        ignored: list[RowError] = []
        rows = (row for kind in NAMES for row in islice(Reading(kind, None, on_error=ignored.append).rows(path), FEW))
        sample = [row.fields for row in rows]
    if not is_archive(path.name) and not sample:
        list(read_rows(path))  # which says why
    shape = shape_of(JUDGMENTS, sample[0]) if sample else None
    kinds = list(shape.kinds) if shape else [*NAMES] if is_archive(path.name) else _plain_kinds(sample)
    found = {kind: one for kind in kinds if (one := _of_kind(path, kind)) is not None}
    answers, errors = _answers(path, kinds)
    columns = [] if shape or is_archive(path.name) else _columns(path)
    doubt = "" if shape or not found.keys() & OF_JUDGES.keys() else _may_be_judges(sample)
    return {
        "file": path.name,
        "read_as": shape.name if shape else "an archive" if is_archive(path.name) else "rows with columns of their own",
        "documentation": shape.address if shape else "docs/campaigns/import.md",
        "holds": {(IN_DOUBT if doubt else NAMES).get(kind, NAMES[kind]): one["rows"] for kind, one in found.items()},
        "left_out": _left_out([one["left_out"] for one in found.values()]),
        "assumed": [shape.guess]
        if shape and not kinds
        else [*dict.fromkeys([s for one in found.values() for s in one["assumed"]] + ([doubt] if doubt else []))],
        "errors": [*dict.fromkeys([error for one in found.values() for error in one["errors"]] + errors)][:20],
        "columns": columns,
        "systems": systems_of(answers.pairs, answers.scores)[:50] if answers else [],
        "can": _can(path.name, found, answers, columns) + (_as_judges(path.name, found) if doubt else []),
    }


def _left_out(by_kind: Sequence[Mapping[str, int]]) -> Counter[str]:
    """By reason; a row of the table itself is left out once, whatever the file holds."""
    counts = sum((Counter(reasons) for reasons in by_kind), Counter[str]())
    for reason in counts.keys() & set(NO_ANSWERS):
        counts[reason] = max(reasons.get(reason, 0) for reasons in by_kind)
    return counts


def _plain_kinds(sample: Sequence[Mapping[str, Any]]) -> list[str]:
    there = list(dict.fromkeys(column for fields in sample for column in fields))
    kinds = []
    if "output" in guess(OUTPUTS, there) or {"output_a", "output_b"} <= guess(JUDGMENTS, there).keys():
        kinds.append(OUTPUTS)
    if {"system_a", "system_b", "choice"} <= guess(JUDGMENTS, there).keys():
        kinds.append(JUDGMENTS)
    elif "score" in guess(SCORES, there):
        by_programs = "annotator" not in guess(SCORES, there) and "judge" in guess(JUDGE_SCORES, there)
        kinds.append(JUDGE_SCORES if by_programs else SCORES)
    return kinds


def _may_be_judges(sample: Sequence[Mapping[str, Any]]) -> str:
    """What makes it doubtful that the annotators of a table are people, in a sentence; empty where nothing does."""
    column = guess(SCORES, list(dict.fromkeys(column for fields in sample for column in fields))).get("annotator", "")
    if column == "judge":
        return JUDGES_ARE_PEOPLE
    models = sorted({str(row.get(column)) for row in sample if LANGUAGE_MODEL.search(str(row.get(column, "")))})
    named = ", ".join(models[:5])
    return f"If the annotators {named} are models, import the file as what judges said." if column and models else ""


def _of_kind(path: Path, kind: str) -> dict[str, Any] | None:
    """None where the file holds nothing of the kind."""
    errors: list[str] = []
    reading = Reading(kind, None, on_error=lambda error: errors.append(str(error)))
    rows = sum(1 for _ in reading.rows(path))
    left_out = sum(count for reason, count in reading.account.left_out.items() if reason not in NO_ANSWERS)
    if not rows and not left_out:
        return None
    return {"rows": rows, "left_out": dict(reading.account.left_out), "assumed": reading.account.assumed, "errors": errors}


def _answers(path: Path, kinds: Sequence[str]) -> tuple[Answers | None, list[str]]:
    if not set(kinds) & {*KINDS, *AS_SCORES}:
        return None, []
    try:
        return read(path, How()), []
    except ImportRefused as refused:
        return None, [str(error) for error in refused.errors]
    except Refused:
        return None, []


def _columns(path: Path) -> list[dict[str, Any]]:
    """What each column of a table holds, by its values in all rows."""
    values: dict[str, Counter[str]] = {}
    rows = 0
    for row in read_rows(path, on_error=lambda error: None):
        rows += 1
        for name, value in paths_in(row.fields).items():
            if value is None or isinstance(value, str | int | float | bool):
                word = "" if value is None else str(value).strip().lower()
                values.setdefault(name, Counter())[word[:80]] += 1
    return [_column(name, counted, rows) for name, counted in values.items()]


def _column(name: str, counted: Counter[str], rows: int) -> dict[str, Any]:
    there = {word: count for word, count in counted.items() if word not in MISSING}
    present = sum(there.values())
    if there and all(word in VERDICTS or word in ("0", "1", "0.0", "1.0") for word in there):
        kind = "verdict"
    elif there and all(_is_number(word) for word in there):
        kind = "grade" if len(there) <= FEW else "number"
    else:
        kind = "text"
    return {"name": name, "kind": kind, "present": present, "of": rows, "different": len(there)}


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _can(
    name: str, found: Mapping[str, Any], answers: Answers | None, columns: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """What could be computed, and the command for it."""
    can, file = [], _word(name)
    check = f"comparena check_judge {file}"
    systems = systems_of(answers.pairs, answers.scores) if answers else []
    if len(systems) > 1:
        gate = f"comparena gate {_word(systems[0])} {_word(systems[1])} --judgments {file} --margin 0.05"
        can.append(_line("is a new system worse than an old one", gate))
    by_programs = {one.who for one in [*answers.pairs, *answers.scores] if one.by_program} if answers else set()
    by_people = bool(answers and any(not one.by_program for one in [*answers.pairs, *answers.scores]))
    if by_programs and by_people:
        can.append(_line("does the judge agree with people", f"{check} --people {file}"))
    elif by_programs:
        can.append(_line("does the judge agree with people, once they labelled some of it", f"{check} --people LABELS"))
    taken = set(guess("outputs", [one["name"] for one in columns]).values())  # an id of numbers grades nothing
    of_judges = [one for one in columns if one["name"] not in taken]
    judged = [one for one in of_judges if one["kind"] in ("verdict", "grade", "number") and one["present"] == one["of"]]
    labels = [one for one in columns if one["kind"] in ("verdict", "grade") and 0 < one["present"] < one["of"]]
    alike = next(((judge, label) for label in labels for judge in judged if judge["kind"] == label["kind"]), None)
    if alike and not by_people:
        judge, label = (_word(one["name"]) for one in alike)
        said = f"{check} --judge {judge} --people {file} --label {label}"
        can.append(_line(f"does {judge} agree with the labels in {label}", said))
    elif judged and not answers and OUTPUTS in found:
        said = f"{check} --judge {_word(judged[0]['name'])} --people LABELS"
        can.append(_line("does a judge in a column agree with people", said))
    for kind, command in IMPORTS.items():
        if kind in found:
            can.append(_line(f"store its {NAMES[kind]} in a campaign", f"comparena {command} CAMPAIGN {file}"))
    return can


def _as_judges(name: str, found: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        _line(f"or store {what}, if they are programs'", f"comparena import_judge_scores CAMPAIGN {_word(name)}{pairs}")
        for kind, (what, pairs) in OF_JUDGES.items()
        if kind in found
    ]


def _line(what: str, command: str) -> dict[str, str]:
    return {"what": what, "command": command}


def _word(name: str) -> str:
    return shlex.quote(name)


def text(result: Mapping[str, Any]) -> str:
    lines = [f"{result['file']}: {result['read_as']}", f"  {result['documentation']}"]
    lines += [f"  {count:,} {what}" for what, count in result["holds"].items()] or [
        "  holds nothing that an import reads by itself"
    ]
    lines += [f"  left out: {count:,} {reason}" for reason, count in result["left_out"].items()]
    if result["systems"]:
        lines.append(f"  systems: {', '.join(result['systems'][:10])}" + (" ..." if len(result["systems"]) > 10 else ""))
    for one in result["columns"]:
        lines.append(
            f"  column {one['name']}: {one['kind']}, {one['present']:,} of {one['of']:,} rows, {one['different']:,} different"
        )
    lines += [f"Note: {sentence}" for sentence in result["assumed"]]
    lines += [f"Wrong: {sentence}" for sentence in result["errors"]]
    lines += ["", "What could be computed:"]
    for one in result["can"]:
        lines += [f"  {one['what']}", f"    {one['command']}"]
    if not result["can"]:
        lines.append("  nothing yet: there are no outputs, scores or judgments in it")
    return "\n".join(lines)
