"""From outcomes to one scale: the strengths of some checkpoints, in log-odds of winning (Bradley & Terry 1952).

One step of weighted least squares: the log-odds of each pair's win rate, ties half, weighted by what they tell, p (1 - p).
Every pair is judged on the same contexts, so the errors come from the contexts: each has an influence on each strength, and
influences that belong to one unit (a context, or a group of them) are summed before they are squared (Liang & Zeger 1986).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from evaluator.selection.curve import Curve, Floats, Whole

LEAST_UNITS = 5  # contexts or groups: of fewer the noise is not known


@dataclass(frozen=True)
class Meetings:
    """Of w checkpoints, in each of b trainings. means: (b, w, w), mean outcome of the first index against the second, 0 where
    the two did not meet; counts: (b, w, w) or (1, w, w), contexts on which they met; surplus: (b, w, n), outcomes of a
    checkpoint on a context, each less its pair's mean, summed over opponents."""

    means: Floats
    counts: Floats
    surplus: NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Strengths:
    """values: (b, w) log-odds, mean 0; solved: (b, w, w), how much each strength moves with what each checkpoint won; surplus:
    (b, w, n), as in `Meetings`."""

    values: Floats
    solved: Floats
    surplus: NDArray[np.floating[Any]]

    def influences(self, contrasts: Floats) -> NDArray[np.floating[Any]]:
        """Of contexts on contrasts (k, w) of the strengths, (b, k, n): their mean over contexts is the error of a contrast."""
        moved: NDArray[np.floating[Any]] = (2 * contrasts @ self.solved).astype(self.surplus.dtype) @ self.surplus
        return moved


def meetings(curve: Curve, checkpoints: Whole, opponents: Whole | None = None) -> Meetings:
    """Of the checkpoints (w,) with these indices, rising, of one training; opponents: only pairs with one of them."""
    w = len(checkpoints)
    means, counts = np.zeros((w, w)), np.zeros((w, w))
    surplus = np.zeros((w, len(curve.groups)), dtype=np.float32)
    place = np.full(len(curve), -1)
    place[checkpoints] = np.arange(w)
    meets_all = np.full(len(curve), opponents is None)
    meets_all[[] if opponents is None else opponents] = True
    for i, index in enumerate(checkpoints.tolist()):
        there = curve.comparisons.earlier(index)
        there = there[(place[there] >= 0) & (meets_all[there] | meets_all[index])]
        if not len(there):
            continue
        e, d = place[there], np.asarray(curve.comparisons.outcomes(index, there), dtype=np.float32)  # (e,), (e, n)
        judged = ~np.isnan(d)
        count = judged.sum(1)
        d = d if judged.all() else np.where(judged, d, 0)
        mean = d.sum(1, dtype=float) / np.maximum(count, 1)
        counts[i, e] = counts[e, i] = count
        means[i, e], means[e, i] = mean, -mean
        d = d - mean.astype(np.float32)[:, None] * judged
        surplus[i] += d.sum(0)
        surplus[e] -= d
    return Meetings(means[None], counts[None], surplus[None])


def strengths(met: Meetings) -> Strengths:
    """Where two parts of the checkpoints never met, each part has mean 0."""
    n, w = met.surplus.shape[2], met.surplus.shape[1]
    p = (met.counts * (1 + met.means) / 2 + 0.5) / (met.counts + 1)  # half a win and half a loss more: never 0 or 1
    weight = 4 * p * (1 - p) * met.counts / n
    information = weight.sum(2)[:, :, None] * np.eye(w) - weight
    level = _level(met.counts)  # which the information knows nothing of
    solved = np.linalg.inv(information + level) - level  # the pseudo-inverse
    return Strengths((solved @ (weight * scipy.special.logit(p)).sum(2)[:, :, None])[:, :, 0], solved, met.surplus)


def _level(counts: Floats) -> Floats:
    """(b, w, w) the projection on what checkpoints that met, also by way of others, have in common"""
    w = counts.shape[1]
    if np.all(np.count_nonzero(counts, axis=2).max(1) == w - 1):  # one met all others
        return np.full((1, w, w), 1 / w)
    parts = np.stack([scipy.sparse.csgraph.connected_components(met > 0, directed=False)[1] for met in counts])  # (b, w)
    together = (parts[:, :, None] == parts[:, None, :]).astype(float)
    level: Floats = together / together.sum(2, keepdims=True)
    return level


def by_unit(of_context: ArrayLike, units: Whole) -> Floats:
    """Sums over the contexts of each unit, units (n,) numbered from 0: (..., n) -> (..., u)."""
    values = np.asarray(of_context, dtype=float)
    if np.array_equal(units, np.arange(len(units))):
        return values
    sums: Floats = values @ (units[:, None] == np.arange(units.max() + 1)).astype(float)
    return sums


def variances(influences: ArrayLike, units: Whole) -> Floats:
    """(...) of estimates whose contexts have the influences (..., n), which sum to 0. Units (n,) are clusters; with one of them
    it is infinite."""
    sums = by_unit(influences, units)  # (..., u)
    found: Floats = (sums**2).sum(-1) * _scale(units)
    return np.full(found.shape, np.inf) if sums.shape[-1] < 2 else found


def covariance(influences: ArrayLike, units: Whole) -> Floats:
    """As `variances`, of estimates (k, n) together: (k, k)."""
    sums = by_unit(influences, units)  # (k, u)
    if sums.shape[1] < 2:
        return np.diag(np.full(len(sums), np.inf))
    found: Floats = sums @ sums.T * _scale(units)
    return found


def _scale(units: Whole) -> float:
    u = int(units.max()) + 1
    return u / max(u - 1, 1) / len(units) ** 2
