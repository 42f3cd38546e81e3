"""Surveys and sheets with a row for each person: Qualtrics, Prolific's list of participants, doccano, and wide sheets whose
columns name context, system and criterion."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from annotation.data.shapes.shape import OUTPUTS, SCORES, Entry, Fields, LeftOut, Shape, Surroundings, nothing
from annotation.data.shapes.values import point

SEPARATORS = ("|", "__")
# What Qualtrics calls a response that no person of the study gave, and its codes where a file has these: previews (1, 9, 17),
# answers that it made up itself (2, 256), spam (8, 12, 40).
NOBODY = re.compile(r"preview|\btest\b|spam|synthetic", re.IGNORECASE)
NOBODY_CODES = {"1", "2", "8", "9", "12", "17", "40", "256"}
PEOPLE = ("PROLIFIC_PID", "prolific_pid", "ProlificID", "workerId", "WorkerId", "annotator", "ResponseId", "participant_id")


def cell_of(column: str) -> tuple[str, str, str] | None:
    """(context, system, criterion) of a column called context|system or context|system|criterion; None for any other."""
    for separator in SEPARATORS:
        parts = [part.strip() for part in column.split(separator)]
        if len(parts) in (2, 3) and all(parts):
            return parts[0], parts[1], parts[2] if len(parts) == 3 else ""
    return None


def _cells(columns: Iterable[str]) -> dict[str, tuple[str, str, str]]:
    return {column: cell for column in columns if (cell := cell_of(column))}


def _is_qualtrics(fields: Fields) -> bool:
    return {"ResponseId", "StartDate"} <= fields.keys() and len(_cells(fields)) > 1


def _is_wide(fields: Fields) -> bool:
    """At least two columns that name a context and a system, of which one comes twice."""
    cells = _cells(fields)
    contexts, systems = ({cell[at] for cell in cells.values()} for at in (0, 1))
    return len(cells) > 1 and len(contexts) * len(systems) <= 2 * len(cells) and not {"output", "choice"} & fields.keys()


def _wide(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    marked = [str(fields.get(column)).strip().removesuffix(".0") for column in ("DistributionChannel", "Status")]
    is_nobody = any(NOBODY.search(word) for word in marked) or marked[1] in NOBODY_CODES
    who = next((str(fields[name]) for name in PEOPLE if fields.get(name) not in (None, "")), None)
    others = {column: value for column, value in fields.items() if not cell_of(column)}
    for column, (context, system, criterion) in _cells(fields).items():
        value = fields[column]
        if value in (None, ""):
            continue  # not everybody is shown everything
        if is_nobody and "ResponseId" in fields:
            yield LeftOut(SCORES, "is a preview, a test, spam or synthetic, as Qualtrics marks it")
        elif (score := point(value)) is None:
            yield LeftOut(SCORES, f"names no single point in {column}")
        else:
            said: Fields = {"context_id": context, "system": system, "score": score}
            said |= {"aspect": criterion} if criterion else {}
            yield Entry(SCORES, others | said | ({"annotator": who} if who else {}))


def _is_prolific(fields: Fields) -> bool:
    return {"Submission id", "Participant id"} <= fields.keys()


def _is_doccano(fields: Fields) -> bool:
    return {"id", "text", "label", "Comments"} <= fields.keys()


def _doccano(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """Labels are texts, in a list or joined by #; a span is [start, end, label]. A label may name its criterion: fluency: 4."""
    data = {name: value for name, value in fields.items() if name not in ("label", "Comments")}
    yield Entry(OUTPUTS, data)
    labels: Any = fields["label"]
    labels = labels.split("#") if isinstance(labels, str) else labels if isinstance(labels, list) else [labels]
    by_criterion: dict[str, list[Any]] = {}
    for label in labels:
        if isinstance(label, list | dict):
            yield LeftOut(SCORES, "marks a part of a text")
            continue
        criterion, colon, value = label.partition(":") if isinstance(label, str) else ("", "", label)
        name = criterion.strip() if colon and value.strip() else "label"
        by_criterion.setdefault(name, []).append(value.strip() if colon and isinstance(value, str) else label)
    folder = PurePosixPath(around.file)
    who = {} if len(folder.parts) < 2 or folder.stem in ("all", "unknown") else {"annotator": folder.stem}
    for criterion, values in by_criterion.items():
        if len(values) > 1 or (score := point(values[0])) is None:
            yield LeftOut(SCORES, f"names {'no' if values in ([''], [None]) else 'more than one'} point of {criterion}")
        else:
            yield Entry(SCORES, data | who | {"aspect": criterion, "score": score})
    if not labels:
        yield LeftOut(SCORES, "has no label")


WIDE = Shape(
    name="a sheet with a column for each output",
    address="https://github.com/comparena/comparena/blob/main/docs/campaigns/other-tools.md",
    kinds=(SCORES,),
    recognises=_is_wide,
    entries=_wide,
    guess="A column called context|system|criterion (or with __ between them) holds a score in each row; an empty cell, none.",
)
QUALTRICS = Shape(
    name="Qualtrics responses",
    address="https://www.qualtrics.com/support/survey-platform/data-and-analysis-module/data/download-data/export-formats/",
    kinds=(SCORES,),
    recognises=_is_qualtrics,
    entries=_wide,
    guess=WIDE.guess
    + " Previews, tests, spam and synthetic answers are left out. A person is known by the Prolific id, else by ResponseId.",
)
PROLIFIC = Shape(
    name="Prolific participants",
    address="https://researcher-help.prolific.com/",
    kinds=(),
    recognises=_is_prolific,
    entries=nothing,
    guess="It says who took part, and not what they answered.",
)
DOCCANO = Shape(
    name="doccano",
    address="https://github.com/doccano/doccano/tree/master/backend/data_export",
    kinds=(OUTPUTS, SCORES),
    recognises=_is_doccano,
    entries=_doccano,
    guess="A label is a point on the criterion label, or on the one it names (fluency: 4). A file's name is its annotator.",
)
