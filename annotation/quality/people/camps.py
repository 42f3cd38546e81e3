"""Who agrees with each other more than with the rest: a minority view, which is not carelessness.

Careless people agree with nobody. People who judge another quality, or have another taste, agree with each other as others do.
So whoever looks careless (agrees unusually little with the others, or pushes systems unusually) is first set beside the others
who do. Two of them are a camp if their correlation over the items of both is above what each has with the rest, and not both
below half of what the rest have with each other and surely below it (one-sided 2%, Fisher's z, 1921). Two who answer at random
may pass where they share few items, so that nobody can tell; then they are named as what they may be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from annotation.quality.answer_arrays import Answers

Floats = NDArray[np.float64]

HALF = 1 / 2  # of what the rest have with each other: above, two may be a camp however sure it is that they agree less
LEVEL = 0.02  # chance that two of a camp are surely below by luck; pairs differ among themselves, too
MIN_SHARED = 6  # items of both: below, a correlation says nothing
LARGEST = 0.999999


@dataclass(frozen=True)
class Camp:
    """annotators: who agree with each other; within: the mean correlation of two of them; with_rest, usual: that of one of
    them with one of the rest, and of two of the rest."""

    annotators: tuple[int, ...]
    within: float
    with_rest: float
    usual: float

    @property
    def sentence(self) -> str:
        return (
            f"A minority view: two of them correlate at {self.within:.2f}, one of them with one of the rest at"
            f" {self.with_rest:.2f}, two of the rest at {self.usual:.2f}. They may judge another quality, have another taste,"
            " or read the scale the other way round. That is no carelessness."
        )


def camps(answers: Answers, people: int, unusual: Iterable[int]) -> list[Camp]:
    """The camps among these unusual people, of annotators numbered from 0 to people - 1."""
    who = sorted(set(unusual))
    rest = np.setdiff1d(np.arange(people), who)
    if len(who) < 2 or len(rest) < 2:
        return []
    z, weight = _pairwise(answers, people)
    np.fill_diagonal(weight, 0.0)
    usual = _mean(z[np.ix_(rest, rest)], weight[np.ix_(rest, rest)])
    with_rest = {i: _mean(z[i, rest], weight[i, rest]) for i in who}
    margin = scipy.stats.norm.ppf(1 - LEVEL)
    together = np.zeros((len(who), len(who)), dtype=bool)
    for a, i in enumerate(who):
        for b, j in enumerate(who[:a]):
            surely_below = z[i, j] < min(usual - margin / np.sqrt(max(weight[i, j], 1e-9)), HALF * usual)
            above_rest = z[i, j] > max(with_rest[i], with_rest[j])
            together[a, b] = weight[i, j] > 0 and above_rest and not surely_below
    labels = scipy.sparse.csgraph.connected_components(together, directed=False)[1]
    groups = [[i for i, label in zip(who, labels) if label == group] for group in range(max(labels) + 1)]
    return [_camp(group, rest, z, weight, usual) for group in groups if len(group) > 1]


def _camp(group: list[int], rest: NDArray[np.int64], z: Floats, weight: Floats, usual: float) -> Camp:
    who = np.array(group)
    within, beside = (_mean(z[np.ix_(who, other)], weight[np.ix_(who, other)]) for other in (who, rest))
    return Camp(tuple(group), *(float(np.tanh(mean)) for mean in (within, beside, usual)))


def _mean(z: Floats, weight: Floats) -> float:
    """0 where nothing is known"""
    total = float(weight.sum())
    return float((z * weight).sum()) / total if total else 0.0


def _pairwise(answers: Answers, people: int) -> tuple[Floats, Floats]:
    """Fisher's z of the correlation of each two over the items of both, each criterion's severity taken off, and how much it
    weighs (items less 3, 0 where it is not known): (people, people) each."""
    criteria = int(answers.criterion.max(initial=0)) + 1
    side = answers.annotator * criteria + answers.criterion
    value = answers.standardised()
    value = value - (np.bincount(side, value) / np.maximum(np.bincount(side), 1))[side]
    _, unit = np.unique(answers.unit, return_inverse=True)
    given, x = np.zeros((2, people, int(unit.max(initial=-1)) + 1))
    root = np.sqrt(answers.weight)  # on both sides of each product
    given[answers.annotator, unit], x[answers.annotator, unit] = root, root * value
    n, of_one, squares = given @ given.T, x @ given.T, x**2 @ (given > 0).T
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = x @ x.T - of_one * of_one.T / n
        variance = np.maximum(squares - of_one**2 / n, 0.0)
        r = covariance / np.sqrt(variance * variance.T)
    known = (n >= MIN_SHARED) & np.isfinite(r)
    z = np.arctanh(np.clip(np.where(known, r, 0.0), -LARGEST, LARGEST))
    return z, np.where(known, n - 3.0, 0.0)
