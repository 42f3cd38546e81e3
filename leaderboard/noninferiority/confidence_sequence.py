"""An interval for a mean that holds at every look at once, however often one looks and whenever one stops.

The predictable plug-in empirical Bernstein confidence sequence (Waudby-Smith & Ramdas 2024, Estimating means of bounded random
variables by betting, JRSS B 86, theorem 2): observations in [0, 1], in the order in which they came, each with the same mean
given those before it.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_BET = 0.5  # the truncation c of equation 15


def empirical_bernstein(x: ArrayLike, alpha: float = 0.05) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(low, high), both (n,): after each observation, what holds for the mean with probability 1 - alpha at all n at once.

    x: (n,) in [0, 1]. Raises ValueError where one is outside, or alpha is not between 0 and 1.
    """
    observed = np.asarray(x, dtype=float)
    if observed.ndim != 1 or not ((observed >= 0) & (observed <= 1)).all():
        raise ValueError("A confidence sequence takes observations from 0 to 1 in a row.")
    if not 0 < alpha < 1:
        raise ValueError("alpha lies between 0 and 1.")
    low, high = _lower(observed, alpha / 2), 1 - _lower(1 - observed, alpha / 2)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def _lower(x: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    n = np.arange(1, len(x) + 1)
    mean = (0.5 + np.cumsum(x)) / (n + 1)  # as if one half had been observed before
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (n + 1)
    before = np.concatenate(([0.25], variance[:-1]))
    bet = np.minimum(np.sqrt(2 * np.log(1 / alpha) / (n * np.log(1 + n) * before)), MOST_BET)
    surprise = (x - np.concatenate(([0.0], np.cumsum(x)[:-1] / n[:-1]))) ** 2
    spent = np.cumsum(surprise * (-np.log1p(-bet) - bet))
    stakes = np.cumsum(bet)
    lower: NDArray[np.float64] = (np.cumsum(bet * x) - np.log(1 / alpha) - spent) / stakes
    return lower
