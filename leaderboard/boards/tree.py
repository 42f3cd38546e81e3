"""Trees of frozen dataclasses as JSON and back, and with their systems renamed: one walk by their types."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from leaderboard.boards.estimates import Name

T = TypeVar("T")
Leaf = Callable[[Any, Any], Any]  # (value, its type) -> value


@cache
def hints(kind: Any) -> dict[str, Any]:
    """A dataclass' fields and their types, in order."""
    known = get_type_hints(kind)
    return {field.name: known[field.name] for field in fields(kind)}


def to_json(value: Any) -> Any:
    """Dicts, lists, numbers, strings and None."""
    if is_dataclass(value):
        return {name: to_json(getattr(value, name)) for name in hints(type(value))}  # type: ignore[arg-type]
    if isinstance(value, tuple):
        return [to_json(one) for one in value]
    return value


def from_json(kind: type[T], data: Mapping[str, Any]) -> T:
    """The tree of this dataclass. A field that the JSON lacks takes its default; one that the class lacks is left out. Raises
    ValueError where a value does not fit."""
    made: T = walk(data, kind, _checked)
    return made


def renamed(value: T, names: Mapping[str, str]) -> T:
    """The tree with systems called otherwise, wherever it names them."""
    made: T = walk(value, type(value), lambda leaf, kind: Name(names.get(leaf, leaf)) if kind is Name else leaf)
    return made


def walk(value: Any, kind: Any, leaf: Leaf) -> Any:
    """The value of this type with each leaf made anew. A mapping may stand for a dataclass and a list for a tuple."""
    if value is None:
        return leaf(value, kind)
    kind = without_none(kind)
    if is_dataclass(kind):
        read = value.get if isinstance(value, Mapping) else lambda name: getattr(value, name)
        made: Any = kind
        there = [name for name in hints(made) if not isinstance(value, Mapping) or name in value]
        return made(**{name: walk(read(name), hints(made)[name], leaf) for name in there})
    if get_origin(kind) is tuple:
        return tuple(walk(one, get_args(kind)[0], leaf) for one in value)
    return leaf(value, kind)


def without_none(kind: Any) -> Any:
    """X of `X | None`; any other type as it is."""
    if get_origin(kind) in (Union, types.UnionType):
        (kind,) = (one for one in get_args(kind) if one is not types.NoneType)
    return kind


def may_be_none(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def _checked(value: Any, kind: Any) -> Any:
    if value is None:
        if not may_be_none(kind):
            raise ValueError(f"A value is missing where there must be one: {kind!r}.")
        return None
    if get_origin(kind) is Literal:
        fits = value in get_args(kind)
    elif kind is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        fits = type(value) is (str if kind is Name else kind)
    if not fits:
        raise ValueError(f"{value!r} is not {kind!r}.")
    return value
