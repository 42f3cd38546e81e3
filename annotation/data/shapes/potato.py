"""Potato's answers, of version 1 and 2, and its data items."""

from collections.abc import Iterator
from typing import Any

from annotation.data.shapes.pairs import sides_of
from annotation.data.shapes.shape import JUDGMENTS, OUTPUTS, SCORES, Entry, Fields, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import number, point
from core.rows import BadField

CHOICES = ("a", "b", "tie")


def recognises(fields: Fields) -> bool:
    if isinstance(fields.get("label_annotations"), dict) or isinstance(fields.get("instance_id_to_label_to_value"), dict):
        return True
    joined = any(":::" in column or ("." in column and "user_id" in fields) for column in fields)
    return "instance_id" in fields and (isinstance(fields.get("labels"), dict) or joined)


def _entries(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    for instance, who, schemas in _answers(fields):
        item = around.items.get(instance, {"id": instance})
        if (text := fields.get("displayed_text")) is not None:
            yield Entry(OUTPUTS, item | {"displayed_text": text})
        annotator = who or around.annotator
        known = item | ({"annotator": annotator} if annotator else {})
        origin = fields.get("annotator_origin")
        rater = origin.get("kind") if isinstance(origin, dict) else origin
        if rater not in (None, "", "human"):
            known["simulated"] = True
        yield from _of_schemas(known, item, schemas)


def _of_schemas(known: Fields, item: Fields, schemas: dict[str, Fields]) -> Iterator[Entry | LeftOut]:
    chosen = {schema: choice for schema, labels in schemas.items() if (choice := _choice(labels)) is not None}
    for schema, labels in schemas.items():
        if schema in chosen:
            about = {"aspect": schema} if len(chosen) > 1 else {}
            yield Entry(JUDGMENTS, known | sides_of(item) | about | {"choice": chosen[schema]})
            continue
        on = {label: value for label, value in labels.items() if _is_on(value)}
        if not on:
            yield LeftOut(JUDGMENTS if sides_of(item) else SCORES, f"has no answer to {schema}")
        elif (score := _likert(on)) is None:
            yield LeftOut(SCORES, f"names more than one point of {schema}")
        else:
            yield Entry(SCORES, known | {"aspect": schema, "score": score})


def _answers(fields: Fields) -> Iterator[tuple[str, str, dict[str, Fields]]]:
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


def _likert(on: Fields) -> float | int | str | None:
    """The only point that was chosen: by its value, or by its label where the value only says that it was."""
    if len(on) != 1:
        return None
    ((label, value),) = on.items()
    return point(label) if _is_true(value) else point(value)


def _choice(labels: Fields) -> str | None:
    if "scale_value" in labels:
        score = number(labels["scale_value"])
        return None if score is None else "A" if score < 0 else "B" if score > 0 else "tie"
    words = [
        label if number(value) is not None or _is_true(value) else value for label, value in labels.items() if _is_on(value)
    ]
    return words[0] if len(words) == 1 and isinstance(words[0], str) and words[0].strip().lower() in CHOICES else None


def _is_on(value: Any) -> bool:
    return value not in (None, "", False, "false", "False")


def _is_true(value: Any) -> bool:
    return value is True or value in ("true", "True", "on")


POTATO = Shape(
    name="Potato",
    address="https://github.com/davidjurgens/potato/blob/master/docs/data-export/export_formats.md",
    kinds=(OUTPUTS, SCORES, JUDGMENTS),
    recognises=recognises,
    entries=_entries,
)
