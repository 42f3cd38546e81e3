"""What one person has been handed so far, at the same cost however much that is.

The assignments up to `tally["upto"]` are settled and stand counted in `Annotator.tally`; the newer ones are read as
rows. The tally is a summary and nothing else: forgetting it loses nothing, the next reading counts from the start.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from django.db import connection
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

from annotation.design.gold_and_repeats import REPEAT_GAP
from annotation.models import Annotator, Assignment, Item, Purpose
from annotation.statements import Statement, changes

FOLD = 10  # assignments after which the older ones are counted into the tally
MAIN = (Purpose.EVALUATION, Purpose.GOLD, Purpose.REPEAT)  # what counts towards the quota
Status = Assignment.Status
TALLY = "UPDATE annotation_annotator SET tally = %s WHERE id = %s"  # SQL, as assignment.FREE is


class Handed(NamedTuple):
    """One assignment, as far as the choice of the next one looks at it. until: when it was answered or skipped."""

    pk: int
    status: str
    purpose: str
    item: int
    cell: str
    context: int
    at: datetime
    until: datetime | None = None


HANDED = ("pk", "status", "purpose", "item", "item__cell", "item__context", "assigned_at", "completed_at")  # as Handed has them
RECENT = Statement(
    lambda annotator, upto: Assignment.objects.filter(annotator=annotator, pk__gt=upto).order_by().values_list(*HANDED),
    arguments=2,
)
# Part of every answer, where building an Exists took longer than asking it.
STORED = "EXISTS (SELECT 1 FROM annotation_submission stored WHERE stored.key = %s)"
ANSWERED = ("id", "item_id", "annotator_id", "purpose", "swapped", "completed_at")  # of what is in hand; all else is read later
OF_ITEM = ("id", "output_id", "other_id", "context_id", "cell")  # in the order of the fields, as `from_db` wants them
RECENT_AND_ANSWERED = Statement(
    lambda key, annotator, upto: (
        Assignment.objects.filter(annotator=annotator, pk__gt=upto)
        .order_by()
        .values_list(*HANDED, "swapped", "item__output", "item__other", RawSQL(STORED, (key,), BooleanField()))
    ),
    arguments=3,
    texts=(0,),
)


@dataclass
class History:
    """cells: evaluation items answered or in hand, by cell. done, skipped: items by purpose. recent: the newest
    assignments, at least REPEAT_GAP of them where there are so many. has_lapsed: some were held too long."""

    cells: Counter = field(default_factory=Counter)
    done: Counter = field(default_factory=Counter)
    skipped: Counter = field(default_factory=Counter)
    has_lapsed: bool = False
    recent: list[Handed] = field(default_factory=list)

    @property
    def held(self) -> Handed | None:
        return next((handed for handed in self.recent if handed.status == Status.OPEN), None)

    @property
    def main(self) -> int:
        """Items of the main work that are answered or in hand."""
        held = self.held
        return self.main_done + (held is not None and held.purpose in MAIN)

    @property
    def main_done(self) -> int:
        return sum(self.done[purpose] for purpose in MAIN)

    @property
    def pairs(self) -> int:
        return sum(count for cell, count in self.cells.items() if ":" in cell)

    @property
    def last_context(self) -> int | None:
        """The context shown last, whatever became of it."""
        return max(self.recent, key=lambda handed: (handed.at, handed.pk)).context if self.recent else None

    def add(self, handed: Handed) -> None:
        """One that was handed out just now."""
        self.recent.append(handed)
        self.count(handed)

    def answer(self, assignment: Assignment) -> None:
        """What was in hand is answered now."""
        number, held = next((n, handed) for n, handed in enumerate(self.recent) if handed.pk == assignment.pk)
        self.recent[number] = held._replace(status=Status.DONE, until=assignment.completed_at)
        self.done[held.purpose] += 1

    def count(self, handed: Handed) -> None:
        if handed.status == Status.DONE:
            self.done[handed.purpose] += 1
        if handed.status == Status.SKIPPED:
            self.skipped[handed.purpose] += 1
        if handed.purpose == Purpose.EVALUATION and handed.status in (Status.DONE, Status.OPEN):
            self.cells[handed.cell] += 1
        self.has_lapsed |= handed.status == Status.EXPIRED


def read_history(annotator: Annotator) -> History:
    """One query, of FOLD + REPEAT_GAP rows at most (one more is open)."""
    return _with(annotator, [Handed(*row) for row in RECENT.all(annotator.pk, annotator.tally.get("upto", 0))])


def read_history_for(annotator: Annotator, assignment_id: int | None, key: str) -> tuple[History, Assignment | None]:
    """The same, with the assignment of this id, as far as storing an answer looks at it: None where it is not in hand, or where
    an answer is stored under the key."""
    rows = RECENT_AND_ANSWERED.all(key, annotator.pk, annotator.tally.get("upto", 0))
    history = _with(annotator, [Handed(*row[: len(HANDED)]) for row in rows])
    for pk, status, purpose, item, cell, context, *_, swapped, output, other, is_stored in rows:
        if pk == assignment_id and status == Status.OPEN and not is_stored:
            assignment = Assignment.from_db(connection.alias, ANSWERED, (pk, item, annotator.pk, purpose, swapped, None))
            assignment.item = Item.from_db(connection.alias, OF_ITEM, (item, output, other, context, cell))
            return history, assignment
    return history, None


def _with(annotator: Annotator, recent: list[Handed]) -> History:
    history = _settled(annotator.tally)
    history.recent = sorted(recent, key=attrgetter("pk"))
    for handed in history.recent:
        history.count(handed)
    return history


def is_long(annotator: Annotator, history: History) -> bool:
    """Is it time to fold?"""
    return "left" not in annotator.tally or len(history.recent) >= FOLD + REPEAT_GAP


def fold_history(annotator: Annotator, history: History, left: int) -> None:
    """Count all but the newest into the tally, up to whatever is still in hand. left: evaluation items now open to the
    person. The caller holds the lock on their row."""
    held = history.held
    older = [handed for handed in history.recent[:-REPEAT_GAP] if held is None or handed.pk < held.pk]
    settled = _settled(annotator.tally)
    for handed in older:
        settled.count(handed)
    upto = older[-1].pk if older else annotator.tally.get("upto", 0)
    annotator.tally = {
        "upto": upto,
        "cells": settled.cells,
        "done": settled.done,
        "skipped": settled.skipped,
        "has_lapsed": settled.has_lapsed,
        "left": left,
        "left_at": history.main,
    }
    stored = Annotator._meta.get_field("tally").get_db_prep_save(annotator.tally, connection)
    changes(TALLY, [stored, annotator.pk])


def forget_tally(annotator_id: int) -> None:
    """After an old assignment changed."""
    Annotator.objects.filter(pk=annotator_id).update(tally={})


def _settled(tally: dict) -> History:
    cells, done, skipped = (Counter(tally.get(part, {})) for part in ("cells", "done", "skipped"))
    return History(cells, done, skipped, has_lapsed=tally.get("has_lapsed", False))
