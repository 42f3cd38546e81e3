"""Two outputs in one row: columns for A and B, or a list of two texts."""

from collections.abc import Iterator, Sequence
from typing import Any

from annotation.data.fields import guess
from annotation.data.shapes.shape import OUTPUTS, Entry, Fields, Shape, Surroundings
from annotation.outcome import SIDES as SHOWN_SIDES
from annotation.outcome import outcome_named

SIDES = ("system_a", "output_a", "system_b", "output_b")
TEXT_LISTS = ("responses", "outputs", "texts", "items", "options", "candidates", "text")
NAME_LISTS = ("systems", "models")


def sides_of(item: Fields) -> Fields:
    """The two texts of an item that lists them, and their systems where it lists those."""
    sides: Fields = {}
    for names, field in ((TEXT_LISTS, "output"), (NAME_LISTS, "system")):
        both: Sequence[Any] = next((item[n] for n in names if isinstance(item.get(n), list) and len(item[n]) == 2), ())
        sides |= {f"{field}_{side}": text for side, text in zip("ab", both)}
    return sides


def has_sides(fields: Fields) -> bool:
    return guess("judgments", list(fields)).keys() >= set(SIDES)


def names_side(value: Any) -> bool:
    """Is it a word for A, B or a tie, or for the side that was shown? A number may be a point of a scale."""
    word = value.strip().lower() if isinstance(value, str) else ""
    return not word.isdecimal() and (outcome_named(word) is not None or word in SHOWN_SIDES)


def outputs_of(fields: Fields) -> Iterator[Fields]:
    """The two outputs of a row that has both, each with what they share."""
    fields = {name: value for name, value in fields.items() if name not in TEXT_LISTS + NAME_LISTS} | sides_of(fields)
    columns = guess("judgments", list(fields))
    shared = {str(f): fields[columns[f]] for f in ("context_id", "context", "group") if f in columns}
    shared |= {column: value for column, value in fields.items() if column not in columns.values()}
    for side in "ab":
        own = {f: fields.get(columns.get(f"{f}_{side}", "")) for f in ("system", "output", "sample", "checkpoint")}
        yield shared | {f: value for f, value in own.items() if value is not None}


def _recognises(fields: Fields) -> bool:
    return "output" not in guess("outputs", list(fields)) and has_sides(fields | sides_of(fields))


def _entries(fields: Fields, around: Surroundings) -> Iterator[Entry]:
    for output in outputs_of(fields):
        yield Entry(OUTPUTS, output)


PAIRS = Shape(name="pairs", address="docs/campaigns/import.md", kinds=(OUTPUTS,), recognises=_recognises, entries=_entries)
