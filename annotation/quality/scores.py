"""The shape that every measure of agreement reads, and the counts most of them need.

`scores` is always (raters, units), float, nan where a rater did not score a unit. A unit is what was judged:
an output on one criterion, or a pair of outputs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


def as_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """The scores as a float array (raters, units), refused with a sentence when they are anything else."""
    table: NDArray[np.float64] = np.asarray(scores, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"Scores must be a table of raters by units, not an array of {table.ndim} dimensions.")
    if np.isinf(table).any():
        raise ValueError("A score must be a finite number, or nan where it is missing.")
    return table


def in_both_orders(scores: ArrayLike, reversal: float) -> NDArray[np.float64]:
    """Each unit twice, since nothing says which output of a pair is the first: as it stands and with its sides exchanged,
    (raters, 2 * units). reversal: what a value and that of the exchanged sides add up to."""
    scores = as_scores(scores)
    return np.hstack([scores, reversal - scores])


class Places(NamedTuple):
    """Where the scores of a table (raters, units) are, rater by rater, each (scores,). rank: which of its unit's scores each
    is, from 0."""

    rater: np.ndarray
    unit: np.ndarray
    rank: np.ndarray

    def packed(self, given: np.ndarray, units: int) -> np.ndarray:
        """These scores (scores,) in as few rows as a unit has scores: (rows, units), nan where there is none. What does not ask
        who gave a score reads it much faster where many raters have few units each."""
        table = np.full((self.rank.max(initial=-1) + 1, units), np.nan)
        table[self.rank, self.unit] = given
        return table


def places(scores: np.ndarray) -> Places:
    rater, unit = np.nonzero(~np.isnan(scores))
    order = np.argsort(unit, kind="stable")
    sizes = np.bincount(unit, minlength=scores.shape[1])
    rank = np.empty(len(unit), dtype=int)
    rank[order] = np.arange(len(unit)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Places(rater, unit, rank)


def value_counts(scores: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """How many raters gave each value to each unit: counts (units, values) and the sorted values (values,)."""
    scores = as_scores(scores)
    given = ~np.isnan(scores)
    values, codes = np.unique(scores[given], return_inverse=True)
    units = np.nonzero(given)[1]
    cells = scores.shape[1] * len(values)
    counts = np.bincount(units * len(values) + codes, minlength=cells)
    return counts.reshape(scores.shape[1], len(values)), values


def scale_counts(scores: ArrayLike, points: ArrayLike = ()) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts (units, categories) of scores (raters, units), and the categories: the scale's points and any other value."""
    counts, values = value_counts(scores)
    categories = np.union1d(values, np.asarray(points, dtype=float))
    table = np.zeros((len(counts), len(categories)))
    table[:, np.searchsorted(categories, values)] = counts
    return table, categories
