"""People's board from rankings of several outputs: Plackett and Luce's strengths (`plackett_luce`), and how surely they are
known by what the answers show (`sandwich`).

A ranking of n outputs says n - 1 things and not n (n - 1) / 2. So it stands here as what it adds to the gradient, n numbers
that sum to 0, and a person's, a context's or one ranking's are added up before they are squared. Nothing is assumed of how the
rankings of a person or a context vary together.

The model, of which the sandwich takes the proportions, is found by moments as that of many pairs (`many_pairs`): a ranking's
gradient is J u of leanings u, J its information. The square of a person's sum, less those of each of the person's contexts, is
expected to be v (tr G^2 less theirs), with G the person's information and v the variance of leanings; what an output adds to
all rankings of it is found alike from contexts, less those of each of its people. Ties leave less to chance than the model
has: as much less as rankings vary less, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from leaderboard.rating.crossed import sandwich
from leaderboard.rating.crossed.sandwich import Contrasts, Sandwich
from leaderboard.rating.glicko2 import SCALE, START_RD
from leaderboard.rating.mixed_model import Fit
from leaderboard.rating.people_board import Answered, PeopleBoard, Reading, components_met, contrasts_of, numbered
from leaderboard.rating.rankings import plackett_luce
from leaderboard.rating.rankings.plackett_luce import Rankings

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

AT_ONCE = 4_000_000  # numbers of one array
LEAST_CHANCE = 1e-3  # of a ranking's variance by the model, that is left to chance where there are ties


def board_from_rankings(*answers: Any, population: str = "people", **more: Any) -> PeopleBoard:
    """`read_rankings`, and what is known of the population."""
    return read_rankings(*answers, **more).board(population)


def read_rankings(
    n_systems: int,
    ranking: ArrayLike,
    system: ArrayLike,
    rank: ArrayLike,
    context: ArrayLike,
    annotator: ArrayLike,
    is_open: ArrayLike | None = None,
    group: ArrayLike | None = None,
) -> RankingsReading:
    """ranking, system, rank: int (places,), one for each output that a ranking has, as in `Rankings`; context, annotator and
    group: int (rankings,), in the order of their numbers; is_open: bool (rankings,)."""
    number = numbered(ranking)
    given = Rankings.of(number, system, rank, is_open)
    component = components_met(n_systems, given.system, number)
    contrasts = Contrasts(contrasts_of(component), component)
    ridge = (SCALE / START_RD) ** 2
    b = plackett_luce.strengths(given, contrasts.systems, ridge)
    places = np.asarray(context, dtype=np.int64)[number]
    where = places if group is None else np.asarray(group, dtype=np.int64)[number]
    whose = np.asarray(annotator, dtype=np.int64)[number]
    summed = _summed(given, contrasts, b, ridge, numbered(whose), numbered(where))
    people = len(np.unique(whose))
    told = _told(summed, contrasts)
    moved = summed.weights * summed.impersonal[:, None]  # (places, p)
    by_context = np.stack([np.bincount(places, column) for column in moved.T], axis=1)
    same = component[:, None] == component[None, :]
    centre = np.eye(n_systems) - same / same.sum(axis=1, keepdims=True)
    basis = scipy.sparse.csr_matrix(
        (np.ones(len(number)), (np.arange(len(number)), given.system)), shape=(len(number), n_systems)
    )
    answered = Answered(basis, summed.left, summed.impersonal, whose, where)
    ratings = SCALE * by_context @ contrasts.systems.T @ centre.T
    fit = summed.fit
    felt, count = summed.design @ fit.parts["answer"], len(np.unique(number))
    return RankingsReading(
        fit,
        contrasts.systems,
        SCALE,
        component,
        people,
        ratings,
        fit.variances,
        False,
        told,
        answered=answered,
        rankings=count,
        felt=felt,
    )


@dataclass(frozen=True)
class RankingsReading(Reading):
    """What rankings say. rankings: how many; felt: (places, p), how far a leaning to what stands there moves the strengths."""

    rankings: int = 0
    felt: Floats | None = None

    @property
    def leaning_weights(self) -> Floats:
        return self.fit.answers if self.felt is None else self.felt


@dataclass(frozen=True)
class _Summed:
    """What rankings add to the strengths. weights: (places, p); left, impersonal: (places,), the gradient with and without what
    the annotator would have said anywhere; design: (places, p), a ranking's information; annotator, context: int (places,)"""

    fit: Fit
    weights: Floats
    left: Floats
    impersonal: Floats
    design: Floats
    annotator: Integers
    context: Integers


def _told(summed: _Summed, contrasts: Contrasts) -> Sandwich:
    """What the answers show of the estimate"""
    fit, (who, where) = summed.fit, (summed.annotator, summed.context)
    model = fit.covariance()
    cells = numbered(who * (where.max() + 1) + where)
    people, contexts, both = (
        sandwich.of_clusters(by, summed.weights, summed.left, summed.design, model, contrasts) for by in (who, where, cells)
    )
    fixed = sandwich.meat(where, summed.weights, summed.impersonal)
    return Sandwich(
        contrasts,
        people,
        contexts,
        both,
        model,
        fit.covariance(("taste",)),
        fixed,
        fit.variances["answer"] * fit.parts["answer"],
    )


def _summed(given: Rankings, contrasts: Contrasts, b: Floats, ridge: float, who: Integers, where: Integers) -> _Summed:
    basis, p = contrasts.systems, len(b)
    _, slope, information = given.told(basis @ b)
    whole = plackett_luce.gathered(given.system, information, len(basis))
    bent: Floats = basis.T @ whole @ basis + ridge * np.eye(p)
    inverse = np.linalg.inv(bent)  # what the strengths vary by, without people and luck
    design = np.zeros((len(slope), p))
    for rows, second in information:
        design[rows] = second @ basis[given.system[rows]]
    moments = _Moments(given, slope, information, len(basis))
    cells = numbered(who * (where.max() + 1) + where)
    single = _squared(moments.sums(given.ranking))
    chance = float(np.clip(np.trace(inverse @ basis.T @ single @ basis) / max(p, 1), LEAST_CHANCE, 1.0))
    taste, uncertain = moments.variance(who, cells)
    luck, unsure = moments.variance(where, cells)
    side = inverse @ basis.T  # (p, s)
    parts: dict[str, Floats] = {"answer": np.asarray(inverse, dtype=float)}
    parts |= {name: side @ moments.squares(by) @ side.T for name, by in (("output", where), ("taste", who))}
    known = np.diag([1 / unsure if unsure else 0.0, 1 / uncertain if uncertain else 0.0, 0.0])
    variances = {"output": luck, "taste": taste, "answer": chance}
    weights = basis[given.system] @ inverse
    fit = Fit(b, variances, parts, known, np.nan, weights, {})
    return _Summed(fit, weights, slope, slope - moments.foreseen(who, taste), design, who, where)


def _squared(rows: Floats) -> Floats:
    """(count, s) -> (s, s)"""
    return np.asarray(rows.T @ rows)


@dataclass(frozen=True)
class _Moments:
    """Sums of gradients t and of information G over clusters of rankings, which are int (places,), numbered from 0."""

    given: Rankings
    slope: Floats
    information: list[tuple[Integers, Floats]]
    systems: int

    def sums(self, by: Integers) -> Floats:
        """t: (clusters, s)"""
        count = int(by.max()) + 1
        flat = np.bincount(by * self.systems + self.given.system, self.slope, count * self.systems)
        return np.asarray(flat.reshape(count, self.systems))

    def inner(self, by: Integers) -> Iterator[tuple[slice, Floats]]:
        """(some of the clusters, their G (count, s, s)), so many at once as memory takes"""
        s, system, count = self.systems, self.given.system, int(by.max()) + 1
        each = max(1, AT_ONCE // s**2)
        for start in range(0, count, each):
            stop, found = min(start + each, count), np.zeros(min(each, count - start) * s * s)
            for rows, second in self.information:
                here = (by[rows[:, 0]] >= start) & (by[rows[:, 0]] < stop)
                of = system[rows[here]]
                flat = (by[rows[here]][:, :1, None] - start) * s * s + of[:, :, None] * s + of[:, None, :]
                found += np.bincount(flat.ravel(), second[here].ravel(), len(found))
            yield slice(start, stop), found.reshape(-1, s, s)

    def squares(self, by: Integers) -> Floats:
        """The sum of G G over clusters: (s, s)"""
        return np.asarray(sum(((g @ g).sum(axis=0) for _, g in self.inner(by)), np.zeros((self.systems,) * 2)))

    def variance(self, by: Integers, cells: Integers) -> tuple[float, float]:
        """(of what clusters add beyond their cells, not below 0; the variance of that estimate, over clusters)"""
        outer = np.zeros(int(cells.max()) + 1, dtype=np.int64)
        outer[cells] = by
        sizes, traces = ([of(one) for one in (by, cells)] for of in (self._sizes, self._traces))
        e, q = (whole - np.bincount(outer, parts, len(whole)) for whole, parts in (sizes, traces))
        if q.sum() <= 1e-12 * len(q):  # each has one cell
            return 0.0, 0.0
        found = max(float(e.sum() / q.sum()), 0.0)
        return found, float(((e - found * q) ** 2).sum() / q.sum() ** 2)

    def _sizes(self, by: Integers) -> Floats:
        """(clusters,) |t|^2"""
        return np.asarray((self.sums(by) ** 2).sum(axis=1))

    def _traces(self, by: Integers) -> Floats:
        """(clusters,) tr G^2"""
        return np.concatenate([(g**2).sum(axis=(1, 2)) for _, g in self.inner(by)])

    def foreseen(self, by: Integers, taste: float) -> Floats:
        """(places,) what each cluster's leanings, best predicted, add to the gradient"""
        if not taste:
            return np.zeros(len(self.slope))
        t = self.sums(by)
        leanings = [
            taste * np.linalg.solve(np.eye(self.systems) + taste * g, t[of, :, None])[..., 0] for of, g in self.inner(by)
        ]
        leaning, foreseen = np.concatenate(leanings), np.zeros(len(self.slope))
        for rows, second in self.information:
            foreseen[rows] = (second @ leaning[by[rows], self.given.system[rows]][..., None])[..., 0]
        return foreseen
