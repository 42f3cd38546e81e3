"""Answers as flat arrays, and what the others said about the same thing.

Sparse campaigns (many annotators, each a few items) make a (raters, units) table mostly empty, so what is said about
single annotators reads one row an answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Answers:
    """One row an answer; all arrays (answers,).

    annotator, item, criterion: int, numbered from 0; an item is an output or a pair. value: float, a score or the code
    of a choice. order: float, rises in the order in which one annotator answered, nan where that is not known. context:
    int, of the item; each item is one of its own where it is left out. has_sides: bool, of both rows of an answer about a
    pair, which stands in both orders.
    Nobody answers the same item on the same criterion twice.
    """

    annotator: NDArray[np.int64]
    item: NDArray[np.int64]
    criterion: NDArray[np.int64]
    value: NDArray[np.float64]
    order: NDArray[np.float64]
    context: NDArray[np.int64] = None  # type: ignore[assignment]
    has_sides: NDArray[np.bool_] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.context is None:
            object.__setattr__(self, "context", self.item)
        if self.has_sides is None:
            object.__setattr__(self, "has_sides", np.zeros(np.shape(self.item), dtype=bool))
        for name in ("annotator", "item", "criterion", "context"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.int64))
        for name in ("value", "order"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))
        shapes = {getattr(self, name).shape for name in self.__dataclass_fields__}
        if len(shapes) != 1 or len(shapes.pop()) != 1:
            raise ValueError("Answers need as many annotators as items, criteria, values, orders, contexts and sides.")
        if not np.isfinite(self.value).all():
            raise ValueError("An answer's value must be a finite number; leave missing answers out.")

    @classmethod
    def none(cls) -> Answers:
        """Nobody has answered yet."""
        return cls(*np.zeros((5, 0)))

    def __len__(self) -> int:
        return len(self.value)

    @property
    def weight(self) -> NDArray[np.float64]:
        """How much each row counts, so that each answer counts once: (answers,)."""
        return np.where(self.has_sides, 0.5, 1.0)

    @classmethod
    def of_table(cls, scores: ArrayLike, criterion: int = 0) -> Answers:
        """The answers in a table (raters, units), nan where missing, in an unknown order."""
        scores = np.asarray(scores, dtype=float)
        annotator, item = np.nonzero(~np.isnan(scores))
        value = scores[annotator, item]
        return cls(annotator, item, np.full(len(value), criterion), value, np.full(len(value), np.nan))

    @property
    def unit(self) -> NDArray[np.int64]:
        """Number of each answer's (item, criterion): int (answers,)."""
        criteria = int(self.criterion.max(initial=0)) + 1
        return self.item * criteria + self.criterion

    def standardised(self) -> NDArray[np.float64]:
        """Values in standard deviations from their criterion's mean, so that scales can be pooled: (answers,)."""
        n = np.bincount(self.criterion)
        centred = self.value - (np.bincount(self.criterion, self.value) / np.maximum(n, 1))[self.criterion]
        sd = np.sqrt(np.bincount(self.criterion, centred**2) / np.maximum(n, 1))[self.criterion]
        return np.divide(centred, sd, out=np.zeros_like(centred), where=sd > 0)


@dataclass(frozen=True)
class Others:
    """What the others gave to each answer's unit: arrays (answers,). n: how many others; mean and square: the means of
    their values and squared values, nan where there are none."""

    n: np.ndarray
    mean: np.ndarray
    square: np.ndarray


def others(unit: ArrayLike, value: NDArray[np.float64]) -> Others:
    """Leave-one-out: each answer beside the mean of all other answers to its unit."""
    _, unit = np.unique(unit, return_inverse=True)
    n = np.bincount(unit)[unit] - 1

    def mean_without_own(x: NDArray[np.float64]) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = np.divide(np.bincount(unit, x)[unit] - x, n, out=np.full(len(x), np.nan), where=n > 0)
        return mean

    return Others(n, mean_without_own(value), mean_without_own(value**2))
