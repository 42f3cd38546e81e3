"""Intervals of any statistic of outputs or pairs, by drawing whole contexts: two answers to one context are not independent."""

from collections.abc import Callable

import numpy as np

from evaluator.metaevaluation.correlation import UndefinedCorrelation, of_counts

RESAMPLES = 1000  # bootstrap draws of the contexts
AT_ONCE = 1_000_000  # numbers that are worked on at once: 8 MB an array


def bootstrap(values: np.ndarray, contexts: np.ndarray, seed: int) -> tuple[float, float]:
    """95% percentile interval of the mean of values (p,), whole contexts (p,) drawn with replacement."""
    if len(values) == 0:
        return float("nan"), float("nan")
    _, where = np.unique(contexts, return_inverse=True)
    sums = np.bincount(where, weights=values)  # (c,)
    counts = np.bincount(where)  # (c,)
    draws = np.random.default_rng(seed).integers(len(sums), size=(RESAMPLES, len(sums)))  # (r, c)
    means = sums[draws].sum(1) / counts[draws].sum(1)  # (r,)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def interval(statistic: Callable[[np.ndarray], float], contexts: np.ndarray, seed: int) -> tuple[float, float] | None:
    """95% percentile interval of statistic(rows), rows being positions in contexts (n,), whole contexts drawn with
    replacement. None where most draws leave the statistic undefined (UndefinedCorrelation)."""
    _, where = np.unique(contexts, return_inverse=True)
    places = np.split(np.argsort(where, kind="stable"), np.cumsum(np.bincount(where))[:-1])  # rows of each context
    rng, values = np.random.default_rng(seed), []
    for _ in range(RESAMPLES):
        rows = np.concatenate([places[i] for i in rng.integers(len(places), size=len(places))])
        try:
            values.append(statistic(rows))
        except UndefinedCorrelation:
            continue
    if len(values) < RESAMPLES / 2:
        return None
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def correlation_interval(
    measure: str, a: np.ndarray, b: np.ndarray, contexts: np.ndarray, seed: int
) -> tuple[float, float] | None:
    """95% percentile interval of "pearson", "spearman" or "kendall" of a (n,) and b (n,), whole contexts (n,) drawn with
    replacement: what `interval` gives, in one go. None where most draws leave no correlation."""
    _, where = np.unique(contexts, return_inverse=True)
    n = int(where.max(initial=-1)) + 1
    draws = np.random.default_rng(seed).integers(n, size=(RESAMPLES, n))
    of_context = np.zeros((RESAMPLES, n))
    np.add.at(of_context, (np.arange(RESAMPLES)[:, None], draws), 1.0)
    values = np.concatenate([of_counts(measure, a, b, block[:, where]) for block in blocks(of_context, len(a))])
    values = values[np.isfinite(values)]
    if len(values) < RESAMPLES / 2:
        return None
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def blocks(rows: np.ndarray, width: int) -> list[np.ndarray]:
    """`rows` in parts of so many that each, of this width, has AT_ONCE numbers at most."""
    return np.array_split(rows, -(-len(rows) * max(width, 1) // AT_ONCE) or 1)


def drawn(contexts: np.ndarray, limit: int, seed: int) -> np.ndarray:
    """Positions in contexts (n,) of at most `limit` items: whole contexts in an order drawn by the seed, up to the
    first that does not fit; a first one that is larger by itself is cut."""
    _, where = np.unique(contexts, return_inverse=True)
    rows = np.empty(0, dtype=int)
    for context in np.random.default_rng(seed).permutation(where.max(initial=-1) + 1):
        more = np.flatnonzero(where == context)
        if len(rows) and len(rows) + len(more) > limit:
            break
        rows = np.append(rows, more)
    return np.sort(rows[:limit])
