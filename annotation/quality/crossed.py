"""Variance over contexts and annotators, both of which are samples and cross each other.

One person answers about many contexts, many people about one context. With clusters of contexts, of annotators, and of
what one annotator said of one context, the variance of a figure is

    V = V_contexts + V_annotators - V_both

(Cameron, Gelbach & Miller 2011, J. Bus. Econ. Stat. 29, equation 2.10), and not below either of the first two. The
degrees of freedom are Satterthwaite's (1946) of a sum of two variances, V^2 / (V_contexts^2 / (contexts - 1) +
V_annotators^2 / (annotators - 1)), and not below the smaller number of clusters less one. With fewer annotators than
people's board asks for, a figure speaks of these annotators only, and contexts alone vary.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from leaderboard.rating.people_board import LEAST_ANNOTATORS

PEOPLE, ANNOTATORS = "people", "annotators"  # whom an interval speaks of: `people_board.POPULATIONS`


@dataclass(frozen=True)
class Crossed:
    """variance: of a figure, for other contexts and other people; df: its degrees of freedom."""

    variance: float
    df: float

    @property
    def reach(self) -> float:
        """Half the width of the 95% interval: Student's t times the standard error."""
        return float(scipy.stats.t.ppf(0.975, self.df) * np.sqrt(self.variance))

    def around(self, value: float) -> tuple[float, float]:
        """The 95% interval of a mean, a share, or a difference of such."""
        return value - self.reach, value + self.reach

    def around_correlation(self, value: float) -> tuple[float, float]:
        """The 95% interval of a correlation, by Fisher's z: the error of atanh(r) is that of r / (1 - r^2)."""
        if abs(value) >= 1 - 1e-12:
            return value, value
        reach = self.reach / (1 - value**2)
        low, high = np.tanh(np.arctanh(value) + np.array([-reach, reach]))
        return float(low), float(high)


def of_whom(annotators: ArrayLike) -> tuple[str | None, int | None]:
    """(population, how many annotators) of answers by these (answers,): "people" where there are as many as people's board asks
    for, "annotators" where these alone are spoken of; None where nobody is known."""
    n = len(np.unique(np.asarray(annotators)))
    return (PEOPLE if n >= LEAST_ANNOTATORS else ANNOTATORS, n) if n else (None, None)


def combined(by_context: float, by_annotator: float, by_both: float, contexts: int, annotators: int) -> Crossed:
    """Of the three variances, and the numbers of clusters: two or more of each."""
    variance = max(by_context, by_annotator, by_context + by_annotator - by_both)
    uncertain = by_context**2 / (contexts - 1) + by_annotator**2 / (annotators - 1)
    least = min(contexts, annotators) - 1.0
    return Crossed(variance, max(least, variance**2 / uncertain) if uncertain > 0 else least)


def context_mean(values: ArrayLike, contexts: ArrayLike, annotators: ArrayLike) -> tuple[float, Crossed | None]:
    """The mean over contexts of each context's mean, and how far it varies; values, contexts, annotators: (answers,). None with
    one context. Each variance is the jackknife's over its clusters (Efron & Tibshirani 1993, chapter 11), around the mean:
    without a cluster that has the share w of all weight and moves the mean by m, the mean moves by m / (1 - w)."""
    y = np.asarray(values, dtype=float)
    _, context, count = np.unique(np.asarray(contexts), return_inverse=True, return_counts=True)
    _, annotator = np.unique(np.asarray(annotators), return_inverse=True)
    weight = 1 / (len(count) * count[context])
    mean = float(weight @ y)
    if len(count) < 2:
        return mean, None
    moved = weight * (y - mean)
    by_context = _jackknife(moved, weight, context)
    if of_whom(annotator)[0] == ANNOTATORS:
        return mean, Crossed(by_context, len(count) - 1.0)
    people = int(annotator.max()) + 1
    _, both = np.unique(context * people + annotator, return_inverse=True)
    by_annotator, by_both = (_jackknife(moved, weight, cluster) for cluster in (annotator, both))
    return mean, combined(by_context, by_annotator, by_both, len(count), people)


def _jackknife(moved: NDArray[np.float64], weight: NDArray[np.float64], cluster: NDArray[np.int64]) -> float:
    without = np.bincount(cluster, moved) / (1 - np.bincount(cluster, weight))
    return float((without**2).sum() * (len(without) - 1) / len(without))
