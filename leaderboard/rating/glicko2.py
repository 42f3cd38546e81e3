"""Glicko-2 (Glickman 2012, "Example of the Glicko-2 system"), for any number of players at once.

Rating, RD and volatility go in and come out on the public scale; mu, phi and sigma live only in this file. Step numbers
in the comments are the paper's. `update` takes arrays; `update_single` is the same rule for one game of one player in
plain floats, about thirty times faster there, and a test holds them equal.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

START_RATING = 1500.0
START_RD = 350.0
START_VOLATILITY = 0.06
TAU = 0.5  # how fast volatility may change; the paper suggests 0.3 to 1.2 and uses 0.5 in its example

SCALE = 173.7178  # public points per unit of mu (step 2)
TOLERANCE = 1e-6  # of ln(sigma^2) (step 5)
MAX_ITERATIONS = 100  # the Illinois algorithm needs about five

Floats = NDArray[np.float64]
Update = tuple[Floats, Floats, Floats]  # rating, RD, volatility on the public scale


def update(
    rating: ArrayLike,
    rd: ArrayLike,
    volatility: ArrayLike,
    opponent_rating: ArrayLike,
    opponent_rd: ArrayLike,
    score: ArrayLike,
    tau: float = TAU,
    mask: ArrayLike | None = None,
    idle_growth: bool = True,
) -> Update:
    """Rating, RD and volatility after one rating period.

    rating, rd, volatility: (...); opponent_rating, opponent_rd, score: (..., games), score 1 / 0.5 / 0 for a win, tie,
    loss; mask: (..., games), False where there is no game. A player without games keeps the rating, and RD grows by
    the volatility (step 6) unless `idle_growth` is off. Returns three arrays of shape (...).
    """
    rating, rd, sigma = (np.asarray(x, dtype=float) for x in (rating, rd, volatility))
    mu, phi = (rating - START_RATING) / SCALE, rd / SCALE
    mu_j = (np.asarray(opponent_rating, dtype=float) - START_RATING) / SCALE  # (..., games)
    phi_j = np.asarray(opponent_rd, dtype=float) / SCALE

    g = 1 / np.sqrt(1 + 3 * phi_j**2 / np.pi**2)
    expected = 1 / (1 + np.exp(-g * (mu[..., None] - mu_j)))
    played = np.ones(expected.shape, dtype=bool) if mask is None else np.broadcast_to(mask, expected.shape)
    information = np.where(played, g**2 * expected * (1 - expected), 0.0).sum(axis=-1)  # 1 / v, step 3
    surprise = np.where(played, g * (np.asarray(score, dtype=float) - expected), 0.0).sum(axis=-1)  # delta / v, step 4
    active = played.any(axis=-1)
    v = 1 / np.where(active, information, 1.0)

    new_sigma = np.where(active, _volatility(v * surprise, phi, v, sigma, tau), sigma)[()]
    phi_star = np.sqrt(phi**2 + np.where(active | idle_growth, new_sigma**2, 0.0))  # step 6
    new_phi = 1 / np.sqrt(1 / phi_star**2 + np.where(active, information, 0.0))  # step 7
    new_mu = mu + new_phi**2 * surprise
    return SCALE * new_mu + START_RATING, SCALE * new_phi, new_sigma  # step 8


def _volatility(delta: Floats, phi: Floats, v: Floats, sigma: Floats, tau: float) -> Floats:
    """Step 5: the root of f by the Illinois algorithm, each element stopping at its own convergence: (...)."""
    delta, phi, v, sigma = np.broadcast_arrays(delta, phi, v, sigma)
    a = np.log(sigma**2)

    def f(x: Floats) -> Floats:
        e, spread = np.exp(x), phi**2 + v
        return e * (delta**2 - spread - e) / (2 * (spread + e) ** 2) - (x - a) / tau**2

    low, high = a, _other_bracket(f, delta, phi, v, a, tau)
    f_low, f_high = f(low), f(high)
    for _ in range(MAX_ITERATIONS):
        open_ = np.abs(high - low) > TOLERANCE
        if not open_.any():
            break
        step = np.divide((low - high) * f_low, f_high - f_low, out=np.zeros_like(low), where=open_)
        c = low + step
        f_c = f(c)
        crossed = f_c * f_high <= 0
        f_low = np.where(open_, np.where(crossed, f_high, f_low / 2), f_low)
        low = np.where(open_ & crossed, high, low)
        high, f_high = np.where(open_, c, high), np.where(open_, f_c, f_high)
    return np.exp(low / 2)


def _other_bracket(f: Callable[[Floats], Floats], delta: Floats, phi: Floats, v: Floats, a: Floats, tau: float) -> Floats:
    """Step 5.2: the end of the interval that starts at a = ln(sigma^2)."""
    excess = delta**2 - phi**2 - v
    outside = excess > 0
    bracket = np.where(outside, np.log(np.where(outside, excess, 1.0)), a - tau)
    for _ in range(MAX_ITERATIONS):
        short = ~outside & (f(bracket) < 0)
        if not short.any():
            break
        bracket = np.where(short, bracket - tau, bracket)
    return bracket


def update_single(
    rating: float, rd: float, volatility: float, opponent_rating: float, opponent_rd: float, score: float, tau: float = TAU
) -> tuple[float, float, float]:
    """`update` for a rating period of one game, in plain floats."""
    mu, phi = (rating - START_RATING) / SCALE, rd / SCALE
    mu_j, phi_j = (opponent_rating - START_RATING) / SCALE, opponent_rd / SCALE
    g = 1 / math.sqrt(1 + 3 * phi_j**2 / math.pi**2)
    expected = 1 / (1 + math.exp(-g * (mu - mu_j)))
    v = 1 / (g**2 * expected * (1 - expected))
    surprise = g * (score - expected)
    new_sigma = _volatility_single(v * surprise, phi, v, volatility, tau)
    new_phi = 1 / math.sqrt(1 / (phi**2 + new_sigma**2) + 1 / v)
    new_mu = mu + new_phi**2 * surprise
    return SCALE * new_mu + START_RATING, SCALE * new_phi, new_sigma


def _volatility_single(delta: float, phi: float, v: float, sigma: float, tau: float) -> float:
    """`_volatility` in plain floats."""
    a, spread, tau2, delta2 = math.log(sigma**2), phi**2 + v, tau**2, delta**2

    def f(x: float) -> float:
        e = math.exp(x)
        return e * (delta2 - spread - e) / (2 * (spread + e) ** 2) - (x - a) / tau2

    low, high = a, a - tau
    if delta2 > spread:
        high = math.log(delta2 - spread)
    else:
        while f(high) < 0:
            high -= tau
    f_low, f_high = f(low), f(high)
    for _ in range(MAX_ITERATIONS):
        if abs(high - low) <= TOLERANCE:
            break
        c = low + (low - high) * f_low / (f_high - f_low)
        f_c = f(c)
        if f_c * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = c, f_c
    return math.exp(low / 2)
