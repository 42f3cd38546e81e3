"""Does a judge's agreement with people rest on the last digit? People's mean scores with noise, and the judge's scores rounded
to people's points (Zhao et al. 2020, appendix D). Nothing is trained anew here: `comparena reproduce zhao` trains on noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.metaevaluation.correlation import UndefinedCorrelation, of_rows, pearson, spearman

SIGMAS = (0.1, 0.5)  # points of a scale from 1 to 5, as in the paper
SEEDS = range(1, 101)  # of the paper's 100 trials
MOST_POINTS = 10  # a finer scale is rounded to five points, as theirs has

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Changed:
    """Correlations with people's mean scores after a change: with noise the mean of all trials."""

    change: str  # "noise" or "discrete"
    sigma: float | None  # of the noise, in points of a scale from 1 to 5
    pearson: float
    spearman: float


def score_changes(u: Numbers, scores: Numbers, scale: tuple[float, float] | None = None) -> list[Changed]:
    """u (n,) utilities and scores (n, annotators), NaN being none; scale: the lowest and the highest score, by default of those
    given. Utilities that lie beyond it are first moved to people's mean and spread. Empty where there is no correlation to
    begin with."""
    rows = np.isfinite(u) & np.isfinite(scores).any(axis=1)
    u, scores = u[rows], scores[rows]
    if not len(u):
        return []
    low, high = scale or (float(np.nanmin(scores)), float(np.nanmax(scores)))
    means = np.nanmean(scores, axis=1)
    try:
        found = [Changed("noise", sigma, *noisy_correlations(u, means, sigma * (high - low) / 4)) for sigma in SIGMAS]
        whole = rounded(on_scale(u, means, low, high), low, high)
        return [*found, Changed("discrete", None, pearson(whole, means), spearman(whole, means))]
    except UndefinedCorrelation:
        return []


def noisy_correlations(u: Numbers, means: Numbers, spread: float) -> tuple[float, float]:
    """Pearson and Spearman of u (n,) with people's means (n,) to which noise was added, the mean over SEEDS."""
    noisy = np.array([means + np.random.default_rng(seed).normal(0.0, spread, means.shape) for seed in SEEDS])  # (trials, n)
    figures = [of_rows(measure, np.broadcast_to(u, noisy.shape), noisy) for measure in ("pearson", "spearman")]
    if not np.isfinite(figures).all():
        raise UndefinedCorrelation("One of the two lists is constant, so there is no order to compare.")
    by_pearson, by_spearman = np.mean(figures, axis=1).tolist()
    return by_pearson, by_spearman


def on_scale(u: Numbers, means: Numbers, low: float, high: float) -> Numbers:
    """u (n,) as they are where all lie from low to high, else at the mean and the spread of people's means (n,)."""
    if low <= u.min() and u.max() <= high:
        return u
    return np.asarray(means.mean() + (u - u.mean()) * (means.std() / (u.std() or 1.0)))


def rounded(u: Numbers, low: float, high: float) -> Numbers:
    """(n,) to the nearest point of the scale, halves upwards: whole steps from low, or five points where those are many."""
    step = 1.0 if high - low <= MOST_POINTS else (high - low) / 4
    return np.asarray(np.clip(low + step * np.floor((u - low) / step + 0.5), low, high))
