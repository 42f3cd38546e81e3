"""Is one system better than another? The test whose power annotation/design/power.py plans."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t


@dataclass(frozen=True)
class Comparison:
    """difference: mean of the first system less that of the second, in points of the scale. p: two-sided."""

    difference: float
    standard_error: float
    df: float
    p: float


def compare(values: ArrayLike, first: ArrayLike, contexts: ArrayLike, annotators: ArrayLike) -> Comparison:
    """values: (judgments,) scores of two systems; first: (judgments,) True where the score is the first system's; contexts,
    annotators: (judgments,) integers. An output's score is the mean of its people's, a system's the mean of its outputs'.

    Contexts and annotators are random and crossed: the variance is that of contexts plus that of annotators less that of
    both (Cameron, Gelbach & Miller 2011, J. Bus. Econ. Stat. 29, 238-249, equation 2.8; on complete designs Clark's 1973
    quasi-F), but at least the larger of the two. Degrees of freedom: Satterthwaite 1946.
    Raises ValueError for fewer than two contexts or annotators.
    """
    values, first = np.asarray(values, float), np.asarray(first, bool)
    influence, difference = np.zeros(len(values)), 0.0
    for system, sign in ((first, 1), (~first, -1)):
        weights = _output_weights(np.asarray(contexts)[system])
        mean = weights @ values[system]
        influence[system] = sign * weights * (values[system] - mean)
        difference += sign * mean
    return _tested(difference, influence, contexts, annotators)


def compare_pairs(outcomes: ArrayLike, contexts: ArrayLike, annotators: ArrayLike) -> Comparison:
    """outcomes: (judgments,) +1 where the first system won, 0 for a tie, -1 where it lost. The difference is that of the win
    rate, ties counted half, from one half; the rest as in `compare`."""
    outcomes = np.asarray(outcomes, float) / 2
    weights = _output_weights(np.asarray(contexts))
    mean = float(weights @ outcomes)
    return _tested(mean, weights * (outcomes - mean), contexts, annotators)


def _output_weights(contexts: np.ndarray) -> np.ndarray:
    """Each context counts alike, and so do the people on it; sums to one."""
    _, index, people = np.unique(contexts, return_inverse=True, return_counts=True)
    return 1 / (people[index] * len(people))


def _tested(difference: float, influence: np.ndarray, contexts: ArrayLike, annotators: ArrayLike) -> Comparison:
    contexts, annotators = np.unique(contexts, return_inverse=True)[1], np.unique(annotators, return_inverse=True)[1]
    n, people = contexts.max() + 1, annotators.max() + 1
    if n < 2 or people < 2:
        raise ValueError("A difference can only be tested with two contexts and two annotators at least.")
    by_context, by_annotator = _squares(influence, contexts), _squares(influence, annotators)
    both = _squares(influence, contexts * people + annotators, small_sample=False)
    variance = max(by_context + by_annotator - both, by_context, by_annotator)
    if variance == 0:
        return Comparison(difference, 0.0, math.inf, float(difference == 0))
    spread = by_context**2 / (n - 1) + by_annotator**2 / (people - 1) + both**2 / ((n - 1) * (people - 1))
    df = variance**2 / spread
    se = math.sqrt(variance)
    return Comparison(float(difference), se, df, float(2 * t.sf(abs(difference) / se, df)))


def _squares(influence: np.ndarray, cluster: np.ndarray, small_sample: bool = True) -> float:
    sums = np.bincount(cluster, weights=influence)
    groups = len(sums)
    return float(sums @ sums) * (groups / (groups - 1) if small_sample and groups > 1 else 1.0)
