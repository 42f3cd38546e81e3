"""Bradley-Terry with ties, by maximum likelihood: the order-free cross-check of Glicko-2.

Two rules for ties. Davidson (1970, "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison
Experiments", equation 2.3) fits a tie parameter nu: with strengths p, i wins, ties or loses against j in proportion to
p_i : nu sqrt(p_i p_j) : p_j. Or a tie is half a win and half a loss, which is the same equations with nu = 0.
Ratings are 1500 + 173.7178 ln p with mean 1500, so that 400 points are odds of 10 to 1, as on Glicko-2's scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from leaderboard.rating.glicko2 import SCALE, START_RATING
from leaderboard.rating.glicko2_static import NotSettled

TOLERANCE = 1e-10  # of ln p and ln nu
MAX_ITERATIONS = 200
MAX_STEP = 2.0  # of ln p and ln nu

Floats = NDArray[np.float64]


class Disconnected(ValueError):
    """Some systems never met the others, directly or through others, so no scale is common to all."""


class Separated(ValueError):
    """Some systems never lost or tied against the others, so that their likeliest rating is infinite."""


@dataclass(frozen=True)
class Fit:
    """rating: (..., systems) on Glicko-2's scale; covariance: (..., systems, systems) of the ratings against the mean of
    all systems; nu: (...), the tie parameter, 0 where a tie is half a win or no game tied, inf where all did."""

    rating: Floats
    covariance: Floats
    nu: Floats

    @property
    def se(self) -> Floats:
        """Standard error of each rating against the mean of all systems: (..., systems)."""
        error: Floats = np.sqrt(np.maximum(np.diagonal(self.covariance, axis1=-2, axis2=-1), 0))
        return error


def fit(met: ArrayLike, score: ArrayLike, tied: ArrayLike | None = None, prior_sd: float | None = None) -> Fit:
    """The likeliest ratings.

    met, score, tied: (..., systems, systems), games between i and j, the score of i in them (win 1, tie 0.5), and how
    many of them tied; without `tied` a tie is half a win. prior_sd: standard deviation, in rating points, of a normal
    prior around 1500 for each system; None is none, and then every group of systems must have lost or tied against
    the rest (Ford 1957), else Disconnected or Separated says who has not.
    """
    met, score = np.asarray(met, dtype=float), np.asarray(score, dtype=float)
    weight = 0.0 if prior_sd is None else (SCALE / prior_sd) ** 2
    if prior_sd is None:
        _check_comparable(met, score)
    games = met.sum(axis=(-2, -1)) / 2
    ties = np.zeros_like(games) if tied is None else np.asarray(tied, dtype=float).sum(axis=(-2, -1)) / 2
    fitted = (ties > 0) & (ties < games)  # else nu is 0 or infinite, and the ratings are those of half a win
    theta, log_nu = np.zeros(met.shape[:-1]), np.where(fitted, 0.0, -np.inf)
    for _ in range(MAX_ITERATIONS):
        gradient, information = _newton(met, score, ties, theta, log_nu, fitted, weight)
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        step *= np.minimum(1, MAX_STEP / np.maximum(np.abs(step).max(axis=-1, keepdims=True), MAX_STEP))
        theta, log_nu = theta + step[..., :-1], log_nu + step[..., -1]
        if np.abs(step).max(initial=0) < TOLERANCE:
            return _fit(theta, np.where(fitted, np.exp(log_nu), np.where(ties > 0, np.inf, 0.0)), information)
    raise NotSettled(f"Bradley-Terry did not settle within {MAX_ITERATIONS} steps of Newton's method.")


def chances(rating_difference: ArrayLike, nu: ArrayLike = 0.0) -> tuple[Floats, Floats, Floats]:
    """Davidson's chances to win, tie and lose for a system that is so many points ahead: three arrays (...)."""
    half = np.asarray(rating_difference, dtype=float) / SCALE / 2
    parts = np.stack(np.broadcast_arrays(np.exp(half), nu, np.exp(-half)))
    win, tie, lose = parts / parts.sum(axis=0)
    return win, tie, lose


def _newton(
    met: Floats, score: Floats, ties: Floats, theta: Floats, log_nu: Floats, fitted: NDArray[np.bool_], weight: float
) -> tuple[Floats, Floats]:
    """Gradient (..., systems + 1) and information (..., systems + 1, systems + 1) of theta and ln nu."""
    n = met.shape[-1]
    difference = (theta[..., :, None] - theta[..., None, :]) * SCALE
    win, tie, lose = chances(difference, np.exp(log_nu)[..., None, None])
    pull = -(met * (1 - tie - (win - lose) ** 2)) / 4
    diagonal = np.arange(n)
    information = np.zeros((*met.shape[:-2], n + 1, n + 1))
    information[..., :n, :n] = pull + (1 / n if weight == 0 else 0)  # without a prior: the mean stays where it is
    information[..., diagonal, diagonal] += weight - pull.sum(axis=-1)
    cross = -(met * tie * (win - lose)).sum(axis=-1) / 2
    information[..., :n, n] = information[..., n, :n] = np.where(fitted[..., None], cross, 0.0)
    information[..., n, n] = np.where(fitted, (met * tie * (1 - tie)).sum(axis=(-2, -1)) / 2, 1.0)
    gradient = np.zeros((*met.shape[:-2], n + 1))
    gradient[..., :n] = (score - met * (win + tie / 2)).sum(axis=-1) - weight * theta
    gradient[..., n] = np.where(fitted, ties - (met * tie).sum(axis=(-2, -1)) / 2, 0.0)
    return gradient, information


def _fit(theta: Floats, nu: Floats, information: Floats) -> Fit:
    n = theta.shape[-1]
    against_mean = np.eye(n) - 1 / n
    covariance = against_mean @ np.linalg.inv(information)[..., :n, :n] @ against_mean
    return Fit(START_RATING + SCALE * theta, SCALE**2 * covariance, nu)


def _check_comparable(met: np.ndarray, score: np.ndarray) -> None:
    if met.ndim != 2:
        raise ValueError("Many records at once need a prior.")
    if len(groups := _groups(met > 0, "weak")) > 1:
        raise Disconnected(f"Systems {_names(groups[0])} never met {_names(np.concatenate(groups[1:]))}, even through others.")
    if len(groups := _groups(score > 0, "strong")) > 1:
        best = next(group for group in groups if not (score[np.setdiff1d(np.arange(len(met)), group)][:, group] > 0).any())
        rest = np.setdiff1d(np.arange(len(met)), best)
        raise Separated(f"Systems {_names(best)} never lost or tied against {_names(rest)}, so their ratings have no bound.")


def _groups(edges: np.ndarray, connection: str) -> list[np.ndarray]:
    n, label = scipy.sparse.csgraph.connected_components(edges, connection=connection)
    return [np.flatnonzero(label == k) for k in range(n)]


def _names(systems: np.ndarray) -> str:
    return ", ".join(str(system) for system in sorted(systems.tolist()))
