"""Does a metric order things as people do? Correlations with people, and how sure they are."""

import numpy as np
import scipy
from numpy.typing import ArrayLike

MOST_PAIRED = 300  # numbers; sorting is quicker than all pairs of more


class UndefinedCorrelation(ValueError):
    """These numbers have no correlation; the message is one plain sentence saying why."""


def pearson(a: ArrayLike, b: ArrayLike) -> float:
    """Linear correlation of two lists of numbers (n,) (Pearson 1895)."""
    return _pearson(*_checked(a, b))


def spearman(a: ArrayLike, b: ArrayLike) -> float:
    """Correlation of the ranks of two lists of numbers (n,); equal numbers share their mean rank (Spearman 1904)."""
    return _pearson(*(scipy.stats.rankdata(values) for values in _checked(a, b)))


def kendall(a: ArrayLike, b: ArrayLike) -> float:
    """Concordant less discordant pairs of two lists of numbers (n,), by tau-b, which takes equal numbers into account
    (Kendall 1945)."""
    return float(scipy.stats.kendalltau(*_checked(a, b)).statistic)


def of_rows(measure: str, a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """(rows,) "pearson", "spearman" or "kendall" of each row of a (rows, n) and b (rows, n), as the function of that name has
    it; NaN where one of the two rows is constant."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if measure == "kendall":
        first, second = np.triu_indices(a.shape[1], 1)
        of_pairs = [[np.sign(row[first] - row[second]) for row in pair] for pair in zip(a, b)]
        parts = np.array([(x @ y, x @ x, y @ y) for x, y in of_pairs])  # (rows, 3)
    else:
        x, y = (_centred(scipy.stats.rankdata(values, axis=1) if measure == "spearman" else values) for values in (a, b))
        parts = np.stack([(x * y).sum(axis=1), (x * x).sum(axis=1), (y * y).sum(axis=1)], axis=1)
    varying = (np.ptp(a, axis=1) > 0) & (np.ptp(b, axis=1) > 0)
    found = np.full(len(a), np.nan)
    found[varying] = parts[varying, 0] / np.sqrt(parts[varying, 1] * parts[varying, 2])
    within: np.ndarray = np.clip(found, -1.0, 1.0)
    return within


def of_counts(measure: str, a: ArrayLike, b: ArrayLike, counts: ArrayLike) -> np.ndarray:
    """(rows,) "pearson", "spearman" or "kendall" of a (n,) and b (n,) or (rows, n) where each of the n pairs of numbers stands
    counts (rows, n) times, whole numbers, as the function of that name has it of the repeated lists; NaN where one of them is
    constant then. A number that stands 0 times may be anything."""
    stands = np.asarray(counts, dtype=float)
    a, b = np.asarray(a, dtype=float)[None, :], np.atleast_2d(np.asarray(b, dtype=float))
    b = np.where(np.isfinite(b), b, 0.0)
    varying = _varies(a, stands) & _varies(b, stands)
    found = np.full(len(stands), np.nan)
    if not varying.any():
        return found
    stands, b = stands[varying], b if len(b) == 1 else b[varying]
    if measure == "kendall":
        found[varying] = _counted_kendall(a, b, stands)
    else:
        x, y = (_counted_ranks(values, stands) if measure == "spearman" else values for values in (a, b))
        found[varying] = _counted_pearson(x, y, stands)
    return found


def spearman_interval(replicates_a: ArrayLike, replicates_b: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Paired percentile interval of Spearman's correlation.

    replicates_a, replicates_b: (replicates, n), row r of both made from the same resample (`bootstrap.context_draws`).
    Rows without a correlation are left out; when that is more than half of them there is no interval.
    """
    a, b = np.asarray(replicates_a, dtype=float), np.asarray(replicates_b, dtype=float)
    if a.ndim != 2 or a.shape != b.shape:
        raise ValueError("Both boards need the same replicates of the same systems.")
    correlations = of_rows("spearman", a, b)
    defined = np.isfinite(correlations)
    if not defined.any() or defined.mean() < 0.5:
        raise UndefinedCorrelation("Too few replicates order the systems at all.")
    low, high = np.quantile(correlations[defined], [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _pearson(a: np.ndarray, b: np.ndarray) -> float:
    """Of two lists that vary; SciPy's `pearsonr` works out a p value as well, which takes longer than all the rest."""
    a, b = a - a.mean(), b - b.mean()
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1.0, 1.0))


def _centred(values: np.ndarray) -> np.ndarray:
    centred: np.ndarray = values - values.mean(axis=1, keepdims=True)
    return centred


def _varies(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(rows,) are there two different ones among values (1 or rows, n) that stand counts (rows, n) times?"""
    there = counts > 0
    different: np.ndarray = np.where(there, values, -np.inf).max(axis=1) > np.where(there, values, np.inf).min(axis=1)
    return different


def _counted_pearson(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    n = counts.sum(axis=1, keepdims=True)
    x, y = (values - (counts * values).sum(axis=1, keepdims=True) / n for values in (x, y))
    xy, xx, yy = ((counts * product).sum(axis=1) for product in (x * y, x * x, y * y))
    within: np.ndarray = np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0)
    return within


def _counted_ranks(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(rows, n) of values (1 or rows, n) that stand counts (rows, n) times; equal numbers share their mean rank."""
    values = np.broadcast_to(values, counts.shape)
    order = np.argsort(values, axis=1, kind="stable")
    ordered, n = np.take_along_axis(values, order, axis=1), values.shape[1]
    count = np.take_along_axis(counts, order, axis=1)
    last = np.ones(values.shape, dtype=bool)  # of its equals
    last[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
    end = np.minimum.accumulate(np.where(last, np.arange(n), n)[:, ::-1], axis=1)[:, ::-1]
    up_to = np.take_along_axis(count.cumsum(axis=1), end, axis=1)
    first = np.ones(values.shape, dtype=bool)
    first[:, 1:] = last[:, :-1]
    start = np.maximum.accumulate(np.where(first, np.arange(n), 0), axis=1)
    below = np.take_along_axis(count.cumsum(axis=1) - count, start, axis=1)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (below + up_to + 1) / 2, axis=1)
    return ranks


def _counted_kendall(a: np.ndarray, b: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """tau-b by all pairs at once where these are few; a (1, n), b (1 or rows, n), which vary."""
    if len(b) > 1 or a.shape[1] > MOST_PAIRED:
        rows = zip(np.broadcast_to(b, counts.shape), counts.astype(int), strict=True)
        return np.array([kendall(np.repeat(a[0], count), np.repeat(row, count)) for row, count in rows])
    x, y = (np.sign(values[0][:, None] - values[0][None, :]) for values in (a, b))
    xy, xx, yy = ((counts @ product * counts).sum(axis=1) for product in (x * y, x * x, y * y))
    within: np.ndarray = np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0)
    return within


def _checked(a: ArrayLike, b: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two finite lists of one length that both vary."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError("A correlation needs two lists of the same length.")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("A correlation needs finite numbers.")
    if len(a) < 2:
        raise UndefinedCorrelation("A correlation needs at least two pairs of numbers.")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        raise UndefinedCorrelation("One of the two lists is constant, so there is no order to compare.")
    return a, b
