"""Gwet's AC1 and AC2: agreement beyond chance that does not fall where nearly all answers are the same.

Gwet (2008), "Computing inter-rater reliability and its variance in the presence of high agreement", Br. J. Math. Stat.
Psychol. 61, equations 5 and 6 (AC1); Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapter 5 (AC2, and
units with unequal numbers of raters). Kappa and alpha expect raters to agree by chance where most answers are equal;
AC expects chance only where answers vary. Its number of categories is that of the scale, used or not.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.kappa import credit_matrix, rated_units
from annotation.quality.krippendorff import one_order


def gwet_ac(counts: ArrayLike, values: ArrayLike | None = None, weights: str | None = None, has_sides: bool = False) -> float:
    """AC1, or AC2 with linear or quadratic weights; counts (units, categories), values (categories,) their scores. has_sides:
    each unit counts in both orders, as for alpha."""
    counts, credit = _checked(counts, values, weights)
    return float(_coefficients(counts, np.ones((1, len(counts))), credit, has_sides)[0])


def gwet_interval(
    counts: ArrayLike,
    values: ArrayLike | None = None,
    weights: str | None = None,
    replicates: int = 200,
    seed: int = 0,
    confidence: float = 0.95,
    has_sides: bool = False,
) -> tuple[float, float]:
    """Percentile bootstrap interval over units, as for alpha; replicates without a pair of raters are left out."""
    counts, credit = _checked(counts, values, weights)
    counts = one_order(counts) if has_sides else counts
    patterns, first, times = np.unique(counts, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)  # as they first appear: the draws do not depend on what the categories are called
    drawn = np.random.default_rng(seed).multinomial(len(counts), times[order] / len(counts), size=replicates)
    values_drawn = _coefficients(patterns[order], drawn, credit, has_sides)
    low, high = np.nanquantile(values_drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _checked(counts: ArrayLike, values: ArrayLike | None, weights: str | None) -> tuple[np.ndarray, NDArray[np.float64]]:
    """The rated units (units, categories), and how far two categories agree (categories, categories)."""
    counts = rated_units(counts)
    if not (counts.sum(axis=1) >= 2).any():
        raise UndefinedAgreement("No unit has scores from two raters.")
    if counts.shape[1] < 2:
        raise UndefinedAgreement("Only one category was used, so AC is not defined.")
    return counts, credit_matrix(counts.shape[1], values, weights)


def _coefficients(counts: np.ndarray, times: np.ndarray, credit: np.ndarray, has_sides: bool) -> NDArray[np.float64]:
    """AC of units (units, categories) drawn so many times (draws, units): (draws,); nan without a pair of raters."""
    raters, categories = counts.sum(axis=1), counts.shape[1]
    pairable = raters >= 2
    agreeing = (counts * (counts @ credit - 1)).sum(axis=1) / np.maximum(raters * (raters - 1), 1)  # (units,)
    pairs = times @ pairable
    observed = np.divide(times @ (agreeing * pairable), pairs, out=np.full(len(times), np.nan), where=pairs > 0)
    shares = times @ (counts / raters[:, None]) / times.sum(axis=1, keepdims=True)  # (draws, categories)
    if has_sides:
        shares = (shares + shares[:, ::-1]) / 2
    by_chance = credit.sum() / (categories * (categories - 1)) * (shares * (1 - shares)).sum(axis=1)
    coefficients: NDArray[np.float64] = (observed - by_chance) / (1 - by_chance)
    return coefficients
