"""What a board says beside its standings: the order under other choices, categories of contexts, single outputs, diagnostics,
and how far it agrees with people's board."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from leaderboard.boards.estimates import Estimate, Name


@dataclass(frozen=True)
class Alternative:
    """The order under another choice, best first. tau: Kendall's, None where undefined; moved: whose rank changes."""

    name: str
    order: tuple[Name, ...]
    tau: float | None
    moved: tuple[Name, ...]


@dataclass(frozen=True)
class CategoryValue:
    value: str
    contexts: int


@dataclass(frozen=True)
class CategoryCell:
    """A system's rating on the contexts of one value."""

    rating: float
    low: float
    high: float
    rank_low: int
    rank_high: int


@dataclass(frozen=True)
class CategoryRow:
    """cells: one for each value; None where it did not play."""

    system: Name
    cells: tuple[CategoryCell | None, ...]


@dataclass(frozen=True)
class Category:
    """A field of the contexts' metadata, and the ratings on the contexts of each of its values."""

    key: str
    values: tuple[CategoryValue, ...]
    systems: tuple[CategoryRow, ...]


@dataclass(frozen=True)
class ThreeScores:
    """After Zhou & Xu (2020): mean rating of its outputs, mean points (3, 1, 0) against references, rating as a player."""

    system: Name
    sample_rating: float
    points: float | None
    rating: float | None


@dataclass(frozen=True)
class WinRate:
    """A share of the points, plain and at equal length."""

    plain: float
    controlled: Estimate


@dataclass(frozen=True)
class LengthRow:
    """A system's share of the points: plain, and at equal length; length: the mean of its outputs, in characters; against: the
    same against each system in the order of the rows, None where they did not meet."""

    system: Name
    plain: float | None
    controlled: Estimate | None
    length: float | None
    against: tuple[WinRate | None, ...]


@dataclass(frozen=True)
class LengthPanel:
    """odds: by which an output wins more often that is `scale` characters longer than the other, a typical difference."""

    odds: Estimate | None
    scale: float
    systems: tuple[LengthRow, ...]


@dataclass(frozen=True)
class SystemCost:
    system: Name
    cost: float


@dataclass(frozen=True)
class CostPanel:
    """What systems cost, as researchers say, in one unit: those of which it is known, in the order of the standings."""

    unit: str
    systems: tuple[SystemCost, ...]


@dataclass(frozen=True)
class Closeness:
    """Games by how close the systems are: the better one's expected share of the points, from and to; the share of ties, what
    one order and one tie rate expect, and 95% of boards drawn from that."""

    games: int
    points_low: float
    points_high: float
    share: float
    expected: float
    low: float
    high: float


@dataclass(frozen=True)
class OrderFitPanel:
    """Circles of three systems: how many of how many there may be, how many chance makes of one order, and p; ties: share."""

    triples: int
    circles: int
    expected: float
    p: float
    ties: float
    by_closeness: tuple[Closeness, ...] = ()


@dataclass(frozen=True)
class Sides:
    """Of people's judgments that are no tie, the share that prefers the output on the left."""

    judgments: int
    left: Estimate


@dataclass(frozen=True)
class Correlation:
    """Of two boards over these systems. spearman, low, high: as they are; true_spearman, true_pearson: without their noise;
    ceiling: of the one with another like it; reason: why something is None."""

    systems: int
    spearman: float | None = None
    low: float | None = None
    high: float | None = None
    true_spearman: Estimate | None = None
    true_pearson: Estimate | None = None
    ceiling: Estimate | None = None
    reason: str = ""


@dataclass(frozen=True)
class AgreementPanel:
    """With the newest board of people on the same question. generated: without systems that people wrote; ceiling_of: whose
    board is set beside another like it."""

    tournament: int
    signature: str
    simulated: bool
    ceiling_of: Literal["people", "judge", "corrected"]
    all: Correlation
    generated: Correlation
