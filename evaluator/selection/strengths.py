"""From outcomes to one scale: the strengths of some checkpoints, in log-odds of winning (Bradley & Terry 1952).

One step of weighted least squares: the log-odds of each pair's win rate, ties half, weighted by what they tell, p (1 - p).
Every pair is judged on the same contexts, so the errors come from the contexts: each has an influence on each strength, and
influences that belong to one unit (a context, or a group of them) are summed before they are squared (Liang & Zeger 1986).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from evaluator.selection.curve import Curve, Floats, Whole


@dataclass(frozen=True)
class Pairs:
    """g pairs of w checkpoints, which were judged. later, earlier: (g,) positions among the w; outcomes: (g, n)."""

    size: int
    later: Whole
    earlier: Whole
    outcomes: NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Strengths:
    """values: (w,) log-odds, mean 0; of_pairs: (w, g), how much each pair's mean outcome moves each strength; outcomes: (g, n),
    0 where nobody judged; judged: (g, n), or None where all was; means: (g,)."""

    values: Floats
    of_pairs: Floats
    outcomes: NDArray[np.floating[Any]]
    judged: NDArray[np.bool_] | None
    means: Floats

    def influences(self, contrasts: Floats) -> Floats:
        """Of contexts on contrasts (k, w) of the strengths, (k, n): their mean over contexts is the error of a contrast."""
        q = (contrasts @ self.of_pairs).astype(self.outcomes.dtype)  # (k, g)
        expected = q * self.means.astype(q.dtype)
        centre = expected.sum(1, keepdims=True) if self.judged is None else expected @ self.judged.astype(q.dtype)
        each: Floats = q @ self.outcomes - centre
        return each


def pairs_among(curve: Curve, checkpoints: Whole, opponents: Whole | None = None) -> Pairs:
    """Those judged among the checkpoints (w,) with these indices, rising; opponents: only pairs with one of them."""
    later, earlier, rows = [], [], []
    place = {index: i for i, index in enumerate(checkpoints.tolist())}
    for i, index in enumerate(checkpoints.tolist()):
        there = np.intersect1d(curve.comparisons.earlier(index), checkpoints[:i])
        if opponents is not None and index not in opponents:
            there = np.intersect1d(there, opponents)
        if len(there):
            later += [i] * len(there)
            earlier += [place[e] for e in there.tolist()]
            rows.append(curve.comparisons.outcomes(index, there))
    outcomes = np.concatenate(rows) if rows else np.empty((0, len(curve.groups)))
    return Pairs(len(checkpoints), np.array(later, dtype=int), np.array(earlier, dtype=int), outcomes)


def strengths(pairs: Pairs) -> Strengths:
    """Where two parts of the checkpoints never met, each part has mean 0."""
    d = pairs.outcomes  # (g, n)
    n = d.shape[1]
    missing = np.isnan(d)
    judged = ~missing if missing.any() else None
    d = d if judged is None else np.where(judged, d, 0)
    count = np.full(len(d), n) if judged is None else judged.sum(1)  # (g,)
    mean = d.mean(1, dtype=float) * n / np.maximum(count, 1)
    p = (count * (1 + mean) / 2 + 0.5) / (count + 1)  # half a win and half a loss more: never 0 or 1
    weight = 4 * p * (1 - p) * count / n
    design = np.zeros((len(p), pairs.size))
    design[np.arange(len(p)), pairs.later] = 1
    design[np.arange(len(p)), pairs.earlier] = -1
    solved = np.linalg.pinv(design.T @ (weight[:, None] * design), hermitian=True) @ design.T  # (w, g)
    return Strengths(solved @ (weight * logit(p)), 2 * solved, d, judged, mean)


def variance(curve: Curve, influences: Floats) -> Floats:
    """Of estimates whose contexts have the influences (k, n): covariance (k, k), units as clusters; infinite with one unit."""
    sums = curve.by_unit(influences)  # (k, u)
    units = sums.shape[1]
    if units < 2:
        return np.diag(np.full(len(sums), np.inf))
    centred = sums - sums.mean(1, keepdims=True)
    covariance: Floats = centred @ centred.T * (units / (units - 1) / influences.shape[1] ** 2)
    return covariance
