"""Reading rows from files that people made: JSON lines, a JSON array, a JSON object of columns, CSV (commas, semicolons or
tabs) and Excel's first sheet. Every refusal names file, line (or the row of an array) and field.

A row is a `Row`: its line number (0 where it has none) and its fields, with `text`, `number`, ... that check one field at a
time.
"""

import csv
import dataclasses
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from core import column_shapes
from core.errors import ImportRefused, RowError, shortened

MAX_LINE_BYTES = 8 * 2**20
MAX_DIGITS = 1000  # of a whole number
MAX_DEPTH = 50  # of lists and objects in each other; Python reads about 900, less where much else is under way
MAX_DOCUMENT_BYTES = 64 * 2**20  # of a JSON file that is one value; in memory it takes ten times as much
MAX_CELLS = 5_000_000  # of an Excel sheet, with the empty ones between its others; 64 MB hold some 3 million that are written
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
JSON_IN_CSV = ("context", "references", "scale", "metadata", "knowledge", "published", "turns", "expected")


class BadField(ValueError):
    """A field that is missing or not what was expected; carries its name, and its line where a reader knows it."""

    def __init__(self, field: str, message: str, line: int | None = None):
        super().__init__(message)
        self.field, self.line = field, line


@dataclass(frozen=True)
class Row:
    """line: in the file, 0 where it has none. position: which row of a JSON array or of a table by columns it is, from 1; else
    0. file: the archive's member that it is in. columns: {field: the file's name for it}, where they differ."""

    line: int
    fields: dict[str, Any]
    position: int = 0
    file: str = ""
    columns: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def wrong(self, file: str, error: "BadField") -> RowError:
        """What is wrong with a field of this row, in the file's own words."""
        name = self.columns.get(error.field, error.field)
        return RowError(self.file or file, error.line or self.line or None, name, str(error), self.position or None)

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
            return replace(self, fields={field: str(value)}).text(field, longest=200)
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
        if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
            value = [_message(v, field) for v in value]
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


def _message(message: dict[str, Any], field: str) -> str:
    """The text of a chat message, {"role", "content"}; content may be a list of {"type": "text", "text"}."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [
            part.get("text") if isinstance(part, dict) and part.get("type", "text") == "text" else None for part in content
        ]
        if parts and all(isinstance(part, str) for part in parts):
            content = "\n".join(part for part in parts if part is not None)
    if not isinstance(message.get("role"), str) or not isinstance(content, str):
        raise BadField(field, 'expected messages with the texts "role" and "content"')
    return content


OnError = Callable[[RowError], None]


def read_rows(
    source: str | Path | BinaryIO,
    name: str | None = None,
    columns: dict[str, str] | None = None,
    systems: Sequence[str] = (),
    on_error: OnError | None = None,
) -> Iterator[Row]:
    """Rows of a file, in order. A name ending in .csv or .tsv is a table, .xlsx an Excel file, anything else is JSON: an array
    of rows where it begins with a bracket, else a row a line.

    columns: {field: the file's name for it, "" for none}; what it does not speak of keeps its name. systems: columns that each
    hold one system's outputs; a row of the file is then a row for each of them, {system: the column's name, output: its cell}.
    Raises ImportRefused where the file can't be read; at the first row that can't, unless on_error takes such errors.
    """
    absent = set(systems)
    for row in _read_rows(source, name, columns or {}, on_error or _raise):
        absent -= row.fields.keys()
        yield from one_per_system(row, systems) if systems else [row]
    for column in sorted(absent):
        file = str(name or getattr(source, "name", None) or str(source).rsplit("/", 1)[-1])
        (on_error or _raise)(RowError(file, None, column, "is no column of this file"))


def _raise(error: RowError) -> None:
    raise ImportRefused([error])


def one_per_system(row: Row, systems: Sequence[str]) -> Iterator[Row]:
    shared = {field: value for field, value in row.fields.items() if field not in systems}
    for system in systems:
        if row.fields.get(system) is not None:  # an empty cell: this system did not answer here
            fields = shared | {"system": system, "output": row.fields[system]}
            yield replace(row, fields=fields, columns={**row.columns, "output": system})


def _read_rows(source: str | Path | BinaryIO, name: str | None, columns: dict[str, str], on_error: OnError) -> Iterator[Row]:
    if isinstance(source, (str, Path)):
        path = Path(source)
        name = name or path.name
        if path.is_dir():
            raise refusal(name, None, "is a folder; a file was expected")
        try:
            with path.open("rb") as file:
                yield from _read_rows(file, name, columns, on_error)
        except OSError as error:
            raise refusal(name, None, f"can't be opened ({error.strerror})") from error
        return
    file_name = name or str(getattr(source, "name", "file"))
    empty, ending = True, file_name.lower().rpartition(".")[2]

    def fail(line: int | None, message: str, field: str = "", row: int | None = None) -> None:
        nonlocal empty
        empty = False
        on_error(RowError(file_name, line, field, message, row))

    rows: Iterator[Row]
    if ending == "xlsx":
        rows = _table_rows(_sheet(source, file_name, fail), file_name, columns, fail)
    elif ending in ("csv", "tsv"):
        lines = _decoded_lines(source, file_name, None)
        rows = _table_rows(_cells(lines, file_name, "\t" if ending == "tsv" else None), file_name, columns, fail)
    else:
        lines = _decoded_lines(source, file_name, fail)
        begun: list[tuple[int, str]] = []
        for number, line in lines:  # blank ones say nothing
            begun = [(number, line)]
            if line.strip():
                break
        if begun and begun[0][1].lstrip().startswith("["):
            rows = _array_rows(chain(begun, lines), file_name, columns, fail)
        elif begun and (document := _document(begun, lines)) is not None:
            rows = _document_rows(document, columns, fail)
        else:
            rows = _json_rows(chain(begun, lines), file_name, columns, fail)
    for row in rows:
        if flaw := _flaw(row):
            fail(row.line or None, *flaw, row.position or None)
            continue
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
        return json.loads(content.decode("utf-8-sig"), **NUMBERS)
    except (ValueError, RecursionError):
        return None


def rows_from(records: Iterable[dict[str, Any]], name: str) -> Iterator[Row]:
    """Records that were made of a file of another shape, as its rows."""
    for fields in records:
        if flaw := _flaw(row := Row(0, fields)):
            raise refusal(name, None, *flaw)
        yield row


def refusal(file: str, line: int | None, message: str, field: str = "") -> ImportRefused:
    return ImportRefused([RowError(file, line, field, message)])


Fail = Callable[..., None]  # (line, message, field, row)


def _decoded_lines(file: BinaryIO, name: str, fail: Fail | None) -> Iterator[tuple[int, str]]:
    """fail: takes lines that are not UTF-8, where the others can be read without them."""
    number = 0
    while raw := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if number == 1 and raw.lstrip(BYTE_ORDER_MARK + b" \t").startswith(b"["):  # a whole array may stand on one line
            raw += file.readline(MAX_DOCUMENT_BYTES) if not raw.endswith(b"\n") else b""
            if len(raw) > MAX_DOCUMENT_BYTES:
                raise refusal(name, None, f"is longer than {MAX_DOCUMENT_BYTES // 2**20} MB; write it as JSON lines")
        elif len(raw) > MAX_LINE_BYTES:
            raise refusal(name, number, f"is longer than {MAX_LINE_BYTES // 2**20} MB; a row must be shorter")
        if number == 1 and raw.startswith(BYTE_ORDER_MARK):
            raw = raw[len(BYTE_ORDER_MARK) :]
        try:
            yield number, raw.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = raw[error.start]
            message = f"is not UTF-8 (byte 0x{byte:02X} at position {error.start + 1}); save the file as UTF-8"
            if fail is None:
                raise refusal(name, number, message) from None
            fail(number, message)


def _json_rows(lines: Iterable[tuple[int, str]], name: str, columns: dict[str, str], fail: Fail) -> Iterator[Row]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            fields = json.loads(line, object_pairs_hook=_no_repeats, **NUMBERS)
        except (ValueError, RecursionError) as error:
            fail(number, *_not_json(error))
            continue
        if isinstance(fields, dict):
            yield Row(number, renamed(fields, columns))
        else:
            fail(number, f"expected a JSON object, found {_kind(fields)}")


def _document(begun: list[tuple[int, str]], lines: Iterator[tuple[int, str]]) -> dict[str, Any] | None:
    """The one object that the whole file is: a table by columns, or a row that is written on several lines. None where the file
    is JSON lines; `begun` then holds all that was read of `lines`."""
    try:
        first = json.loads(begun[0][1])
    except (ValueError, RecursionError):
        first = None
    if first is not None and not column_shapes.has_columns(first):
        return None
    size = len(begun[0][1])
    for number, line in lines:
        begun.append((number, line))
        size += len(line)
        if size > MAX_DOCUMENT_BYTES or (first is not None and line.strip()):
            return None
    try:
        document = json.loads("".join(line for _, line in begun), object_pairs_hook=_no_repeats, **NUMBERS)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _document_rows(document: dict[str, Any], columns: dict[str, str], fail: Fail) -> Iterator[Row]:
    if not column_shapes.has_columns(document):
        yield Row(1, renamed(document, columns))
        return
    if flaw := column_shapes.unequal(document):
        return fail(None, flaw[1], flaw[0])
    for position, record in enumerate(column_shapes.records(document), start=1):
        yield Row(0, renamed(record, columns), position)


def _array_rows(lines: Iterable[tuple[int, str]], name: str, columns: dict[str, str], fail: Fail) -> Iterator[Row]:
    """Of one JSON array. A row's line is that on which it begins."""
    first, text, size, position = None, io.StringIO(), 0, 0
    for number, line in lines:
        first, size = first or number, size + len(line)
        if size > MAX_DOCUMENT_BYTES:
            raise refusal(name, None, f"is longer than {MAX_DOCUMENT_BYTES // 2**20} MB; write it as JSON lines")
        text.write(line)
    document, at_line, counted = text.getvalue(), first or 1, 0
    decoder = json.JSONDecoder(object_pairs_hook=_no_repeats, **NUMBERS)
    at = _after_space(document, document.index("[") + 1)
    while document[at : at + 1] != "]":
        at_line, counted, position = at_line + document.count("\n", counted, at), at, position + 1
        try:
            fields, at = decoder.raw_decode(document, at)
        except (ValueError, RecursionError) as error:
            return fail(at_line, *_not_json(error, first or 1), position)
        if isinstance(fields, dict):
            yield Row(at_line, renamed(fields, columns), position)
        else:
            fail(at_line, f"expected a JSON object, found {_kind(fields)}", "", position)
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


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"is not valid ({shown(digits)} is too large for a number)")
    return number


NUMBERS: Any = {"parse_constant": _no_constant, "parse_int": _whole_number, "parse_float": _finite}  # what a database keeps


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [key for key, _ in pairs]
        raise BadField(next(k for k in names if names.count(k) > 1), "stands twice in one row")
    return fields


def _cells(lines: Iterator[tuple[int, str]], name: str, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of a CSV file. Without a delimiter: that of comma, semicolon and tab which the header has most of."""
    csv.field_size_limit(MAX_LINE_BYTES)
    header = next(lines, None)
    if header is None:
        return
    unquoted = "".join(header[1].split('"')[::2])
    delimiter = delimiter or max(",;\t", key=unquoted.count)
    reader = csv.reader((text for _, text in chain([header], lines)), strict=True, delimiter=delimiter)
    try:
        while True:
            start = reader.line_num + 1
            cells = next(reader, None)
            if cells is None:
                return
            yield start, cells
    except csv.Error as error:
        why = "a line break outside of quotes that ends no line" if "new-line" in str(error) else error
        raise refusal(name, reader.line_num, f"is not CSV ({why})") from None


def _sheet(file: BinaryIO, name: str, fail: Fail) -> Iterator[tuple[int, list[str]]]:
    """(row, cells) of an Excel file's first sheet, as CSV would have them: formulas by their values, dates in ISO's form. fail
    takes the formulas whose values the file does not have."""
    import openpyxl  # only where somebody sends such a file

    content = io.BytesIO(file.read(MAX_DOCUMENT_BYTES + 1))
    long = f"is longer than {MAX_DOCUMENT_BYTES // 2**20} MB; save it as CSV"
    try:
        archive = zipfile.ZipFile(content)
        unpacked = sum(part.file_size for part in archive.infolist())
        if max(unpacked, content.getbuffer().nbytes) > MAX_DOCUMENT_BYTES:
            raise refusal(name, None, long)
        sheets = openpyxl.load_workbook(content, read_only=True, data_only=True).worksheets
        if not sheets:
            raise refusal(name, None, "has no sheet of cells")
        values = list(_spread(sheets[0], name, values_only=True))
        if any(b"<f" in archive.read(part) for part in archive.namelist() if part.startswith("xl/worksheets/")):
            sheet = openpyxl.load_workbook(content, read_only=True).worksheets[0]
            for row in _spread(sheet, name):
                for cell in row:
                    if cell.data_type == "f" and values[cell.row - 1][cell.column - 1] is None:
                        message = f"cell {cell.coordinate} is a formula without its value; open the file in Excel and save it"
                        fail(cell.row, message)
        rows = [[_cell(value) for value in row] for row in values]
    except ImportRefused:
        raise
    except Exception as error:  # a damaged file may fail anywhere inside
        raise refusal(name, None, "can't be read as an Excel file (.xlsx)") from error
    while rows and not any(rows[-1]):
        rows.pop()
    width = max((i + 1 for i, cell in enumerate(rows[0]) if cell), default=0) if rows else 0
    for number, cells in enumerate(rows, start=1):
        while len(cells) > width and not cells[-1]:
            cells.pop()
        yield number, cells + [""] * (width - len(cells))


def _spread(sheet: Any, name: str, values_only: bool = False) -> Iterator[tuple[Any, ...]]:
    """Rows of an Excel sheet. A few bytes may name a cell that lies far from all others, with empty ones in between."""
    sheet.reset_dimensions()  # what the file says of its size may be wrong
    cells = 0
    for row in sheet.iter_rows(values_only=values_only):
        cells += 1 + len(row)
        if cells > MAX_CELLS:
            raise refusal(name, None, f"spreads over more than {MAX_CELLS:,} cells; save it as CSV")
        yield row


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _table_rows(table: Iterator[tuple[int, list[str]]], name: str, columns: dict[str, str], fail: Fail) -> Iterator[Row]:
    _, first = next(table, (1, []))
    if not first:
        return
    header = [column.strip() or f"column {number}" for number, column in enumerate(first, start=1)]  # pandas names no index
    if len(set(header)) < len(header):
        raise refusal(name, 1, "two columns have the same name")
    for line, cells in table:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            fail(line, f"has {len(cells)} cells; the header has {len(header)} columns")
            continue
        named = renamed(_unguarded(dict(zip(header, cells))), columns)
        yield Row(line, {column: _csv_value(column, cell) for column, cell in named.items()})


def renamed(cells: dict[str, Any], columns: dict[str, str]) -> dict[str, Any]:
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
            return json.loads(cell, **NUMBERS)
        except (ValueError, RecursionError):
            if (printed := column_shapes.printed_list(cell)) is not None:
                return printed
    return cell  # also a text that merely begins with a bracket


def _flaw(row: Row) -> tuple[str, str] | None:
    """(message, field) of what no database keeps."""
    for field, value in row.fields.items():
        for text, depth in _texts_in([field, value]):
            if depth > MAX_DEPTH:
                return "is nested too deeply", field
            try:
                text.encode("utf-8")
            except UnicodeEncodeError:
                return "holds half of a surrogate pair, which is no character", field
            if "\0" in text:
                return "holds a NUL character", field
    return None


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
    return shortened(json.dumps(value, ensure_ascii=False), 40)
