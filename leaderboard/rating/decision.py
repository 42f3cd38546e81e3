"""When a difference of two systems is known: the one place where it is decided, for people's boards, for boards from games
(`ranking`) and for the plan of a campaign (`annotation.design.power`). All pairs are tested at once with Tukey and Kramer's
range (Hochberg & Tamhane 1987, Multiple Comparison Procedures, chapter 3)."""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
FIRST_LOOK = 0.8  # of the error, spent where the answers are read for the first time, as most are read once
MOST_FREEDOM, FREEDOM_STEPS = 10_000.0, 20  # degrees of freedom that differ from infinitely many; steps of a power of ten


def decide(
    difference: Floats, se: Floats, df: Floats, component: NDArray[np.int64] | None = None, confidence: float = CONFIDENCE
) -> tuple[Floats, NDArray[np.bool_]]:
    """(margin, above), both (s, s): i is known to be above j where their difference exceeds the margin. All statements hold
    together with this confidence. component: (s,), the group of systems that can be compared."""
    n = len(difference)
    group = np.zeros(n, dtype=np.int64) if component is None else component
    compared = int((np.bincount(group)[group] > 1).sum())
    margin = np.full((n, n), np.inf)
    for i, j in zip(*np.nonzero((group[:, None] == group[None, :]) & np.isfinite(se))):
        margin[i, j] = se[i, j] * critical(compared, float(df[i, j]), confidence)
    np.fill_diagonal(margin, 0.0)
    above = difference > margin
    np.fill_diagonal(above, False)
    return margin, above


def at_look(look: int, confidence: float = CONFIDENCE) -> float:
    """The confidence of the statements of one look, so that those of all looks hold together with `confidence`, however many
    there will be: the first look spends FIRST_LOOK of the error, look k the share 1 / (k (k - 1)) of the rest (alpha
    spending, Lan & DeMets 1983, Biometrika 70; the shares sum to 1)."""
    share = FIRST_LOOK if look < 2 else (1 - FIRST_LOOK) / (look * (look - 1))
    return 1 - (1 - confidence) * share


def critical(n: int, df: float, confidence: float = CONFIDENCE) -> float:
    """How many standard errors a difference of two of n systems must exceed; of two, Student's quantile. Between degrees of
    freedom that are an eighth apart it is linear in their inverse, as tables of the range are read, which is up to 1% too wide
    at one degree and .1% from three on."""
    df = min(max(df, 1.0), MOST_FREEDOM) if np.isfinite(df) else MOST_FREEDOM
    if n == 2:
        return float(stats.t.ppf((1 + confidence) / 2, df))
    k = int(np.floor(FREEDOM_STEPS * np.log10(df)))
    low, high = 10 ** (k / FREEDOM_STEPS), 10 ** ((k + 1) / FREEDOM_STEPS)
    share = (1 / df - 1 / high) / (1 / low - 1 / high)
    return share * _critical(n, low, confidence) + (1 - share) * _critical(n, high, confidence)


@cache
def _critical(n: int, df: float, confidence: float) -> float:
    if n < 2:
        return 0.0
    return float(stats.studentized_range.ppf(confidence, n, df) / np.sqrt(2))
