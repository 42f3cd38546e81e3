"""Which checkpoint to keep, and which others may be as good.

The highest point of a curve is partly luck: the winner's curse. So the checkpoints' true strengths get a distribution: a slow
movement (a random walk), each checkpoint's own scatter, and the noise of contexts, which is known. How much they move and
scatter is taken from the curve by its marginal likelihood (Robbins 1956: empirical Bayes). Draws from what is then known of
all strengths at once say how often each is the highest, and which rank it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from evaluator.selection.curve import Curve, Floats
from evaluator.selection.rules import Rules
from evaluator.selection.strengths import Strengths, covariance, meetings, strengths

PANEL = 32  # checkpoints that all others are compared with
DRAWS = 4000
SIZES = np.array([0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])  # of movement and of scatter, in standard errors of a strength
CONFIDENCE = 0.95
SMALLEST = 1e-6  # squared log-odds


@dataclass(frozen=True)
class Best:
    """step: the one to keep; probability: that it is the best; rank_low, rank_high: its 95% interval of rank, 1 the best;
    not_worse: the steps among which the best is with 95% probability, the likeliest first."""

    step: int
    probability: float
    rank_low: int
    rank_high: int
    not_worse: list[int]


def all_strengths(curve: Curve) -> Strengths:
    """Of all checkpoints, from comparisons with a panel of them that is spread over the training."""
    panel = np.unique(np.linspace(0, len(curve) - 1, min(PANEL, len(curve))).round().astype(int))
    return strengths(meetings(curve, np.arange(len(curve)), panel))


def best(curve: Curve, rules: Rules, found: Strengths) -> Best:
    m = len(curve)
    if m == 1:
        return Best(int(curve.steps[0]), 1.0, 1, 1, [int(curve.steps[0])])
    noise = covariance(found.influences(np.eye(m) - 1 / m)[0], curve.units)
    walk = np.minimum.outer(np.arange(m), np.arange(m)).astype(float)
    draws = _drawn(found.values[0], noise, walk, [(a, b) for a in SIZES for b in SIZES], rules.seed)  # (DRAWS, m)
    chances = np.bincount(draws.argmax(1), minlength=m) / len(draws)
    likely = kept(chances)
    first = likely[0]
    rank = 1 + (draws > draws[:, [first]]).sum(1)
    low, high = np.quantile(rank, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="inverted_cdf")
    return Best(int(curve.steps[first]), float(chances[first]), int(low), int(high), curve.steps[likely].tolist())


def kept(chances: Floats) -> list[int]:
    """The fewest of m whose chances to be the best sum to 95%, the likeliest first; of equal ones the earliest."""
    order = np.lexsort((np.arange(len(chances)), -chances))
    enough = int(np.searchsorted(np.cumsum(chances[order]), CONFIDENCE - 1e-9))
    return [int(i) for i in order[: enough + 1]]


def drawn_exchangeable(values: Floats, covariance: Floats, seed: int) -> Floats:
    """As of checkpoints, but each is as good as any other before they are compared: (DRAWS, r)."""
    return _drawn(values, covariance, np.zeros_like(covariance), [(0.0, scatter) for scatter in SIZES], seed)


def _drawn(values: Floats, covariance: Floats, walk: Floats, sizes: list[tuple[float, float]], seed: int) -> Floats:
    """True strengths (DRAWS, m), given their estimates (m,). walk: (m, m), a movement's covariance; sizes: of movement and
    scatter, in units of the noise, all equally likely before."""
    m = len(values)
    rng = np.random.default_rng(seed)
    if not np.isfinite(covariance).all():  # one unit tells nothing
        return rng.standard_normal((DRAWS, m))
    noise = _steady(covariance)
    unit = float(np.trace(noise)) / m
    anything = 100 * (unit + float(values.var())) + 1.0  # of the level that all have in common

    def prior(movement: float, scatter: float) -> Floats:
        found: Floats = unit * (movement**2 * walk + scatter**2 * np.eye(m)) + anything
        return found

    told = np.empty(len(sizes))
    for i, size in enumerate(sizes):
        root = np.linalg.cholesky(prior(*size) + noise)
        told[i] = -np.log(np.diag(root)).sum() - 0.5 * (solve_triangular(root, values, lower=True) ** 2).sum()
    chances = np.exp(told - told.max())
    counts = rng.multinomial(DRAWS, chances / chances.sum())
    least = 1e-6 * unit + 1e-13 * m * anything  # variance that rounding may hide
    return np.concatenate([_part(rng, prior(*size), noise, values, least, int(n)) for size, n in zip(sizes, counts) if n])


def _steady(covariance: Floats) -> Floats:
    """Of m strengths from few contexts: halfway to none but each one's own, so that it can be inverted (Ledoit & Wolf 2004)."""
    own = np.diag(np.maximum(np.diag(covariance), SMALLEST))
    halfway: Floats = (covariance + own) / 2
    return halfway


def _part(rng: np.random.Generator, prior: Floats, noise: Floats, values: Floats, least: float, count: int) -> Floats:
    root = np.linalg.cholesky(prior + noise)
    known = solve_triangular(root, np.column_stack([prior, values]), lower=True)  # (m, m + 1)
    left = prior - known[:, :-1].T @ known[:, :-1] + least * np.eye(len(values))
    expected = known[:, :-1].T @ known[:, -1]
    drawn: Floats = expected + rng.standard_normal((count, len(values))) @ np.linalg.cholesky(left).T
    return drawn
