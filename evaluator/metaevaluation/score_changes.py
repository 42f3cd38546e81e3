"""Does a judge's agreement with people rest on the last digit? People's scores with noise, and the judge's scores rounded to
people's points (Zhao et al. 2020, appendix D)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.metaevaluation.alternative_annotator import in_peoples_scores
from evaluator.metaevaluation.correlation import UndefinedCorrelation, of_rows, pearson, spearman

SIGMAS = (0.1, 0.5)  # points of a scale from 1 to 5, as in the paper
SEEDS = range(1, 101)  # of the paper's 100 trials

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Changed:
    """Correlations with people's mean scores after a change: with noise the mean of all trials."""

    change: str  # "noise" or "discrete"
    sigma: float | None  # of the noise, in points of a scale from 1 to 5
    pearson: float
    spearman: float


def score_changes(u: Numbers, scores: Numbers) -> list[Changed]:
    """u (n,) utilities and scores (n, annotators), NaN being none. A scale's ends are the lowest and the highest score that was
    given; four points lie between 1 and 5. Empty where there is no correlation to begin with."""
    rows = np.isfinite(u) & np.isfinite(scores).any(axis=1)
    u, scores = u[rows], scores[rows]
    if not len(u):
        return []
    point = float(np.nanmax(scores) - np.nanmin(scores)) / 4
    try:
        found = [_noisy(u, scores, sigma, sigma * point) for sigma in SIGMAS]
        rounded, means = in_peoples_scores(u, scores), np.nanmean(scores, axis=1)
        return [*found, Changed("discrete", None, pearson(rounded, means), spearman(rounded, means))]
    except UndefinedCorrelation:
        return []


def _noisy(u: Numbers, scores: Numbers, sigma: float, spread: float) -> Changed:
    """Every single score gets noise of its own."""
    noise = [np.random.default_rng(seed).normal(0.0, spread, scores.shape) for seed in SEEDS]
    means = np.array([np.nanmean(scores + one, axis=1) for one in noise])  # (trials, n)
    figures = [of_rows(measure, np.broadcast_to(u, means.shape), means) for measure in ("pearson", "spearman")]
    if not np.isfinite(figures).all():
        raise UndefinedCorrelation("One of the two lists is constant, so there is no order to compare.")
    by_pearson, by_spearman = np.mean(figures, axis=1).tolist()
    return Changed("noise", sigma, by_pearson, by_spearman)
