"""Outliers by the median absolute deviation, unit by unit.

Leys et al. (2013), "Detecting outliers: Do not use standard deviation around the mean, use absolute deviation around
the median", J. Exp. Soc. Psychol. 49: a score is an outlier when |x - median| > threshold x 1.4826 x MAD.
Zhao et al. (2020), "Designing Precise and Robust Dialogue Response Evaluators", take threshold 1.0.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.quality.scores import as_scores, places

CONSISTENCY = 1.4826  # makes the MAD of normal data their standard deviation (Leys et al. 2013, section 2.1)
ON_ZERO_MAD = ("drop", "keep")


def keep_mask(scores: ArrayLike, threshold: float | None = 1.0, on_zero_mad: str = "drop") -> NDArray[np.bool_]:
    """Which scores to believe: bool (raters, units), False where missing. threshold: None keeps all of them.

    Where more than half of a unit's scores agree, MAD is 0 (common on Likert data) and the formula drops everything off
    the median: `on_zero_mad="drop"`, as Zhao et al.'s code does. "keep" keeps all scores of such a unit.
    """
    scores = as_scores(scores)
    if threshold is None:
        return ~np.isnan(scores)
    if not (np.isfinite(threshold) and threshold > 0):
        raise ValueError(f"The MAD threshold must be a positive number, not {threshold}.")
    if on_zero_mad not in ON_ZERO_MAD:
        raise ValueError(f"on_zero_mad must be one of {', '.join(ON_ZERO_MAD)}, not {on_zero_mad!r}.")
    given = ~np.isnan(scores)
    if given.sum(axis=0).max(initial=0) == len(scores):
        return _believed(scores, threshold, on_zero_mad) & given
    where, keep = places(scores), np.zeros(scores.shape, dtype=bool)
    rows = where.packed(scores[given], scores.shape[1])  # a unit's median does not ask who gave its scores
    keep[given] = _believed(rows, threshold, on_zero_mad)[where.rank, where.unit]
    return keep


def _believed(scores: NDArray[np.float64], threshold: float, on_zero_mad: str) -> NDArray[np.bool_]:
    """bool (raters, units); what is missing may be either."""
    deviation = np.abs(scores - _median(scores))  # (raters, units)
    mad = _median(deviation)  # (units,)
    believed: NDArray[np.bool_] = deviation <= threshold * CONSISTENCY * mad
    return believed | (mad == 0) if on_zero_mad == "keep" else believed


def _median(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each column's median over its raters, nan where a column is empty: (raters, units) -> (units,)."""
    if values.size == 0:
        return np.full(values.shape[1], np.nan)
    ordered = np.sort(values, axis=0)  # nan sorts last
    n = (~np.isnan(values)).sum(axis=0)
    lower, upper = np.maximum(n - 1, 0) // 2, n // 2
    columns = np.arange(values.shape[1])
    median: NDArray[np.float64] = (ordered[lower, columns] + ordered[upper, columns]) / 2
    return median
