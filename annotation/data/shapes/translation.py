"""Marks of translations: MQM as WMT releases it, a row an error, and Appraise's scores (direct assessment, ESA)."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from annotation.data.shapes.shape import OUTPUTS, SCORES, Entry, Fields, LeftOut, Shape, Surroundings
from core.rows import BadField, Row, shown

# Freitag et al. 2021, "Experts, Errors, and Context", table 4, of a lower-cased severity and category.
MINOR, MAJOR, PUNCTUATION, NON_TRANSLATION = 1.0, 5.0, 0.1, 25.0
HIGHEST = 25  # of a segment: five major errors, or one that is no translation
NO_ERROR = ("no-error", "no error", "neutral")
SEGMENTS = ("seg_id", "globalSegId", "global_seg_id", "segment_id")
CONTROLS = {"BAD": "a worsened output", "CHK": "a repeated output", "REF": "a reference among the outputs"}


def _is_mqm(fields: Fields) -> bool:
    return {"system", "rater", "source", "target", "category", "severity"} <= fields.keys() and _segment(fields) is not None


def _segment(fields: Fields) -> str | None:
    return next((str(fields[name]) for name in SEGMENTS if fields.get(name) not in (None, "")), None)


def weight(category: str, severity: str) -> float:
    """Raises BadField for a severity that has none."""
    kind, level = category.strip().lower(), severity.strip().lower()
    if level in NO_ERROR or kind in NO_ERROR:
        return 0.0
    if kind.startswith("non-translation"):
        return NON_TRANSLATION
    if level == "minor":
        return PUNCTUATION if kind == "fluency/punctuation" else MINOR
    if level in ("major", "critical"):
        return MAJOR
    raise BadField("severity", f"expected No-error, Neutral, Minor, Major or Critical, found {shown(severity)}")


def _summed(rows: Iterable[Row]) -> Iterator[Row]:
    """One row for each segment of a system that a rater marked: the sum of its errors' weights."""
    sums: dict[tuple, Row] = {}
    for row in rows:
        fields = row.fields
        key = tuple(str(fields.get(name)) for name in ("system", "doc", "rater")) + (_segment(fields),)
        try:
            marked = weight(row.text("category", empty=True, default=""), row.text("severity", empty=True, default=""))
        except BadField as error:
            yield replace(row, fields={"wrong": error})
            continue
        before = sums.get(key)
        total = marked + (before.fields["weight"] if before else 0.0)
        sums[key] = replace(before or row, fields=(before or row).fields | {"weight": round(total, 6)})
    yield from sums.values()


def _unmarked(fields: Fields, name: str) -> str:
    text = fields.get(name)
    if not isinstance(text, str):
        raise BadField(name, "is no text")
    return text.replace("<v>", "").replace("</v>", "")


def _mqm(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    if isinstance(wrong := fields.get("wrong"), BadField):
        raise wrong
    doc = str(fields.get("doc") or "")
    known: Fields = {"context_id": f"{doc} {_segment(fields)}".strip(), "system": fields["system"]}
    text = {"context": _unmarked(fields, "source"), "output": _unmarked(fields, "target")} | ({"group": doc} if doc else {})
    yield Entry(OUTPUTS, known | text)
    if fields["weight"] > HIGHEST:
        yield LeftOut(SCORES, f"has errors that weigh more than {HIGHEST}")
        return
    said = {"annotator": fields["rater"], "aspect": "MQM", "score": fields["weight"], "scale": [0, HIGHEST], "best": "low"}
    yield Entry(SCORES, known | said)


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
    aspect = "ESA" if str(fields.get("mqm") or "").lstrip().startswith("[") else "DA"
    beside = {name: fields[name] for name in ("segmentID", "documentID") if name in fields}
    said = {"annotator": fields["username"], "aspect": aspect, "scale": [0, 100], "score": fields.get("score")}
    yield Entry(SCORES, beside | {"context_id": fields["segmentID"], "system": fields["systemID"]} | said)


MQM = Shape(
    name="MQM errors",
    address="https://github.com/google/wmt-mqm-human-evaluation",
    kinds=(OUTPUTS, SCORES),
    recognises=_is_mqm,
    entries=_mqm,
    gathers=_summed,
    guess=(
        "A segment's score is the sum of its errors' weights (minor 1, major 5, minor punctuation 0.1, non-translation 25); "
        "the lowest is best. Where the errors stand in the text is not kept."
    ),
)
APPRAISE = Shape(
    name="Appraise scores",
    address="https://github.com/AppraiseDev/Appraise",
    kinds=(SCORES,),
    recognises=_is_appraise,
    entries=_appraise,
    guess="Contexts are known by segmentID. Where errors stand in the text (ESA) is not kept.",
)
