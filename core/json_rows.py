"""Rows of JSON: JSON lines, an array of rows, or one object: a row or a table by columns. `fail` takes what is wrong."""

import io
import json
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from core import column_shapes
from core.errors import quoted
from core.rows import MAX_DOCUMENT_BYTES, BadField, Fail, Row, kind_of, refusal, renamed, shown

MAX_DIGITS = 1000  # of a whole number


def of_lines(lines: Iterable[tuple[int, str]], columns: dict[str, str], fail: Fail) -> Iterator[Row]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            fields = json.loads(line, object_pairs_hook=_no_repeats, **IN_ROWS)
        except (ValueError, RecursionError) as error:
            fail(number, *_not_json(error))
            continue
        if isinstance(fields, dict):
            yield Row(number, renamed(fields, columns))
        else:
            fail(number, f"expected a JSON object, found {kind_of(fields)}")


def whole_document(begun: list[tuple[int, str]], lines: Iterator[tuple[int, str]]) -> dict[str, Any] | None:
    """The one object that the whole file is: a table by columns, or a row that is written on several lines. None where the file
    is JSON lines; `begun` then holds all that was read of `lines`."""
    try:
        first = json.loads(begun[0][1])
    except (ValueError, RecursionError):
        first = None
    if first is not None and not column_shapes.has_columns(first) and column_shapes.wrapped(first) is None:
        return None
    size = len(begun[0][1])
    for number, line in lines:
        begun.append((number, line))
        size += len(line)
        if size > MAX_DOCUMENT_BYTES or (first is not None and line.strip()):
            return None
    try:
        document = json.loads("".join(line for _, line in begun), object_pairs_hook=_no_repeats, **IN_ROWS)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def of_document(
    document: dict[str, Any], columns: dict[str, str], fail: Fail, say: Callable[[str], None] = lambda sentence: None
) -> Iterator[Row]:
    """say: takes what was taken for granted."""
    if rows := column_shapes.rows_under_a_name(document):
        for position, record in enumerate(rows, start=1):
            yield Row(0, renamed(record, columns), position)
        return
    if (inner := column_shapes.wrapped(document)) is not None:
        name, rows = inner
        others = ", ".join(quoted(other) for other in document if other != name)
        say(f"The rows are those under {quoted(name)}. The rest is not read: {others}.")
        for position, record in enumerate(rows, start=1):
            yield Row(0, renamed(record, columns), position)
        return
    if not column_shapes.has_columns(document):
        yield Row(1, renamed(document, columns))
        return
    if flaw := column_shapes.unequal(document):
        return fail(None, flaw[1], flaw[0])
    for position, record in enumerate(column_shapes.records(document), start=1):
        yield Row(0, renamed(record, columns), position)


def of_array(lines: Iterable[tuple[int, str]], name: str, columns: dict[str, str], fail: Fail) -> Iterator[Row]:
    """Of one JSON array. A row's line is that on which it begins."""
    first, text, size, position = None, io.StringIO(), 0, 0
    for number, line in lines:
        first, size = first or number, size + len(line)
        if size > MAX_DOCUMENT_BYTES:
            raise refusal(name, None, f"is longer than {MAX_DOCUMENT_BYTES // 2**20} MB; write it as JSON lines")
        text.write(line)
    document, at_line, counted = text.getvalue(), first or 1, 0
    decoder, header = json.JSONDecoder(object_pairs_hook=_no_repeats, **IN_ROWS), []
    at = _after_space(document, document.index("[") + 1)
    while document[at : at + 1] != "]":
        at_line, counted, position = at_line + document.count("\n", counted, at), at, position + 1
        try:
            fields, at = decoder.raw_decode(document, at)
        except (ValueError, RecursionError) as error:
            return fail(at_line, *_not_json(error, first or 1), position)
        if position == 1 and column_shapes.is_header(fields):
            header = fields
        elif header and isinstance(fields, list) and len(fields) == len(header):
            yield Row(at_line, renamed(dict(zip(header, fields)), columns), position)
        elif header and isinstance(fields, list):
            fail(at_line, f"has {len(fields)} values; the first list names {len(header)} columns", "", position)
        elif isinstance(fields, dict):
            yield Row(at_line, renamed(fields, columns), position)
        else:
            fail(at_line, f"expected a JSON object, found {kind_of(fields)}", "", position)
        at = _after_space(document, at)
        if document[at : at + 1] not in (",", "]"):
            return fail(at_line, "is not JSON (the array does not go on with a comma or end after this row)", "", position)
        if document[at] == ",":
            at = _after_space(document, at + 1)
    if document[at + 1 :].strip():
        fail(at_line, "is not JSON (something stands after the end of the array)")


def _after_space(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at


def _not_json(error: Exception, first_line: int | None = None) -> tuple[str, str]:
    """(message, field). first_line: of a document, whose row may stand on several lines."""
    if isinstance(error, BadField):
        return str(error), error.field
    if isinstance(error, json.JSONDecodeError):
        line = "" if first_line is None else f"line {first_line + error.lineno - 1}, "
        return f"is not JSON ({error.msg} at {line}column {error.colno})", ""
    return "is nested too deeply" if isinstance(error, RecursionError) else str(error), ""


def _whole_number(digits: str) -> int:
    if len(digits) > MAX_DIGITS:  # Python refuses more than 4,300 in words of its own
        raise ValueError(f"is not valid (a number has {len(digits):,} digits)")
    return int(digits)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"is not valid ({word} is not a number that JSON knows)")


def _missing(word: str) -> None:
    """In rows, NaN is a missing value, as pandas and Python write it."""
    if word != "NaN":
        _no_constant(word)


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"is not valid ({shown(digits)} is too large for a number)")
    return number


NUMBERS: Any = {"parse_constant": _no_constant, "parse_int": _whole_number, "parse_float": _finite}  # what a database keeps


IN_ROWS: Any = NUMBERS | {"parse_constant": _missing}


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [key for key, _ in pairs]
        raise BadField(next(k for k in names if names.count(k) > 1), "stands twice in one row")
    return fields
