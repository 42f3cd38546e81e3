"""Which checkpoint to keep, and which others may be as good.

The highest point of a curve is partly luck: the winner's curse. So the checkpoints' true strengths get a distribution: a slow
movement (a random walk), each checkpoint's own scatter, and the noise of contexts, which is known. How much they move and
scatter is taken from the curve by its marginal likelihood (Robbins 1956: empirical Bayes). Draws from what is then known of
all strengths at once say how often each is the highest, and which rank it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.selection.curve import Curve, Floats
from evaluator.selection.rules import Rules
from evaluator.selection.strengths import Strengths, pairs_among, strengths, variance

PANEL = 32  # checkpoints that all others are compared with
DRAWS = 4000
SIZES = np.array([0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])  # of movement and of scatter, in standard errors of a strength
CONFIDENCE = 0.95


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
    return strengths(pairs_among(curve, np.arange(len(curve)), panel))


def best(curve: Curve, rules: Rules, found: Strengths) -> Best:
    m = len(curve)
    if m == 1:
        return Best(int(curve.steps[0]), 1.0, 1, 1, [int(curve.steps[0])])
    draws = _draws(found.values, variance(curve, found.influences(np.eye(m) - 1 / m)), rules.seed)  # (DRAWS, m)
    chances = np.bincount(draws.argmax(1), minlength=m) / len(draws)
    order = np.lexsort((np.arange(m), -chances))
    kept = order[: 1 + int(np.searchsorted(np.cumsum(chances[order]), CONFIDENCE))]
    first = int(order[0])
    rank = 1 + (draws > draws[:, [first]]).sum(1)
    low, high = np.quantile(rank, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="inverted_cdf")
    return Best(int(curve.steps[first]), float(chances[first]), int(low), int(high), curve.steps[kept].tolist())


def _draws(values: Floats, covariance: Floats, seed: int) -> Floats:
    """Of the true strengths, (DRAWS, m), given their estimates (m,)."""
    m = len(values)
    if not np.isfinite(covariance).all():
        return np.random.default_rng(seed).standard_normal((DRAWS, m))  # one unit says nothing
    noise = covariance + np.eye(m) * 1e-9
    unit = float(np.trace(noise)) / m
    walk = np.minimum.outer(np.arange(m), np.arange(m)).astype(float)
    level = 100 * unit + 100 * float(values.var()) + 1.0  # of the first: anything
    weights, parts = [], []
    for movement in SIZES:
        for scatter in SIZES:
            prior = unit * (movement**2 * walk + scatter**2 * np.eye(m)) + level
            total = np.linalg.cholesky(prior + noise)
            z = np.linalg.solve(total, np.stack([values], 1))
            weights.append(-float(np.log(np.diag(total)).sum()) - 0.5 * float((z**2).sum()))
            parts.append(prior)
    chances = np.exp(np.array(weights) - max(weights))
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(DRAWS, chances / chances.sum())
    return np.concatenate([_part(rng, prior, noise, values, count) for prior, count in zip(parts, counts) if count])


def _part(rng: np.random.Generator, prior: Floats, noise: Floats, values: Floats, count: int) -> Floats:
    gain = np.linalg.solve(prior + noise, prior).T  # (m, m)
    covariance = prior - gain @ prior
    roots, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    drawn: Floats = gain @ values + rng.standard_normal((count, len(values))) * np.sqrt(np.maximum(roots, 0)) @ vectors.T
    return drawn
