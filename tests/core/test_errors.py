"""Errors stay short and printable, whatever a file's names are."""

import pytest

from core.errors import RowError, quoted, shortened
from core.rowfiles import shown


@pytest.mark.parametrize(("length", "kept"), [(79, 79), (80, 80), (81, 80), (5000, 80)])
def test_a_long_name_loses_its_middle(length, kept):
    name = "a" + "x" * (length - 2) + "z"
    short = shortened(name)
    assert len(short) == kept and short[0] == "a" and short[-1] == "z"
    assert ("…" in short) == (length > 80)
    assert quoted(name) == f"'{short}'"


def test_a_value_is_shown_as_json_and_short():
    assert shown(["Ü", None]) == '["Ü", null]'
    assert shown("x" * 100) == '"' + "x" * 19 + "…" + "x" * 18 + '"'


def test_field_and_file_of_an_error_are_short_and_printable():
    error = RowError("up.zip/" + "a/" * 5000 + "b.csv", 3, "x\0\n\ud800\u2028" + "y" * 5000, "is empty")
    assert len(error.file) == 300 and error.file.startswith("up.zip/a/") and error.file.endswith("a/b.csv")
    assert len(error.field) == 80 and error.field.startswith("x\ufffd\ufffd\ufffd\ufffdyyy")
    assert str(error).startswith("up.zip/a/") and str(error).endswith("y': is empty") and len(str(error)) < 450
    assert "\n" not in str(error) and str(error).encode()
    found = shown("\x7f")
    assert RowError("a.csv", 1, "choice", f"expected A, found {found}").message == 'expected A, found "\ufffd"'
    persian = "می‌خواهم"  # its zero-width non-joiner is no control character
    assert RowError("a.csv", 1, persian, "is empty").field == persian
