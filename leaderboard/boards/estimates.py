"""What a board says of each system and of each two. Ratings are in points of Glicko-2's scale, 1500 the mean of the systems
that can be compared; shares are from 0 to 1; intervals are of 95%. What is not known is None."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NewType

Name = NewType("Name", str)  # of a system; `tree.renamed` finds where they stand


@dataclass(frozen=True)
class Estimate:
    """A value and its interval; None where none is known."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Standing:
    """A system's estimates. error: Glicko-2's RD, or a standard error (`wording.error_name`); own: in the question's unit;
    group: which of the groups of systems that can be compared; best: its chance to be the best, said of one system on this
    board, so that 0.99 may stand beside a difference with `known: false`, which must hold for all pairs at once and at every
    look; games: pairs of outputs."""

    id: int
    system: Name
    human_written: bool
    rank_low: int | None
    rank_high: int | None
    rating: float
    low: float
    high: float
    error: float
    volatility: float = 0.0
    own: Estimate | None = None
    cluster: int | None = None
    group: int | None = None
    best: float | None = None
    answers: int | None = None
    games: int = 0
    wins: int = 0
    ties: int = 0
    losses: int = 0
    human_mean: float | None = None

    @property
    def took_part(self) -> bool:
        return bool(self.games or self.answers)


@dataclass(frozen=True)
class Forecast:
    """What might separate two systems: so many more judgments, rankings, contexts or groups of these, or annotators (no number
    is known)."""

    what: Literal["judgments", "rankings", "contexts", "groups", "annotators"]
    more: int | None = None
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Difference:
    """Two systems, the higher one first. known: is it above, with all such statements of the board holding together; rating:
    how far; margin: what that must exceed; own: the difference in the question's unit; won, tied, lost: games of the upper."""

    upper: Name
    lower: Name
    known: bool
    rating: float
    margin: float | None = None
    own: Estimate | None = None
    won: int = 0
    tied: int = 0
    lost: int = 0
    forecast: Forecast | None = None


@dataclass(frozen=True)
class Joining:
    """Judgments of these two systems would join two groups; contexts: how many both answered."""

    one: Name
    other: Name
    contexts: int


def rough(number: int) -> int:
    """Two significant digits: a forecast is no more than a guess."""
    return round(number, 2 - max(len(str(number)), 2))
