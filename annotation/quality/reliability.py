"""How reliable the systems' means are: would other people, on other contexts, put the systems in the same order?

Where a question asks for taste, people may differ and their mean still be known. So it isn't single answers that have to agree
(alpha), but means: the generalizability coefficient of the systems' means over people and contexts (Brennan 2001,
Generalizability Theory, chapters 3 and 4),

    G = between / (between + error) = 1 - 1 / F,    F = variance of the systems' means / their mean error variance.

The means are least squares: of scores with each annotator's severity and each context's difficulty taken off, of pairs as
points (1, 0, -1) for the first of two systems. People and contexts are both samples and cross each other, so the error is
V_people + V_contexts - V_both over clusters of answers (Cameron, Gelbach & Miller 2011, equation 2.10), and not below either
of the first two. Under no order, F has an F distribution with as many degrees of freedom as the errors have directions
(Brunner, Dette & Munk 1997: a system that divides people is one direction, not k - 1) and Satterthwaite's (1946) of the sum,
which gives G's interval (as Shrout & Fleiss 1979 for the intraclass correlation).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from annotation.quality.errors import UndefinedAgreement

Floats = NDArray[np.float64]
SPLITS = 20  # random halves of the people
SMALLEST = 1e-12  # variance of means: below, nothing varies
SMALLEST_VALUE = 1e-9  # of the largest eigenvalue: below, a difference is not known
CHUNK = 20_000  # cells of a person and a context whose moves are held at once


@dataclass(frozen=True)
class Reliability:
    """coefficient: G, with its 95% interval. p: chance of such an F where no system is better than another. split_half: mean
    correlation of the systems' means by two random halves of the people, stepped up to all of them (Spearman 1910, Brown
    1910); None with fewer than four people or three systems. systems, people, contexts, answers: how many it rests on; contexts
    that share a group count as one."""

    coefficient: float
    low: float
    high: float
    p: float
    split_half: float | None
    systems: int
    people: int
    contexts: int
    answers: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class _Design:
    """Answers as a linear model: rows (answers, columns), of which the first `systems` are theirs; y (answers,); people,
    contexts (answers,), numbered from 0. context: (answers, contexts) where each context has a difficulty, None where not."""

    rows: scipy.sparse.csr_array
    y: Floats
    systems: int
    people: NDArray[np.int64]
    contexts: NDArray[np.int64]
    has_difficulty: bool

    def of(self, kept: NDArray[np.bool_]) -> _Design:
        return _Design(self.rows[kept], self.y[kept], self.systems, self.people[kept], self.contexts[kept], self.has_difficulty)


def reliability_of_scores(
    annotator: ArrayLike, context: ArrayLike, system: ArrayLike, value: ArrayLike, seed: int = 0
) -> Reliability:
    """Of scores, (answers,) each. Raises UndefinedAgreement."""
    return _reliability(_of_scores(annotator, context, system, value), seed)


def _of_scores(annotator: ArrayLike, context: ArrayLike, system: ArrayLike, value: ArrayLike) -> _Design:
    people, contexts, systems = (_numbered(x) for x in (annotator, context, system))
    k = int(systems.max(initial=-1)) + 1
    rows = scipy.sparse.hstack([_one_hot(systems, k), _one_hot(people, int(people.max(initial=-1)) + 1)], format="csr")
    return _Design(rows, np.asarray(value, dtype=float), k, people, contexts, True)


def reliability_of_pairs(
    annotator: ArrayLike, context: ArrayLike, first: ArrayLike, second: ArrayLike, points: ArrayLike, seed: int = 0
) -> Reliability:
    """Of judgments of pairs, (answers,) each; points: 1 where the first is better, 0 a tie, -1. Raises UndefinedAgreement."""
    return _reliability(_of_pairs(annotator, context, first, second, points), seed)


def moves_of_scores(
    annotator: ArrayLike, context: ArrayLike, system: ArrayLike, value: ArrayLike
) -> tuple[NDArray[np.int64], Floats]:
    """(contexts, in order; by how much the answers about each move the systems' means: (contexts, systems)). Raises
    UndefinedAgreement."""
    return np.unique(np.asarray(context)), _moves(_of_scores(annotator, context, system, value))


def moves_of_pairs(
    annotator: ArrayLike, context: ArrayLike, first: ArrayLike, second: ArrayLike, points: ArrayLike
) -> tuple[NDArray[np.int64], Floats]:
    """The same of judgments of pairs."""
    apart = np.asarray(first) != np.asarray(second)
    return np.unique(np.asarray(context)[apart]), _moves(_of_pairs(annotator, context, first, second, points))


def _moves(design: _Design) -> Floats:
    if design.systems < 2 or len(design.y) == 0:
        raise UndefinedAgreement("only one system was judged")
    moves: Floats = _moved(design, _fitted(design), design.contexts).toarray()[:, : design.systems]
    return moves


def _of_pairs(annotator: ArrayLike, context: ArrayLike, first: ArrayLike, second: ArrayLike, points: ArrayLike) -> _Design:
    first, second = np.asarray(first), np.asarray(second)
    apart = first != second
    people, contexts = (_numbered(np.asarray(x)[apart]) for x in (annotator, context))
    both = _numbered(np.concatenate([first[apart], second[apart]]))
    k, n = int(both.max(initial=-1)) + 1, int(apart.sum())
    rows = (_one_hot(both[:n], k) - _one_hot(both[n:], k)).tocsr()
    return _Design(rows, np.asarray(points, dtype=float)[apart], k, people, contexts, False)


def _numbered(x: ArrayLike) -> NDArray[np.int64]:
    return np.unique(np.asarray(x), return_inverse=True)[1].astype(np.int64).ravel()


def _one_hot(codes: NDArray[np.int64], n: int) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)), shape=(len(codes), n))


def _reliability(design: _Design, seed: int) -> Reliability:
    people, contexts = (int(x.max(initial=-1)) + 1 for x in (design.people, design.contexts))
    if design.systems < 2:
        raise UndefinedAgreement("only one system was judged")
    if people < 2 or contexts < 2:
        raise UndefinedAgreement("only one person answered" if people < 2 else "all answers are about one context")
    fit = _fitted(design)
    left = len(design.y) - fit.parameters
    if fit.differences == 0 or left <= 0:
        raise UndefinedAgreement("there are too few answers to tell systems from people and contexts")
    of_people, of_contexts, of_both = (
        len(design.y) / left * _variance(design, fit, cluster)  # less what fitting took from the residuals
        for cluster in (design.people, design.contexts, design.people * contexts + design.contexts)
    )
    error, df1, df2 = _error(of_people, of_contexts, of_both, fit.differences, people, contexts)
    between = float(fit.means @ fit.means) / fit.differences
    if not between > SMALLEST:
        raise UndefinedAgreement("the systems' means do not vary")
    f = between / max(error, SMALLEST * between)
    unanimous = 2.0 ** (1 - len(design.y)) if error <= SMALLEST * between else 0.0  # all on one side by luck: a sign test
    low, high = (1 - scipy.special.fdtri(df1, df2, q) / f for q in (0.975, 0.025))
    return Reliability(
        coefficient=max(0.0, 1 - 1 / f),
        low=max(0.0, float(low)),
        high=max(0.0, float(high)),
        p=max(float(scipy.special.fdtrc(df1, df2, f)), unanimous),
        split_half=_split_half(design, people, seed) if fit.differences > 1 else None,
        systems=design.systems,
        people=people,
        contexts=contexts,
        answers=len(design.y),
    )


@dataclass(frozen=True)
class _Fit:
    """means: of the systems, each group of systems that met around 0. inverse: (systems, columns), of the normal equations,
    around the same. residual: (answers,). mean_rows: (contexts, columns), the mean row of each context that has a difficulty.
    differences: between systems, as many as are known. parameters: how many were fitted."""

    means: Floats
    inverse: Floats
    residual: Floats
    mean_rows: scipy.sparse.csr_array | None
    differences: int
    parameters: int


def _fitted(design: _Design) -> _Fit:
    """Least squares; difficulties of contexts are taken off first."""
    rows, y, k = design.rows, design.y, design.systems
    normal, right, mean_rows = (rows.T @ rows).toarray(), rows.T @ y, None
    contexts = np.zeros(0, dtype=np.int64)
    if design.has_difficulty:
        contexts, number = np.unique(design.contexts, return_inverse=True)
        member = _one_hot(number, len(contexts)).T.tocsr()  # (contexts, answers)
        total = member @ rows
        mean_rows = (scipy.sparse.diags_array(1 / member.sum(axis=1)) @ total).tocsr()
        normal, right = normal - (total.T @ mean_rows).toarray(), right - mean_rows.T @ (member @ y)
    values, vectors = np.linalg.eigh(normal)
    known = values > SMALLEST_VALUE * max(values[-1], 1.0)
    inverse = (vectors[:, known] / values[known]) @ vectors[:, known].T
    solution = inverse @ right
    residual = y - rows @ solution
    if mean_rows is not None:
        residual -= (np.bincount(number, residual) / np.bincount(number))[number]
    means, inverse = solution[:k], inverse[:k]
    groups = np.unique(
        scipy.sparse.csgraph.connected_components(np.abs(normal) > SMALLEST_VALUE, directed=False)[1][:k], return_inverse=True
    )[1]
    for group in range(int(groups.max()) + 1):
        means[groups == group] -= means[groups == group].mean()
        inverse[groups == group] -= inverse[groups == group].mean(axis=0)
    return _Fit(means, inverse, residual, mean_rows, k - int(groups.max()) - 1, int(known.sum()) + len(contexts))


def _variance(design: _Design, fit: _Fit, cluster: NDArray[np.int64]) -> Floats:
    """Of the systems' means, over clusters of answers (answers,): (systems, systems)."""
    moves = _moved(design, fit, cluster)
    n, total = int(moves.shape[0]), np.zeros((design.systems, design.systems))
    for start in range(0, n, CHUNK):
        moved = moves[start : start + CHUNK] @ fit.inverse.T
        total += moved.T @ moved
    variance: Floats = total * (n / (n - 1))
    return variance


def _moved(design: _Design, fit: _Fit, cluster: NDArray[np.int64]) -> scipy.sparse.csr_array:
    """What each cluster of answers adds to the normal equations' right side, beyond the fit: (clusters, columns)."""
    number = _numbered(cluster)
    member = (_one_hot(number, int(number.max()) + 1).T @ scipy.sparse.diags_array(fit.residual)).tocsr()  # (clusters, answers)
    moves = member @ design.rows
    if fit.mean_rows is not None:
        moves = moves - (member @ _one_hot(_numbered(design.contexts), fit.mean_rows.shape[0])) @ fit.mean_rows
    return moves.tocsr()


def _error(
    people: Floats, contexts: Floats, both: Floats, rank: int, n_people: int, n_contexts: int
) -> tuple[float, float, float]:
    """(mean error variance, directions in which errors lie, degrees of freedom) of three variances (systems, systems)."""
    of_people, of_contexts, of_both = (float(np.trace(v)) for v in (people, contexts, both))
    total = max(of_people, of_contexts, of_people + of_contexts - of_both)
    if total <= 0:
        return 0.0, 1.0, 1.0
    wide, long = _directions(people, n_people - 1, rank), _directions(contexts, n_contexts - 1, rank)
    uncertain = of_people**2 / (wide * (n_people - 1)) + of_contexts**2 / (long * (n_contexts - 1))
    least = min(wide * (n_people - 1), long * (n_contexts - 1))
    df1 = (of_people + of_contexts) ** 2 / (of_people**2 / wide + of_contexts**2 / long)
    df2 = max(least, total**2 / uncertain)
    return total / rank, min(float(rank), df1), df2


def _directions(variance: Floats, df: int, rank: int) -> float:
    """In how many directions a variance lies that was estimated with so many degrees of freedom: (tr V)^2 / tr(V^2), less what
    its own noise adds."""
    trace = float(np.trace(variance))
    if trace <= 0:
        return float(rank)
    share = float((variance * variance).sum()) / trace**2 - 1 / df
    return float(np.clip(1 / share, 1.0, rank)) if share > 0 else float(rank)


def _split_half(design: _Design, people: int, seed: int) -> float | None:
    if people < 4:
        return None
    rng, found = np.random.default_rng(seed), []
    for _ in range(SPLITS):
        half = np.zeros(people, dtype=bool)
        half[rng.permutation(people)[: people // 2]] = True
        one, other = (_fitted(design.of(side[design.people])).means for side in (half, ~half))
        if one.std() > 0 and other.std() > 0:
            found.append(float(np.corrcoef(one, other)[0, 1]))
    if not found:
        return None
    r = float(np.mean(found))
    return 2 * r / (1 + r) if r > -1 else -1.0
