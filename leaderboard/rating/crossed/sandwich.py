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

Few annotators tell each difference's variance badly. As far as the systems vary alike, they tell it together: the variances
are moderated towards the model's, which is one for all, with the weight of an inverse chi-square prior (Smyth 2004, Stat. Appl.
Genet. Mol. Biol. 3, section 4) whose degrees of freedom come from how the differences' variances spread. The upper limit (90%)
of that spread is taken, so that few systems, which cannot show that they are alike, are hardly moderated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

ALIKE = 0.9  # confidence of the limit of how unlike the systems' variances may be
MOST_CLUSTERS = 1_000  # whose part in the effects is worked out; of more, as many drawn at random stand for all
MOST_EXPLAINED = 0.6  # of an effect by one cluster on average: of fewer than two effective clusters nothing is told
LEAST = 1e-300


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
    least: (p, p), which the variance is not below; pooled, pooled_alone: (m,) degrees of freedom of the model's variances, with
    and without annotators: all that the systems can tell together."""

    contrasts: Contrasts
    annotators: Clusters
    contexts: Clusters
    both: Clusters
    model: Floats
    alone: Floats
    fixed: Floats
    least: Floats
    pooled: Floats
    pooled_alone: Floats

    def differences(self, alone: bool = False) -> tuple[Floats, Floats]:
        """(variance, degrees of freedom) of i less j, (s, s) each, not a number where there are too few clusters to tell.
        alone: of these annotators only."""
        of = self.contrasts.variances
        model = np.maximum(of(self.alone if alone else self.model), LEAST)
        variance, freedom, told = self._of_contexts(model) if alone else self._of_both(model)
        variance = np.maximum(variance, of(self.least))
        rows = self.contrasts.compared & told
        prior: Any
        prior, centre = alike(variance[rows] / model[rows], freedom[rows], self.contrasts.independent)
        pooled = np.maximum(self.pooled_alone if alone else self.pooled, 1.0)
        prior = np.minimum(prior, pooled)
        total = np.minimum(prior + freedom, np.maximum(freedom, pooled))
        variance = (prior * centre * model + freedom * variance) / (prior + freedom)
        square = self.contrasts.square
        return square(np.where(told, variance, np.nan)), square(np.where(told, total, np.nan))

    def _of_both(self, model: Floats) -> tuple[Floats, Floats, Booleans]:
        parts = (self.annotators, self.contexts, self.both)
        of = self.contrasts.variances
        meat = [of(part.meat) for part in parts]
        lacks = [of(part.explained) / of(self.model).clip(LEAST) for part in parts]
        told = (lacks[0] < MOST_EXPLAINED) & (lacks[1] < MOST_EXPLAINED)
        whole = (meat[0] + meat[1] - meat[2]) / np.where(
            told, np.maximum(1 - lacks[0] - lacks[1] + lacks[2], (1 - lacks[0]) * (1 - lacks[1])), 1.0
        )
        whole = np.maximum(whole, meat[2])
        people, places, chance = (m + lack * whole for m, lack in zip(meat, lacks))
        people, places = np.maximum(people, chance), np.maximum(places, chance)
        total = people + places - chance
        spread = people**2 / self.annotators.freedom + places**2 / self.contexts.freedom
        spread += chance**2 / (self.annotators.freedom * self.contexts.freedom)
        return total, np.maximum(total**2 / np.maximum(spread, LEAST), 1.0), told

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
    def rows(self) -> Floats:
        """(m, p)"""
        first, second = np.triu_indices(len(self.systems), 1)
        return np.asarray(self.systems[first] - self.systems[second])

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
    halves = (weights[rows].T @ (design[rows] @ root) for rows in of)
    return summed(sums, halves, len(starts) / len(of), contrasts)


def meat(cluster: Integers, weights: Floats, residual: Floats) -> Floats:
    """(p, p) sum over clusters of u u', u = W_c' r_c"""
    count = int(cluster.max()) + 1
    sums = np.stack([np.bincount(cluster, column * residual, count) for column in weights.T], axis=1)  # (clusters, p)
    return np.asarray(sums.T @ sums)


def summed(sums: Floats, halves: Iterable[Floats], times: float, contrasts: Contrasts) -> Clusters:
    """sums: (clusters, p), of weights times residuals; halves: h times a root of Q, (p, p) each, of the clusters or of some of
    them; times: how many clusters each of those stands for"""
    p = sums.shape[1]
    explained, shares, squares = np.zeros((p, p)), np.zeros(len(contrasts.compared)), np.zeros(len(contrasts.compared))
    for half in halves:
        one = half @ half.T
        q = contrasts.variances(one)
        explained, shares, squares = explained + one, shares + q, squares + q**2
    effective = times * shares**2 / np.maximum(squares, LEAST)
    return Clusters(sums.T @ sums, explained * times, np.maximum(effective - 1, 1.0))


def _drawn(clusters: int) -> Integers:
    """Those whose part in the effects is worked out."""
    if clusters <= MOST_CLUSTERS:
        return np.arange(clusters)
    return np.sort(np.random.default_rng(0).permutation(clusters)[:MOST_CLUSTERS])


def _root(covariance: Floats) -> Floats:
    size, direction = np.linalg.eigh(covariance)
    return np.asarray(direction * np.sqrt(np.maximum(size, 0.0)))


def alike(ratio: Floats, freedom: Floats, independent: int) -> tuple[float, float]:
    """(degrees of freedom, centre) of the prior that these variances, each relative to the model's, show: (m,) each, of which
    so many are independent."""
    if independent < 2 or len(ratio) < 3 or not (ratio > 0).all():
        return 0.0, 1.0
    logs = np.log(ratio) - special.digamma(freedom / 2) + np.log(freedom / 2)
    least = float(np.var(logs, ddof=1)) * independent / float(stats.chi2.ppf(1 - ALIKE, independent))
    excess = least - float(special.polygamma(1, freedom / 2).mean())
    if excess <= 0:  # they differ by less than chance
        return float(independent * freedom.mean()), float(np.exp(logs.mean()))
    prior = 2 * _inverse_trigamma(excess)
    return prior, float(np.exp(logs.mean() + special.digamma(prior / 2) - np.log(prior / 2)))


def _inverse_trigamma(value: float) -> float:
    low, high = 1e-3, 1e6
    if value >= special.polygamma(1, low):
        return low
    if value <= special.polygamma(1, high):
        return high
    return float(optimize.brentq(lambda x: float(special.polygamma(1, x)) - value, low, high))
