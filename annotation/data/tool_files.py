"""Files of other annotation tools as rows: Label Studio's tasks and exports, Potato's answers, AutoArena's head-to-heads.

Only the nesting is undone here; which column holds what is guessed and chosen as for any other file. Shapes:
Label Studio: labelstud.io/guide/task_format; Potato 1 and 2: docs/data-export/export_formats.md in its repository;
AutoArena: autoarena/api/router.py.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.data.fields import guess
from core.rowfiles import BadField, Row

LABEL_STUDIO, POTATO, AUTOARENA, PAIRS = "Label Studio", "Potato", "AutoArena", "pairs"
SIDES = ("system_a", "output_a", "system_b", "output_b")
PAIR_LISTS = ("responses", "outputs", "texts", "items", "options", "candidates", "text")  # Potato's items_key is free
NAME_LISTS = ("systems", "models")
CHOICES = ("a", "b", "tie")
Fields = dict[str, Any]


def tool_of(kind: str, fields: Fields) -> str:
    """Which tool a file is from, by its first row; empty for a file of rows."""
    columns = list(fields)
    if isinstance(fields.get("data"), dict):
        return LABEL_STUDIO
    if is_potato(fields):
        return POTATO
    if kind == "judgments" and {"prompt", "response_a", "response_b", "judge", "winner"} <= fields.keys():
        return AUTOARENA
    if kind == "outputs" and "output" not in guess("outputs", columns) and _has_sides(fields | _pair(fields)):
        return PAIRS
    return ""


def is_potato(fields: Fields) -> bool:
    if isinstance(fields.get("label_annotations"), dict) or isinstance(fields.get("instance_id_to_label_to_value"), dict):
        return True
    joined = any(":::" in column or ("." in column and "user_id" in fields) for column in fields)
    return "instance_id" in fields and (isinstance(fields.get("labels"), dict) or joined)


def flattened(tool: str, kind: str, row: Row, items: Mapping[str, Fields], annotator: str = "") -> Iterator[Row]:
    """The rows of this kind that a row of the tool's file holds. items: Potato's items by id, where they are known; annotator:
    who answered, where only the file's place says it. Raises BadField."""
    if tool == LABEL_STUDIO:
        found = _label_studio(kind, row.fields)
    elif tool == POTATO:
        found = _potato(kind, row.fields, items, annotator)
    elif tool == PAIRS:
        found = _outputs_of_pair(row.fields)
    else:
        found = iter([{**row.fields, "simulated": str(row.fields.get("judge") or "").lower() != "human"}])
    for fields in found:
        yield Row(row.line, fields, row.position, row.file)


def _has_sides(fields: Fields) -> bool:
    return guess("judgments", list(fields)).keys() >= set(SIDES)


def _outputs_of_pair(fields: Fields) -> Iterator[Fields]:
    fields = {name: value for name, value in fields.items() if name not in PAIR_LISTS + NAME_LISTS} | _pair(fields)
    columns = guess("judgments", list(fields))
    shared = {str(f): fields[columns[f]] for f in ("context_id", "context", "group") if f in columns}
    shared |= {column: value for column, value in fields.items() if column not in columns.values()}
    for side in "ab":
        own = {f: fields.get(columns.get(f"{f}_{side}", "")) for f in ("system", "output", "sample", "checkpoint")}
        yield shared | {f: value for f, value in own.items() if value is not None}


def _label_studio(kind: str, task: Fields) -> Iterator[Fields]:
    data = task.get("data")
    if not isinstance(data, dict):
        raise BadField("data", "is no JSON object; every task of Label Studio has one")
    if kind == "outputs":
        yield from _outputs_of_pair(data) if _has_sides(data) else [data]
        return
    name = "completions" if "completions" in task else "annotations"
    for annotation in _objects(task, name):
        if annotation.get("was_cancelled") is True:
            continue
        who = annotation.get("completed_by")
        who = who.get("id") if isinstance(who, dict) else who  # not the address beside it: annotators are pseudonyms
        known = {} if who is None else {"annotator": str(who) if isinstance(who, int) else who}
        results = [(r, r["value"]) for r in _objects(annotation, "result") if isinstance(r.get("value"), dict)]
        if kind == "scores":
            for result, value in results:
                score = next((_score(value[part]) for part in ("rating", "number", "choices") if part in value), None)
                if score is not None:
                    yield data | known | {"aspect": result.get("from_name"), "score": score}
            continue
        pairs = [(r, value.get("selected")) for r, value in results if r.get("type") == "pairwise"]
        for result, choice in pairs:
            about = {"aspect": result.get("from_name")} if len(pairs) > 1 else {}
            yield data | known | about | {"choice": choice}


def _objects(fields: Fields, name: str) -> list[Fields]:
    value = fields.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise BadField(name, "expected a list of JSON objects")
    return value


def _score(value: Any) -> float | int | None:
    """A point of a scale, however it is written; None for what is none."""
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else None
    if isinstance(value, str):
        try:
            value = float(value.removeprefix("scale_"))
        except ValueError:
            return None
        value = int(value) if math.isfinite(value) and value == int(value) else value
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _potato(kind: str, fields: Fields, items: Mapping[str, Fields], annotator: str) -> Iterator[Fields]:
    for instance, who, schemas in _potato_answers(fields):
        item = items.get(instance, {"id": instance})
        if kind == "outputs":
            if (text := fields.get("displayed_text")) is not None:
                yield item | {"displayed_text": text}
            continue
        known = item | ({"annotator": who or annotator} if who or annotator else {})
        origin = fields.get("annotator_origin")
        kind_of_rater = origin.get("kind") if isinstance(origin, dict) else origin
        if kind_of_rater not in (None, "", "human"):
            known["simulated"] = True
        if kind == "scores":
            for schema, labels in schemas.items():
                if (score := _likert(labels)) is not None:
                    yield known | {"aspect": schema, "score": score}
            continue
        choices = {schema: choice for schema, labels in schemas.items() if (choice := _choice(labels)) is not None}
        for schema, choice in choices.items():
            about = {"aspect": schema} if len(choices) > 1 else {}
            yield known | _pair(item) | about | {"choice": choice}


def _potato_answers(fields: Fields) -> Iterator[tuple[str, str, dict[str, Fields]]]:
    """(instance, annotator or "", {schema: {label: value}})"""
    who = fields.get("user_id", fields.get("user")) or ""
    if isinstance(states := fields.get("instance_id_to_label_to_value"), dict):
        for instance, labels in states.items():
            yield instance, str(who), _schemas(labels)
        return
    instance = fields.get("instance_id", fields.get("id"))
    if isinstance(instance, bool) or not isinstance(instance, str | int):
        raise BadField("instance_id" if "instance_id" in fields else "id", "is no text; Potato names every item")
    labels = fields.get("label_annotations", fields.get("labels"))
    if not isinstance(labels, dict):
        labels = {}
        for column, value in fields.items():
            for mark in (":::", "."):
                schema, found, label = column.partition(mark)
                if found and not label.startswith("_"):
                    if value is not None:
                        labels.setdefault(schema, {})[label] = value
                    break
    yield str(instance), str(who), _schemas(labels)


def _schemas(labels: Any) -> dict[str, Fields]:
    """Of {schema: {label: value}} or of [[{"schema", "name"}, value], ...], as Potato 2 keeps them."""
    if isinstance(labels, dict):
        return {schema: values if isinstance(values, dict) else {"": values} for schema, values in labels.items()}
    schemas: dict[str, Fields] = {}
    for entry in labels if isinstance(labels, list) else [None]:
        label, value = entry if isinstance(entry, list) and len(entry) == 2 else (None, None)
        if not isinstance(label, dict) or not isinstance(label.get("schema"), str):
            raise BadField("instance_id_to_label_to_value", "expected labels as Potato writes them")
        schemas.setdefault(label["schema"], {})[str(label.get("name", ""))] = value
    return schemas


def _likert(labels: Fields) -> float | int | None:
    """The only point that was chosen: by its value, or by its label where the value only says that it was."""
    points = [_score(value) if _score(value) is not None else _score(label) for label, value in labels.items() if _is_on(value)]
    return points[0] if len(points) == 1 else None


def _choice(labels: Fields) -> str | None:
    if "scale_value" in labels:
        score = _score(labels["scale_value"])
        return None if score is None else "A" if score < 0 else "B" if score > 0 else "tie"
    said = [
        label if _score(value) is not None or _is_true(value) else value for label, value in labels.items() if _is_on(value)
    ]
    return said[0] if len(said) == 1 and isinstance(said[0], str) and said[0].strip().lower() in CHOICES else None


def _is_on(value: Any) -> bool:
    return value not in (None, "", False, "false", "False")


def _is_true(value: Any) -> bool:
    return value is True or value in ("true", "True", "on")


def _pair(item: Fields) -> Fields:
    """The two texts of an item that lists them, and their systems where it lists those."""
    sides: Fields = {}
    for names, field in ((PAIR_LISTS, "output"), (NAME_LISTS, "system")):
        both: Sequence[Any] = next((item[n] for n in names if isinstance(item.get(n), list) and len(item[n]) == 2), ())
        sides |= {f"{field}_{side}": text for side, text in zip("ab", both)}
    return sides
