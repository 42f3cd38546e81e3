"""Label Studio's tasks and exports, of version 1 and before."""

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from annotation.data.fields import guess
from annotation.data.shapes.pairs import has_sides, outputs_of
from annotation.data.shapes.shape import JUDGMENTS, OUTPUTS, SCORES, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import point
from annotation.questions.spans.columns import SPANS
from annotation.questions.spans.method import MQM, OUTPUT, SOURCE
from core.rows import BadField

BESIDE = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")  # what a table says of an annotation
LABELS = ("labels", "hypertextlabels")  # results that mark a piece of a text
POINTS = ("rating", "number", "choices")  # the parts of a result that hold a point of a scale


def _recognises(fields: Fields) -> bool:
    return isinstance(fields.get("data"), dict)


def _entries(task: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    data = task.get("data")
    if not isinstance(data, dict):
        raise BadField("data", "is no JSON object; every task of Label Studio has one")
    for output in outputs_of(data) if has_sides(data) else [data]:
        yield Entry(OUTPUTS, output)
    for annotation in _objects(task, "completions" if "completions" in task else "annotations"):
        yield from _answers(annotation, data)


def _answers(annotation: Fields, data: Fields) -> Iterator[Entry | LeftOut]:
    pair = has_sides(data)
    if why := _not_an_answer(annotation):
        yield LeftOut(JUDGMENTS if pair else SCORES, why)
        return
    who = annotation.get("completed_by")
    who = who.get("id") if isinstance(who, dict) else who  # not the address beside it: annotators are pseudonyms
    known = data | ({} if who is None else {"annotator": str(who) if isinstance(who, int) else who})
    results = [(r, r["value"]) for r in _objects(annotation, "result") if isinstance(r.get("value"), dict)]
    choices = [(r, value.get("selected")) for r, value in results if r.get("type") == "pairwise"]
    regions = {r.get("id") for r, value in results if r.get("type") in LABELS and "start" in value}
    points = [(r, value[part]) for r, value in results for part in POINTS if part in value and r.get("id") not in regions]
    yield from _marked(known, results)
    for result, choice in choices:
        about = {"aspect": result.get("from_name")} if len(choices) > 1 else {}
        yield Entry(JUDGMENTS, known | about | {"choice": choice})
    for result, value in points:
        if (score := point(value)) is None:
            yield LeftOut(SCORES, f"names {'no' if not value else 'more than one'} point of {result.get('from_name')}")
        else:
            yield Entry(SCORES, known | {"aspect": result.get("from_name"), "score": score})
    if pair and not results:  # the tag Pairwise: neither is selected where both are equal
        yield Entry(JUDGMENTS, known | {"choice": "tie"})
    elif not choices and not points:
        yield LeftOut(JUDGMENTS if pair else SCORES, "has no answer")


def _marked(known: Fields, results: list[tuple[Fields, Fields]]) -> Iterator[Entry | LeftOut]:
    """Regions of texts as marked errors, an answer for each control: the severity and the category are labels or choices of the
    same region, in any order."""
    errors: dict[str, list[Fields]] = {}
    for result, value in results:
        if result.get("type") not in LABELS or "start" not in value:
            continue
        of_region = [v for r, v in results if r is result or (r.get("id") == result.get("id") and "choices" in v)]
        words = [
            str(word) for v in of_region for part in ("labels", "hypertextlabels", "choices") for word in v.get(part) or ()
        ]
        severity = next((word for word in words if word.lower() in MQM.severities), "")
        if not severity:
            yield LeftOut(SPANS, "marks a text without a severity (minor, major)")
            continue
        category = next((word for word in words if word != severity), "")
        where = SOURCE if result.get("to_name") in ("source", "context", "src", "input") else OUTPUT
        mark = {"where": where, **_place(value, known), "severity": severity.lower(), "category": category}
        errors.setdefault(str(result.get("from_name")), []).append(mark)
    for name, found in errors.items():
        yield Entry(SPANS, known | {"aspect": name, "errors": found})


def _place(value: Fields, data: Fields) -> Fields:
    """In characters. Some versions count UTF-16 units, of which an emoji has two, as JavaScript does; where
    the words of the region stand says which."""
    start, end, words = value["start"], value.get("end"), value.get("text")
    place = {"start": start, "end": end}
    if not isinstance(start, int) or not isinstance(end, int) or not isinstance(words, str):
        return place
    texts = [text for text in data.values() if isinstance(text, str)]
    if any(_words(text[start:end]) == _words(words) for text in texts):
        return place
    for units in (text.encode("utf-16-le", "surrogatepass") for text in texts):
        before, marked = (units[2 * a : 2 * b].decode("utf-16-le", "replace") for a, b in ((0, start), (start, end)))
        if _words(marked) == _words(words):
            return {"start": len(before), "end": len(before) + len(marked)}
    return place


def _words(text: str) -> str:
    """As Label Studio writes them: without ends of lines."""
    return text.replace("\n", "\\n")


def _not_an_answer(annotation: Fields) -> str:
    """Why an annotation is not what a person thinks of the outputs; empty where it is."""
    if annotation.get("was_cancelled") is True:
        return "was skipped by the annotator"
    if annotation.get("ground_truth") is True:
        return "is a ground truth, not a person's answer"
    reviews = annotation.get("reviews")
    verdicts = [r.get("accepted") for r in reviews if isinstance(r, dict)] if isinstance(reviews, list) else []
    if annotation.get("last_action") == "rejected" or (verdicts and verdicts[-1] is False):
        return "was rejected by a reviewer"
    return ""


def _objects(fields: Fields, name: str) -> list[Any]:
    value = fields.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise BadField(name, "expected a list of JSON objects")
    return value


LABEL_STUDIO = Shape(
    name="Label Studio",
    address="https://labelstud.io/guide/task_format",
    kinds=(OUTPUTS, SCORES, JUDGMENTS, SPANS),
    recognises=_recognises,
    entries=_entries,
    guess="A pair in which nothing is selected is a tie. Skipped, rejected and ground-truth annotations are left out. "
    "Places count characters, or UTF-16 units where the words of a region stand there.",
)


def _is_table(fields: Fields) -> bool:
    return {"annotation_id", "annotator", "lead_time"} <= fields.keys()


def _table(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """A row of JSON_MIN or CSV: an annotation, whose ratings and numbers stand as [{"rating": 3}] in a column each."""
    marks = {name: found for name, value in fields.items() if (found := _marks(value)) is not None}
    data = {name: value for name, value in fields.items() if name not in {*marks, *BESIDE}}
    pair = has_sides(data)
    for output in outputs_of(data) if pair else [data]:
        yield Entry(OUTPUTS, output)
    who = str(fields["annotator"])  # an address where Label Studio knows one: annotators are pseudonyms
    known: Fields = data | {"annotator": f"ls-{sha256(who.encode()).hexdigest()[:8]}" if "@" in who else who}
    if not marks:  # where a task has one result, its value stands alone, in a column that somebody names
        choice = guess("judgments", list(known)).get("choice", "") if pair else ""
        if choice and known[choice] in (None, ""):
            yield LeftOut(JUDGMENTS, "has no choice")
        else:
            yield Entry(JUDGMENTS if pair else SCORES, known | ({"choice": known[choice]} if choice else {}))
    for name, found in marks.items():
        said = [value for mark in found for part, value in mark.items() if part in (*POINTS, "selected")]
        kind = JUDGMENTS if "selected" in found[0] else SCORES
        if len(said) != 1 or (score := point(said[0])) is None:
            yield LeftOut(kind, f"names {'no' if not said else 'more than one'} point of {name}")
        else:
            yield Entry(kind, known | ({"choice": said[0]} if kind == JUDGMENTS else {"aspect": name, "score": score}))


def _marks(value: Any) -> list[dict[str, Any]] | None:
    """What a cell holds of an annotation's results; None where it is something else."""
    if isinstance(value, str) and value.startswith("[{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, list) or not value or not all(isinstance(mark, dict) for mark in value):
        return None
    return value if {*POINTS, "selected"} & value[0].keys() else None


LABEL_STUDIO_TABLE = Shape(
    name="Label Studio table",
    address="https://github.com/HumanSignal/label-studio-sdk/tree/master/src/label_studio_sdk/converter",
    kinds=(OUTPUTS, SCORES, JUDGMENTS),
    recognises=_is_table,
    entries=_table,
    guess="Annotators who are known by their address get a pseudonym. A choice, or a value that stands alone, is a "
    "column like any other.",
)
