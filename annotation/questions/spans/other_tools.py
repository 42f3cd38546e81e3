"""Marked errors as WMT releases MQM (TSV, a row an error, `<v>` and `</v>` around it), and as Label Studio's tasks."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from annotation.questions.kind import KeptAnswer
from annotation.questions.spans.method import OUTPUT, SOURCE

COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
NO_ERROR = "No-error"
BREAKS = re.compile(r"[\t\r\n\u0085\u2028\u2029]")  # which would end a cell or a line; a space in their place keeps all places


def mqm(question: str, answers: Sequence[KeptAnswer]) -> str:
    return "".join(_tsv(answers))


def label_studio(question: str, answers: Sequence[KeptAnswer]) -> str:
    return json.dumps(list(_tasks(question, answers)), ensure_ascii=False, indent=1) + "\n"


def _tsv(answers: Sequence[KeptAnswer]) -> Iterator[str]:
    yield "\t".join(COLUMNS) + "\n"
    for answer in answers:
        row = answer.row
        group, key = row.get("group") or "", row["context_id"]
        segment = key.removeprefix(f"{group} ") if group else key  # as an import joins the two
        about = [answer.system, group, group, segment, row["annotator"]]
        for error in row["errors"] or [{"severity": NO_ERROR, "category": NO_ERROR, "where": ""}]:
            source = "\n".join(_marked(turn, error, SOURCE, number) for number, turn in enumerate(answer.turns))
            cells = [*about, source, _marked(answer.output, error, OUTPUT), error.get("category", ""), error["severity"]]
            yield "\t".join(BREAKS.sub(" ", str(cell)) for cell in cells) + "\n"


def _marked(text: str, error: dict, where: str, turn: int = 0) -> str:
    if error["where"] != where or error.get("turn", 0) != turn:
        return text
    start, end = error["start"], error["end"]
    return f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"


def _tasks(question: str, answers: Sequence[KeptAnswer]) -> Iterator[dict[str, Any]]:
    """A task for each answer: Label Studio takes no pseudonyms as people, so that they stand in the task's data."""
    for one in answers:
        data = {
            "context_id": one.row["context_id"],
            "context": "\n".join(one.turns),
            "system": one.system,
            "output": one.output,
        }
        errors = enumerate(one.row["errors"])
        results = [part for number, error in errors for part in _regions(question, number, error, one.turns)]
        yield {"data": data | {"annotator": one.row["annotator"]}, "annotations": [{"result": results}]}


def _regions(question: str, number: int, error: dict, turns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The severity as the region's label, and the category as a choice of the same region."""
    to = "context" if error["where"] == SOURCE else "output"
    before = sum(len(turn) + 1 for turn in turns[: error.get("turn", 0)]) if error["where"] == SOURCE else 0
    place = {name: error[name] + before for name in ("start", "end") if name in error}
    about = {"id": f"error-{number}", "from_name": question, "to_name": to}
    value = place | ({"text": error["text"]} if "text" in error else {})
    yield about | {"type": "labels", "value": value | {"labels": [error["severity"]]}}
    if error.get("category"):
        category = {"from_name": f"{question} category", "type": "choices", "value": value | {"choices": [error["category"]]}}
        yield about | category
