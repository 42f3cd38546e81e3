"""Rows of cells as aligned text and as LaTeX, and what is said below them."""

import re
from collections.abc import Iterable

NEGATIVE = re.compile(r"(?:^|(?<=[\s\[(]))-(?=\d)")  # the hyphen of a negative number, alone or in an interval


def aligned(rows: list[list[str]]) -> list[str]:
    """A line for each row: the first column to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]


def tabular(rows: list[list[str]]) -> list[str]:
    """The first row is the header. Needs no package."""
    header, *lines = [" & ".join(escaped(cell) for cell in row) + r" \\" for row in rows]
    columns = "l" + "r" * (len(rows[0]) - 1)
    return [rf"\begin{{tabular}}{{{columns}}}", r"\hline", header, r"\hline", *lines, r"\hline", r"\end{tabular}"]


def notes(texts: Iterable[str]) -> list[str]:
    """What must be said below tabulars, in small print."""
    return [rf"\par {{\footnotesize {escaped(text)}}}" for text in texts]


def escaped(cell: str) -> str:
    for char, tex in (("\\", r"\textbackslash "), *((c, "\\" + c) for c in "&%$#_{}")):
        cell = cell.replace(char, tex)
    cell = cell.replace("~", r"\textasciitilde ").replace("^", r"\textasciicircum ")
    return NEGATIVE.sub("$-$", cell)
