"""The slope of a curve in which neighbouring points may be alike: what is known of it.

    y = a + b t + scatter + noise

The noise is the judge's contexts', whose variance is known from them. The scatter is the checkpoints' own: one is luckier than
the next, and lucky ones may come in a row, AR(1). Its size and correlation are not known, and twenty points tell little of
them, so they are averaged over a grid, each weighed by its restricted likelihood (Patterson & Thompson 1971) and a prior: the
ratio r of scatter to noise with density 1 / (1 + r)^2, the correlation by `PRIOR`. What an earlier part of the same training
told of them counts too. What comes out is a mixture of normal distributions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CORRELATIONS = (0.0, 0.2, 0.4, 0.6, 0.8)  # of neighbouring checkpoints' scatter
PRIOR = (0.30, 0.25, 0.20, 0.15, 0.10)  # of these: the less alike, the likelier
RATIOS = 2.0 ** np.arange(-2, 5.5, 0.5)  # of scatter to noise, equally spaced in its logarithm
STEP = float(np.log(2) / 2)  # of that grid
SMALLEST = 1e-6  # variance of noise, squared log-odds: where every context says the same


@dataclass(frozen=True)
class Slope:
    """A mixture of g normal distributions for each of b curves: weights, means, deviations (b, g), log-odds per unit of t;
    told: (b, g), the logarithm of what the curve says of scatter and correlation, but for a constant."""

    weights: Floats
    means: Floats
    deviations: Floats
    told: Floats

    @property
    def estimate(self) -> Floats:
        """(b,)"""
        value: Floats = (self.weights * self.means).sum(-1)
        return value

    @property
    def error(self) -> Floats:
        """(b,) the mixture's standard deviation"""
        around = self.deviations**2 + (self.means - self.estimate[:, None]) ** 2
        value: Floats = np.sqrt((self.weights * around).sum(-1))
        return value

    def above(self, value: float) -> Floats:
        """(b,) the probability that the slope is at least so large"""
        chance: Floats = (self.weights * scipy.special.ndtr((self.means - value) / self.deviations)).sum(-1)
        return chance

    def quantile(self, probability: float) -> float:
        """Of the only curve, by halving the interval in which all parts have theirs."""
        low, high = float((self.means - 9 * self.deviations).min()), float((self.means + 9 * self.deviations).max())
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if 1 - self.above(middle)[0] < probability else (low, middle)
        return (low + high) / 2


def slope(t: Floats, y: Floats, noise: Floats, extra: Floats, past: Floats | None = None) -> Slope:
    """t: (w,), w >= 4; y: (b, w), of b curves; noise: (b,), variance of each y by contexts; extra: (b,), variance of the slope
    that contexts add besides, because they differ in it; past: (b, g), what earlier parts told."""
    unit = np.maximum(noise, SMALLEST)
    ratios = np.concatenate(([0.0], RATIOS))  # (r,)
    prior = np.concatenate(([_share_below(RATIOS[0])], STEP * RATIOS / (1 + RATIOS) ** 2))
    x = np.stack([np.ones(len(t)), t - t.mean()])  # (2, w)
    logs, means, variances = [], [], []
    for correlation in CORRELATIONS:
        roots, vectors = _decomposed(len(t), correlation)
        xs, ys = x @ vectors, y @ vectors / np.sqrt(unit)[:, None]  # (2, w), (b, w)
        v = 1 / (1 + ratios[:, None] ** 2 * roots)  # (r, w)
        aa, ab, bb = (v @ (xs[i] * xs[j]) for i, j in ((0, 0), (0, 1), (1, 1)))  # (r,)
        ya, yb = (ys @ (v * xs[i]).T for i in (0, 1))  # (b, r)
        determinant = aa * bb - ab**2
        level, rise = (bb * ya - ab * yb) / determinant, (aa * yb - ab * ya) / determinant
        misfit = ys**2 @ v.T - level * ya - rise * yb
        logs.append(0.5 * (np.log(v).sum(1) - np.log(determinant) - misfit))
        means.append(rise * np.sqrt(unit)[:, None])
        variances.append(unit[:, None] * aa / determinant + extra[:, None])
    told = np.concatenate(logs, axis=1)
    told -= told.max(1, keepdims=True)
    chances = told if past is None else told + past
    weights = np.outer(PRIOR, prior).ravel() * np.exp(chances - chances.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    return Slope(weights, np.concatenate(means, axis=1), np.sqrt(np.concatenate(variances, axis=1)), told)


def _share_below(ratio: float) -> float:
    """Of the distribution with density 1 / (1 + r)^2."""
    return ratio / (1 + ratio)


@lru_cache(maxsize=512)
def _decomposed(size: int, correlation: float) -> tuple[Floats, Floats]:
    """Eigenvalues (w,) and vectors (w, w) of an AR(1)'s correlations."""
    lags = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    roots, vectors = np.linalg.eigh(correlation**lags)
    return np.maximum(roots, 0.0), vectors
