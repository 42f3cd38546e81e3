"""Where a command writes its tables."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.errors import Refused


def write_tables(record: dict[str, Any], wanted: Mapping[str | None, Callable[[dict[str, Any]], str]]) -> None:
    """wanted: what makes a text of the record, by the file it goes to; None where nobody asked for it. Raises Refused."""
    for path, text in wanted.items():
        if path:
            try:
                Path(path).write_text(text(record), encoding="utf-8")
            except OSError as error:
                raise Refused(f"{path} cannot be written ({error.strerror}).") from error
