"""What a person is told when something can't be done. One plain sentence each."""

from dataclasses import dataclass


class Refused(Exception):
    """The request can't be carried out as it stands; nothing was changed. str() is one clear sentence."""


@dataclass(frozen=True)
class RowError:
    """One thing wrong in an imported file. line is None where the file as a whole is meant."""

    file: str
    line: int | None
    field: str
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}, field {self.field!r}: {self.message}" if self.field else f"{place}: {self.message}"


class ImportRefused(Refused):
    """A file that was not imported: nothing of it is stored. `errors` holds at least one RowError."""

    def __init__(self, errors: list[RowError], total: int | None = None):
        self.errors = errors
        self.total = total or len(errors)
        more = self.total - 1
        tail = "" if not more else f" (and {more} more {'error' if more == 1 else 'errors'}; nothing was imported)"
        super().__init__(f"{errors[0]}{tail}")
