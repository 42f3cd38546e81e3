"""Rows of tables: CSV with commas, semicolons or tabs, the sheets of Excel, and Parquet. `fail` takes what is wrong."""

import base64
import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

from core import column_shapes
from core.errors import ImportRefused
from core.json_rows import NUMBERS
from core.rows import MAX_DOCUMENT_BYTES, MAX_LINE_BYTES, Fail, Row, refusal, renamed

MAX_CELLS = 1_000_000  # of an Excel sheet, with the empty ones between its others; a minute of reading
MAX_COLUMNS = 1000  # of a table
UNUSED_TEXTS = 10_000  # of an Excel file, that none of its cells shows
CELL, TEXT = re.compile(rb"<(?:\w+:)?c[ >/]"), re.compile(rb"<(?:\w+:)?si[ >/]")  # in a sheet, among the shared texts
ROWS_AT_ONCE = 1000  # of Parquet
ABOVE = 10  # rows that may stand above a table's header
MERGED = re.compile(rb'<(?:\w+:)?mergeCell\b[^<>]*\sref="([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})"')
HIDDEN_ROW = re.compile(rb'<(?:\w+:)?row\b[^<>]*\shidden="(?:1|true)"')  # by a filter, or by hand
Say = Callable[[str], None]
Leave = Callable[[int, str], None]  # (line, why it is left out, without a subject)
TITLE, REPEATED_HEADER = "is a title above the header", "repeats the header"
CSV_ERRORS = {  # {what the module csv says: what a person is told}
    "new-line": "a line break outside of quotes that ends no line",
    "expected after": "text follows a closing quotation mark; write a quotation mark inside a quoted cell twice",
    "unexpected end": "a quoted cell does not end",
    "field larger": f"a cell is longer than {MAX_LINE_BYTES // 2**20} MB",
}
JSON_IN_CSV = ("context", "references", "scale", "metadata", "knowledge", "published", "turns", "expected", "errors", "scheme")


def delimiter_of(header: str) -> str:
    """That of comma, semicolon and tab which the header has most of."""
    return max(",;\t", key="".join(header.split('"')[::2]).count)


def separator_line(line: str) -> str:
    """The separator that the line names, as Excel writes it above a table: sep=; Empty for any other line."""
    named = re.fullmatch(r"\s*\"?sep=([,;\t])\"?\s*", line, re.IGNORECASE)
    return named[1] if named else ""


def csv_cells(lines: Iterator[tuple[int, str]], name: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of a CSV file. With tabs, quotation marks mean nothing (IANA's text/tab-separated-values) unless each cell
    that begins with one is quoted as a spreadsheet quotes."""
    csv.field_size_limit(MAX_LINE_BYTES)
    header = next(lines, None)
    if header is None:
        return
    if delimiter == "\t":
        kept = list(_up_to(MAX_DOCUMENT_BYTES, lines))
        lines = chain(kept, lines)
        if not _is_quoted([text for _, text in [header, *kept]]):
            yield from ((number, text.rstrip("\r\n").split("\t")) for number, text in chain([header], lines))
            return
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


def _up_to(size: int, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """As many lines as have so many characters."""
    for number, text in lines:
        yield number, text
        size -= len(text)
        if size < 0:
            return


def _is_quoted(lines: list[str]) -> bool:
    """Does each cell that begins with a quotation mark end with one, with those inside written twice?"""
    try:
        rows = list(csv.reader(lines, strict=True, delimiter="\t"))
    except csv.Error:
        return False
    width = len(rows[0])
    begins = any(cell.startswith('"') for text in lines for cell in text.split("\t"))
    return begins and all(len(row) == width for row in rows if row) and not _breaks_lines(lines, rows)


def _breaks_lines(lines: list[str], rows: list[list[str]]) -> bool:
    """Does each line have the header's number of cells if quotation marks mean nothing, while a quoted cell joins two lines?"""
    width = len(rows[0])
    return len(rows) < len(lines) and all(text.count("\t") + 1 == width for text in lines if text.strip())


def sheet_names(file: BinaryIO, name: str) -> dict[str, bool]:
    """{the name of a sheet of cells: is it shown, and not hidden?} The file is at its beginning again."""
    import openpyxl  # only where somebody sends such a file

    try:
        content = io.BytesIO(file.read(MAX_DOCUMENT_BYTES + 1))
        if content.getbuffer().nbytes > MAX_DOCUMENT_BYTES:
            return {}  # which reading it refuses
        reader = openpyxl.reader.excel.ExcelReader(content, read_only=True)
        reader.read_manifest()
        reader.read_workbook()  # and not its texts, which may be millions
        sheets = [sheet for sheet, place in reader.parser.find_sheets() if "chartsheet" not in place.Type]
        return {sheet.name: sheet.state == "visible" for sheet in sheets}
    except Exception:  # a damaged file may fail anywhere inside; reading it says so
        return {}
    finally:
        file.seek(0)


def sheet_cells(
    file: BinaryIO, name: str, fail: Fail, title: str = "", say: Say = lambda sentence: None, at_most: int | None = None
) -> Iterator[tuple[int, list[str]]]:
    """(row, cells) of a sheet of an Excel file, if none is named the first that is not hidden, as CSV would have them: formulas
    by their values, dates in ISO's form. fail takes the formulas whose values the file does not have, say how many rows are
    hidden. at_most: how many rows with a value are read; None: all."""
    import openpyxl  # only where somebody sends such a file

    content = io.BytesIO(file.read(MAX_DOCUMENT_BYTES + 1))
    long = f"is longer than {MAX_DOCUMENT_BYTES // 2**20} MB; save it as CSV"
    try:
        archive = zipfile.ZipFile(content)
        unpacked = sum(part.file_size for part in archive.infolist())
        if max(unpacked, content.getbuffer().nbytes) > MAX_DOCUMENT_BYTES:
            raise refusal(name, None, long)
        _refuse_many(archive, name)
        sheets = _sheets(openpyxl.load_workbook(content, read_only=True, data_only=True), title)
        if not sheets:
            raise refusal(name, None, "has no sheet of cells")
        content_of_sheet = archive.read(sheets[0]._worksheet_path)
        if hidden := len(HIDDEN_ROW.findall(content_of_sheet)):
            say(f"Rows that the sheet hides are read, too: {hidden:,}.")
        values = list(_first(at_most, _spread(sheets[0], name, values_only=True)))
        if any(b"<f" in archive.read(part) for part in archive.namelist() if part.startswith("xl/worksheets/")):
            sheet = _sheets(openpyxl.load_workbook(content, read_only=True), title)[0]
            for row in islice(_spread(sheet, name), len(values)):
                for cell in row:
                    if cell.data_type == "f" and values[cell.row - 1][cell.column - 1] is None:
                        message = f"cell {cell.coordinate} is a formula without its value; open the file in Excel and save it"
                        fail(cell.row, message)
        rows = [[_cell(value) for value in row] for row in values]
        if merged := _fill_merged(rows, content_of_sheet, name):
            say(f"Cells that are merged over several rows are read as if each row held the value: {merged:,}.")
    except ImportRefused:
        raise
    except Exception as error:  # a damaged file may fail anywhere inside
        raise refusal(name, None, "can't be read as an Excel file (.xlsx)") from error
    while rows and not any(rows[-1]):
        rows.pop()
    header = rows[_titles(rows)] if rows else []
    width = max((i + 1 for i, cell in enumerate(header) if cell), default=0)
    for number, cells in enumerate(rows, start=1):
        while len(cells) > width and not cells[-1]:
            cells.pop()
        yield number, cells + [""] * (width - len(cells))


def _refuse_many(archive: zipfile.ZipFile, name: str) -> None:
    """Raises ImportRefused for more cells than are read, or texts that no cell uses: openpyxl reads all of them first."""
    parts = archive.namelist()
    sheets = [part for part in parts if part.startswith("xl/worksheets/")]
    cells = sum(_count(CELL, archive.read(part)) for part in sheets)
    texts = sum(_count(TEXT, archive.read(part)) for part in parts if part.endswith("sharedStrings.xml"))
    if cells > MAX_CELLS:
        raise refusal(name, None, f"holds more than {MAX_CELLS:,} cells; save it as CSV")
    if texts > max(UNUSED_TEXTS, 2 * cells):
        raise refusal(name, None, f"holds {texts:,} texts for {cells:,} cells; copy its table into a new file")


def _count(mark: re.Pattern[bytes], content: bytes) -> int:
    """No further than what is refused."""
    return sum(1 for _ in islice(mark.finditer(content), 3 * MAX_CELLS))


def _sheets(book: Any, title: str) -> list[Any]:
    found = [sheet for sheet in book.worksheets if title in ("", sheet.title)]
    return sorted(found, key=lambda sheet: sheet.sheet_state != "visible")  # in their order


def _spread(sheet: Any, name: str, values_only: bool = False) -> Iterator[tuple[Any, ...]]:
    """Rows of an Excel sheet. A few bytes may name a cell that lies far from all others, with empty ones in between."""
    sheet.reset_dimensions()  # what the file says of its size may be wrong
    cells = 0
    for row in sheet.iter_rows(values_only=values_only):
        cells += 1 + len(row)
        if cells > MAX_CELLS:
            raise refusal(name, None, f"spreads over more than {MAX_CELLS:,} cells; save it as CSV")
        yield row


def _first(at_most: int | None, rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    filled = 0
    for row in rows:
        yield row
        filled += any(value is not None for value in row)
        if filled == at_most:
            return


def _fill_merged(rows: list[list[str]], sheet: bytes, name: str) -> int:
    """Give every row of a merged cell its value, which a file keeps in the first alone; returns how many cells were merged over
    rows. Those of the header and above it stay: their words are names."""
    header, merged, cells = _titles(rows), 0, 0
    for found in MERGED.finditer(sheet):
        first, last, column = int(found[2]), min(int(found[3]), len(rows)), _place_of(found[1].decode())
        if not header + 1 < first < last or column >= len(rows[first - 1]) or not (value := rows[first - 1][column]):
            continue
        merged, cells = merged + 1, cells + (last - first) * (column + 1)
        if cells > MAX_CELLS:
            raise refusal(name, None, f"merges more than {MAX_CELLS:,} cells; save it as CSV")
        for row in filter(any, rows[first:last]):
            row.extend([""] * (column + 1 - len(row)))
            row[column] = row[column] or value
    return merged


def _place_of(letters: str) -> int:
    """From 0, of a column called A, B, ... AA"""
    place = 0
    for letter in letters:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


# Appraise's ExportSystemScoresToCSV writes no header (its get_system_data says what stands where).
APPRAISE = ["username", "systemID", "segmentID", "itemType", "source", "target", "score"]
APPRAISE_ENDS = {
    9: ["startTime", "endTime"],
    11: ["documentID", "isCompleteDocument", "startTime", "endTime"],
    12: ["documentID", "isCompleteDocument", "mqm", "startTime", "endTime"],
    14: ["documentID", "isCompleteDocument", "mqm", "startTime", "endTime", "batch", "item"],
}


def _header_of(first: list[str]) -> list[str] | None:
    """The names of columns where the first row is no header; None where it is one."""
    is_answer = len(first) in APPRAISE_ENDS and first[3] in ("TGT", "CHK", "BAD", "REF")
    return [*APPRAISE, *APPRAISE_ENDS[len(first)]] if is_answer else None


def _titles(rows: Sequence[Sequence[str]]) -> int:
    """How many rows stand above the header: from the first one on, those with a text in their first cell alone, or with none,
    where one of the next rows has several."""
    for number, cells in enumerate(rows[:ABOVE]):
        filled = [at for at, cell in enumerate(cells) if cell.strip()]
        if len(filled) > 1:
            return number
        if filled not in ([], [0]):
            return 0
    return 0


def of_table(
    table: Iterator[tuple[int, list[str]]],
    name: str,
    columns: dict[str, str],
    fail: Fail,
    decimal: str = ".",
    say: Say = lambda sentence: None,
    leave: Leave = lambda line, reason: None,
) -> Iterator[Row]:
    """decimal: the mark that its numbers have. say: takes what was taken for granted, in sentences. leave: takes the rows that
    hold no answer."""
    ahead = list(islice(table, ABOVE))
    above = _titles([cells for _, cells in ahead])
    if above:
        say(f"The header is row {ahead[above][0]}; what stands above it is taken for a title.")
        for line, cells in ahead[:above]:
            if any(cell.strip() for cell in cells):
                leave(line, TITLE)
    table = chain(ahead[above:], table)
    begun = list(islice(table, 1))
    line, first = begun[0] if begun else (1, [])
    if not first:
        return
    if names := _header_of(first):
        first, table = names, chain(begun, table)
    if len(first) > MAX_COLUMNS:
        raise refusal(name, line, f"has {len(first):,} columns; at most {MAX_COLUMNS:,} are read")
    header = [column.strip() or f"column {number}" for number, column in enumerate(first, start=1)]  # pandas names no index
    if len(set(header)) < len(header):
        raise refusal(name, line, "two columns have the same name")
    begun = list(islice(table, 2))
    if len(begun) == 2 and any(cell.startswith('{"ImportId"') for cell in begun[1][1]):
        begun = []  # Qualtrics: below the names stand the questions, and then their ids
    names = [cell.strip().casefold() for cell in first]
    for line, cells in chain(begun, table):
        if not any(cell.strip() for cell in cells):
            continue
        if len(first) > 1 and [cell.strip().casefold() for cell in cells] == names:
            say("A row that repeats the header is left out.")
            leave(line, REPEATED_HEADER)
            continue
        if len(cells) != len(header):
            fail(line, f"has {len(cells)} cells; the header has {len(header)} columns")
            continue
        named = renamed(_unguarded(dict(zip(header, cells))), columns)
        yield Row(line, {column: _csv_value(column, cell) for column, cell in named.items()}, decimal=decimal)


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


def parquet_rows(file: BinaryIO, name: str, columns: dict[str, str], fail: Fail) -> Iterator[Row]:
    """Raises ImportRefused where pyarrow is missing, or cannot read the file, or it is too long when unpacked."""
    try:
        import pyarrow.parquet as parquet  # only where somebody sends such a file
    except ImportError:
        raise refusal(
            name, None, "is a Parquet file; install pyarrow (pip install 'comparena[parquet]'), or send JSON lines"
        ) from None
    content = io.BytesIO(file.read(MAX_DOCUMENT_BYTES + 1))
    long = f"is longer than {MAX_DOCUMENT_BYTES // 2**20} MB; send it in parts, or as JSON lines"
    if content.getbuffer().nbytes > MAX_DOCUMENT_BYTES:
        raise refusal(name, None, long)
    try:
        table = parquet.ParquetFile(content)
        unpacked = sum(table.metadata.row_group(n).total_byte_size for n in range(table.metadata.num_row_groups))
        if unpacked > MAX_DOCUMENT_BYTES:
            raise refusal(name, None, long)
        number = 0
        for batch in table.iter_batches(ROWS_AT_ONCE):
            for record in batch.to_pylist():
                number += 1
                yield Row(0, renamed(_plain(record), columns), number)
    except (OSError, ValueError, TypeError, NotImplementedError, MemoryError):  # pyarrow's errors are ValueErrors
        raise refusal(name, None, "can't be read as a Parquet file") from None


def _plain(value: Any) -> Any:
    """As JSON would have it."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and value != value:
        return None  # pandas writes a missing number as one that is none
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
