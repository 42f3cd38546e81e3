"""What is told of a table that is none, in words and without the separator itself."""

import io

import pytest

from core.errors import ImportRefused
from core.rowfiles import read_rows


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b'a\tb\n"x"y\t1\n', "text follows a closing quotation mark; write a quotation mark inside a quoted cell twice"),
        (b'a\tb\n"x\t1\n', "a quoted cell does not end"),
        (b"a\tb\nx\ry\t1\n", "a line break outside of quotes that ends no line"),
        (b"a\tb\n" + b"x" * 50 + b"\t1\n", "a cell is longer than 8 MB"),
    ],
)
def test_a_damaged_table_is_told_in_words(raw, why, monkeypatch):
    if "8 MB" in why:  # lines as long as that are refused before
        monkeypatch.setattr("core.table_rows.MAX_LINE_BYTES", 40)
    with pytest.raises(ImportRefused) as refused:
        list(read_rows(io.BytesIO(raw), "a.tsv"))
    assert str(refused.value) == f"a.tsv, line 2: is not CSV ({why})"
