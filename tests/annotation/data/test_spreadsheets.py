"""What a spreadsheet would run is text with an apostrophe; numbers stay numbers."""

import pytest

from annotation.data.spreadsheets import no_formula, without_formulas


@pytest.mark.parametrize("text", ["=1+1", "+1+cmd", "-2+3", "@SUM(A1)", "\tTab", "＝1", "-1 (=A1)", "- none"])
def test_formulas(text):
    assert no_formula(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["-0.36", "+1", "-1,024", "-3%", "-0.36 [-0.50, 0.20]", "-0.3 (-0.5 to -0.1)", "a=1", "", "'=1"]
)
def test_numbers_and_other_texts(text):
    assert without_formulas({"a": text, "b": -1, "c": None}) == {"a": text, "b": -1, "c": None}
