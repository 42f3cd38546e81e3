"""Argilla's records, as its client writes them to JSON, and their table form."""

import json
from collections.abc import Iterator
from typing import Any

from annotation.data.shapes.pairs import has_sides, names_side, outputs_of, sides_of
from annotation.data.shapes.shape import JUDGE_SCORES, JUDGMENTS, OUTPUTS, SCORES, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import number, point
from core.column_shapes import printed_list
from core.rows import BadField

SIDES_OF_CHOICE = {"response-1": "A", "response-2": "B", "response1": "A", "response2": "B"}


def _recognises(fields: Fields) -> bool:
    return isinstance(fields.get("fields"), dict) and isinstance(fields.get("responses"), dict | list)


def _entries(record: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    metadata = record.get("metadata")
    data = (metadata if isinstance(metadata, dict) else {}) | record["fields"]
    yield from _record(data, _responses(record["responses"]), _suggestions(record.get("suggestions")))


def _is_table(fields: Fields) -> bool:
    return any(column.endswith(".responses") for column in fields)


def _table(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """A row whose columns are question.responses, question.responses.users and question.responses.status."""
    responses, suggestions = [], []
    for column, values in fields.items():
        name = column.removesuffix(".responses")
        if name != column and values is not None:
            values = _listed(values)
            if not isinstance(values, list):
                raise BadField(column, "expected a list of responses")
            users, status = (_listed(fields.get(f"{column}.{beside}")) or [] for beside in ("users", "status"))
            for at, value in enumerate(values):
                who = users[at] if at < len(users) else None
                responses.append((name, value, who, status[at] if at < len(status) else "submitted"))
        if (name := column.removesuffix(".suggestion")) != column and values is not None:
            suggestions.append((name, values, fields.get(f"{column}.agent")))
    data = {column: value for column, value in fields.items() if ".responses" not in column and ".suggestion" not in column}
    data = {column: value for column, value in data.items() if column not in ("id", "status", "_server_id")}
    yield from _record(data, responses, suggestions)


def _record(data: Fields, responses: list[tuple], suggestions: list[tuple]) -> Iterator[Entry | LeftOut]:
    pair = has_sides(data | sides_of(data))
    for output in outputs_of(data) if pair else [data]:
        yield Entry(OUTPUTS, output)
    for question, value, who, status in responses:
        kind = JUDGMENTS if pair and _choice(value) else SCORES
        if status not in (None, "submitted"):
            yield LeftOut(kind, f"was not submitted (its status is {status})")
            continue
        known = data | ({} if who is None else {"annotator": str(who)})
        if kind == JUDGMENTS:
            yield Entry(JUDGMENTS, known | {"choice": _choice(value)})
        elif (score := point(value)) is None:
            yield LeftOut(SCORES, f"names no single point of {question}")
        else:
            yield Entry(SCORES, known | {"aspect": question, "score": score})
    for question, value, agent in suggestions:
        if (score := number(value)) is None:
            yield LeftOut(JUDGE_SCORES, f"suggests no number for {question}")
        else:
            yield Entry(JUDGE_SCORES, data | {"judge": agent or f"suggestion for {question}", "score": score})


def _choice(value: Any) -> str | None:
    """Of a label, or of a ranking of two texts."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(v, dict) and "rank" in v for v in value):
        ranks = {SIDES_OF_CHOICE.get(str(v.get("value"))): v["rank"] for v in value}
        if ranks.keys() == {"A", "B"} and all(isinstance(rank, int) for rank in ranks.values()):
            return "tie" if ranks["A"] == ranks["B"] else min(("A", "B"), key=lambda side: ranks[side])
    if isinstance(value, str):
        return SIDES_OF_CHOICE.get(value) or (value if names_side(value) else None)
    return None


def _listed(value: Any) -> Any:
    """A list, also where a cell holds it as JSON or as Python or NumPy print it."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return printed_list(value, numbers=True)


def _responses(responses: dict[str, Any] | list[Any]) -> list[tuple]:
    """(question, value, user, status). Version 1 has a list of people's responses, each with all questions."""
    rows: list[tuple] = []
    if isinstance(responses, list):
        for said in responses:
            if not isinstance(said, dict) or not isinstance(said.get("values"), dict):
                raise BadField("responses", "expected a list of objects with values")
            about = said.get("user_id"), said.get("status", "submitted")
            rows += [(question, one.get("value"), *about) for question, one in said["values"].items() if isinstance(one, dict)]
        return rows
    for question, said in responses.items():
        if not isinstance(said, list) or not all(isinstance(one, dict) for one in said):
            raise BadField("responses", "expected a list of responses for each question")
        rows += [(question, one.get("value"), one.get("user_id"), one.get("status", "submitted")) for one in said]
    return rows


def _suggestions(suggestions: Any) -> list[tuple]:
    """(question, value, agent)"""
    if isinstance(suggestions, list):  # version 1
        suggestions = {one.get("question_name"): one for one in suggestions if isinstance(one, dict)}
    items = suggestions.items() if isinstance(suggestions, dict) else ()
    return [(question, said.get("value"), said.get("agent")) for question, said in items if isinstance(said, dict)]


GUESS = "Drafts and discarded responses are left out. Suggestions are a judge's scores, never people's."
ARGILLA = Shape(
    name="Argilla",
    address="https://docs.argilla.io/latest/reference/argilla/records/records/",
    kinds=(OUTPUTS, SCORES, JUDGMENTS, JUDGE_SCORES),
    recognises=_recognises,
    entries=_entries,
    guess=GUESS,
)
ARGILLA_TABLE = Shape(
    name="Argilla table",
    address="https://docs.argilla.io/latest/how_to_guides/import_export/",
    kinds=(OUTPUTS, SCORES, JUDGMENTS, JUDGE_SCORES),
    recognises=_is_table,
    entries=_table,
    guess=GUESS,
)
