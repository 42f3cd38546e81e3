"""Reading rows from JSONL and CSV files that people made: every refusal names file, line and field.

A row is a `Row`: its line number (0 where it has none) and its fields, with `text`, `number`, ... that check one field at a
time.
"""

import csv
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from core.errors import ImportRefused, RowError

MAX_LINE_BYTES = 8 * 2**20
MAX_DEPTH = 50  # of lists and objects in each other; Python reads about 900, less where much else is under way
MAX_DOCUMENT_BYTES = 64 * 2**20  # of a JSON file that is one value; in memory it takes ten times as much
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
JSON_IN_CSV = ("context", "references", "scale", "metadata", "knowledge", "published", "turns", "expected")


class BadField(ValueError):
    """A field that is missing or not what was expected; carries its name, and its line where a reader knows it."""

    def __init__(self, field: str, message: str, line: int | None = None):
        super().__init__(message)
        self.field, self.line = field, line


@dataclass(frozen=True)
class Row:
    line: int
    fields: dict[str, Any]

    def get(self, field: str, default: Any = None) -> Any:
        value = self.fields.get(field, default)
        return default if value is None else value

    def text(self, field: str, longest: int | None = None, empty: bool = False, default: str | None = None) -> str:
        value = self.fields.get(field)
        if value is None:
            if default is not None:
                return default
            raise BadField(field, "is missing; it must be given")
        if not isinstance(value, str):
            raise BadField(field, f"expected text, found {_kind(value)}")
        if not empty and not value.strip():
            raise BadField(field, "is empty")
        if longest and len(value) > longest:
            raise BadField(field, f"is {len(value)} characters long; at most {longest} are allowed")
        return value

    def name(self, *fields: str, default: str | None = None) -> str:
        """The first present of the fields, as a name of at most 200 characters; a whole number will do."""
        field = next((f for f in fields if self.fields.get(f) is not None), fields[0])
        value = self.fields.get(field)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(field, longest=200, default=default)

    def whole(self, field: str, default: int | None = None) -> int | None:
        value = self.fields.get(field)
        if value is None or value == "":
            return default
        if isinstance(value, str) and value.strip().isdecimal() and len(value) < 100:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
            raise BadField(field, f"expected a whole number from 0, found {shown(value)}")
        return value

    def number(self, field: str) -> float:
        value = self.fields.get(field)
        if value is None or value == "":
            raise BadField(field, "is missing; it must be given")
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise BadField(field, f"expected a number, found {shown(value)}")
        return number

    def texts(self, field: str, required: bool = False) -> list[str]:
        """A list of texts; one text counts as a list of one."""
        value = self.fields.get(field)
        if value is None:
            if required:
                raise BadField(field, "is missing; it must be given")
            return []
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise BadField(field, f"expected a text or a list of texts, found {_kind(value)}")
        if required and not any(v.strip() for v in value):
            raise BadField(field, "is empty")
        return value

    def mapping(self, field: str) -> dict[str, Any]:
        value = self.fields.get(field)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise BadField(field, f"expected a JSON object, found {_kind(value)}")
        return value


def read_rows(source: str | Path | BinaryIO, name: str | None = None, columns: dict[str, str] | None = None) -> Iterator[Row]:
    """Rows of a JSONL or CSV file, in order. A name ending in .csv is CSV, anything else JSON lines.

    columns: {field: the file's name for it, "" for none}; what it does not speak of keeps its name.
    Raises ImportRefused at the first line that can't be read.
    """
    if isinstance(source, (str, Path)):
        path = Path(source)
        name = name or path.name
        if path.is_dir():
            raise refusal(name, None, "is a folder; a JSONL or CSV file was expected")
        try:
            with path.open("rb") as file:
                yield from read_rows(file, name, columns)
        except OSError as error:
            raise refusal(name, None, f"can't be opened ({error.strerror})") from error
        return
    file_name = name or str(getattr(source, "name", "file"))
    rows_of = _csv_rows if file_name.lower().endswith(".csv") else _json_rows
    rows = rows_of(_decoded_lines(source, file_name), file_name, columns or {})
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise refusal(file_name, None, "is empty; at least one row was expected")


def read_document(source: str | Path | BinaryIO, name: str) -> Any:
    """The one value that a JSON file holds; None where it holds none or several, as JSON lines do. A file that is open is at
    its beginning again. Raises ImportRefused where it cannot be read as text."""
    if isinstance(source, (str, Path)):
        try:
            with Path(source).open("rb") as file:
                return read_document(file, name)
        except OSError as error:
            raise refusal(name, None, f"can't be opened ({error.strerror})") from error
    content = source.read(MAX_DOCUMENT_BYTES + 1)
    source.seek(0)
    if len(content) > MAX_DOCUMENT_BYTES:
        raise refusal(name, None, f"is longer than {MAX_DOCUMENT_BYTES // 2**20} MB; write it as JSON lines")
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def rows_from(records: Iterable[dict[str, Any]], name: str) -> Iterator[Row]:
    """Records that were made of a file of another shape, as its rows."""
    for fields in records:
        yield _clean(Row(0, fields), name)


def refusal(file: str, line: int | None, message: str, field: str = "") -> ImportRefused:
    return ImportRefused([RowError(file, line, field, message)])


def _decoded_lines(file: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    number = 0
    while raw := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(raw) > MAX_LINE_BYTES:
            raise refusal(name, number, f"is longer than {MAX_LINE_BYTES // 2**20} MB; a row must be shorter")
        if number == 1 and raw.startswith(BYTE_ORDER_MARK):
            raw = raw[len(BYTE_ORDER_MARK) :]
        try:
            yield number, raw.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = raw[error.start]
            message = f"is not UTF-8 (byte 0x{byte:02X} at position {error.start + 1}); save the file as UTF-8"
            raise refusal(name, number, message) from None


def _json_rows(lines: Iterator[tuple[int, str]], name: str, columns: dict[str, str]) -> Iterator[Row]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            fields = json.loads(line, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
        except BadField as error:
            raise refusal(name, number, str(error), error.field) from None
        except json.JSONDecodeError as error:
            raise refusal(name, number, f"is not JSON ({error.msg} at column {error.colno})") from None
        except RecursionError:
            raise refusal(name, number, "is nested too deeply") from None
        except ValueError as error:
            raise refusal(name, number, f"is not valid ({error})") from None
        if not isinstance(fields, dict):
            raise refusal(name, number, f"expected a JSON object, found {_kind(fields)}")
        fields = _renamed(fields, columns)
        yield _clean(Row(number, fields), name)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number that JSON knows")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [key for key, _ in pairs]
        raise BadField(next(k for k in names if names.count(k) > 1), "stands twice in one row")
    return fields


def _csv_rows(lines: Iterator[tuple[int, str]], name: str, columns: dict[str, str]) -> Iterator[Row]:
    csv.field_size_limit(MAX_LINE_BYTES)
    reader = csv.reader((text for _, text in lines), strict=True)
    try:
        header = next(reader, None)
        if header is None:
            return
        header = [column.strip() for column in header]
        if len(set(header)) < len(header):
            raise refusal(name, 1, "two columns have the same name")
        while True:
            start = reader.line_num + 1
            cells = next(reader, None)
            if cells is None:
                return
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise refusal(name, start, f"has {len(cells)} cells; the header has {len(header)} columns")
            named = _renamed(_unguarded(dict(zip(header, cells))), columns)
            fields = {column: _csv_value(column, cell) for column, cell in named.items()}
            yield _clean(Row(start, fields), name)
    except csv.Error as error:
        raise refusal(name, reader.line_num, f"is not CSV ({error})") from None


def _renamed(cells: dict[str, Any], columns: dict[str, str]) -> dict[str, Any]:
    """Cells under their fields' names, without those whose field is said to stand elsewhere or nowhere."""
    fields = {column: field for field, column in columns.items() if column}
    return {fields.get(column, column): cell for column, cell in cells.items() if column in fields or column not in columns}


def _unguarded(cells: dict[str, str]) -> dict[str, str]:
    """Without the apostrophes that our own CSV puts before what a spreadsheet would run (annotation.data.export.as_csv)."""
    for column in cells.pop("guarded", "").split():
        if cells.get(column, "").startswith("'"):
            cells[column] = cells[column][1:]
    return cells


def _csv_value(column: str, cell: str) -> Any:
    """A cell of a structured column is JSON where it looks like it; an empty cell is a missing field,
    but for the columns that hold outputs, whose text may be empty."""
    if not cell and not column.startswith("output"):
        return None
    if column in JSON_IN_CSV and cell.lstrip()[:1] in "[{":
        try:
            return json.loads(cell, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return cell  # a text that merely begins with a bracket
    return cell


def _clean(row: Row, name: str) -> Row:
    for field, value in row.fields.items():
        for text, depth in _texts_in([field, value]):
            if depth > MAX_DEPTH:
                raise refusal(name, row.line or None, "is nested too deeply", field)
            try:
                text.encode("utf-8")
            except UnicodeEncodeError:
                message = "holds half of a surrogate pair, which is no character"
                raise refusal(name, row.line or None, message, field.encode("utf-8", "replace").decode()) from None
            if "\0" in text:
                raise refusal(name, row.line or None, "holds a NUL character", field.replace("\0", ""))
    return row


def _texts_in(value: Any) -> Iterator[tuple[str, int]]:
    """Every text in a JSON value, and an empty one for each list or object, with how deep it lies."""
    stack = [(value, 0)]
    while stack:
        value, depth = stack.pop()
        if isinstance(value, str):
            yield value, depth
        elif isinstance(value, list | dict):
            yield "", depth
            inner = [*value.keys(), *value.values()] if isinstance(value, dict) else value
            stack.extend((part, depth + 1) for part in inner)


def depth_of(value: Any) -> int:
    """How many lists and objects of a JSON value lie in each other, its own level being 0."""
    return max((depth for _, depth in _texts_in(value)), default=0)


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "nothing")


def shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."
