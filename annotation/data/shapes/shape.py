"""A shape: one tool's or convention's way to write outputs, answers and judges' answers, and what is taken from it.

A shape undoes only the nesting and the tool's own words. Which column holds what is guessed, shown and changed as for any file
(`annotation.data.fields`), and what a row may hold is the importers' to check.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.rows import Row

Fields = dict[str, Any]

OUTPUTS, SCORES, JUDGMENTS = "outputs", "scores", "judgments"
JUDGE_SCORES, JUDGE_PAIRS = "judge_scores", "judge_pairs"  # what programs said: never people's answers


@dataclass(frozen=True)
class Entry:
    """One output or one answer, under the fields' names where the tool has its own."""

    kind: str
    fields: Fields


@dataclass(frozen=True)
class LeftOut:
    """One output or answer that is read and not stored. reason: a clause without a subject, as "was rejected by a reviewer"."""

    kind: str
    reason: str


@dataclass(frozen=True)
class Surroundings:
    """What only the file's place says. items: the tool's items by id. annotator: whose folder it is. file: its name. header:
    the columns of the whole table. system: that of all rows, where they name none."""

    items: Mapping[str, Fields] = field(default_factory=dict)
    annotator: str = ""
    file: str = ""
    system: str = ""


@dataclass(frozen=True)
class Shape:
    """name: as people call the tool. address: of the documentation or code that its field names were read in. kinds: what its
    files hold. recognises: is this the first row of such a file? entries: what one row holds; raises BadField. guess: a
    sentence on what was taken for granted, and how to say otherwise; empty where nothing was. gathers: where an answer takes
    several rows, one row for each answer; a row's `wrong` is raised by entries."""

    name: str
    address: str
    kinds: tuple[str, ...]
    recognises: Callable[[Fields], bool]
    entries: Callable[[Fields, Surroundings], Iterator[Entry | LeftOut]]
    guess: str = ""
    gathers: Callable[[Iterable[Row]], Iterator[Row]] | None = None


def nothing(fields: Fields, around: Surroundings) -> Iterator[Entry | LeftOut]:
    """Of a file that says something about others of its tool, and holds no text and no answer; its kinds are none."""
    yield from ()
