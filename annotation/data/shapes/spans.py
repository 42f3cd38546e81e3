"""Marks of translations: MQM as WMT releases it, a row an error, and Appraise's scores and spans (direct assessment, ESA)."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from annotation.data.shapes.shape import OUTPUTS, SCORES, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.questions.spans.columns import SPANS
from annotation.questions.spans.method import MQM as MQM_WEIGHTS
from annotation.questions.spans.method import NOWHERE, OUTPUT, SOURCE
from core.rows import BadField, Row, shown

NO_ERROR = ("no-error", "no error")
SEGMENTS = ("seg_id", "globalSegId", "global_seg_id", "segment_id")
CONTROLS = {"BAD": "a worsened output", "CHK": "a repeated output", "REF": "a reference among the outputs"}
OPENS, CLOSES = "<v>", "</v>"


def _is_mqm(fields: Fields) -> bool:
    return {"system", "rater", "source", "target", "category", "severity"} <= fields.keys() and _segment(fields) is not None


def _segment(fields: Fields) -> str | None:
    return next((str(fields[name]) for name in SEGMENTS if fields.get(name) not in (None, "")), None)


def _gathered(rows: Iterable[Row]) -> Iterator[Row]:
    """One row for each segment of a system that a rater marked, with its errors."""
    segments: dict[tuple, Row] = {}
    for row in rows:
        fields = row.fields
        key = tuple(str(fields.get(name)) for name in ("system", "doc", "rater")) + (_segment(fields),)
        try:
            marked = _marked(row)
        except BadField as error:
            yield replace(row, fields={"wrong": error})
            continue
        before = segments.get(key, row)
        segments[key] = replace(before, fields=before.fields | {"errors": [*before.fields.get("errors", ()), *marked]})
    yield from segments.values()


def _marked(row: Row) -> list[Fields]:
    """The error that a row holds; none where it says that there is none. Raises BadField."""
    category, said = (row.text(name, empty=True, default="").strip() for name in ("category", "severity"))
    severity = said.lower()
    if {severity, category.lower()} & {*NO_ERROR}:
        return []
    if severity not in MQM_WEIGHTS.severities:
        raise BadField("severity", f"expected No-error, Neutral, Minor, Major or Critical, found {shown(said)}")
    places = ((OUTPUT, row.fields.get("target")), (SOURCE, row.fields.get("source")))
    where = next(({"where": where} | place for where, text in places if (place := _place(text))), {"where": NOWHERE})
    return [where | {"severity": severity, "category": category}]


def _place(text: Any) -> Fields:
    """Where a text is marked, in characters of the text without marks; a mark that nobody closed runs to the end."""
    if not isinstance(text, str) or OPENS not in text:
        return {}
    before, _, rest = text.partition(OPENS)
    words = rest.partition(CLOSES)[0].replace(OPENS, "")
    start = len(before.replace(CLOSES, ""))
    return {"start": start, "end": start + len(words)} if words else {}


def _unmarked(fields: Fields, name: str) -> str:
    text = fields.get(name)
    if not isinstance(text, str):
        raise BadField(name, "is no text")
    return text.replace(OPENS, "").replace(CLOSES, "")


def _mqm(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    if isinstance(wrong := fields.get("wrong"), BadField):
        raise wrong
    doc = str(fields.get("doc") or "")
    known: Fields = {"context_id": f"{doc} {_segment(fields)}".strip(), "system": fields["system"]}
    text = {"context": _unmarked(fields, "source"), "output": _unmarked(fields, "target")} | ({"group": doc} if doc else {})
    yield Entry(OUTPUTS, known | text)
    yield Entry(SPANS, known | {"annotator": fields["rater"], "aspect": "MQM", "errors": fields["errors"]})


def _is_appraise(fields: Fields) -> bool:
    return {"systemID", "username", "segmentID", "score", "itemType"} <= fields.keys()


def _appraise(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    kind = str(fields.get("itemType")).strip()
    if kind in CONTROLS:
        yield LeftOut(SCORES, f"is a quality control ({kind}): {CONTROLS[kind]}")
        return
    if str(fields.get("isCompleteDocument")).strip().lower() == "true":
        yield LeftOut(SCORES, "is a score of a whole document")
        return
    marked = _appraise_errors(fields.get("mqm"))
    known: Fields = {name: fields[name] for name in ("segmentID", "documentID") if name in fields}
    known |= {"context_id": fields["segmentID"], "system": fields["systemID"], "annotator": fields["username"]}
    aspect = "DA" if marked is None else "ESA"
    yield Entry(SCORES, known | {"aspect": aspect, "scale": [0, 100], "score": fields.get("score")})
    if marked is not None:
        yield Entry(SPANS, known | {"aspect": "ESA errors", "errors": marked})


def _appraise_errors(cell: Any) -> list[Any] | None:
    """The marks in our own words: places from the first character to the last, which Appraise counts in, and nowhere where
    something is missing. None where the task was none with marks."""
    try:
        marked = json.loads(cell) if isinstance(cell, str) and cell.lstrip().startswith("[") else cell
    except ValueError:
        raise BadField("mqm", f"is no JSON: {shown(cell)}") from None
    return [_appraise_error(mark) for mark in marked] if isinstance(marked, list) else None


def _appraise_error(mark: Any) -> Any:
    if not isinstance(mark, dict):
        raise BadField("mqm", f"expected errors with start_i, end_i and severity, found {shown(mark)}")
    kind = mark.get("error_type")
    category = "/".join(map(str, kind)) if isinstance(kind, list) else kind or ""
    said = {"severity": mark.get("severity"), "category": category}
    start, end = mark.get("start_i"), mark.get("end_i")
    if isinstance(start, int) and isinstance(end, int):
        return {"where": OUTPUT, "start": start, "end": end + 1} | said
    return {"where": NOWHERE} | said


MQM = Shape(
    name="MQM errors",
    address="https://github.com/google/wmt-mqm-human-evaluation",
    kinds=(OUTPUTS, SPANS),
    recognises=_is_mqm,
    entries=_mqm,
    gathers=_gathered,
    guess=(
        "A segment's score is the sum of its errors' weights (minor 1, major 5, minor punctuation 0.1, non-translation 25); "
        "the lowest is best."
    ),
)
APPRAISE = Shape(
    name="Appraise scores",
    address="https://github.com/AppraiseDev/Appraise",
    kinds=(SCORES, SPANS),
    recognises=_is_appraise,
    entries=_appraise,
    guess="Contexts are known by segmentID. ESA's spans are imported as spans, its scores as scores.",
)
