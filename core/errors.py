"""What a person is told when something can't be done. One plain sentence each."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass


class Refused(Exception):
    """The request can't be carried out as it stands; nothing was changed. str() is one clear sentence."""


LONGEST_NAME, LONGEST_FILE = 80, 300  # characters of a person's that an error repeats
UNSEEN = ("Cc", "Cs", "Zl", "Zp")  # categories of Unicode: control characters, halves of surrogate pairs, ends of lines


def shortened(text: str, longest: int = LONGEST_NAME) -> str:
    """What a person wrote, as an error repeats it: without its middle where it is longer."""
    end = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[: longest - 1 - end]}…{text[-end:]}"


def quoted(name: str) -> str:
    """A name that a person gave, as a sentence about it repeats it."""
    return repr(shortened(name))


@dataclass(frozen=True)
class RowError:
    """One thing wrong in an imported file. line is None where the file as a whole is meant; row counts the rows of a JSON
    array or of a table written by columns, which may all stand on one line. file and field become short, and all texts
    printable."""

    file: str
    line: int | None
    field: str
    message: str
    row: int | None = None

    def __post_init__(self) -> None:
        for name, longest in (("file", LONGEST_FILE), ("field", LONGEST_NAME), ("message", None)):
            text = getattr(self, name) if longest is None else shortened(getattr(self, name), longest)
            object.__setattr__(self, name, "".join("\ufffd" if unicodedata.category(c) in UNSEEN else c for c in text))

    @property
    def kind(self) -> str:
        """What errors of one kind have in common: the field, and the message without what it quotes."""
        message = re.sub(r"'[^']*'|\"[^\"]*\"|-?\d+(?:[.,]\d+)*", "…", self.message)
        return f"field {self.field!r}: {message}" if self.field else message

    def __str__(self) -> str:
        place = f"{self.file}, row {self.row}" if self.row else f"{self.file}, line {self.line}" if self.line else self.file
        return f"{place}, field {self.field!r}: {self.message}" if self.field else f"{place}: {self.message}"


class ImportRefused(Refused):
    """A file that was not imported: nothing of it is stored. `errors` holds at least one RowError, of many the first ones;
    kinds: how many of all there are of each kind."""

    def __init__(self, errors: list[RowError], kinds: Mapping[str, int] | None = None):
        self.errors = errors
        self.kinds = dict(kinds or Counter(error.kind for error in errors))
        self.total = sum(self.kinds.values())
        super().__init__(self.told("; nothing was imported"))

    def told(self, ending: str = "") -> str:
        """The first error, and how many more there are. ending: what follows from it, where something was to be imported."""
        more = self.total - 1
        return (
            f"{self.errors[0]} (and {more} more {'error' if more == 1 else 'errors'}{ending})" if more else str(self.errors[0])
        )
