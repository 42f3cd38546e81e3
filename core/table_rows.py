"""Rows of tables: CSV with commas, semicolons or tabs, and Excel's first sheet. `fail` takes what is wrong."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO

from core import column_shapes
from core.errors import ImportRefused
from core.json_rows import NUMBERS
from core.rows import MAX_DOCUMENT_BYTES, MAX_LINE_BYTES, Fail, Row, refusal, renamed

MAX_CELLS = 5_000_000  # of an Excel sheet, with the empty ones between its others; 64 MB hold some 3 million that are written
CSV_ERRORS = {  # {what the module csv says: what a person is told}
    "new-line": "a line break outside of quotes that ends no line",
    "expected after": "text follows a closing quotation mark; write a quotation mark inside a quoted cell twice",
    "unexpected end": "a quoted cell does not end",
    "field larger": f"a cell is longer than {MAX_LINE_BYTES // 2**20} MB",
}
JSON_IN_CSV = ("context", "references", "scale", "metadata", "knowledge", "published", "turns", "expected")


def csv_cells(lines: Iterator[tuple[int, str]], name: str, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
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
        why = next((words for of_csv, words in CSV_ERRORS.items() if of_csv in str(error)), str(error))
        raise refusal(name, reader.line_num, f"is not CSV ({why})") from None


def sheet_cells(file: BinaryIO, name: str, fail: Fail) -> Iterator[tuple[int, list[str]]]:
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


def of_table(table: Iterator[tuple[int, list[str]]], name: str, columns: dict[str, str], fail: Fail) -> Iterator[Row]:
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
