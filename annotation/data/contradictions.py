"""Answers of one person that contradict each other in one file: refused, or left out and listed, or the latest counts."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from datetime import datetime

from core.rowfiles import BadField, NotAnswered, Row

LEAVE_OUT, LATEST = "leave_out", "latest"
WAYS = {
    "": "refuse the file",
    LEAVE_OUT: "leave all of them out, and list them",
    LATEST: "the latest counts, by answered_at; the others are left out, and listed",
}
ASK = f"--contradictions {LEAVE_OUT} or {LATEST}, or the file's page, says what becomes of them"
AGAINST_ANOTHER = "contradicts another answer of the same person"
AGAINST_STORED = "contradicts an answer that is stored, which stays"
REPLACED = "was replaced by a later answer of the same person"


@dataclass
class _Said:
    """Of the answer that counts so far: when it was given last, and the rows that say so, without their fields."""

    moment: datetime | None
    rows: list[Row]


class Contradictions:
    """way: one of WAYS. gone: what is left without an answer. left_later: (row, reason) of rows that counted until a later row
    of the file contradicted them."""

    def __init__(self, way: str = ""):
        self.way = way
        self.gone: set[Hashable] = set()
        self.left_later: list[tuple[Row, str]] = []
        self._said: dict[Hashable, _Said] = {}

    def first(self, key: Hashable, row: Row, moment: datetime | None) -> None:
        if self.way:
            self._said[key] = _Said(moment, [place_of(row)])

    def again(self, key: Hashable, row: Row, moment: datetime | None) -> None:
        """The same answer once more. Raises NotAnswered."""
        if key in self.gone:
            raise NotAnswered(AGAINST_ANOTHER)
        if said := self._said.get(key):
            said.rows.append(place_of(row))
            said.moment = max(filter(None, (said.moment, moment)), default=None)

    def replace(self, key: Hashable, row: Row, moment: datetime | None, wrong: BadField) -> None:
        """Another answer takes the place of the one before. Raises wrong where a contradiction is refused, BadField where
        nothing says which of the two is later, and NotAnswered where the row does not count."""
        if not self.way:
            raise BadField(wrong.field, f"{wrong}; {ASK}")
        if key in self.gone:
            raise NotAnswered(AGAINST_ANOTHER)
        before = self._said.get(key)
        if before is None:
            raise NotAnswered(AGAINST_STORED)
        if self.way == LEAVE_OUT:
            self.gone.add(key)
            self._leave(before, AGAINST_ANOTHER)
            raise NotAnswered(AGAINST_ANOTHER)
        if moment is None or before.moment is None or moment == before.moment:
            raise BadField("answered_at", f"does not say which of two answers is later, and {wrong.field} {wrong}")
        if moment < before.moment:
            raise NotAnswered(REPLACED)
        self._leave(before, REPLACED)
        self._said[key] = _Said(moment, [place_of(row)])

    def _leave(self, said: _Said, reason: str) -> None:
        self.left_later += [(row, reason) for row in said.rows]


def place_of(row: Row) -> Row:
    return replace(row, fields={}, columns={})
