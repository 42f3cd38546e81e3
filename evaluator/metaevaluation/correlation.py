"""Does a metric order things as people do? Correlations with people, and how sure they are."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


class UndefinedCorrelation(ValueError):
    """These numbers have no correlation; the message is one plain sentence saying why."""


def pearson(a: ArrayLike, b: ArrayLike) -> float:
    """Linear correlation of two lists of numbers (n,) (Pearson 1895)."""
    return _pearson(*_checked(a, b))


def spearman(a: ArrayLike, b: ArrayLike) -> float:
    """Correlation of the ranks of two lists of numbers (n,); equal numbers share their mean rank (Spearman 1904)."""
    return _pearson(*(stats.rankdata(values) for values in _checked(a, b)))


def kendall(a: ArrayLike, b: ArrayLike) -> float:
    """Concordant less discordant pairs of two lists of numbers (n,), by tau-b, which takes equal numbers into account
    (Kendall 1945)."""
    return float(stats.kendalltau(*_checked(a, b)).statistic)


def of_rows(measure: str, a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """(rows,) "pearson", "spearman" or "kendall" of each row of a (rows, n) and b (rows, n), as the function of that name has
    it; NaN where one of the two rows is constant."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if measure == "kendall":
        first, second = np.triu_indices(a.shape[1], 1)
        of_pairs = [[np.sign(row[first] - row[second]) for row in pair] for pair in zip(a, b)]
        parts = np.array([(x @ y, x @ x, y @ y) for x, y in of_pairs])  # (rows, 3)
    else:
        x, y = (_centred(stats.rankdata(values, axis=1) if measure == "spearman" else values) for values in (a, b))
        parts = np.stack([(x * y).sum(axis=1), (x * x).sum(axis=1), (y * y).sum(axis=1)], axis=1)
    varying = (np.ptp(a, axis=1) > 0) & (np.ptp(b, axis=1) > 0)
    found = np.full(len(a), np.nan)
    found[varying] = parts[varying, 0] / np.sqrt(parts[varying, 1] * parts[varying, 2])
    within: np.ndarray = np.clip(found, -1.0, 1.0)
    return within


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
