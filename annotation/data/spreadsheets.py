"""Cells of CSV files as spreadsheets open them."""

import re
from collections.abc import Mapping
from typing import Any

FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # what makes one run a cell (OWASP, "CSV Injection"), the full-width signs too
NUMBER = re.compile(r"[-+]?[\d.,]+%?(?: [\[(][-+\d.,% to]+[\])])?")  # alone, or with its interval


def no_formula(text: str) -> str:
    """With an apostrophe before it where a spreadsheet would run it; a number stays one."""
    return f"'{text}" if text.startswith(FORMULA) and not NUMBER.fullmatch(text) else text


def without_formulas(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of cells by their columns' names."""
    return {name: no_formula(value) if isinstance(value, str) else value for name, value in row.items()}
