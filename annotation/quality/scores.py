"""The shape that every measure of agreement reads, and the counts most of them need.

`scores` is always (raters, units), float, nan where a rater did not score a unit. A unit is what was judged:
an output on one criterion, or a pair of outputs.
"""

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


def value_counts(scores: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """How many raters gave each value to each unit: counts (units, values) and the sorted values (values,)."""
    scores = as_scores(scores)
    given = ~np.isnan(scores)
    values, codes = np.unique(scores[given], return_inverse=True)
    units = np.nonzero(given)[1]
    cells = scores.shape[1] * len(values)
    counts = np.bincount(units * len(values) + codes, minlength=cells)
    return counts.reshape(scores.shape[1], len(values)), values
