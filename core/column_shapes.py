"""Tables as `datasets` and pandas write them.

`Dataset.to_dict()` and `DataFrame.to_dict("list")` give a list for each column, `DataFrame.to_json()` an object for each,
{column: {index: value}}. `to_csv` prints a list in a cell as Python or NumPy would: "['a', 'b']", or "['a' 'b']" without
commas.
"""

import ast
import io
import json
import tokenize
from collections.abc import Iterator
from typing import Any, TypeGuard

from core.errors import quoted

ROWS_UNDER = ("data", "rows", "records", "examples")
LONGEST_LIST = 2**18  # characters of a printed list; reading one takes some hundred times as much memory


def has_columns(document: Any) -> bool:
    """Is every value of the object a column, as a list or as an object? One row has a plain value, a chat, or some of both; so
    has an object that stands alone under one name, as the run in a tool's file."""
    if not isinstance(document, dict) or not document:
        return False
    if len(document) == 1 and isinstance(alone := next(iter(document.values())), dict) and _is_mixed(alone):
        return False
    kind = list if isinstance(next(iter(document.values())), list) else dict
    return all(isinstance(column, kind) and not _is_chat(column) for column in document.values())


def rows_under_a_name(document: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of an object that holds them alone, under whatever name: {"data": [{...}, {...}]}"""
    rows = next(iter(document.values()), None) if len(document) == 1 else None
    is_rows = isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows) and not _is_chat(rows)
    return rows if is_rows else None


def wrapped(document: Any) -> tuple[str, list[dict[str, Any]]] | None:
    """(name, rows) of an object that holds rows under a name of ROWS_UNDER, beside facts about the file; a row may be wrapped
    in turn, as in Hugging Face's rows API: {"rows": [{"row": {...}}]}. Or a table as pandas splits one: {"columns", "data"}."""
    if not isinstance(document, dict):
        return None
    for name in ROWS_UNDER:
        rows = document.get(name)
        if not isinstance(rows, list) or not rows:
            continue
        header = document.get("columns")
        if is_header(header) and all(isinstance(row, list) and len(row) == len(header) for row in rows):
            return name, [dict(zip(header, row)) for row in rows]
        if len(document) > 1 and all(isinstance(row, dict) for row in rows) and not _is_chat(rows):
            inner = [row.get("row") for row in rows]
            return name, inner if all(isinstance(row, dict) for row in inner) else rows
    return None


def is_header(value: Any) -> TypeGuard[list[str]]:
    """Is it a list of several different names?"""
    names = isinstance(value, list) and all(isinstance(name, str) and name.strip() for name in value)
    return names and len(value) == len(set(value)) > 1


def _is_mixed(column: dict[str, Any]) -> bool:
    """Does it hold lists or objects, and plain values too? The cells of a column are of one kind."""
    return len({isinstance(cell, list | dict) for cell in column.values()}) > 1


def _is_chat(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(turn, dict) and "role" in turn for turn in value)


def unequal(document: dict[str, Any]) -> tuple[str, str] | None:
    """(column, what is wrong with it) where the columns do not have the same rows."""
    first, *others = document
    for name in others:
        if type(document[name]) is not type(document[first]) or len(document[name]) != len(document[first]):
            return name, f"has {len(document[name])} values; {quoted(first)} has {len(document[first])}"
        if isinstance(document[name], dict) and document[name].keys() != document[first].keys():
            return name, f"has other row labels than {quoted(first)}"
    return None


def records(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of columns that `unequal` finds nothing wrong with."""
    first = next(iter(document.values()))
    for at in first if isinstance(first, dict) else range(len(first)):
        yield {name: column[at] for name, column in document.items()}


def printed_list(cell: str, numbers: bool = False) -> list[Any] | None:
    """A list of texts or of messages, or with numbers also of these, as Python or NumPy print it: [4 2]. None where the cell is
    another text."""
    plain = (tokenize.STRING, tokenize.NUMBER) if numbers else (tokenize.STRING,)
    if len(cell) > LONGEST_LIST:
        return None
    try:
        line = io.StringIO(cell.strip().replace("\n", " "))
        tokens = [token for token in tokenize.generate_tokens(line.readline) if token.string.strip()]
        parts = []
        for token, after in zip(tokens, [*tokens[1:], None]):
            parts.append(token.string)
            ends = token.type in plain or token.string in ("]", "}")
            begins = after is not None and (after.type in plain or after.string in ("[", "{", *("-" if numbers else "")))
            if ends and begins:
                parts.append(",")
        value = ast.literal_eval(" ".join(parts))
    except (ValueError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, list) else None


def cell_text(cell: object) -> str:
    """A cell of a file as people read it: chat messages as "user: ... assistant: ...", other lists and objects as JSON."""
    if isinstance(cell, list) and cell and all(_is_message(turn) for turn in cell):
        return " ".join(f"{turn['role']}: {turn['content']}" for turn in cell)
    return json.dumps(cell, ensure_ascii=False, default=str) if isinstance(cell, (list, dict)) else str(cell)


def _is_message(turn: object) -> bool:
    return isinstance(turn, dict) and all(isinstance(turn.get(name), str) for name in ("role", "content"))
