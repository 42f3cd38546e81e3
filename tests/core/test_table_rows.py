"""What is told of a table that is none, in words and without the separator itself."""

import io
import zipfile

import pytest

from core.errors import ImportRefused
from core.rowfiles import read_rows
from core.table_rows import sheet_names


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b'a;b\n"x"y;1\n', "text follows a closing quotation mark; write a quotation mark inside a quoted cell twice"),
        (b'a;b\n"x;1\n', "a quoted cell does not end"),
        (b"a;b\nx\ry;1\n", "a line break outside of quotes that ends no line"),
        (b"a;b\n" + b"x" * 50 + b";1\n", "a cell is longer than 8 MB"),
    ],
)
def test_a_damaged_table_is_told_in_words(raw, why, monkeypatch):
    if "8 MB" in why:  # lines as long as that are refused before
        monkeypatch.setattr("core.table_rows.MAX_LINE_BYTES", 40)
    with pytest.raises(ImportRefused) as refused:
        list(read_rows(io.BytesIO(raw), "a.csv"))
    assert str(refused.value) == f"a.csv, line 2: is not CSV ({why})"


@pytest.mark.parametrize(
    ("raw", "cells"),
    [
        (b'a\tb\n"x"y\t1\n', '"x"y'),  # IANA's text/tab-separated-values has no quoting
        (b'a\tb\n"x\t1\ny"\t2\n', '"x'),
        (b'a\tb\n"x ""y"""\t1\n', 'x "y"'),  # as a spreadsheet quotes
        (b'a\tb\n"x\ny"\t1\n', "x\ny"),
    ],
)
def test_tabs_mean_quoting_only_where_each_cell_is_quoted_well(raw, cells):
    assert next(read_rows(io.BytesIO(raw), "a.tsv")).fields["a"] == cells


def test_qualtrics_questions_and_ids_are_no_rows():
    raw = b'ResponseId,Q1\n"Response ID","How good?"\n"{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}"\nR_1,4\n'
    assert [row.fields for row in read_rows(io.BytesIO(raw), "a.csv")] == [{"ResponseId": "R_1", "Q1": "4"}]


def test_letters_in_dispute_are_shown_and_the_encoding_can_be_named():
    raw = "a,b\nCafé,1\n".encode("windows-1252")
    with pytest.raises(ImportRefused, match="as windows-1252 it reads “Café,1”: name the encoding"):
        list(read_rows(io.BytesIO(raw), "a.csv"))
    assert next(read_rows(io.BytesIO(raw), "a.csv", encoding="windows-1252")).fields["a"] == "Café"


def test_texts_that_no_cell_of_a_workbook_uses_are_not_read(monkeypatch):
    """108 KB of them held the import process for 18 minutes."""
    import openpyxl

    monkeypatch.setattr("core.table_rows.UNUSED_TEXTS", 10)
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["a", "b"])
    book.create_sheet("more").sheet_state = "hidden"
    book.save(file)
    file.seek(0)
    assert sheet_names(file, "a.xlsx") == {"Sheet": True, "more": False}
    with zipfile.ZipFile(file) as plain, zipfile.ZipFile(padded := io.BytesIO(), "w") as other:
        for part in plain.namelist():
            other.writestr(part, plain.read(part))
        other.writestr("xl/sharedStrings.xml", b"<sst>" + b"<si><t>x</t></si>" * 22 + b"</sst>")
    padded.seek(0)
    with pytest.raises(ImportRefused, match="holds 22 texts for 2 cells; copy its table into a new file"):
        list(read_rows(padded, "a.xlsx"))
