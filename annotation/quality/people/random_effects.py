"""How far one annotator lies from the others, beside how far honest ones lie from each other.

Annotator i has an estimate y_i with a standard error s_i, and honest annotators differ by themselves: y_i is normal around mu
with variance s_i^2 + tau^2 (the random effects of a meta-analysis: DerSimonian & Laird 1986). Each is compared with the
prediction from the others, t = (y_i - mu) / sqrt(s_i^2 + tau^2 + SE(mu)^2) (Higgins, Thompson & Spiegelhalter 2009), so what
honest annotators differ by is the margin. tau^2 is that of the others (Paule & Mandel 1982), moderated by a prior (as Smyth
2004 does for variances), for few annotators say little of it. The prior is worth less where they differ by more.

Somebody far off hides the next one, so up to a quarter of all are taken away, one after the other, the furthest first, and
whoever is far from those who are left at any step is far (Rosner 1983, generalised ESD)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

MOST = 1 / 4  # of the annotators that may be far off
HIDDEN = 0.05  # p below which a quarter that is equally far off stays, whatever it hides: their t is over sqrt(3)
ROUNDS = 12  # of Newton's method for tau^2, on the reciprocal of Q, which is nearly a straight line
SMALLEST = 1e-9  # of a standard error


def lower_tail(estimate: ArrayLike, error: ArrayLike, prior_sd: ArrayLike, prior_df: float) -> tuple[Floats, Floats]:
    """(p of each that it is as far below the others, mu of the others); both (n,), nan where the estimate is nan, or where
    there is nobody else. estimate, error: (n,); prior_sd: (n,) or one, the prior of tau, worth so many degrees of freedom."""
    y, s = (np.asarray(x, dtype=float)[:, None] for x in (estimate, error))
    prior = np.broadcast_to(np.asarray(prior_sd, dtype=float), len(y))
    p, usual = np.full(len(y), np.nan), np.full(len(y), np.nan)
    known = np.flatnonzero(np.isfinite(y + s)[:, 0])
    for left in _fewer_and_fewer(known, p):
        t, df, mean = _from_the_others(y[left], s[left], prior[left], prior_df)
        p[left], usual[left] = scipy.stats.t.cdf(t[:, 0], df[:, 0]), mean[:, 0]
    return p, usual


def both_tails(estimate: ArrayLike, error: ArrayLike) -> tuple[Floats, Floats]:
    """Estimates that sum to 0 over k things, which have one tau together: (p of each annotator that the furthest of its k is
    as far from the others', the t of each (n, k)). estimate, error: (n, k), not nan."""
    y, s = np.asarray(estimate, dtype=float), np.asarray(error, dtype=float)
    p, furthest = np.full(len(y), np.nan), np.full(y.shape, np.nan)
    for left in _fewer_and_fewer(np.arange(len(y)), p):
        t, df, _ = _from_the_others(y[left], s[left], np.zeros(len(left)), 0.0)
        p[left] = np.minimum(1.0, y.shape[1] * 2 * scipy.stats.t.sf(np.abs(t), df).min(axis=1))
        furthest[left] = t
    return p, furthest


def _fewer_and_fewer(left: NDArray[np.int64], p: Floats) -> Iterator[NDArray[np.int64]]:
    """Who is left at each step; whoever steps through writes p of them, and who went before gets it where it is smaller."""
    taken: list[int] = []
    for _ in range(max(1, int(MOST * len(left)))):
        if len(left) < 2:
            return
        yield left
        furthest = left[np.argmin(p[left])]
        if p[furthest] > HIDDEN:
            return
        p[taken] = np.minimum(p[taken], p[furthest])
        taken.append(int(furthest))
        left = left[left != furthest]


def _from_the_others(y: Floats, s: Floats, prior_sd: Floats, prior_df: float) -> tuple[Floats, Floats, Floats]:
    """(t, its degrees of freedom, mu of the others), all (n, k); y, s: (n, k), prior_sd: (n,)"""
    n, k = y.shape
    others = 1.0 - np.eye(n)  # a row an annotator
    df = (n - 2) * max(k - 1, 1)
    precise = np.maximum(s, SMALLEST) ** 2

    def weights_and_means(tau2: Floats) -> tuple[Floats, Floats]:
        weights = others[:, :, None] / (precise[None] + tau2[:, None, None])  # (n, n, k)
        return weights, (weights * y[None]).sum(axis=1) / weights.sum(axis=1)

    of_others = np.zeros(n)
    for _ in range(ROUNDS):
        weights, mean = weights_and_means(of_others)
        squares = weights * (y[None] - mean[:, None]) ** 2
        q, slope = squares.sum(axis=(1, 2)), (weights * squares).sum(axis=(1, 2))
        of_others = np.maximum(0.0, of_others + (q / max((n - 2) * k, SMALLEST) - 1) * q / np.maximum(slope, SMALLEST))
    prior = prior_df * np.minimum(1.0, prior_sd**2 / np.maximum(of_others, SMALLEST))  # worth less where they differ by more
    tau2 = (prior * prior_sd**2 + df * of_others) / np.maximum(prior + df, SMALLEST)
    weights, mean = weights_and_means(tau2)
    precision = weights.sum(axis=1)  # (n, k)
    total = s**2 + tau2[:, None] + 1 / precision
    usual = (n - 1) / precision  # s^2 + tau^2 of the others, from which tau^2 is estimated
    uncertain = 2 * (df * usual**2 + (prior * prior_sd**4)[:, None]) / np.maximum(prior + df, SMALLEST)[:, None] ** 2
    return (y - mean) / np.sqrt(total), 2 * total**2 / np.maximum(uncertain, np.finfo(float).tiny), mean
