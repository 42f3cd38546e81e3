"""How far a figure that compares a judge with people may be off where other people had answered about other contexts.

Contexts and annotators are both samples (`annotation.quality.crossed`). The variances over either and over both are the
delete-one-cluster jackknife's (Efron & Tibshirani 1993, chapter 11): a person who is left out is left out of every mean
and every majority, so the figure is worked out anew from the answers that remain. Means and majorities of few people
lose much with one of them, so that these variances lean upwards (Efron & Stein 1981).
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from annotation.quality.crossed import Crossed, combined
from evaluator.metaevaluation.correlation import UndefinedCorrelation, of_counts
from evaluator.metaevaluation.resampling import blocks

MOST_LEFT_OUT = 600  # clusters of a kind; of more as many are drawn: V is known to 6% then, a width to 3%

SIDES = {"A": (1.0, 0.0), "tie": (0.0, 0.0), "B": (0.0, 1.0)}  # of a judgment, as `PairSaid` has it

Kept = NDArray[np.bool_]
Numbers = NDArray[np.float64]
Statistic = Callable[[Kept], Numbers]  # (rows,) of the answers that are kept, bool (rows, answers); NaN where it is undefined


class PairSaid(NamedTuple):
    """What one person said of the two texts of a pair. a, b: scores in units of what counts as a tie, NaN for a text that
    the person did not score; of a judgment, 1 for the side that was preferred and 0."""

    annotator: str
    a: float
    b: float


def said_by_scores(a: Mapping[str, float], b: Mapping[str, float], tie: float) -> tuple[PairSaid, ...]:
    """a, b: scores of the two texts by annotator; tie: how far two scores may lie apart and be called equal."""
    nan, unit = float("nan"), tie or 1.0
    return tuple(PairSaid(who, a.get(who, nan) / unit, b.get(who, nan) / unit) for who in sorted(a.keys() | b.keys()))


def said_by_choices(choices: Mapping[str, str]) -> tuple[PairSaid, ...]:
    """choices: "A", "tie" or "B" by annotator."""
    return tuple(PairSaid(annotator, *SIDES[choice]) for annotator, choice in choices.items())


def crossed(statistic: Statistic, contexts: np.ndarray, annotators: np.ndarray, seed: int) -> Crossed | None:
    """contexts, annotators: (answers,) numbers. None where a single cluster, or an undefined statistic, leaves nothing to
    compare."""
    _, of_context = np.unique(contexts, return_inverse=True)
    _, of_annotator = np.unique(annotators, return_inverse=True)
    n_contexts, people = int(of_context.max(initial=-1)) + 1, int(of_annotator.max(initial=-1)) + 1
    _, of_both = np.unique(of_context * people + of_annotator, return_inverse=True)
    found = [_jackknife(statistic, cluster, seed) for cluster in (of_context, of_annotator, of_both)]
    return None if np.isnan(found).any() else combined(found[0], found[1], found[2], n_contexts, people)


def _jackknife(statistic: Statistic, cluster: np.ndarray, seed: int) -> float:
    """The variance of the statistic over clusters (answers,), numbered from 0; nan where there is nothing to compare."""
    n = int(cluster.max(initial=-1)) + 1
    left_out = np.random.default_rng(seed).permutation(n)[:MOST_LEFT_OUT] if n > MOST_LEFT_OUT else np.arange(n)
    values = np.concatenate([statistic(cluster != some[:, None]) for some in blocks(left_out, len(cluster))])
    values = values[np.isfinite(values)]
    if n < 2 or len(values) < max(2, len(left_out) / 2):
        return float("nan")
    return float((n - 1) * values.var())


def one_by_one(statistic: Callable[[Kept], float]) -> Statistic:
    """A statistic of the answers that are kept, bool (answers,), as one of many such rows. It may be undefined
    (UndefinedCorrelation)."""

    def of_rows(kept: Kept) -> Numbers:
        return np.array([_defined(statistic, row) for row in kept])

    return of_rows


def _defined(statistic: Callable[[Kept], float], kept: Kept) -> float:
    try:
        return statistic(kept)
    except UndefinedCorrelation:
        return float("nan")


def means_of(kept: Kept, output: NDArray[np.int64], value: Numbers, n: int) -> Numbers:
    """(rows, n) the mean of each output's values that are kept, bool (rows, answers); NaN where there is none. output, value:
    (answers,)"""
    to_output = scipy.sparse.csr_array((np.ones(len(output)), (output, np.arange(len(output)))), shape=(n, len(output)))
    total, count = ((to_output @ part.T).T for part in (kept * value, kept.astype(float)))
    means: Numbers = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return means


def correlation_of_means(measure: str, u: Numbers, output: NDArray[np.int64], value: Numbers) -> Statistic:
    """The correlation ("pearson", "spearman" or "kendall") of u (n,) with the mean of each output's values that are kept, among
    the outputs that have some. output, value: (answers,)"""

    def of_rows(kept: Kept) -> Numbers:
        means = means_of(kept, output, value, len(u))
        found: Numbers = of_counts(measure, u, means, np.isfinite(means))
        return found

    return of_rows
