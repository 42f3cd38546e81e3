"""How far two judges order the same systems alike, what two noisy boards show of it, and what noise takes away.

A board is its judge's strengths of the systems plus noise, and noise on either board lowers their correlation
(attenuation: Spearman 1904). So there are three quantities, each with an interval that covers it:

    observed  Spearman's correlation that two boards of this size are expected to show
    true      Spearman's and Pearson's correlation of the two judges' strengths, without noise
    ceiling   Spearman's correlation of the second board with another one like it: same judge, same size, new noise

The systems are fixed, so the true correlation is that of these systems, and without noise it is known exactly.

Model: the noise of both boards is normal with known covariance N, as the bootstrap over contexts gives it. The strengths
of system i by the two judges are normal with standard deviations s1 and s2 and correlation r, which are unknown (the
bivariate random effects of van Houwelingen, Arends & Stijnen 2002). Priors are weak: s1 and s2 uniform (Gelman 2006); for
r a mixture, two thirds uniform in Fisher's z up to |z| = 5, since judges may well agree perfectly, and one third uniform in
r. Only differences between systems count, so everything is projected on contrasts, where a shift common to all is gone.

Computation: hyperparameters are drawn from their posterior given noise that is independent between systems, on a grid, and
weighted by the likelihood given N itself (importance sampling). Strengths are drawn given each
(conditioning by kriging: Matheron 1973; Doucet 2010), and new noise is added to them for what boards would show.

An interval of 95% is the central 98% of the posterior. At true correlations near 1, the edge of what is possible, central
95% covered 86% to 95% of the time; 98% covers as often as it should (docs/results/board-agreement.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluator.metaevaluation.correlation import spearman

MIN_SYSTEMS = 3  # fewer have no rank correlation worth the name
DRAWS = 800  # of the strengths
REDRAWN_BOARDS = 30  # pairs of boards for each draw of the strengths
PART = 200  # draws that are in memory at once
MOST_SPREAD = 2.5  # of strengths, in standard deviations of the ratings
Z_END = 5.0  # Fisher's z of a correlation of 0.9999
TEMPER = 0.8  # the proposal is a little wider than the posterior it stands for
WIDER = 0.4  # share of the error of 5% that the posterior is given: 98% for 95%


@dataclass(frozen=True)
class AgreementEstimate:
    """A correlation with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class BoardAgreement:
    """observed: value as the two boards show it, interval for what is expected; spearman, pearson: of true strengths;
    ceiling: of the second board with another one like it. Values of the last three are posterior medians."""

    observed: AgreementEstimate
    spearman: AgreementEstimate
    pearson: AgreementEstimate
    ceiling: AgreementEstimate


def board_agreement(
    one: ArrayLike, other: ArrayLike, noise: ArrayLike, seed: int = 0, confidence: float = 0.95
) -> BoardAgreement:
    """one, other: ratings (systems,) by two judges; noise: covariance (2 systems, 2 systems) of both, `one` first, as
    `joint_noise` makes it. Refused where there are fewer than three systems or one board has no differences."""
    ratings, noise = _checked(one, other, noise)
    rng = np.random.default_rng(seed)
    contrasts = _contrasts(ratings.shape[1])
    scale = ratings.std(axis=1, ddof=1, keepdims=True)
    seen = (ratings / scale) @ contrasts  # (2, systems - 1)
    noise = _projected(noise, scale, contrasts)
    strengths, weight = _posterior(seen, noise, contrasts, rng)
    strengths = strengths @ contrasts.T  # (draws, 2, systems)
    redrawn = _normal(noise, 2 * REDRAWN_BOARDS, rng).reshape(2, REDRAWN_BOARDS, 2, -1) @ contrasts.T
    observed = spearman(*ratings)
    tail = WIDER * (1 - confidence) / 2
    expected = _estimate(_expected(strengths, redrawn[0, :, 0], redrawn[0, :, 1], (0, 1)), weight, tail)
    return BoardAgreement(
        AgreementEstimate(observed, min(expected.low, observed), max(expected.high, observed)),
        _estimate(_rank_correlation(strengths[:, 0], strengths[:, 1]), weight, tail),
        _estimate(_correlation(strengths[:, 0], strengths[:, 1]), weight, tail),
        _estimate(_expected(strengths, redrawn[0, :, 1], redrawn[1, :, 1], (1, 1)), weight, tail),
    )


def joint_noise(replicates_one: ArrayLike, replicates_other: ArrayLike, contexts_one: int, contexts_other: int) -> np.ndarray:
    """Covariance (2 systems, 2 systems) of two boards' noise.

    replicates: (replicates, systems), row r of both from the same draw of contexts, so that what the boards share by
    their contexts is in it; contexts: on how many each board was played. Few vary less in resamples than in truth: by
    (contexts - 1) / contexts.
    """
    one, other = np.asarray(replicates_one, dtype=float), np.asarray(replicates_other, dtype=float)
    if one.ndim != 2 or one.shape != other.shape:
        raise ValueError("Both boards need the same replicates of the same systems.")
    stretch = np.repeat([_few(contexts_one), _few(contexts_other)], one.shape[1])
    noise: np.ndarray = np.cov(np.hstack([one, other]), rowvar=False) * np.outer(stretch, stretch)
    return noise


def _few(contexts: int) -> float:
    return float(np.sqrt(contexts / max(contexts - 1, 1)))


def _checked(one: ArrayLike, other: ArrayLike, noise: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    ratings, noise = np.array([one, other], dtype=float), np.asarray(noise, dtype=float)
    n = ratings.shape[1]
    if n < MIN_SYSTEMS:
        raise ValueError(f"A rank correlation needs at least {MIN_SYSTEMS} systems, not {n}.")
    if noise.shape != (2 * n, 2 * n):
        raise ValueError(f"The noise of two boards of {n} systems has {2 * n} rows and columns, not {noise.shape}.")
    if not np.isfinite(noise).all():
        raise ValueError("The noise must be finite.")
    if (np.ptp(ratings, axis=1) == 0).any():
        raise ValueError("A board on which all systems are equal has no order to compare.")
    return ratings, noise


def _contrasts(n: int) -> np.ndarray:
    """(n, n - 1) orthonormal columns, each of sum 0."""
    q, _ = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))
    contrasts: np.ndarray = q[:, 1:]
    return contrasts


def _projected(noise: np.ndarray, scale: np.ndarray, contrasts: np.ndarray) -> np.ndarray:
    """The noise of the contrasts, in units of each board: (2 (n - 1), 2 (n - 1))."""
    n, m = contrasts.shape
    blocks = noise.reshape(2, n, 2, n) / (scale[:, :, None, None] * scale[:, 0][None, None, :, None])
    projected: np.ndarray = np.einsum("im,aibj,jn->ambn", contrasts, blocks, contrasts).reshape(2 * m, 2 * m)
    return projected


def _posterior(
    seen: np.ndarray, noise: np.ndarray, contrasts: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draws of the strengths' contrasts (draws, 2, m) and their weights (draws,)."""
    both = np.kron(np.eye(2), contrasts)
    spreads, proposed = _hyperparameters(seen @ contrasts.T, both @ noise @ both.T, rng)
    parts = [_given(seen, noise, spreads[start : start + PART], rng) for start in range(0, DRAWS, PART)]
    strengths, likelihood = (np.concatenate(part) for part in zip(*parts, strict=True))
    log_weight = likelihood - proposed
    weight = np.exp(log_weight - log_weight.max())
    return strengths, weight / weight.sum()


def _hyperparameters(seen: np.ndarray, noise: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws of the strengths' covariance (draws, 2, 2) and the log of what they were drawn by (draws,), less the prior.

    seen: (2, systems); noise: (2 systems, 2 systems). With noise V_i of system i alone its ratings x_i have the covariance
    T + V_i about one unknown mean, and the restricted likelihood is a sum over systems (Patterson & Thompson 1971):
    -(sum log |T + V_i| + log |A| + sum x' W x - b' A^-1 b) / 2, W = (T + V_i)^-1, A = sum W, b = sum W x.
    """
    n = seen.shape[1]
    one, other, r = (axis[:, None] for axis in _grid())  # (points, 1)
    own = [np.diagonal(noise.reshape(2, n, 2, n)[a, :, b]) for a, b in ((0, 0), (1, 1), (0, 1))]  # each (systems,)
    first, second, between = one**2 + own[0], other**2 + own[1], one * other * r + own[2]  # (points, systems)
    determinant = first * second - between**2
    w = second / determinant, first / determinant, -between / determinant
    a = [part.sum(axis=1) for part in w]
    b = w[0] @ seen[0] + w[2] @ seen[1], w[2] @ seen[0] + w[1] @ seen[1]
    squares = w[0] @ seen[0] ** 2 + w[1] @ seen[1] ** 2 + 2 * w[2] @ (seen[0] * seen[1])
    size = a[0] * a[1] - a[2] ** 2
    mean = (a[1] * b[0] ** 2 + a[0] * b[1] ** 2 - 2 * a[2] * b[0] * b[1]) / size
    likelihood = -(np.log(determinant).sum(axis=1) + np.log(size) + squares - mean) / 2
    proposed = TEMPER * (likelihood - likelihood.max())
    chance = np.exp(proposed)
    drawn = rng.choice(len(chance), DRAWS, p=chance / chance.sum())
    one, other, r = one[drawn, 0], other[drawn, 0], r[drawn, 0]
    spreads = np.stack([one**2, r * one * other, r * one * other, other**2], axis=-1).reshape(-1, 2, 2)
    return spreads, proposed[drawn]


def _grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of equal prior weight: s1, s2 and r, each (points,)."""
    s = (np.arange(18) + 0.5) / 18 * MOST_SPREAD
    r = np.concatenate([np.tanh(np.linspace(-Z_END, Z_END, 40)), (np.arange(20) + 0.5) / 10 - 1])
    one, other, between = (axis.ravel() for axis in np.meshgrid(s, s, r, indexing="ij"))
    return one, other, between


def _given(seen: np.ndarray, noise: np.ndarray, spreads: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A draw of the strengths' contrasts (draws, 2, m) given each covariance of spreads (draws, 2, 2), and the log
    likelihood of that covariance (draws,). A draw from prior and noise is corrected by what was seen."""
    draws, m = len(spreads), seen.shape[1]
    total = noise + np.einsum("gab,mn->gambn", spreads, np.eye(m)).reshape(draws, 2 * m, 2 * m)
    prior = np.linalg.cholesky(spreads) @ rng.normal(size=(draws, 2, m))
    short = seen.ravel() - prior.reshape(draws, -1) - _normal(noise, draws, rng)
    sides = np.stack([np.broadcast_to(seen.ravel(), short.shape), short], axis=-1)
    solved = np.linalg.solve(total, sides)  # (draws, 2 m, 2)
    likelihood = -(solved[..., 0] @ seen.ravel() + np.linalg.slogdet(total)[1]) / 2
    return prior + spreads @ solved[..., 1].reshape(draws, 2, m), likelihood


def _normal(covariance: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(draws, k) with mean 0, by the symmetric root of the covariance (k, k), which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    drawn: np.ndarray = rng.normal(size=(draws, len(values))) @ (vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T)
    return drawn


def _expected(strengths: np.ndarray, noise: np.ndarray, other_noise: np.ndarray, judges: tuple[int, int]) -> np.ndarray:
    """(draws,) Spearman's correlation of two boards by these judges, averaged over their noise (boards, systems)."""
    one, other = (strengths[:, None, judge] for judge in judges)
    correlation: np.ndarray = _rank_correlation(one + noise, other + other_noise).mean(axis=1)
    return correlation


def _rank_correlation(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Of the last axis, where no two numbers are equal: 1 - 6 sum d^2 / (n^3 - n) (Spearman 1904)."""
    n = one.shape[-1]
    apart = one.argsort(axis=-1).argsort(axis=-1) - other.argsort(axis=-1).argsort(axis=-1)
    correlation: np.ndarray = 1 - 6 * (apart**2).sum(axis=-1) / (n**3 - n)
    return correlation


def _correlation(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    one, other = (values - values.mean(axis=-1, keepdims=True) for values in (one, other))
    correlation: np.ndarray = (one * other).sum(axis=-1) / np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    return correlation


def _estimate(values: np.ndarray, weight: np.ndarray, tail: float) -> AgreementEstimate:
    """Weighted median and quantiles of the draws (draws,)."""
    order = np.argsort(values)
    places = np.searchsorted(weight[order].cumsum(), [0.5, tail, 1 - tail])
    value, low, high = values[order][np.minimum(places, len(values) - 1)]
    return AgreementEstimate(float(value), float(low), float(high))
