"""What columns of files are called, and the words for an answer that says nothing."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from annotation.outcome import on_scale, points_of
from core.rowfiles import BadField, shown
from core.rows import Row


@dataclass(frozen=True)
class Field:
    """A field of a row. about: what it holds; others: other names under which it is recognised."""

    name: str
    about: str
    required: bool = True
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnswerFile:
    """A file of people's answers. sides: how many outputs an answer is about; fields: its own, beside those that say whose
    answer it is and about what. called: in an account of a file, "people's scores"; empty: not named there. as_score: a row of
    another tool's file as a row of scores, where answers of the kind are read without a server (`leaderboard.offline`)."""

    sides: int
    fields: tuple[Field, ...]
    called: str = ""
    as_score: Callable[[Row], Row] | None = None


def maybe(name: str, about: str, *others: str) -> Field:
    return Field(name, about, False, others)


RANKING = "ranking"  # kept beside each pair of outputs that were ranked together: what their ranking is called
DIRECTION_FIELDS = (
    maybe("best", "high or low: which end of the scale is best; default high", "direction"),
    maybe("cannot_say", "true where the person could not say"),
)
CONDITION = maybe("asked_if", 'when the criterion was asked: {"criterion": an earlier one, "below": 3}, or at_least, equal')
SCALE_FIELDS = (
    Field(
        "score",
        "a number on the scale, or empty with cannot_say",
        others=("rating", "value", "raw.score", "raw_score", "label"),
    ),
    maybe("scale", "[lowest, highest] or 1-5; required for a new criterion"),
    *DIRECTION_FIELDS,
    CONDITION,
)
PAIR_FIELDS = (
    Field("choice", "A, tie or B (or left, right, both_bad)", others=("preference", "winner", "judgment", "label")),
    maybe("strength", "slightly or much: how much better; empty: better and no more"),
    maybe("choice_scale", "what numbers in choice mean: from the best of A to the best of B, as 1 to 7 or 3 to -3"),
    maybe("aspect", "the criterion; empty: overall", "criterion"),
    maybe("reason", "why"),
    maybe("shown_left", "A or B: which was on the left; default A"),
    maybe("cannot_say", "true where the person could not say"),
    maybe("both_bad", "true for a tie in which neither is good"),
    maybe(RANKING, "where the person ranked several outputs: what the ranking is called, in each of its pairs"),
)
# As surveys write it. An empty cell, or N/A, is no answer at all.
CANNOT_SAY = {
    "cannot_say",
    "cannot say",
    "can't say",
    "can not say",
    "not applicable",
    "don't know",
    "dont know",
    "do not know",
    "i don't know",
    "unsure",
    "not sure",
}


def is_cannot_say(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower().replace("’", "'") in CANNOT_SAY


NO_POINT = {"-", "--", "–", "—", "?", ".", "n.a.", "n.a", "k.a.", "skip", "skipped", "missing", "no answer"}


def is_no_point(value: object) -> bool:
    """Does a cell hold a mark for no answer? Words for a missing value (`Row.is_blank`) are the same in any column."""
    return isinstance(value, str) and value.strip().lower() in NO_POINT


def folded_word(word: str) -> str:
    """What two spellings of a point's word have in common: without case, composed (NFC), single spaces."""
    return unicodedata.normalize("NFC", " ".join(word.split())).casefold()


def cannot_say(row: Row, field: str) -> bool:
    """Does a row say that the person could not say? Raises BadField where it holds an answer, too."""
    said = row.get(field)
    if is_cannot_say(said) or not row.truth("cannot_say"):
        return is_cannot_say(said)
    if said not in (None, "", "[]", []) and not row.is_blank(field) and not is_no_point(said):
        raise BadField("cannot_say", f"is true, and {row.columns.get(field, field)} is {shown(said)}")
    return True


def choice_in_words(row: Row) -> Row:
    """The row with its choice in words, where it is a number and the file says what numbers mean; raises BadField."""
    scale, said = row.get("choice_scale"), row.get("choice")
    if scale in (None, "") or isinstance(said, bool) or not re.fullmatch(r"\s*[-+−]?\d+([.,]0+)?\s*", str(said)):
        return row
    try:
        points_of(str(scale))
    except ValueError as error:
        raise BadField("choice_scale", f"{error}, found {shown(scale)}") from error
    number = int(re.split("[.,]", str(said).strip().replace("−", "-"))[0])
    try:
        return replace(row, fields={**row.fields, "choice": on_scale(number, str(scale))})
    except ValueError as error:
        raise BadField("choice", str(error)) from error
