"""The slope of a curve in which neighbouring points may be alike: what is known of it.

    y = a + b t + scatter + noise

The noise is the judge's contexts', whose variance is known from them. The scatter is the checkpoints' own: one is luckier than
the next, and lucky ones may come in a row, AR(1). Its size and correlation are not known, and twenty points tell little of
them, so they are averaged over a grid, each weighed by its restricted likelihood (Patterson & Thompson 1971) and a prior: the
ratio r of scatter to noise with density 1 / (1 + r)^2, the correlation uniform. What comes out is a mixture of normal
distributions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]

CORRELATIONS = (0.0, 0.2, 0.4, 0.6, 0.8)  # of neighbouring checkpoints' scatter
RATIOS = 2.0 ** np.arange(-2, 5.5, 0.5)  # of scatter to noise, equally spaced in its logarithm
STEP = float(np.log(2) / 2)  # of that grid
SMALLEST = 1e-6  # variance of noise, squared log-odds: where every context says the same


@dataclass(frozen=True)
class Slope:
    """A mixture: weights, means, deviations (g,), log-odds per unit of t."""

    weights: Floats
    means: Floats
    deviations: Floats

    @property
    def estimate(self) -> float:
        return float(self.weights @ self.means)

    def above(self, value: float) -> float:
        """The probability that the slope is at least so large."""
        return float(self.weights @ ndtr((self.means - value) / self.deviations))

    def quantile(self, probability: float) -> float:
        """By halving the interval in which all components have theirs."""
        low = float((self.means - 9 * self.deviations).min())
        high = float((self.means + 9 * self.deviations).max())
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if 1 - self.above(middle) < probability else (low, middle)
        return (low + high) / 2


def slope(t: Floats, y: Floats, noise: float, extra: float = 0.0) -> Slope:
    """t, y: (w,), w >= 4; noise: variance of each y by contexts; extra: variance of the slope that contexts add besides,
    because they differ in it."""
    noise = max(noise, SMALLEST)
    ratios = np.concatenate(([0.0], RATIOS))
    prior = np.concatenate(([_share_below(RATIOS[0])], STEP * RATIOS / (1 + RATIOS) ** 2))
    x = np.stack([np.ones(len(t)), t - t.mean()])  # (2, w)
    logs, means, variances = (np.empty((len(CORRELATIONS), len(ratios))) for _ in range(3))
    for i, correlation in enumerate(CORRELATIONS):
        roots, vectors = _decomposed(len(t), correlation)
        v = noise * (1 + ratios[:, None] ** 2 * roots)  # (r, w)
        xs, ys = x @ vectors, y @ vectors
        gram = np.einsum("aw,bw,rw->rab", xs, xs, 1 / v)
        moment = np.einsum("aw,w,rw->ra", xs, ys, 1 / v)
        determinant = gram[:, 0, 0] * gram[:, 1, 1] - gram[:, 0, 1] ** 2
        level = (gram[:, 1, 1] * moment[:, 0] - gram[:, 0, 1] * moment[:, 1]) / determinant
        means[i] = (gram[:, 0, 0] * moment[:, 1] - gram[:, 0, 1] * moment[:, 0]) / determinant
        variances[i] = gram[:, 0, 0] / determinant
        misfit = (ys**2 / v).sum(1) - level * moment[:, 0] - means[i] * moment[:, 1]
        logs[i] = -0.5 * (np.log(v).sum(1) + np.log(determinant) + misfit)
    weights = prior * np.exp(logs - logs.max())
    return Slope((weights / weights.sum()).ravel(), means.ravel(), np.sqrt(variances + extra).ravel())


def _share_below(ratio: float) -> float:
    """Of the distribution with density 1 / (1 + r)^2."""
    return ratio / (1 + ratio)


@lru_cache(maxsize=256)
def _decomposed(size: int, correlation: float) -> tuple[Floats, Floats]:
    """Eigenvalues (w,) and vectors (w, w) of an AR(1)'s correlations."""
    lags = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    roots, vectors = np.linalg.eigh(correlation**lags)
    return np.maximum(roots, 0.0), vectors
