"""Reading rows from files that people made: JSON lines, a JSON array, a JSON object of columns, CSV (commas, semicolons or
tabs) and a sheet of Excel. Every refusal names file, line (or the row of an array) and field."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from core import archives, json_rows, table_rows
from core.encodings import decoded_lines, plain_name, unpacked
from core.errors import ImportRefused, RowError
from core.json_rows import NUMBERS
from core.rows import MAX_DOCUMENT_BYTES, BadField, NotAnswered, OnError, Row, one_per_system, refusal, renamed, shown

__all__ = [
    "MAX_DEPTH",
    "NUMBERS",
    "BadField",
    "NotAnswered",
    "OnError",
    "Row",
    "depth_of",
    "flaw_of",
    "one_per_system",
    "read_document",
    "read_rows",
    "refusal",
    "renamed",
    "rows_from",
    "shown",
]


TABLE_NAMES = {"context_id", "context", "system", "model", "output", "aspect", "criterion", "annotator", "score", "choice"}
TABLES = ("csv", "tsv", "xls")  # of text
JSON_BEGINS = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*"[^"]*"\s*:|\[\s*[\[{])')
MAX_DEPTH = 50  # of lists and objects in each other; Python reads about 900, less where much else is under way


def read_rows(
    source: str | Path | BinaryIO,
    name: str | None = None,
    columns: dict[str, str] | None = None,
    systems: Sequence[str] = (),
    on_error: OnError | None = None,
    encoding: str = "",
    sheet: str = "",
    say: table_rows.Say = lambda sentence: None,
    leave: table_rows.Leave = lambda line, reason: None,
    at_most: int | None = None,
) -> Iterator[Row]:
    """Rows of a file, in order. A name ending in .csv or .tsv is a table, .xlsx an Excel file, .parquet Parquet, .txt an
    output a line unless it begins as JSON; anything else is JSON: an array of rows where it begins with a bracket, else a row
    a line. Any of these may be packed as .gz.

    columns: {field: the file's name for it, "" for none}; what it does not speak of keeps its name. systems: columns that each
    hold one system's outputs; a row of the file is then a row for each of them, {system: the column's name, output: its cell}.
    encoding: one of core.encodings.ENCODINGS; empty: what the file's mark says, else UTF-8. sheet: of an Excel file; empty: its
    first. say: takes what was taken for granted, in sentences. leave: takes (line, reason) of rows without an answer.
    at_most: rows that are looked at, where a look is enough; an Excel file is read no further.
    Raises ImportRefused where the file can't be read; at the first row that can't, unless on_error takes such errors.
    """
    absent = set(systems)
    for row in _read_rows(source, name, columns or {}, on_error or _raise, encoding, sheet, say, leave, at_most):
        absent -= row.fields.keys()
        yield from one_per_system(row, systems) if systems else [row]
    for column in sorted(absent):
        file = str(name or getattr(source, "name", None) or str(source).rsplit("/", 1)[-1])
        (on_error or _raise)(RowError(file, None, column, "is no column of this file"))


def _raise(error: RowError) -> None:
    raise ImportRefused([error])


def _read_rows(
    source: str | Path | BinaryIO,
    name: str | None,
    columns: dict[str, str],
    on_error: OnError,
    encoding: str,
    sheet: str,
    say: table_rows.Say,
    leave: table_rows.Leave,
    at_most: int | None,
) -> Iterator[Row]:
    if isinstance(source, (str, Path)):
        path = Path(source)
        name = name or path.name
        if path.is_dir():
            raise refusal(name, None, "is a folder; a file was expected")
        try:
            with path.open("rb") as file:
                yield from _read_rows(file, name, columns, on_error, encoding, sheet, say, leave, at_most)
        except OSError as error:
            raise refusal(name, None, f"can't be opened ({error.strerror})") from error
        return
    file_name = name or str(getattr(source, "name", "file"))
    empty, ending = True, plain_name(file_name).lower().rpartition(".")[2]
    if plain_name(file_name) != file_name and not _may_be(archives.first_bytes(source), archives.GZIP):
        raise refusal(file_name, None, "is no gzip file by its first bytes; take .gz off its name")
    source = unpacked(source, file_name)
    first = archives.first_bytes(source)
    if ending in TABLES and JSON_BEGINS.match(first):
        ending = "json"
        say("The file is JSON, whatever its name says, and is read as such.")
    kind = archives.kind_by_bytes(first, any_text=ending == "txt")
    if kind.startswith("a gzip file") and plain_name(file_name) != file_name:
        kind = "packed twice with gzip; unpack it once"
    if kind and not (kind.endswith(f".{ending}") or (ending == "xlsx" and kind.startswith(archives.MAY_BE_EXCEL))):
        raise refusal(file_name, None, f"is {kind}")

    def fail(line: int | None, message: str, field: str = "", row: int | None = None) -> None:
        nonlocal empty
        empty = False
        on_error(RowError(file_name, line, field, message, row))

    rows: Iterator[Row]
    if ending == "parquet":
        rows = table_rows.parquet_rows(source, file_name, columns, fail)
    elif ending == "xlsx":
        cells = table_rows.sheet_cells(source, file_name, fail, sheet, say, at_most and at_most + 2 * table_rows.ABOVE)
        rows = table_rows.of_table(cells, file_name, columns, fail, say=say, leave=leave)
    elif ending in TABLES or (ending == "txt" and _is_table(source, file_name, encoding)):
        lines = decoded_lines(source, file_name, None, encoding)
        header = list(islice(lines, 1))
        if named := table_rows.separator_line(header[0][1]) if header else "":
            header = list(islice(lines, 1))
        delimiter = named or ("\t" if ending == "tsv" or not header else table_rows.delimiter_of(header[0][1]))
        cells = table_rows.csv_cells(chain(header, lines), file_name, delimiter)
        rows = table_rows.of_table(cells, file_name, columns, fail, "." if delimiter == "," else ",", say, leave)
    else:
        lines = decoded_lines(source, file_name, fail, encoding)
        begun: list[tuple[int, str]] = []
        for number, line in lines:  # blank ones say nothing
            begun = [(number, line)]
            if line.strip() or ending == "txt":
                break
        if ending == "txt" and begun and not begun[0][1].lstrip().startswith(("{", "[")):
            rows = _texts(chain(begun, lines), columns)
        elif begun and begun[0][1].lstrip().startswith("["):
            rows = json_rows.of_array(chain(begun, lines), file_name, columns, fail)
        elif begun and (document := json_rows.whole_document(begun, lines)) is not None:
            rows = json_rows.of_document(document, columns, fail, say)
        else:
            rows = json_rows.of_lines(chain(begun, lines), columns, fail)
    for row in rows:
        if flaw := flaw_of(row):
            fail(row.line or None, *flaw, row.position or None)
            continue
        empty = False
        yield row
    if empty:
        raise refusal(file_name, None, "is empty; at least one row was expected")


def _may_be(first: bytes, mark: bytes) -> bool:
    return not first or first.startswith(mark)


def _is_table(source: BinaryIO, name: str, encoding: str) -> bool:
    """Does a text file begin with a header that has the fields' names, as Excel's "Unicode text" has?"""
    if not source.seekable():
        return False
    start = source.tell()
    try:
        _, first = next(decoded_lines(source, name, None, encoding), (1, ""))
    except ImportRefused:
        return False
    finally:
        source.seek(start)
    cells = [cell.strip().strip('"').lower() for cell in first.split(table_rows.delimiter_of(first))]
    return len(TABLE_NAMES.intersection(cells)) > 1


def _texts(lines: Iterable[tuple[int, str]], columns: dict[str, str]) -> Iterator[Row]:
    """A text file of one output a line, which the line's number names."""
    for number, line in lines:
        yield Row(number, renamed({"context_id": str(number), "output": line.rstrip("\r\n")}, columns))


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
        if flaw := flaw_of(row := Row(0, fields)):
            raise refusal(name, None, *flaw)
        yield row


def flaw_of(row: Row) -> tuple[str, str] | None:
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
