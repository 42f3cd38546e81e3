"""A line of an archive's table as a row of a model: every value checked against its field, as anybody may have written it."""

import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import (
    BooleanField,
    CharField,
    DateTimeField,
    Field,
    FloatField,
    IntegerField,
    JSONField,
    Model,
    TextField,
)

from core.rows import BadField, shown
from leaderboard.archive.tables import Keys, Table

KINDS: dict[type[Field], tuple[tuple[type, ...], str]] = {
    BooleanField: ((bool,), "true or false"),
    CharField: ((str,), "a text"),
    TextField: ((str,), "a text"),
    IntegerField: ((int,), "a whole number"),
    FloatField: ((int, float), "a number"),
    DateTimeField: ((str,), "a time"),
}


def read_row(table: Table, line: bytes, keys: Keys, given: Mapping[str, Any]) -> Model:
    """An unsaved row. given: its fields that the archive does not hold. Raises BadField."""
    usual = {field.name: None if field.null else field.get_default() for field in table.fields if field.name in table.later}
    cells = usual | _cells(line)
    names = {field.name for field in table.fields}
    if strange := sorted(cells.keys() - names):
        raise BadField(strange[0], "is no field of this table")
    if absent := sorted(names - cells.keys()):
        raise BadField(absent[0], "is missing; it must be given")
    values: dict[str, Any] = dict(given)
    for field in table.fields:
        value = _value(field, cells[field.name], keys)
        try:
            values[field.attname] = table.inward[field.name](value, keys) if field.name in table.inward else value
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise BadField(field.name, "is not built as an archive builds it") from None
    return table.model(**values)


def _cells(line: bytes) -> dict[str, Any]:
    try:
        text = line.decode("utf-8")
        cells = json.loads(text, parse_constant=_no_number)
        json.dumps(cells, ensure_ascii=False).encode()  # half a surrogate pair
    except (ValueError, RecursionError):
        raise BadField("", "is no line of JSON") from None
    if not isinstance(cells, dict):
        raise BadField("", "is no JSON object")
    if "\\u0000" in text or "\x00" in text:
        raise BadField("", "holds a character that no database keeps (NUL)")
    return cells


def _no_number(name: str) -> None:
    raise ValueError(name)


def _value(field: Field, value: Any, keys: Keys) -> Any:
    if value is None:
        if not field.null:
            raise BadField(field.name, "is missing; it must be given")
        return None
    if field.related_model:
        return _key(field, value, keys)
    if isinstance(field, JSONField):
        if field.default in (dict, list) and not isinstance(value, field.default):
            raise BadField(field.name, f"expected a JSON {'list' if field.default is list else 'object'}")
        return value
    _check_kind(field, value)
    if isinstance(field, DateTimeField):
        return _time(field, value)
    if field.choices and value not in dict(field.flatchoices) and not (field.blank and value == ""):
        raise BadField(field.name, f"{shown(value)} is none of {', '.join(map(str, dict(field.flatchoices)))}")
    try:
        field.run_validators(value)
    except ValidationError as error:
        raise BadField(field.name, f"{shown(value)}: {' '.join(error.messages)}") from None
    return value


def _check_kind(field: Field, value: Any) -> None:
    kinds, called = next(kind for model_field, kind in KINDS.items() if isinstance(field, model_field))
    if not isinstance(value, kinds) or isinstance(value, bool) != (kinds == (bool,)):
        raise BadField(field.name, f"expected {called}, found {shown(value)}")
    if isinstance(value, float) and not math.isfinite(value) or isinstance(value, int) and abs(value) >= 2**63:
        raise BadField(field.name, f"expected a number, found {shown(value)}")


def _time(field: Field, value: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError(value)
        moment.timestamp()
    except (ValueError, OverflowError):
        raise BadField(field.name, f"expected a time with its zone, found {shown(value)}") from None
    return moment


def _key(field: Field, value: Any, keys: Keys) -> Any:
    rows = keys.get(field.related_model, ())  # type: ignore[arg-type]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= len(rows):
        raise BadField(field.name, f"names row {shown(value)} of {len(rows)}")
    return rows[value - 1]
