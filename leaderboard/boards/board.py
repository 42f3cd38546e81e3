"""A finished board: all that a tournament found, as one frozen tree. Pages, files, the API and the client are derived from it.

A field that comes later has a default, so that boards of before are read; where a default would say something wrong, SCHEMA
rises and `older_boards` mends what it reads. `wording` has the sentences, `tree` makes JSON of it and back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Literal

from leaderboard.boards.basis import BoardBasis
from leaderboard.boards.estimates import Difference, Estimate, Joining, Name, Standing
from leaderboard.boards.panels import (
    AgreementPanel,
    Alternative,
    Category,
    CostPanel,
    LengthPanel,
    OrderFitPanel,
    Sides,
    ThreeScores,
)

# Since 2, a doubt says of how many outputs a judge of single outputs said nothing; since 3, scores of a board from scores and
# judgments of pairs stand on the scale, and where the latter alone were read, in their unit.
SCHEMA = 3

MethodName = Literal[
    "mixed-model",
    "bradley-terry-mixed-model",
    "plackett-luce",
    "joint-mixed-model",
    "corrected-mixed-model",
    "prediction-powered",
    "glicko2",
    "glicko2-by-game",
    "bradley-terry",
]


@dataclass(frozen=True)
class BoardQuestion:
    """What was asked. criterion: "" for judgments of pairs on the whole; kind: of answer; unit: of an answer and of `own`
    estimates, "" where there is none; low, high: the ends of its scale, None where it has none; best: which end is the best;
    asked_only: its condition in words, where it was not asked of every output."""

    criterion: str
    kind: str
    unit: Literal["", "points", "share"] = ""
    low: float | None = None
    high: float | None = None
    best: Literal["high", "low"] = "high"
    asked_only: str = ""

    def of_shares(self) -> BoardQuestion:
        """The same where its estimates are chances to be preferred, which no scale bounds."""
        return replace(self, unit="share", low=None, high=None)


@dataclass(frozen=True)
class Method:
    """What made the numbers. rating, ties, pairing: rules of games, None where they made nothing; scale: rating points for a
    unit of the question; confidence: of intervals, and of all known differences together; looks: moments at which the
    tournament might have ended, which the margins pay for; campaign_looks: how many boards of this question were played on
    growing answers, this one too."""

    name: MethodName
    rating: str | None = None
    ties: str | None = None
    pairing: str | None = None
    scale: float | None = None
    confidence: float = 0.95
    looks: int = 1
    campaign_looks: int | None = None


@dataclass(frozen=True)
class Population:
    """Whom the intervals speak of: people like these annotators, these annotators only, or, where a judge decided, contexts
    alone; each on contexts (or groups of contexts) like these."""

    kind: Literal["people", "annotators", "contexts"]
    annotators: int | None = None
    contexts: int | None = None
    groups: int | None = None


@dataclass(frozen=True)
class Narrow:
    """What is known of these annotators only, where the board speaks of others too."""

    standings: tuple[Standing, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Doubt:
    """Why the board is not above every doubt, where no other field tells. kind: a word for programs."""

    kind: str
    text: str


@dataclass(frozen=True)
class Provenance:
    """How to get the board again. rests_on: so many games, or answers; ending: how the tournament ended."""

    campaign: str
    tournament: int
    permalink: str
    signature: str
    snapshot: str | None
    seed: int
    level: Literal["system", "sample"]
    finished_at: str
    rests_on: int
    ending: str | None = None
    settled: bool | None = None


@dataclass(frozen=True)
class Board:
    """standings: best first; differences: of each two systems; narrow: None where the board speaks of these annotators alone,
    or of no people; groups: systems that can be compared, directly or through others; absent: systems without an answer or a
    game, which stand nowhere else; joining: what would join the groups;
    agreement: set when a board is read, since people's board may come later; so are costs, as systems have them
    now, retired: systems that are by now, and since: what became of the snapshot's answers and outputs after it was frozen, in
    sentences; and newer_than: the day on which it was frozen, where newer answers have come since, else empty."""

    question: BoardQuestion
    basis: BoardBasis
    method: Method
    population: Population
    standings: tuple[Standing, ...]
    differences: tuple[Difference, ...]
    provenance: Provenance
    narrow: Narrow | None = None
    groups: tuple[tuple[Name, ...], ...] = ()
    absent: tuple[Name, ...] = ()
    joining: tuple[Joining, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    stability: tuple[Alternative, ...] = ()
    categories: tuple[Category, ...] = ()
    three_scores: tuple[ThreeScores, ...] = ()
    length: LengthPanel | None = None
    order_fit: OrderFitPanel | None = None
    sides: Sides | None = None
    agreement: AgreementPanel | None = None
    costs: CostPanel | None = None
    since: tuple[str, ...] = ()
    newer_than: str = ""
    retired: tuple[Name, ...] = ()
    schema: int = SCHEMA

    def for_annotators(self) -> Board:
        """What is known of these annotators only; the same board where it speaks of nobody else. Slices are left out: their
        intervals are not known of these annotators alone."""
        if self.narrow is None:
            return self
        shown = self.narrow
        kind = replace(self.population, kind="annotators")
        return replace(self, population=kind, standings=shown.standings, differences=shown.differences, categories=())

    def of_those_present(self) -> Board:
        """Without systems that no answer and no game spoke of, which have no place in a ranking; the ranks of the others are
        those within their group. The same board where all took part and can be compared, or none took part."""
        absent = tuple(row.system for row in self.standings if not row.took_part)
        if len(absent) == len(self.standings) or not (absent or self.is_split):
            return self
        groups = tuple(tuple(name for name in members if name not in absent) for members in self.groups)
        shown = replace(self, absent=absent, groups=tuple(filter(None, groups)))
        return replace(
            shown,
            standings=shown._ranked(self.standings, self.differences),
            differences=shown._present(self.differences),
            joining=tuple(one for one in self.joining if not {one.one, one.other} & {*absent}),
            narrow=self.narrow
            and Narrow(shown._ranked(self.narrow.standings, self.narrow.differences), shown._present(self.narrow.differences)),
        )

    def _present(self, differences: Collection[Difference]) -> tuple[Difference, ...]:
        return tuple(one for one in differences if not {one.upper, one.lower} & {*self.absent})

    def _ranked(self, standings: Collection[Standing], differences: Collection[Difference]) -> tuple[Standing, ...]:
        """Those that took part, with the ranks that `rating.decision.ranks` gives them in their group."""
        known = [one for one in self._present(differences) if one.known]
        above, below = Counter(one.lower for one in known), Counter(one.upper for one in known)
        rows = [row for row in standings if row.system not in self.absent]
        number = {name: k for k, members in enumerate(self.groups, start=1) for name in members}
        size = Counter(number.get(row.system) for row in rows)
        return tuple(
            replace(
                row,
                group=number.get(row.system),
                rank_low=None if row.rank_low is None else 1 + above[row.system],
                rank_high=None if row.rank_high is None else size[number.get(row.system)] - below[row.system],
            )
            for row in rows
        )

    @cached_property
    def by_pair(self) -> dict[tuple[Name, Name], Difference]:
        """(upper, lower) -> their difference"""
        return {(d.upper, d.lower): d for d in self.differences}

    @cached_property
    def neighbours(self) -> tuple[Difference, ...]:
        """Each system and the next one down; of each group, where some never met."""
        if not self.is_split:
            return self.neighbours_within(())
        return tuple(pair for members in self.groups for pair in self.neighbours_within(members))

    def neighbours_within(self, members: Collection[Name]) -> tuple[Difference, ...]:
        """The same among these systems; empty: all."""
        names = [row.system for row in self.standings if not members or row.system in members]
        found = (self.by_pair.get(pair) for pair in zip(names, names[1:], strict=False))
        return tuple(one for one in found if one is not None)

    @cached_property
    def comparable(self) -> tuple[Difference, ...]:
        """Of each two systems of one group."""
        group = {name: k for k, members in enumerate(self.groups) for name in members}
        return tuple(pair for pair in self.differences if group.get(pair.upper) == group.get(pair.lower))

    @property
    def is_split(self) -> bool:
        """Are there groups of systems that never met?"""
        return len(self.groups) > 1

    @cached_property
    def rows(self) -> tuple[tuple[Standing, bool, int | None], ...]:
        """Each standing, and whether a new cluster begins with it, so that a line is drawn above; and, with the first of each
        of several groups that never met, the group's number. Groups stand one after the other."""
        made: list[tuple[Standing, bool, int | None]] = []
        group, cluster = None, None
        for row in sorted(self.standings, key=lambda row: row.group or 0) if self.is_split else self.standings:
            begins = self.is_split and row.group != group
            line = bool(cluster and row.cluster and row.cluster != cluster)
            made.append((row, line and not begins, row.group if begins else None))
            group, cluster = row.group, row.cluster or cluster
        return tuple(made)

    def within_scale(self) -> Board:
        """With each system's interval as far as the question's scale goes."""
        narrow = self.narrow and replace(self.narrow, standings=self._clipped(self.narrow.standings))
        return replace(self, standings=self._clipped(self.standings), narrow=narrow)

    def _clipped(self, standings: Collection[Standing]) -> tuple[Standing, ...]:
        return tuple(replace(row, own=self.on_scale(row.own)) for row in standings)

    def on_scale(self, own: Estimate | None) -> Estimate | None:
        """A system's estimate in the question's unit, its interval as far as it is on the scale: no mean of 0 and 1 is 1.05."""
        if own is None or own.low is None or own.high is None:
            return own
        least, most = self.question.low, self.question.high
        floor, ceiling = -inf if least is None else least, inf if most is None else most
        return replace(own, low=min(max(own.low, floor), ceiling), high=min(max(own.high, floor), ceiling))

    def between(self, one: Name, other: Name) -> Difference | None:
        """Their difference, whichever is higher."""
        return self.by_pair.get((one, other)) or self.by_pair.get((other, one))
