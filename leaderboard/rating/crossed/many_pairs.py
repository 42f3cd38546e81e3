"""Judgments of pairs, however many, by Bradley and Terry's model (1952; a tie is half a win) as generalised estimating
equations (Liang & Zeger 1986): people's leanings to systems are in the working covariance, outputs are not. That a context's
judgments vary together is in the variances alone: the model's, and the sandwich (`sandwich`). So no matrix is larger than the
systems.

A person's judgments have the covariance D^-1 + v X X', with D their precisions, v the variance of leanings and X (judgments,
systems) 1 and -1 where a system is first and second. By Woodbury's identity all that counts of a person is G = X' D X and
X' D r, (systems, systems) and (systems,), sums over the judgments: X' V^-1 X = G (1 + v G)^-1, X' V^-1 r = (1 + v G)^-1 X' D r.
v is found by moments. The square of a person's X' D r, less those of each of the person's contexts, is expected to be
v (tr G^2 less theirs); what an output adds to all judgments of it, luck, is found alike: a context's square less those of each
of its people. People come in chunks, so that memory is bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from leaderboard.rating.crossed.sandwich import Clusters, Contrasts, Gathered

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

AT_ONCE = 4_000_000  # numbers of one array
ROUNDS, SETTLED = 30, 1e-6  # logits
WEIGHED = 3  # rounds with people's leanings in the weights
MOST_WEIGHED = 20_000_000
MOST_CONTEXTS = 1_000  # whose part in the estimate is worked out


@dataclass(frozen=True)
class ManyPairs:
    """effects: (p,) logits; taste, luck: the variances of leanings and of outputs; uncertainty: of the first; covariance,
    alone, chance: (p, p) of the effects by the model, without people's leanings, and what judgments alone add; people,
    contexts, both: as `sandwich` takes them; by_context: (contexts, p), what each context moves the effects.
    answers: (judgments, p), what each weighs in each effect, and left: (2, judgments), what is unexpected of each, in logits,
    with and without what its person would have said anywhere; no rows of more than MOST_WEIGHED numbers."""

    effects: Floats
    taste: float
    luck: float
    uncertainty: float
    covariance: Floats
    alone: Floats
    chance: Floats
    people: Clusters
    contexts: Clusters
    both: Clusters
    by_context: Floats
    answers: Floats
    left: Floats


@dataclass(frozen=True)
class _Judged:
    """By person. All (n,), sorted by person and context: first, second, y in 0, 1/2, 1; person, context: from 0."""

    first: Integers
    second: Integers
    y: Floats
    person: Integers
    context: Integers
    systems: int

    def laplacians(self, rows: slice, by: Integers, count: int, weight: Floats) -> Floats:
        """X' D X of the rows of each of `by`: (count, s, s)"""
        s, w = self.systems, weight[rows]
        f, g, k = self.first[rows], self.second[rows], by * s * s
        flat = np.bincount(k + f * s + f, w, count * s * s) + np.bincount(k + g * s + g, w, count * s * s)
        flat -= np.bincount(k + f * s + g, w, count * s * s) + np.bincount(k + g * s + f, w, count * s * s)
        return np.asarray(flat.reshape(count, s, s))

    def scores(self, rows: slice, by: Integers, count: int, value: Floats) -> Floats:
        """X' value of the rows of each of `by`: (count, s)"""
        s, v = self.systems, value[rows]
        flat = np.bincount(by * s + self.first[rows], v, count * s) - np.bincount(by * s + self.second[rows], v, count * s)
        return np.asarray(flat.reshape(count, s))

    def cells(self) -> Integers:
        """(n,) the number of each judgment's person on its context"""
        begins = (np.diff(self.person, prepend=-1) != 0) | (np.diff(self.context, prepend=-1) != 0)
        return np.cumsum(begins) - 1

    def squares(self, by: Integers, of: Integers, value: Floats, signed: bool) -> Floats:
        """Of each of `of` (n,), which holds whole ones of `by` (n,): the sum of |X' value|^2 of those, or, not signed, of
        tr (X' D X)^2 with D the values."""
        s, ends = self.systems, (self.first, self.second)
        sides = np.concatenate([by * s + end for end in ends])
        keys = [(sides, np.concatenate([value, -value if signed else value]), 1.0)]
        if not signed:
            pair = np.minimum(*ends) * s + np.maximum(*ends)
            keys.append((by * s * s + pair, value, 2.0))
        total = np.zeros(int(of.max()) + 1)
        for key, values, times in keys:
            _, one, number = np.unique(key, return_index=True, return_inverse=True)
            total += times * np.bincount(of[one % len(of)], np.bincount(number, values) ** 2, len(total))
        return total

    def chunks(self) -> Iterator[tuple[slice, Integers, int]]:
        """(the rows of some people, their numbers from 0, how many people)"""
        ends = np.append(np.flatnonzero(np.diff(self.person, prepend=-1)), len(self.person))
        each = max(1, AT_ONCE // self.systems**2)
        for start in range(0, len(ends) - 1, each):
            stop = min(start + each, len(ends) - 1)
            rows = slice(int(ends[start]), int(ends[stop]))
            yield rows, self.person[rows] - self.person[rows.start], stop - start


def read(
    first: Integers, second: Integers, y: Floats, context: Integers, person: Integers, contrasts: Contrasts, ridge: float
) -> ManyPairs:
    """All (judgments,), numbered from 0 without gaps; ridge: precision of a normal prior of the effects around 0."""
    order = np.lexsort((context, person))
    columns = (first[order], second[order], y[order], person[order], context[order])
    judged, basis = _Judged(*columns, systems=len(contrasts.systems)), contrasts.systems
    b, taste, uncertainty = np.zeros(basis.shape[1]), 0.0, 0.0
    for turn in range(ROUNDS):
        weight, value = _linearised(judged, basis @ b)
        information, score = _weighed(judged, weight, value, taste)
        reduced = basis.T @ information @ basis
        step = np.linalg.solve(reduced + ridge * np.eye(len(b)), basis.T @ score - ridge * b)
        b = b + step
        if turn >= WEIGHED and taste and np.abs(step).max() < SETTLED:
            break
        if np.abs(step).max() < 0.01 and not taste:
            taste, uncertainty = _leanings(judged, *_linearised(judged, basis @ b))
            if not taste:
                break
    return _told(judged, contrasts, b, taste, uncertainty, np.argsort(order))


def _linearised(judged: _Judged, strength: Floats) -> tuple[Floats, Floats]:
    """(precision of each judgment in logits, precision times what is unexpected): (n,) each. Ties leave less to chance."""
    p = scipy.special.expit(strength[judged.first] - strength[judged.second])
    slope = np.maximum(p * (1 - p), 1e-6)
    left = max(1 - float((judged.y == 0.5).sum()) / (4 * float(slope.sum()) + 1), 1e-3)
    return slope / left, (judged.y - p) / left


def _weighed(judged: _Judged, weight: Floats, value: Floats, taste: float) -> tuple[Floats, Floats]:
    """X' V^-1 X (s, s) and X' V^-1 r (s,)"""
    s = judged.systems
    information, score = np.zeros((s, s)), np.zeros(s)
    for rows, by, count in judged.chunks():
        g, t = judged.laplacians(rows, by, count, weight), judged.scores(rows, by, count, value)
        if taste:
            shrunk = np.linalg.inv(np.eye(s) + taste * g)  # (count, s, s)
            g, t = shrunk @ g, np.einsum("kij,kj->ki", shrunk, t)
        information, score = information + g.sum(axis=0), score + t.sum(axis=0)
    return information, score


def _leanings(judged: _Judged, weight: Floats, value: Floats) -> tuple[float, float]:
    """(variance of people's leanings, not below 0; the variance of that estimate, over people)"""
    whole, cells = judged.person, judged.cells()
    e, q = (
        judged.squares(whole, whole, v, signed) - judged.squares(cells, whole, v, signed)
        for v, signed in ((value, True), (weight, False))
    )
    if q.sum() <= 0:  # nobody judged on two contexts
        return 0.0, 0.0
    taste = max(float(e.sum() / q.sum()), 0.0)
    return taste, float(((e - taste * q) ** 2).sum() / q.sum() ** 2)


def _luck(judged: _Judged, weight: Floats, value: Floats) -> float:
    """The variance of outputs, not below 0."""
    whole, cells = judged.context, judged.cells()
    e, q = (
        (judged.squares(whole, whole, v, signed) - judged.squares(cells, whole, v, signed)).sum()
        for v, signed in ((value, True), (weight, False))
    )
    return max(float(e / q), 0.0) if q > 0 else 0.0


def _told(judged: _Judged, contrasts: Contrasts, b: Floats, taste: float, uncertainty: float, order: Integers) -> ManyPairs:
    """What the sums over people, over contexts and over both say of the estimate. order: (judgments,), as they were given"""
    s, basis = judged.systems, contrasts.systems
    weight, value = _linearised(judged, basis @ b)
    information, _ = _weighed(judged, weight, value, taste)
    q = np.linalg.inv(basis.T @ information @ basis)
    side, luck = q @ basis.T, _luck(judged, weight, value)
    parts, times = _context_parts(judged, weight, basis)
    model = q + luck * times * sum((h @ h.T for h, _ in parts()), np.zeros_like(q))
    root, people, places = np.linalg.cholesky(model), Gathered(contrasts, len(q)), Gathered(contrasts, len(q))
    for h, alone in parts():
        places.add(h @ root, alone + luck * h @ h.T)
    contexts = int(judged.context.max()) + 1
    by_context, own = np.zeros((contexts, s)), np.zeros((contexts, s))
    sums, squares, chance = [], np.zeros((s, s)), np.zeros((s, s))
    answers, foreseen = np.zeros((len(value) if len(value) * len(q) <= MOST_WEIGHED else 0, len(q))), np.zeros(len(value))
    for rows, by, count in judged.chunks():
        g, t = judged.laplacians(rows, by, count, weight), judged.scores(rows, by, count, value)
        shrunk = np.linalg.inv(np.eye(s) + taste * g)  # (count, s, s), not symmetric
        chance += (shrunk @ g @ shrunk.transpose(0, 2, 1)).sum(axis=0)
        of_people = np.einsum("kij,kj->ki", shrunk, t)
        leaning = taste * of_people
        sums.append(of_people @ side.T)
        for one in shrunk @ g:
            people.add(side @ (one @ (basis @ root)), side @ one @ side.T)
        expected = weight[rows] * (leaning[by, judged.first[rows]] - leaning[by, judged.second[rows]])
        foreseen[rows] = expected
        if len(answers):
            turn = (side @ shrunk).transpose(0, 2, 1)  # (count, s, p)
            answers[rows] = weight[rows, None] * (turn[by, judged.first[rows]] - turn[by, judged.second[rows]])
        cell, where, whose = _cells(by, judged.context[rows])
        all_of, own_of = (
            judged.scores(rows, cell, len(where), v) for v in (value, value - _placed(expected, rows, len(value)))
        )
        ends = np.searchsorted(whose, np.arange(count + 1))
        for k in range(count):
            here = slice(ends[k], ends[k + 1])
            turned = all_of[here] @ shrunk[k].T
            squares += turned.T @ turned
            by_context[where[here]] += turned  # a person has one cell in each context
            own[where[here]] += own_of[here] @ shrunk[k].T
    nothing = np.zeros_like(q)
    both = Clusters(side @ squares @ side.T, nothing, np.ones(len(contrasts.compared)))
    chance = side @ chance @ side.T
    told: dict[str, Any] = {"people": people.clusters(np.concatenate(sums)), "both": both, "by_context": own @ side.T}
    told["contexts"] = places.clusters(by_context @ side.T, times)
    left = np.stack([value, value - foreseen])[:, : len(answers)] / weight[: len(answers)]
    if len(answers):
        answers, left = answers[order], left[:, order]
    return ManyPairs(b, taste, luck, uncertainty, model, model - q + chance, chance, **told, answers=answers, left=left)


def _placed(values: Floats, rows: slice, n: int) -> Floats:
    """(n,) with the values at these rows, else 0"""
    whole = np.zeros(n)
    whole[rows] = values
    return whole


def _cells(by: Integers, context: Integers) -> tuple[Integers, Integers, Integers]:
    """(the cell of each row, the context and the person of each cell); rows are sorted by both"""
    begins = (np.diff(by, prepend=-1) != 0) | (np.diff(context, prepend=-1) != 0)
    first = np.flatnonzero(begins)
    return np.cumsum(begins) - 1, context[first], by[first]


def _context_parts(
    judged: _Judged, weight: Floats, basis: Floats
) -> tuple[Callable[[], Iterator[tuple[Floats, Floats]]], float]:
    """(each context's part h in the estimate as it is without leanings, and what its judgments add by chance alone, (p, p)
    each; how many contexts each stands for)"""
    contexts = int(judged.context.max()) + 1
    drawn = np.sort(np.random.default_rng(0).permutation(contexts)[:MOST_CONTEXTS])
    whole = judged.laplacians(slice(None), np.zeros(len(weight), dtype=np.int64), 1, weight)[0]
    inverse = np.linalg.inv(basis.T @ whole @ basis) @ basis.T
    order = np.argsort(judged.context, kind="stable")
    ends = np.searchsorted(judged.context[order], np.arange(contexts + 1))

    def parts() -> Iterator[tuple[Floats, Floats]]:
        for c in drawn:
            rows = order[ends[c] : ends[c + 1]]
            columns = (judged.first[rows], judged.second[rows], judged.y[rows], judged.person[rows], rows)
            here = _Judged(*columns, judged.systems)
            g = here.laplacians(slice(None), np.zeros(len(rows), dtype=np.int64), 1, weight[rows])[0]
            yield inverse @ g @ basis, inverse @ g @ inverse.T

    return parts, contexts / len(drawn)
