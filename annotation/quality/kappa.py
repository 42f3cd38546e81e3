"""Agreement on categories: Cohen's kappa for two raters, Fleiss' for many, and the plain percentage."""

from itertools import combinations

import numpy as np

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.scores import as_scores

WEIGHTS = (None, "linear", "quadratic")


def cohen_kappa(a, b, weights: str | None = None) -> float:
    """Agreement of two raters beyond chance (Cohen 1960; with weights, Cohen 1968).

    a, b: (units,) scores or codes, nan where missing; only units that both scored count. Weights are the distance of
    the scores themselves, so a value that nobody used still lies between its neighbours.
    """
    if weights not in WEIGHTS:
        raise ValueError(f"weights must be None, linear or quadratic, not {weights!r}.")
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    both = ~(np.isnan(a) | np.isnan(b))
    if not both.any():
        raise UndefinedAgreement("The two raters share no unit.")
    values, codes = np.unique(np.concatenate([a[both], b[both]]), return_inverse=True)
    n, k = both.sum(), len(values)
    observed = np.bincount(codes[:n] * k + codes[n:], minlength=k * k).reshape(k, k) / n  # (values, values)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    distance = np.abs(values[:, None] - values[None, :])
    disagreement = {None: distance > 0, "linear": distance, "quadratic": distance**2}[weights]
    by_chance = (expected * disagreement).sum()
    if by_chance == 0:
        raise UndefinedAgreement("Both raters gave one and the same value throughout, so kappa is not defined.")
    return float(1 - (observed * disagreement).sum() / by_chance)


def cohen_by_pair(scores, weights: str | None = None) -> list[tuple[int, int, int, float | None]]:
    """(i, j, units both scored, kappa or None) for each pair of raters that shares a unit; scores: (raters, units)."""
    scores = as_scores(scores)
    given = (~np.isnan(scores)).astype(float)
    shared = (given @ given.T).astype(int)  # (raters, raters)
    pairs = [pair for pair in combinations(range(len(scores)), 2) if shared[pair]]
    return [(i, j, int(shared[i, j]), _kappa_or_none(scores[i], scores[j], weights)) for i, j in pairs]


def fleiss_kappa(counts) -> float:
    """Agreement of many raters beyond chance (Fleiss 1971), also where units have unequal numbers of raters.

    counts: (units, categories), how many raters chose each. The generalisation is Gwet's (2014, Handbook of
    Inter-Rater Reliability, 4th ed., chapter 2): agreement is averaged over units with two raters or more, category
    shares over all units with any; with equal numbers it is Fleiss' formula.
    """
    counts = _rated(counts)
    observed = percent_agreement(counts)
    shares = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)  # (categories,)
    by_chance = (shares**2).sum()
    if np.count_nonzero(shares) < 2:
        raise UndefinedAgreement("Only one category was used, so kappa is not defined.")
    return float((observed - by_chance) / (1 - by_chance))


def percent_agreement(counts) -> float:
    """Share of rater pairs that agree, averaged over the units with two raters or more; counts: (units, categories)."""
    counts = _rated(counts)
    raters = counts.sum(axis=1)
    counts, raters = counts[raters >= 2], raters[raters >= 2]
    if len(counts) == 0:
        raise UndefinedAgreement("No unit has scores from two raters.")
    agreeing = (counts * (counts - 1)).sum(axis=1)
    return float((agreeing / (raters * (raters - 1))).mean())


def _rated(counts) -> np.ndarray:
    """The units that somebody rated: (units, categories)."""
    counts = np.asarray(counts)
    if counts.ndim != 2 or (counts < 0).any():
        raise ValueError("Counts must be a table of units by categories without negative numbers.")
    return counts[counts.sum(axis=1) > 0]


def _kappa_or_none(a, b, weights) -> float | None:
    try:
        return cohen_kappa(a, b, weights)
    except UndefinedAgreement:
        return None
