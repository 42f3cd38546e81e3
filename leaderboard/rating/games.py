"""What was played, and how it stands: the two records that every rating rule reads and gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Games:
    """Games in the order they were played; all arrays are int (games,).

    first, second: systems, numbered from 0; outcome: +1 first wins, 0 tie, -1 second wins; context: what both answered.
    """

    first: np.ndarray
    second: np.ndarray
    outcome: np.ndarray
    context: np.ndarray

    def __post_init__(self) -> None:
        for name in ("first", "second", "outcome", "context"):
            object.__setattr__(self, name, _integers(getattr(self, name), name))
        if len({len(self.first), len(self.second), len(self.outcome), len(self.context)}) != 1:
            raise ValueError("Games need as many first systems as second systems, outcomes and contexts.")
        if not np.isin(self.outcome, (-1, 0, 1)).all():
            raise ValueError("A game's outcome must be +1 (first wins), 0 (tie) or -1 (second wins).")
        if (self.first == self.second).any():
            raise ValueError("A system cannot play against itself.")
        if min(self.first.min(initial=0), self.second.min(initial=0), self.context.min(initial=0)) < 0:
            raise ValueError("Systems and contexts are numbered from 0.")

    @classmethod
    def none(cls) -> Games:
        """No game yet."""
        return cls(*np.zeros((4, 0), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.first)

    def take(self, index: slice | np.ndarray) -> Games:
        """These games in this order (or, by a bool mask, these alone)."""
        return Games(self.first[index], self.second[index], self.outcome[index], self.context[index])

    def then(self, later: Games) -> Games:
        """These games, and later ones after them."""
        names = ("first", "second", "outcome", "context")
        return Games(*(np.concatenate([getattr(self, name), getattr(later, name)]) for name in names))

    def same_as(self, other: Games) -> bool:
        """Are these the same games in the same order?"""
        names = ("first", "second", "outcome", "context")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def swapped(self) -> Games:
        """The same games seen from the other side."""
        return Games(self.second, self.first, -self.outcome, self.context)

    def shuffled(self, seed: int = 0) -> Games:
        """The same games in a random order: per-game Glicko-2 depends on the order, people's answers have none."""
        return self.take(np.random.default_rng(seed).permutation(len(self)))

    def check_systems(self, n_systems: int) -> None:
        """Refuse games of systems that are not there."""
        highest = max(self.first.max(initial=-1), self.second.max(initial=-1))
        if highest >= n_systems:
            raise ValueError(f"A game names system {highest}, but there are only {n_systems} systems.")


@dataclass(frozen=True)
class Standings:
    """Where each system stands: arrays (systems,), ratings on Glicko-2's public scale."""

    rating: np.ndarray
    rd: np.ndarray
    volatility: np.ndarray
    games: np.ndarray
    wins: np.ndarray
    ties: np.ndarray
    losses: np.ndarray


def tally(n_systems: int, games: Games) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Wins, ties and losses of each system: three int arrays (systems,)."""

    def count(first_when: int, second_when: int) -> np.ndarray:
        players = np.concatenate([games.first[games.outcome == first_when], games.second[games.outcome == second_when]])
        return np.bincount(players, minlength=n_systems)

    return count(1, -1), count(0, 0), count(-1, 1)


def _integers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    values = np.asarray(values)
    if values.ndim != 1:
        raise ValueError(f"Games need a flat list for {name}.")
    if len(values) and values.dtype.kind not in "iu":
        raise ValueError(f"Games need whole numbers for {name}.")
    numbers: NDArray[np.int64] = values.astype(np.int64)
    return numbers
