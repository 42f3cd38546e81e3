"""How surely a difference is known, by what the answers show and not by what a model assumes of them.

An estimate b = W' y of fixed effects has the residuals r = y - X b. Where annotators and contexts are both sampled, its
covariance is that of the sums of W r over annotators, plus that over contexts, less that over annotators on contexts, which
both hold (Cameron, Gelbach & Miller 2011, J. Bus. Econ. Stat. 29, equation 2.10). Nothing is assumed of how an annotator's or a
context's answers vary together: a system may divide people more than others, people may come in camps, and places on one sheet,
which vary against each other, are allowed.

Residuals are smaller than errors, since the effects follow from the same answers. Of a cluster's answers, b explains the part
h = W_c' X_c of itself; the sums l'h Q h'l / l'Q l over clusters (Q: the model's covariance, of which only the proportions
count) are what the sums of squares lack, relative to the whole. With a balanced design the estimate is then the analysis of
variance's, (MS of annotators + MS of contexts - MS of both) / n. The parts that annotators and contexts add to chance are not
below 0.

Degrees of freedom are Satterthwaite's (1946) of the three mean squares; a sum over clusters has as many as there are effective
clusters, (sum q)^2 / sum q^2, less one (Carter, Schnepel & Steigerwald 2017, Rev. Econ. Stat. 99).

Few annotators tell each difference's variance badly. As far as the systems vary alike, they tell it together: the variances are
moderated towards the model's, with the weight of an inverse chi-square prior (Smyth 2004, Stat. Appl. Genet. Mol. Biol. 3,
section 4) whose d0 degrees of freedom come from how the differences' variances spread. The upper limit (90%) of that spread is
taken, so that few systems, which cannot show that they are alike, are hardly moderated. The model gives their proportions
alone. Their level is the prior's by its mean, d / (d - 2), where it has a variance (d > 4), so that the mean variance stays
what the answers show, whatever their degrees of freedom are taken to be; else by logarithms, as Smyth has it. There d comes
from the spread itself and not from its upper limit: a prior of fewer degrees lies lower beside the same mean, so that what is
careful for the weight would be careless for the level. The level comes from p independent differences with d degrees of freedom
each, and adds 2 / (p d) to the relative variance of the part that it has, so that of a moderated variance 1 / df = 1 / (d0 + d)
+ (d0 / (d0 + d))^2 / (p d)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

ALIKE = 0.9  # confidence of the limit of how unlike the systems' variances may be
MOST_CLUSTERS = 1_000  # whose part in the effects is worked out; of more, as many drawn at random stand for all
MOST_EXPLAINED = 0.6  # of an effect by one cluster on average: of fewer than two effective clusters nothing is told
LEAST = 1e-300
LEAST_APART = 0.01  # by which weights on annotators must exceed those on single contexts to tell leanings from chance
HAS_VARIANCE = 4.0  # degrees of freedom above which an inverse chi-square distribution has a variance
LOWEST, HIGHEST = 1e-3, 1e6  # half of the degrees of freedom of a prior: of nearly none, and where no doubt is left


@dataclass(frozen=True)
class Clusters:
    """One way of sampling. meat: (p, p) sum of u u' over clusters, u = W_c' r_c; explained: (p, p) sum of h Q h'; freedom: (m,)
    degrees of freedom of each contrast."""

    meat: Floats
    explained: Floats
    freedom: Floats


@dataclass(frozen=True)
class Sandwich:
    """What annotators, contexts and both add. contrasts: of the systems; model, alone: (p, p), the model's covariance with and
    without what annotators add; fixed: (p, p), the meat over contexts of what is left when these annotators' ways are known;
    least: (p, p), which the variance is not below."""

    contrasts: Contrasts
    annotators: Clusters
    contexts: Clusters
    both: Clusters
    model: Floats
    alone: Floats
    fixed: Floats
    least: Floats

    def differences(self, alone: bool = False) -> tuple[Floats, Floats]:
        """(variance, degrees of freedom) of i less j, (s, s) each, not a number where there are too few clusters to tell.
        alone: of these annotators only."""
        of = self.contrasts.variances
        model = np.maximum(of(self.alone if alone else self.model), LEAST)
        variance, freedom, told = self._of_contexts(model) if alone else self._of_both(model)
        variance = np.maximum(variance, of(self.least))
        variance, freedom = self._moderated(variance, freedom, model, self.contrasts.compared & told)
        square = self.contrasts.square
        return square(np.where(told, variance, np.nan)), square(np.where(told, freedom, np.nan))

    def _moderated(self, variance: Floats, freedom: Floats, model: Floats, rows: Booleans) -> tuple[Floats, Floats]:
        """rows: (m,), the differences that tell how alike they are"""
        if not rows.any():
            return variance, freedom
        prior = alike(variance[rows] / model[rows], freedom[rows], self.contrasts.independent)
        return moderated(variance, freedom, model, prior, self.contrasts.independent * float(freedom[rows].mean()))

    def leanings(self, weights: Floats, systems: Any, annotator: Integers, context: Integers, severity: float = 0.0) -> Floats:
        """(s, s) the variance of an annotator's leaning to a system, as the difference i less j shows it: its mean over i and
        j, which may be estimated below 0; not a number where too few clusters tell. weights: (n, p); systems: (n, s), 1 and -1
        where an answer is for and against a system; annotator, context: int (n,); severity: the variance of what an annotator
        adds to every answer.

        Leanings of variance 1 add the squares of their weights to the mean square of annotators, and those of their weights on
        each context to chance's. Severities cancel in the first better than in the second."""
        of = self.contrasts.variances
        people, _, chance, told = self._mean_squares(np.maximum(of(self.model), LEAST))
        clusters = annotator, np.unique(annotator * (context.max() + 1) + context, return_inverse=True)[1]
        by_all = [of(_squares(weights, np.ones((len(weights), 1)), by)) for by in clusters]
        shares = [of(_squares(weights, systems, by)) for by in clusters]
        beyond = people - chance + severity * (by_all[1] - by_all[0])
        told = told & (shares[0] > shares[1] * (1 + LEAST_APART))
        return self.contrasts.square(np.where(told, beyond / np.where(told, shares[0] - shares[1], 1.0), np.nan))

    def _of_both(self, model: Floats) -> tuple[Floats, Floats, Booleans]:
        people, places, chance, told = self._mean_squares(model)
        people, places = np.maximum(people, chance), np.maximum(places, chance)
        total = people + places - chance
        spread = people**2 / self.annotators.freedom + places**2 / self.contexts.freedom
        spread += chance**2 / (self.annotators.freedom * self.contexts.freedom)
        return total, np.maximum(total**2 / np.maximum(spread, LEAST), 1.0), told

    def _mean_squares(self, model: Floats) -> tuple[Floats, Floats, Floats, Booleans]:
        """(m,) each: of annotators, contexts and chance, and where there are enough clusters to tell"""
        parts = (self.annotators, self.contexts, self.both)
        of = self.contrasts.variances
        meat = [of(part.meat) for part in parts]
        lacks = [of(part.explained) / model for part in parts]
        told = (lacks[0] < MOST_EXPLAINED) & (lacks[1] < MOST_EXPLAINED)
        whole = (meat[0] + meat[1] - meat[2]) / np.where(
            told, np.maximum(1 - lacks[0] - lacks[1] + lacks[2], (1 - lacks[0]) * (1 - lacks[1])), 1.0
        )
        whole = np.maximum(whole, meat[2])
        people, places, chance = (m + lack * whole for m, lack in zip(meat, lacks))
        return people, places, chance, told

    def _of_contexts(self, model: Floats) -> tuple[Floats, Floats, Booleans]:
        of = self.contrasts.variances
        lacks = of(self.contexts.explained) / of(self.model).clip(LEAST)
        told = lacks < MOST_EXPLAINED
        return of(self.fixed) / np.where(told, 1 - lacks, 1.0), self.contexts.freedom, told


@dataclass(frozen=True)
class Contrasts:
    """Each difference of two systems. systems: (s, p), each system in the effects; component: int (s,), those that can be
    compared"""

    systems: Floats
    component: Integers

    def variances(self, covariance: Floats) -> Floats:
        """covariance: (p, p) -> (m,)"""
        of = self.systems @ covariance @ self.systems.T
        own = np.diag(of)
        pairs = (own[:, None] + own[None, :] - 2 * of)[np.triu_indices(len(of), 1)]
        return np.asarray(np.maximum(pairs, 0.0))

    @property
    def compared(self) -> Booleans:
        """(m,)"""
        first, second = np.triu_indices(len(self.component), 1)
        return np.asarray(self.component[first] == self.component[second])

    @property
    def independent(self) -> int:
        """How many differences there are of which none follows from others."""
        return len(self.component) - len(np.unique(self.component))

    def square(self, values: Floats) -> Floats:
        """(m,) -> (s, s), 0 for a system less itself"""
        n = len(self.component)
        table = np.zeros((n, n))
        table[np.triu_indices(n, 1)] = values
        return table + table.T


def of_clusters(
    cluster: Integers, weights: Floats, residual: Floats, design: Floats, covariance: Floats, contrasts: Contrasts
) -> Clusters:
    """cluster: int (n,), from 0; weights: (n, p); residual: (n,); design: (n, p), so that weights.T @ design is the identity;
    covariance: (p, p), the model's"""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    sums = np.add.reduceat((weights * residual[:, None])[order], starts, axis=0)  # (clusters, p)
    ends, root = np.append(starts, len(order)), _root(covariance)
    of = [order[ends[c] : ends[c + 1]] for c in _drawn(len(starts))]
    gathered = Gathered(contrasts, len(root))
    for rows in of:
        gathered.add(weights[rows].T @ (design[rows] @ root))
    return gathered.clusters(sums, len(starts) / len(of))


def meat(cluster: Integers, weights: Floats, residual: Floats) -> Floats:
    """(p, p) sum over clusters of u u', u = W_c' r_c"""
    count = int(cluster.max()) + 1
    sums = np.stack([np.bincount(cluster, column * residual, count) for column in weights.T], axis=1)  # (clusters, p)
    return np.asarray(sums.T @ sums)


def _squares(weights: Floats, systems: Any, cluster: Integers) -> Floats:
    """(p, p) sum over clusters of h h', h = W_c' X_c the weight of each system in them. systems: (n, s)"""
    count, squares = int(cluster.max()) + 1, np.zeros((weights.shape[1],) * 2)
    of_cluster = scipy.sparse.csr_matrix(
        (np.ones(len(cluster)), (cluster, np.arange(len(cluster)))), shape=(count, len(cluster))
    )
    for column in scipy.sparse.csr_matrix(systems.T):  # a system
        h = of_cluster @ (weights * column.toarray().ravel()[:, None])  # (clusters, p)
        squares += h.T @ h
    return squares


class Gathered:
    """Clusters as they come, one after the other."""

    def __init__(self, contrasts: Contrasts, p: int):
        self.contrasts, self.explained = contrasts, np.zeros((p, p))
        self.shares, self.squares = np.zeros((2, len(contrasts.compared)))

    def add(self, half: Floats, part: Floats | None = None) -> None:
        """Of a cluster: h times a root of Q, (p, p), and what it adds to the covariance by the model, (p, p); None: as if all
        its answers varied as one, half times half'"""
        one = half @ half.T
        share = self.contrasts.variances(one if part is None else part)
        self.explained += one
        self.shares, self.squares = self.shares + share, self.squares + share**2

    def clusters(self, sums: Floats, times: float = 1.0) -> Clusters:
        """sums: (clusters, p), of weights times residuals; times: how many clusters each that was added stands for"""
        effective = times * self.shares**2 / np.maximum(self.squares, LEAST)
        return Clusters(sums.T @ sums, self.explained * times, np.maximum(effective - 1, 1.0))


def _drawn(clusters: int) -> Integers:
    """Those whose part in the effects is worked out."""
    if clusters <= MOST_CLUSTERS:
        return np.arange(clusters)
    return np.sort(np.random.default_rng(0).permutation(clusters)[:MOST_CLUSTERS])


def _root(covariance: Floats) -> Floats:
    size, direction = np.linalg.eigh(covariance)
    return np.asarray(direction * np.sqrt(np.maximum(size, 0.0)))


@dataclass(frozen=True)
class Prior:
    """Of a variance relative to the model's, as the differences' variances show it: degrees of freedom (0: they do not show
    that they are alike), and its centre."""

    freedom: float
    centre: float


def moderated(variance: Floats, freedom: Floats, model: Floats, prior: Prior, together: float) -> tuple[Floats, Floats]:
    """(variance, degrees of freedom), (m,) each, of differences that have these by themselves. together: degrees of freedom
    with which all of them show the prior's centre."""
    if not prior.freedom:
        return variance, freedom
    weight = prior.freedom / (prior.freedom + freedom)
    shared = weight * prior.centre * model + (1 - weight) * variance
    return shared, 1 / (1 / (prior.freedom + freedom) + weight**2 / together)


def alike(ratio: Floats, freedom: Floats, independent: int) -> Prior:
    """The prior that these variances, each relative to the model's, show: (m,) each, of which so many are independent."""
    if independent < 2 or len(ratio) < 3 or not (ratio > 0).all():
        return Prior(0.0, 1.0)
    logs = np.log(ratio) - scipy.special.digamma(freedom / 2) + np.log(freedom / 2)
    return _prior(float(np.var(logs, ddof=1)), logs, ratio, freedom, independent)


def expected_prior(ratio: Floats, freedom: Floats, independent: int) -> Prior:
    """The prior that variances show on average whose true ratios these are."""
    if independent < 2:
        return Prior(0.0, 1.0)
    logs, noise = np.log(ratio), float(_trigamma(freedom / 2).mean())
    systems = independent + 1
    return _prior(float(np.var(logs, ddof=1)) + noise * systems / (systems + 1), logs, ratio, freedom, independent)


def _prior(spread: float, logs: Floats, ratio: Floats, freedom: Floats, independent: int) -> Prior:
    """spread: the variance of the logarithms, as they were or will be estimated; logs: without what chance takes from them. Two
    differences that share a system correlate at 1/2, and their variances at 1/4, which all pairs of s systems do at 1 / (s + 1)
    on average: by so much less do they spread by chance."""
    noise, systems = float(_trigamma(freedom / 2).mean()), independent + 1
    most = _freedom(spread * independent / float(scipy.special.chdtri(independent, ALIKE)) - noise)
    likely = _freedom(spread - noise * systems / (systems + 1))
    if likely > HAS_VARIANCE:
        return Prior(most, float(ratio.mean()) * (likely - 2) / likely)
    return Prior(most, float(np.exp(logs.mean() + scipy.special.digamma(likely / 2) - np.log(likely / 2))))


def _freedom(excess: float) -> float:
    """Of the prior, from how much the logarithms vary beyond chance; not above 0: they vary by less."""
    return 2 * (HIGHEST if excess <= 0 else _inverse_trigamma(excess))


def _trigamma(x: Any) -> Any:
    return scipy.special.zeta(2, x)


def _inverse_trigamma(value: float) -> float:
    """By Newton's steps on 1 / trigamma, which is nearly linear and convex: they come from one side, and few are needed (Smyth
    2004, Stat. Appl. Genet. Mol. Biol. 3(1), appendix)."""
    if value >= _trigamma(LOWEST):
        return LOWEST
    if value <= _trigamma(HIGHEST):
        return HIGHEST
    x, step = 0.5 + 1 / value, 1.0
    while abs(step) > 1e-12 * x:
        found = float(_trigamma(x))
        step = found * (1 - found / value) / (-2 * float(scipy.special.zeta(3, x)))
        x += step
    return x
