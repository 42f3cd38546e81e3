"""Win rates at equal length: what a judge would prefer if no output were longer than the other.

After AlpacaEval 2 (Dubois et al. 2024, "Length-Controlled AlpacaEval", section 3): the outcome of a game, a tie as half a win,
is regressed on who plays and on how much longer the one output is,

    logit P(i beats j) = theta_i - theta_j + phi tanh((length of i's output - length of j's) / scale),

and predicted with the last term at 0. As there, lengths are in characters and tanh bounds what a great difference does.
Three things differ. There each system meets one baseline and has a phi and a scale of its own; here all meet, and phi and the
scale (the root mean square of the differences) are the judge's. There a term for the difficulty of each instruction comes from
many models' results; here contexts are a sample, and the errors are clustered by them, and by annotators where they are a
sample too (`clustered`). There phi is held small by an L1 penalty and rows of manipulated outputs; here all effects have the
normal prior of the boards' Bradley-Terry, with a standard deviation of 350 rating points. What the prior may have cost is
added to the variance, as in `ranking`: where a system's outputs are all longer by as much, length and quality cannot be told
apart, and the intervals say so.

A system's win rate is the mean over its games, the opponents as they were. So the plain rate and the one at equal length differ
by length alone, but for the prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from leaderboard.rating.diagnostics.clustered import least_clusters, variance_of_sum
from leaderboard.rating.glicko2 import SCALE, START_RD
from leaderboard.rating.glicko2_static import NotSettled

CONFIDENCE = 0.95
PRIOR = (SCALE / START_RD) ** 2  # precision of each effect, in logits
TOLERANCE = 1e-9  # logits
MOST_STEPS, MOST_STEP = 100, 2.0

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rates:
    """Of equal shape, in 0..1; nan where nothing was played. low, high: 95% interval, nan with fewer than two clusters."""

    rate: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class LengthControl:
    """For s systems. plain: (s,), share of the points; controlled: (s,), at equal length; pairs: (s, s), of i against j at
    equal length; length: (s,), mean of the system's outputs in its games, in characters; effect, low, high: phi in logits and
    its 95% interval (nan with fewer than two clusters); scale: characters."""

    plain: Floats
    controlled: Rates
    pairs: Rates
    length: Floats
    effect: float
    low: float
    high: float
    scale: float

    @property
    def odds(self) -> tuple[float, float, float]:
        """By how much a scale more characters than the other output multiply the odds of winning: value, low, high."""
        value, low, high = (float(np.exp(end * np.tanh(1))) for end in (self.effect, self.low, self.high))
        return value, low, high


def control_length(
    n_systems: int,
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    lengths: tuple[ArrayLike, ArrayLike],
    clusters: Sequence[ArrayLike],
) -> LengthControl:
    """All (games,): first, second: int, two different systems; outcome: +1 the first won, 0 a tie, -1 the second; lengths: of
    the two outputs; clusters: one array (contexts) or two (and annotators). ValueError without games."""
    first, second = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    points = (1 + np.asarray(outcome, dtype=float)) / 2
    if len(first) == 0:
        raise ValueError("Without games there is no win rate.")
    of_first, of_second = (np.asarray(side, dtype=float) for side in lengths)
    scale = float(np.sqrt(np.mean((of_first - of_second) ** 2)))
    longer = np.tanh((of_first - of_second) / scale) if scale > 0 else np.zeros(len(first))
    effects, information = _fit(n_systems, first, second, points, longer)
    covariance, freedom = _covariance(first, second, points, longer, effects, information, clusters)
    reach = scipy.stats.t.ppf((1 + CONFIDENCE) / 2, freedom) if freedom else np.nan

    theta, phi = effects[:-1], float(effects[-1])
    played = _sums(n_systems, first, second, np.ones((2, len(first))))
    games = np.maximum(played, 1)
    error = float(np.sqrt(covariance[-1, -1])) * reach
    gap = theta[:, None] - theta[None, :]
    met = _by_pair(n_systems, first, second, np.ones(len(first)))
    spread = np.diag(covariance)[:-1]
    of_gap = np.sqrt(np.maximum(spread[:, None] + spread[None, :] - 2 * covariance[:-1, :-1], 0))
    known = np.where(met > 0, 1.0, np.nan)
    return LengthControl(
        np.where(played > 0, _sums(n_systems, first, second, np.stack([points, 1 - points])) / games, np.nan),
        _by_system(theta, met, covariance, reach),
        Rates(*(known * scipy.special.expit(end) for end in (gap, gap - reach * of_gap, gap + reach * of_gap))),
        np.where(played > 0, _sums(n_systems, first, second, np.stack([of_first, of_second])) / games, np.nan),
        phi,
        phi - error,
        phi + error,
        scale,
    )


def _fit(n: int, first: NDArray[np.int64], second: NDArray[np.int64], points: Floats, longer: Floats) -> tuple[Floats, Floats]:
    """(effects (n + 1,), the last is length's; information (n + 1, n + 1)), by Newton's method."""
    effects = np.zeros(n + 1)
    for _ in range(MOST_STEPS):
        p = scipy.special.expit(effects[first] - effects[second] + effects[-1] * longer)
        left, slope = points - p, p * (1 - p)
        gradient = np.append(_sums(n, first, second, np.stack([left, -left])), left @ longer) - PRIOR * effects
        pairs = _by_pair(n, first, second, slope)
        cross = _sums(n, first, second, np.stack([slope * longer, -slope * longer]))
        information = np.zeros((n + 1, n + 1))
        information[:n, :n] = np.diag(pairs.sum(axis=1)) - pairs
        information[:n, n] = information[n, :n] = cross
        information[n, n] = slope @ longer**2
        information += PRIOR * np.eye(n + 1)
        step = np.linalg.solve(information, gradient)
        step *= min(1.0, MOST_STEP / max(float(np.abs(step).max()), 1e-300))
        effects = effects + step
        if np.abs(step).max() < TOLERANCE:
            return effects, information
    raise NotSettled(f"The effect of length did not settle within {MOST_STEPS} steps of Newton's method.")


def _covariance(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    points: Floats,
    longer: Floats,
    effects: Floats,
    information: Floats,
    clusters: Sequence[ArrayLike],
) -> tuple[Floats, int]:
    """(of the effects (n + 1, n + 1), degrees of freedom; 0 where a way of clustering has a single cluster)"""
    rows, p = len(first), len(effects)
    inverse = np.linalg.inv(information)
    if least_clusters(clusters) < 2:
        return np.full((p, p), np.nan), 0
    left = points - scipy.special.expit(effects[first] - effects[second] + effects[-1] * longer)
    columns = np.stack([first, second, np.full(rows, p - 1)], axis=1).ravel()
    values = np.stack([left, -left, left * longer], axis=1).ravel()
    unexpected = scipy.sparse.csr_matrix((values, columns, 3 * np.arange(rows + 1)), shape=(rows, p))
    squares = effects**2 + np.diag(inverse)
    squares[:-1] = squares[:-1].mean()  # how far the systems' effects are from 0, and length's
    pulled = PRIOR**2 * (inverse * np.minimum(squares, 1 / PRIOR)) @ inverse
    return inverse @ variance_of_sum(unexpected, clusters) @ inverse + pulled, least_clusters(clusters) - 1


def _by_system(theta: Floats, met: Floats, covariance: Floats, reach: float) -> Rates:
    """Mean over each system's games at equal length; the interval on the scale of logits (delta method)."""
    n = len(theta)
    share = met / np.maximum(met.sum(axis=1, keepdims=True), 1)  # (n, n)
    p = scipy.special.expit(theta[:, None] - theta[None, :])
    rate = (share * p).sum(axis=1)
    slope = share * p * (1 - p)
    gradient = np.diag(slope.sum(axis=1)) - slope  # (n, n), of each rate by theta
    error = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", gradient, covariance[:n, :n], gradient), 0))
    rate = np.where(met.sum(axis=1) > 0, rate, np.nan)
    centre, width = scipy.special.logit(rate), reach * error / (rate * (1 - rate))
    return Rates(rate, scipy.special.expit(centre - width), scipy.special.expit(centre + width))


def _sums(n: int, first: NDArray[np.int64], second: NDArray[np.int64], sides: Floats) -> Floats:
    """sides (2, games), what each game adds to its two systems -> (n,)"""
    return np.asarray(np.bincount(first, sides[0], n) + np.bincount(second, sides[1], n))


def _by_pair(n: int, first: NDArray[np.int64], second: NDArray[np.int64], values: Floats) -> Floats:
    """values (games,) -> (n, n), their sums over the games of two systems, either way round"""
    once = np.bincount(first * n + second, values, n * n).reshape(n, n)
    return np.asarray(once + once.T)
