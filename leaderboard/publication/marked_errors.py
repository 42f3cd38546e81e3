"""Marked errors as WMT releases MQM (TSV, a row an error, `<v>` and `</v>` around it), and as Label Studio's tasks."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from annotation.assessment import snapshot_contents
from annotation.questions import registry
from annotation.questions.spans.method import OUTPUT, SOURCE
from core.errors import Refused
from leaderboard.publication.published import Published, slugs

COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
NO_ERROR = "No-error"
BREAKS = re.compile(r"[\t\r\n\u0085\u2028\u2029]")  # which would end a cell or a line; a space in their place keeps all places


def files(of: Published) -> dict[str, bytes]:
    """Of what the filter kept; none where nobody marked errors, or the snapshot is too old to have a record."""
    try:
        rows = [row for row in snapshot_contents.rows(of.snapshot, registry.SPANS.files) if row["kept"] is not False]
    except Refused:
        return {}
    by_question: dict[str, list[dict]] = {}
    for row in rows:
        if row["errors"] is not None:
            by_question.setdefault(row["aspect"], []).append(row)
    name = slugs(sorted(by_question))
    found: dict[str, bytes] = {}
    for question, answers in by_question.items():
        found[f"mqm/{name[question]}.tsv"] = "".join(_tsv(of, answers)).encode()
        tasks = json.dumps(list(_tasks(of, question, answers)), ensure_ascii=False, indent=1)
        found[f"label_studio/{name[question]}.json"] = f"{tasks}\n".encode()
    return found


def _texts(of: Published, row: dict) -> tuple[list[str], str]:
    """(turns of the context, output)"""
    place = row["context_id"], row["system"], row["checkpoint"] or "", row["sample"]
    return of.content.contexts[row["context_id"]], of.texts[place]


def _system(row: dict) -> str:
    sample = f" sample {row['sample']}" if row["sample"] else ""
    return row["system"] + (f" {row['checkpoint']}" if row["checkpoint"] else "") + sample


def _tsv(of: Published, rows: Iterable[dict]) -> Iterator[str]:
    yield "\t".join(COLUMNS) + "\n"
    for row in rows:
        turns, output = _texts(of, row)
        group, key = row.get("group") or "", row["context_id"]
        segment = key.removeprefix(f"{group} ") if group else key  # as an import joins the two
        about = [_system(row), group, group, segment, row["annotator"]]
        for error in row["errors"] or [{"severity": NO_ERROR, "category": NO_ERROR, "where": ""}]:
            source = "\n".join(_marked(turn, error, SOURCE, number) for number, turn in enumerate(turns))
            cells = [*about, source, _marked(output, error, OUTPUT), error.get("category", ""), error["severity"]]
            yield "\t".join(BREAKS.sub(" ", str(cell)) for cell in cells) + "\n"


def _marked(text: str, error: dict, where: str, turn: int = 0) -> str:
    if error["where"] != where or error.get("turn", 0) != turn:
        return text
    start, end = error["start"], error["end"]
    return f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"


def _tasks(of: Published, question: str, rows: Iterable[dict]) -> Iterator[dict[str, Any]]:
    """A task for each answer: Label Studio takes no pseudonyms as people, so that they stand in the task's data."""
    for row in rows:
        turns, output = _texts(of, row)
        data = {"context_id": row["context_id"], "context": "\n".join(turns), "system": _system(row), "output": output}
        results = [part for number, error in enumerate(row["errors"]) for part in _regions(question, number, error, turns)]
        yield {"data": data | {"annotator": row["annotator"]}, "annotations": [{"result": results}]}


def _regions(question: str, number: int, error: dict, turns: list[str]) -> Iterator[dict[str, Any]]:
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
