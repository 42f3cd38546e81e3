"""Means of what people say, with a judge's help: how far the judge is off for each, corrected by the answers that both gave.

People labelled a part of what the judge answered. With

    H  the mean of people's labels
    L  the mean of the judge's answers to the same
    A  the mean of all its answers

the corrected mean is H - w (L - A), prediction-powered and power-tuned (Angelopoulos, Duchi & Zrnic 2023; predict-then-debias:
Chen & Chen 2000). What was labelled must not have been chosen by the judge. Several means (of systems, or of pairs of systems)
are estimated together, so that differences between them have their covariance.

**Error.** Contexts and annotators are both samples. Each answer moves a mean by its distance from it over their number; sums of
that over contexts (the judge's other answers among them), over annotators, and over what an annotator said of a context give
V = V_contexts + V_annotators - V_both (Cameron, Gelbach & Miller 2011, equation 2.10; `annotation.quality.crossed`). A mean of
m contexts has its column multiplied by m / (m - 1), as the jackknife has it (Efron & Tibshirani 1993, chapter 11).

**Few labels.** The weight is chosen on the labels that it serves. As on a calibrated board (`leaderboard.rating.
prediction_powered`, The bound), the judge's correlation r with people is taken to be t r, t = m / (m + 4): the weight is
lowered, and no variance over contexts falls below 1 - t^2 of people's. Labels that are all alike do not show that there is no
error: each mean has the variance in addition that two more labels, of any value, would give it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from annotation.quality.crossed import PEOPLE, combined, of_whom

PLUS_FOUR = 4.0
PRIOR_LABELS = 2.0
EQUAL = 1e-9  # of the judge's variance: less is rounding

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Labels:
    """of (n,) which mean; people, judge (n,) what they said; context, annotator (n,) numbers."""

    of: Whole
    people: Floats
    judge: Floats
    context: Whole
    annotator: Whole


@dataclass(frozen=True)
class Judged:
    """All answers of the judge, those on labelled texts among them. of (N,), value (N,), context (N,) numbered as in Labels."""

    of: Whole
    value: Floats
    context: Whole


@dataclass(frozen=True)
class Interval:
    value: float
    low: float
    high: float
    se: float
    df: float

    @property
    def half(self) -> float:
        """Half its width"""
        return (self.high - self.low) / 2


class Correction:
    """Of k means. span: the distance of the ends that an answer may have. weight: the judge's; labels (k,): how many;
    contexts: how many were labelled; annotators: how many labelled; population: whom the intervals speak of."""

    def __init__(self, k: int, labels: Labels, judged: Judged, span: float):
        self.k, self.span = k, span
        self.labels: Whole = np.bincount(labels.of, minlength=k)
        self.judged: Whole = np.bincount(judged.of, minlength=k)
        if not len(labels.of) or (self.judged < 1)[self.labels > 0].any():
            raise ValueError("Each mean that people labelled needs the judge's answers.")
        self.population, self.annotators = of_whom(labels.annotator)
        self.contexts = len(np.unique(labels.context))
        n, large = np.maximum(self.labels, 1), np.maximum(self.judged, 1)
        self.people: Floats = np.bincount(labels.of, labels.people, k) / n
        self.of_labelled: Floats = np.bincount(labels.of, labels.judge, k) / n
        self.judge: Floats = np.bincount(judged.of, judged.value, k) / large
        both_means = (labels.people, self.people), (labels.judge, self.of_labelled)
        moved = [(values - mean[labels.of]) / n[labels.of] for values, mean in both_means]
        moved_by_all = (judged.value - self.judge[judged.of]) / large[judged.of]
        _, both = np.unique(np.stack([labels.context, labels.annotator]), axis=1, return_inverse=True)
        size = int(max(labels.context.max(), judged.context.max())) + 1
        self._contexts = _counts(labels.of, labels.context, k)
        self._people = _counts(labels.of, labels.annotator, k)
        jackknife = np.sqrt(_inflation(self._contexts))
        people, same = (_scaled(_sums(values, labels.context, labels.of, size, k), jackknife) for values in moved)
        every = _scaled(_sums(moved_by_all, judged.context, judged.of, size, k), jackknife)
        self.weight = self._weight(people, same, every)
        self._parts = [_gram(people, same, every)]
        for cluster, scale in ((labels.annotator, np.sqrt(_inflation(self._people))), (both.ravel(), np.ones(k))):
            sums = [_scaled(_sums(values, cluster, labels.of, int(cluster.max()) + 1, k), scale) for values in moved]
            self._parts.append(_gram(sums[0], sums[1], None))
        self._in_context = _met(labels.context, labels.of, size, k)
        self._by_annotator = _met(labels.annotator, labels.of, int(labels.annotator.max()) + 1, k)
        self._made_of: Floats | None = None  # (means, k): each mean of these as a combination of the first ones
        self._of_labels = self.labels
        self.known: NDArray[np.bool_] = self.labels > 0

    def combined(self, v: Floats) -> Correction:
        """v (s, k): s combinations of the means, as means of their own."""
        made = copy(self)
        made.k, made._made_of = len(v), v
        made.people, made.of_labelled, made.judge = (v @ mean for mean in (self.people, self.of_labelled, self.judge))
        used = np.abs(v) > 0
        made.labels, made.judged = used @ self.labels, used @ self.judged
        made.known = used.any(axis=1) & ~(used @ ~self.known)
        made._parts = [{of: v @ product @ v.T for of, product in part.items()} for part in self._parts]
        made._in_context, made._by_annotator = self._in_context @ used.T, self._by_annotator @ used.T
        return made

    @property
    def corrected(self) -> Floats:
        """(k,) NaN where nobody labelled"""
        return np.where(self.known, self.people - self.weight * (self.of_labelled - self.judge), np.nan)

    def of_people(self, v: Floats, more: float = 1.0) -> Interval:
        """v (k,): a combination of the means, by people's labels alone. more: as if there were so many times as many."""
        return self._interval(v, float(v @ self.people), (1.0, 0.0, 0.0), more)

    def of_corrected(self, v: Floats, more: float = 1.0) -> Interval:
        return self._interval(v, float(v @ np.nan_to_num(self.corrected)), (1.0, -self.weight, self.weight), more)

    def of_error(self, v: Floats) -> Interval:
        """By how much the judge's means lie above the corrected ones."""
        w = self.weight
        return self._interval(v, float(v @ np.nan_to_num(self.judge - self.corrected)), (-1.0, w, 1.0 - w), 1.0)

    def _interval(self, v: Floats, value: float, of: tuple[float, float, float], more: float) -> Interval:
        variance, df = self._variance(v, of, more)
        se = float(np.sqrt(variance))
        reach = float(scipy.stats.t.ppf(0.975, df)) * se
        return Interval(value, value - reach, value + reach, se, df)

    def _variance(self, v: Floats, of: tuple[float, float, float], more: float) -> tuple[float, float]:
        used = np.flatnonzero(v)
        if not self.known[used].all():
            return np.inf, 1.0
        contexts, annotators = (int(met[:, used].any(axis=1).sum()) for met in (self._in_context, self._by_annotator))
        by_context, by_annotator, by_both = (_quadratic(part, v, used, of, more) for part in self._parts)
        alone = _quadratic(self._parts[0], v, used, (1.0, 0.0, 0.0), more)
        by_context = max(by_context, _least(self.contexts) ** 2 * alone)
        prior = (self.span * PRIOR_LABELS / (more * self._of_labels + PRIOR_LABELS)) ** 2 / 12
        added = float((v if self._made_of is None else v @ self._made_of) ** 2 @ prior)
        if contexts < 2:
            return by_context + added, 1.0
        if self.population != PEOPLE or annotators < 2:
            return by_context + added, contexts - 1.0
        found = combined(max(by_context, 0.0), max(by_annotator, 0.0), max(by_both, 0.0), contexts, annotators)
        return found.variance + added, found.df

    def _weight(self, people: scipy.sparse.csr_array, same: scipy.sparse.csr_array, every: scipy.sparse.csr_array) -> float:
        """From 0 to the slope of people's answers on the judge's: the best weight where the judge answered all else."""
        luck = same - every
        varies, of_same = float(luck.multiply(luck).sum()), float(same.multiply(same).sum())
        if varies < EQUAL * of_same or not of_same:
            return 0.0  # people labelled all that the judge answered: there is nothing to correct by
        best = float(people.multiply(luck).sum()) / varies
        slope = float(people.multiply(same).sum()) / of_same
        return (1 - _least(self.contexts)) * max(min(best, slope), 0.0)


def _least(contexts: int) -> float:
    """sqrt(1 - t^2): the smallest share of people's standard deviation that so many contexts can leave"""
    return float(np.sqrt(1 - (contexts / (contexts + PLUS_FOUR)) ** 2))


def _counts(of: Whole, cluster: Whole, k: int) -> Whole:
    """(k,) clusters of each mean"""
    once = np.unique(np.stack([of, cluster]), axis=1)[0]
    counted: Whole = np.bincount(once, minlength=k)
    return counted


def _met(cluster: Whole, of: Whole, clusters: int, k: int) -> NDArray[np.bool_]:
    met = np.zeros((clusters, k), dtype=bool)
    met[cluster, of] = True
    return met


def _inflation(clusters: Whole) -> Floats:
    inflation: Floats = clusters / np.maximum(clusters - 1, 1)
    return np.maximum(inflation, 1.0)


def _scaled(sums: scipy.sparse.csr_array, columns: Floats) -> scipy.sparse.csr_array:
    """Each column (k,) times its factor"""
    return sums @ scipy.sparse.diags_array(columns).tocsr()


def _sums(values: Floats, cluster: Whole, of: Whole, clusters: int, k: int) -> scipy.sparse.csr_array:
    """(clusters, k)"""
    return scipy.sparse.csr_array((values, (cluster, of)), shape=(clusters, k))


Gram = dict[tuple[int, int], Floats]


def _gram(people: scipy.sparse.csr_array, same: scipy.sparse.csr_array, every: scipy.sparse.csr_array | None) -> Gram:
    """Products (k, k) of the sums of people's labels (0), of the judge's answers to the same (1), of all its answers (2)."""
    sums = [people, same] if every is None else [people, same, every]
    return {(i, j): (x.T @ y).toarray() for i, x in enumerate(sums) for j, y in enumerate(sums)}


def _quadratic(gram: Gram, v: Floats, used: Whole, of: tuple[float, float, float], more: float) -> float:
    """The variance of the combination v of the three kinds of means, `of` being how much of each. With more labels of the same
    kind, what labels vary by shrinks; what they share with all answers of the judge, and these, do not."""
    total, of_used, place = 0.0, v[used], np.ix_(used, used)
    for (i, j), product in gram.items():
        if of[i] and of[j]:
            shrinks = more if i < 2 and j < 2 else 1.0
            total += of[i] * of[j] * float(of_used @ product[place] @ of_used) / shrinks
    return total
