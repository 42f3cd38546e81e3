"""A linear mixed model of answers: what each system is worth, and how much contexts, outputs and annotators vary.

    y = X b + sum_k Z_k u_k + e,    u_k ~ N(0, s2_k I),    e_i ~ N(0, s2 / w_i)

b (the systems) is estimated by generalised least squares, the variances by restricted maximum likelihood (REML: Patterson &
Thompson 1971; Searle, Casella & McCulloch 1992, Variance Components, chapter 6). V, the variance of y, is never formed. Terms
that stay inside a context (an output, the context itself) are eliminated context by context, and the others (annotators, and
what they have with systems) in one dense matrix, by Woodbury's identity, as in Henderson's mixed model equations.

A variance of an estimate l'b is a sum over the terms, s2_k g_k(l) + ..., so that it can be given with or without what
annotators add. Its degrees of freedom are Satterthwaite's: 2 v^2 / Var(v), with the variances' covariance from their expected
information (Giesbrecht & Burns 1985; Kuznetsova, Brockhoff & Christensen 2017, "lmerTest", section 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Operator = Callable[[Floats], Floats]

MOST_DENSE = 1_200  # levels of the terms between contexts that one dense matrix takes; more are solved by conjugate gradients
MOST_EXACT = 2_500  # levels of all terms whose information is worked out in full
LARGEST_RATIO = 1e4  # of a term's variance to that of a single answer
STEP = 1e-4  # of a numerical gradient, in units of the curvature: rounding of a deviance of 1e5 leaves 1e-6 of a gradient
TOLERANCE, LEAST_SOLVED = 1e-10, 1e-6  # of conjugate gradients: what is aimed at, and what is refused where it is missed
MOST_STEPS = 1000  # of them


@dataclass(frozen=True)
class Term:
    """Random effects of one kind. columns: int (answers, c), which levels an answer has; values: (c,) or (answers, c), how much
    of each, such as 1 and -1.

    inside: int (levels,), the context of each level, where the term stays inside a context; else None.
    """

    name: str
    columns: NDArray[np.int64]
    levels: int
    values: Floats | tuple[float, ...] = (1.0,)
    inside: NDArray[np.int64] | None = None

    def matrix(self) -> scipy.sparse.csr_matrix:
        """Z (answers, levels)."""
        n, k = self.columns.shape
        values = np.broadcast_to(np.asarray(self.values, dtype=float), (n, k))
        return scipy.sparse.csr_matrix(
            (values.ravel(), self.columns.ravel(), np.arange(0, n * k + 1, k)), shape=(n, self.levels)
        )


@dataclass(frozen=True)
class Fit:
    """effects: (p,); variances: of the terms by name, and "answer" for single answers; parts: name -> (p, p), so that the
    covariance of the effects is the sum of variances[name] * parts[name]; information: (terms + 1, terms + 1) expected, of
    the variances in the order of `variances` (a row of zeros: taken as known); answers: (answers, p), what each answer weighs
    in each effect, so that without a ridge the effects are answers.T @ y; predicted: name -> (levels,), the best predictor
    of each level of a term between contexts."""

    effects: Floats
    variances: dict[str, float]
    parts: dict[str, Floats]
    information: Floats
    deviance: float
    answers: Floats
    predicted: dict[str, Floats]

    def covariance(self, without: Sequence[str] = ()) -> Floats:
        """(p, p), less what the named terms add."""
        total: Floats = sum(
            (v * self.parts[name] for name, v in self.variances.items() if name not in without),
            np.zeros_like(self.parts["answer"]),
        )
        return total

    def freedom(self, contrasts: Floats, without: Sequence[str] = ()) -> Floats:
        """Satterthwaite's degrees of freedom of contrasts (m, p) -> (m,)"""
        names = [name for name in self.variances if name not in without]
        gradient = np.stack([((contrasts @ self.parts[name]) * contrasts).sum(-1) for name in names], axis=-1)  # (m, k)
        variance = gradient @ np.array([self.variances[name] for name in names])
        kept, uncertain = self._uncertain(without)
        g = gradient[:, [names.index(name) for name in kept]]
        spread = ((g @ uncertain) * g).sum(-1)
        return np.asarray(np.where(spread > 0, 2 * variance**2 / np.where(spread > 0, spread, 1.0), np.inf))

    def uncertainty(self, name: str) -> float:
        """The variance with which this term's variance was estimated; 0 where it was taken as known."""
        kept, uncertain = self._uncertain()
        return float(uncertain[kept.index(name), kept.index(name)]) if name in kept else 0.0

    def _uncertain(self, without: Sequence[str] = ()) -> tuple[list[str], Floats]:
        """(names of the terms whose variances were estimated, the covariance of those estimates)"""
        kept = [i for i, name in enumerate(self.variances) if name not in without and self.information[i, i] > 0]
        covariance = np.linalg.pinv(self.information[np.ix_(kept, kept)], hermitian=True)
        return [list(self.variances)[i] for i in kept], np.asarray(covariance)


def fit(
    y: Floats,
    x: Floats | scipy.sparse.csr_matrix,
    terms: Sequence[Term],
    weights: Floats | None = None,
    answer_variance: float | None = None,
    variances: dict[str, float] | None = None,
    basis: Floats | None = None,
    least: float = 0.0,
    start: dict[str, float] | None = None,
) -> Fit:
    """REML; the rest as in `Problem`, and start as in `Problem.likeliest`.

    answer_variance: s2 where it is known, else estimated. variances: takes these as they are, and estimates the effects
    alone."""
    problem = Problem(y, x, terms, weights, basis, least=least)
    if variances is not None:
        return problem.solved(problem.ratios(variances), variances["answer"])
    return problem.solved(problem.likeliest(answer_variance, start), answer_variance)


class Problem:
    """The data in the two parts that elimination needs; d levels between contexts, p effects."""

    def __init__(
        self,
        y: Floats,
        x: Floats | scipy.sparse.csr_matrix,
        terms: Sequence[Term],
        weights: Floats | None = None,
        basis: Floats | None = None,
        ridge: float = 0.0,
        least: float = 0.0,
    ):
        """y: (answers,); x: (answers, s), and x @ basis (answers, p) is of full rank (basis: (s, p), the identity where it is
        left out); weights: (answers,). ridge: precision of a normal prior of the effects around 0, which moves the estimates
        only. least: what s2 is taken to be at least, where it is estimated."""
        x = scipy.sparse.csr_matrix(x)
        basis = np.eye(x.shape[1]) if basis is None else basis
        weights = np.ones(len(y)) if weights is None else weights
        self.terms = [*(t for t in terms if t.inside is not None), *(t for t in terms if t.inside is None)]
        inner, outer = [t for t in terms if t.inside is not None], [t for t in terms if t.inside is None]
        self.n, self.p, self.ridge, self.least = len(y), basis.shape[1], ridge, max(least, 1e-12)
        self.inner, self.outer = [t.levels for t in inner], [t.levels for t in outer]
        self.d = sum(self.outer)
        given = [*(t.matrix() for t in outer), x, scipy.sparse.csr_matrix(y[:, None])]
        b = scipy.sparse.hstack(given, format="csr")  # (n, d + s + 1)
        wb = scipy.sparse.csr_matrix(scipy.sparse.diags_array(weights) @ b)
        kept = scipy.sparse.eye_array(self.d)
        project = scipy.sparse.block_diag([kept, basis, np.ones((1, 1))], format="csr")  # (d + s + 1, d + p + 1)
        self.log_weights = float(np.log(weights).sum())
        self.blocks = _Blocks(inner, weights, wb, project)
        self.gram = scipy.sparse.csr_matrix(project.T @ (b.T @ wb) @ project)  # (d + p + 1, d + p + 1)
        self.weights, self.b, self.project = weights, b, project
        self.direct = self.d <= MOST_DENSE
        self.known: dict[bytes, tuple[float, Floats]] = {}

    @cached_property
    def gram_dense(self) -> Floats:
        return np.asarray(self.gram.toarray())

    def ratios(self, variances: dict[str, float]) -> Floats:
        """s2_k / s2 (terms,)"""
        return np.array([variances[t.name] / variances["answer"] for t in self.terms])

    def likeliest(
        self, answer_variance: float | None = None, start: dict[str, float] | None = None, held: bool = False
    ) -> Floats:
        """The ratios (terms,) of largest restricted likelihood. start: variances to start from, close enough for the curvature
        there to hold. held: terms inside contexts keep the variances that they start from, so that one elimination serves
        all."""
        first = self.ratios(start) if start else np.full(len(self.terms), 0.3)
        fixed = first[: len(self.inner) if held else 0]
        if len(fixed) == len(first):
            return first
        deviance: Callable[[Floats], float] = lambda free: self.deviance(np.concatenate([fixed, free]), answer_variance)
        free = first[len(fixed) :]
        unit = _units(deviance, free) if start else np.ones(len(free))

        def steep(at: Floats) -> tuple[float, Floats]:
            value, slope = self.with_slope(np.concatenate([fixed, at * unit]), answer_variance, len(at))
            return value, slope * unit

        by_slope = self.blocks.dense
        estimate = scipy.optimize.minimize(
            steep if by_slope else lambda at: deviance(at * unit),
            free / unit,
            jac=by_slope,
            method="L-BFGS-B",
            bounds=[(0.0, LARGEST_RATIO / one) for one in unit],
            options={"ftol": 1e-10, "gtol": 1e-5, "eps": STEP if start else 1e-8},
        )
        return np.concatenate([fixed, estimate.x * unit])

    def deviance(self, ratios: Floats, answer_variance: float | None) -> float:
        """-2 log restricted likelihood, less a constant."""
        log_det, small, _ = self._eliminated(*self._split(ratios))
        return self._deviance(log_det, small, answer_variance)[0]

    def _deviance(self, log_det: float, small: Floats, answer_variance: float | None) -> tuple[float, float]:
        """(the deviance, s2)"""
        p = self.p
        chol = np.linalg.cholesky(small[:p, :p])
        half = scipy.linalg.solve_triangular(chol, small[:p, p], lower=True)
        rest = float(small[p, p] - half @ half)
        log_det += 2 * float(np.log(np.diag(chol)).sum()) - self.log_weights
        left = self.n - p
        s2 = max(rest / left, self.least) if answer_variance is None else answer_variance
        return float(left * np.log(s2) + log_det + rest / s2), s2

    def with_slope(self, ratios: Floats, answer_variance: float | None, last: int) -> tuple[float, Floats]:
        """(the deviance, its derivatives by the last so many ratios: tr(Z_k' P Z_k) - |Z_k' P y|^2 / s2, with P of s2 = 1;
        Searle, Casella & McCulloch 1992, section 6.6)"""
        inner, outer = self._split(ratios)
        log_det, small, solution = self._eliminated(inner, outer)
        deviance, s2 = self._deviance(log_det, small, answer_variance)
        d, p = self.d, self.p
        inverse = np.linalg.inv(small[:p, :p])
        explained = np.append(-inverse @ small[:p, p], 1.0)  # y, less what the systems explain
        _, s = self._inside(inner)
        root, factor = self._between(s, outer)

        def slope(own: Floats, rows: Floats) -> Floats:
            """own: (levels,) the diagonal of Z' M Z; rows: (levels, d + p + 1) Z' M B"""
            rest = rows[:, d:] - rows[:, :d] @ solution
            of_systems = ((rest[:, :p] @ inverse) * rest[:, :p]).sum(1)
            between = (
                scipy.linalg.solve_triangular(factor, root[:, None] * rows[:, :d].T, lower=True)
                if d
                else np.zeros((1, len(rows)))
            )
            return np.asarray(own - (between**2).sum(0) - of_systems - (rest @ explained) ** 2 / s2)

        found: Floats = np.zeros(0)
        if last > len(self.outer) and len(inner):
            of_term = slope(*self.blocks.diagonal(inner))
            found = np.asarray(np.bincount(self.blocks.term, of_term, len(inner)), dtype=float)
        of_level = slope(np.diag(s)[:d], s[:d])
        term = np.repeat(np.arange(len(self.outer)), self.outer)
        return deviance, np.asarray(np.concatenate([found, np.bincount(term, of_level, len(self.outer))])[-last:])

    def _between(self, s: Floats, outer: Floats) -> tuple[Floats, Floats]:
        """(the roots of the levels' ratios (d,), the lower factor of I + root S root (d, d))"""
        root = np.sqrt(outer)
        r = root[:, None] * s[: self.d, : self.d] * root
        r[np.arange(self.d), np.arange(self.d)] += 1.0
        return root, np.asarray(np.linalg.cholesky(r))

    def _split(self, ratios: Floats) -> tuple[Floats, Floats]:
        """Ratios of the terms inside contexts, and of each level between them (d,)"""
        k = len(self.inner)
        return np.asarray(ratios[:k]), np.repeat(ratios[k:], self.outer)

    def _inside(self, inner: Floats) -> tuple[float, Floats]:
        """(log determinant, what the terms inside contexts leave of the rest). Kept for the last ratios: a numerical gradient
        comes back to where it began after a step along each of them."""
        key = inner.tobytes()
        if key not in self.known:
            self.known[key] = self.blocks.eliminate(inner, self.gram_dense)
            if len(self.known) > len(inner) + 1:
                del self.known[next(iter(self.known))]
        return self.known[key]

    def _eliminated(self, inner: Floats, outer: Floats) -> tuple[float, Floats, Floats]:
        """(log determinant, what is left of X and y (p + 1, p + 1), the solution (d, p + 1) between contexts)"""
        log_det, s = self._inside(inner)
        d = self.d
        if d == 0:
            return log_det, s, np.zeros((0, self.p + 1))
        root, factor = self._between(s, outer)
        right = root[:, None] * s[:d, d:]
        solution = root[:, None] * scipy.linalg.cho_solve((factor, True), right, check_finite=False)  # (d, p + 1)
        log_det += 2 * float(np.log(np.diag(factor)).sum())
        return log_det, s[d:, d:] - s[d:, :d] @ solution, solution

    def solved(self, ratios: Floats, answer_variance: float | None = None, informed: bool = True) -> Fit:
        """informed: whether more than the effects, the variances and the predictions is worked out; if not, the rest is
        zeros."""
        inner, outer = self._split(ratios)
        p = self.p
        if self.direct:
            _, small, solution = self._eliminated(inner, outer)
        else:
            small, solution = self._by_gradients(inner, outer)
        information = small[:p, :p]
        inverse = np.linalg.inv(information)
        rest = float(small[p, p] - small[:p, p] @ inverse @ small[:p, p])
        s2 = max(rest / (self.n - p), self.least) if answer_variance is None else answer_variance
        effects = np.linalg.solve(information + self.ridge * s2 * np.eye(p), small[:p, p])
        variances = dict(zip([t.name for t in self.terms], (ratios * s2).tolist())) | {"answer": s2}
        of_levels = np.split(solution[:, p] - solution[:, :p] @ effects, np.cumsum(self.outer)[:-1]) if self.outer else []
        predicted = dict(zip([t.name for t in self.terms[len(self.inner) :]], of_levels))
        k = len(self.terms) + 1
        if not informed:
            none = np.zeros((p, p))
            parts = {name: none for name in variances}
            return Fit(np.asarray(effects), variances, parts, np.zeros((k, k)), np.nan, np.zeros((self.n, p)), predicted)
        combined = np.vstack([-solution[:, :p], np.eye(p), np.zeros((1, p))])  # B @ combined: X, less what the rest explains
        f = self._of_levels(inner, combined)  # each (levels, p): Z_k' V^-1 X s2
        parts = {t.name: inverse @ (one.T @ one) @ inverse for t, one in zip(self.terms, f)}
        parts["answer"] = inverse - sum((r * parts[t.name] for t, r in zip(self.terms, ratios)), np.zeros((p, p)))
        info = self._information(inner, outer, s2, answer_variance is not None)
        deviance = self.deviance(ratios, answer_variance) if self.direct else np.nan
        return Fit(
            np.asarray(effects), variances, parts, info, deviance, self._of_answers(inner, combined) @ inverse, predicted
        )

    def _of_answers(self, inner: Floats, combined: Floats) -> Floats:
        """V^-1 X s2, (answers, p)"""
        plain = self.b @ (self.project @ combined)
        return np.asarray(self.weights[:, None] * (plain - self.blocks.explained(inner, combined)))

    def _by_gradients(self, inner: Floats, outer: Floats) -> tuple[Floats, Floats]:
        """As `_eliminated`, without the dense matrix."""
        d, root = self.d, np.sqrt(outer)[:, None]
        times, diagonal = self.blocks.operator(inner, self.gram)
        right = times(np.vstack([np.zeros((d, self.p + 1)), np.eye(self.p + 1)]))  # (d + p + 1, p + 1)
        scale = 1 + root[:, 0] ** 2 * diagonal[:d]

        def r(v: Floats) -> Floats:
            full = np.vstack([root * v, np.zeros((self.p + 1, v.shape[1]))])
            return v + root * times(full)[:d]

        solution = root * _conjugate_gradients(r, root * right[:d], scale)
        return right[d:] - right[:d].T @ solution, solution

    def _of_levels(self, inner: Floats, combined: Floats) -> list[Floats]:
        """Z_k' V^-1 X s2 of each term, (levels, p)"""
        times, _ = self.blocks.operator(inner, self.gram)
        outer = times(combined)[: self.d]
        ends = np.cumsum(self.outer)[:-1]
        return (
            [*self.blocks.levels(inner, combined), *np.split(outer, ends)]
            if self.outer
            else self.blocks.levels(inner, combined)
        )

    def _information(self, inner: Floats, outer: Floats, s2: float, known: bool) -> Floats:
        """Expected information of the variances, tr(P V_i P V_j) / 2, in the order of the terms and then "answer". Where there
        are more levels than MOST_EXACT, what the terms inside contexts and those between them say of each other is left out."""
        exact = sum(self.inner) + self.d <= MOST_EXACT and self.direct
        k = len(self.terms)
        info = np.zeros((k + 1, k + 1))
        if not self.direct:
            return info
        _, s = self._inside(inner)
        d, p = self.d, self.p
        root = np.sqrt(outer)
        r = root[:, None] * s[:d, :d] * root + np.eye(d)
        middle = root[:, None] * np.linalg.solve(r, np.diag(root))  # (d, d)
        dx = s[:d, d : d + p] - s[:d, :d] @ middle @ s[:d, d : d + p]  # (d, p) Z' V^-1 X s2
        left = s[d : d + p, d : d + p] - s[d : d + p, :d] @ middle @ s[:d, d : d + p]
        inverse = np.linalg.inv(left)
        if not exact:
            among = (s[:d, :d] - s[:d, :d] @ middle @ s[:d, :d] - dx @ inverse @ dx.T) / s2
            info[:k, :k] = _traces(among, self.outer, len(self.inner), k)
            info[: len(self.inner), : len(self.inner)] = self.blocks.information(inner) / s2**2
            return info
        core = np.zeros((d + p, d + p))  # P = M - M B core B' M over [Z, X]
        core[:d, :d] = middle - middle @ s[:d, d : d + p] @ -inverse @ s[d : d + p, :d] @ middle
        core[:d, d:] = -middle @ s[:d, d : d + p] @ inverse
        core[d:, :d] = core[:d, d:].T
        core[d:, d:] = inverse
        inside, across = self.blocks.full(inner)  # (q, q), (q, d + p) of Z' M Z and Z' M B
        across = across[:, : d + p]
        all_rows = np.vstack([across, s[:d, : d + p]])  # (q + d, d + p)
        zmz = np.block([[inside, across[:, :d]], [across[:, :d].T, s[:d, :d]]])
        among = (zmz - all_rows @ core @ all_rows.T) / s2  # (q + d, q + d) Z' P Z
        sizes = [*self.inner, *self.outer]
        info[:k, :k] = _traces(among, sizes, 0, k)
        if not known:
            ends = np.cumsum(sizes)[:-1]
            trace = np.array([np.trace(b) for b in _diagonal_blocks(among, ends)])  # tr(P V_k)
            v = np.append(inner, [outer[e - 1] if e else 0.0 for e in np.cumsum(self.outer)]) * s2  # (k,)
            with_answer = (trace - 2 * info[:k, :k] @ v) / s2  # tr(P V_k P W^-1)
            of_answer = ((self.n - p - trace @ v) / s2 - with_answer @ v) / s2
            info[:k, k] = info[k, :k] = with_answer / 2
            info[k, k] = of_answer / 2
        return info


def _units(deviance: Callable[[Floats], float], at: Floats) -> Floats:
    """What each ratio has to move by for the deviance to rise by 1/2 from its lowest, by its second differences here: (terms,).
    In these units the deviance is as steep in all directions, and L-BFGS needs half of its steps."""
    here, units = deviance(at), np.ones(len(at))
    for i, ratio in enumerate(at):
        step = np.zeros(len(at))
        step[i] = max(ratio / 20, 1e-3)
        sides = (at + step, at - step) if ratio >= step[i] else (at + step, at + 2 * step)
        one, other = deviance(sides[0]), deviance(sides[1])
        bend = one + other - 2 * here if ratio >= step[i] else here + other - 2 * one
        units[i] = step[i] / np.sqrt(max(bend, step[i] ** 2))
    return units


def _traces(among: Floats, sizes: Sequence[int], first: int, k: int) -> Floats:
    """tr(P V_i P V_j) / 2 of the terms from `first` on, whose levels stand in `among`, in (k, k)"""
    info = np.zeros((k, k))
    rows = np.split(among, np.cumsum(sizes)[:-1])
    for i, row in enumerate(rows):
        for j, block in enumerate(np.split(row, np.cumsum(sizes)[:-1], axis=1)):
            info[first + i, first + j] = (block**2).sum() / 2
    return info


def _diagonal_blocks(matrix: Floats, ends: NDArray[np.int64]) -> list[Floats]:
    bounds = [0, *ends.tolist(), len(matrix)]
    return [matrix[a:b, a:b] for a, b in zip(bounds[:-1], bounds[1:])]


class _Blocks:
    """The terms inside contexts; everything about them is one small matrix for each context, padded to the largest."""

    def __init__(self, inner: Sequence[Term], weights: Floats, wb: scipy.sparse.csr_matrix, project: scipy.sparse.csr_matrix):
        self.sizes = [t.levels for t in inner]
        self.levels_in_all = sum(self.sizes)
        self.dense = True
        if not inner:
            return
        z = scipy.sparse.hstack([t.matrix() for t in inner], format="csr")  # (n, q)
        context = np.concatenate([t.inside for t in inner if t.inside is not None])  # (q,)
        self.term = np.repeat(np.arange(len(inner)), self.sizes)  # (q,)
        order = np.argsort(context, kind="stable")
        _, start, count = np.unique(context[order], return_index=True, return_counts=True)
        self.block = np.empty(len(order), dtype=np.int64)  # (q,) block and place in it of each level
        self.place = np.empty(len(order), dtype=np.int64)
        self.block[order] = np.repeat(np.arange(len(count)), count)
        self.place[order] = np.arange(len(order)) - np.repeat(start, count)
        self.shape = len(count), int(count.max())
        t = (z.T @ scipy.sparse.diags_array(weights) @ z).tocoo()
        self.t = np.zeros((*self.shape, self.shape[1]))  # (c, m, m) Z' W Z
        self.t[self.block[t.row], self.place[t.row], self.place[t.col]] = t.data
        h = scipy.sparse.csr_matrix((z.T @ wb) @ project)  # (q, d + p + 1) Z' W B
        self.z = z
        self.h = h
        self.last: tuple[Floats, tuple[float, Floats]] | None = None
        self.dense = h.shape[0] * h.shape[1] <= 2_000_000
        self.h_padded = self._padded(h.toarray()) if self.dense else None

    def _padded(self, rows: Floats) -> Floats:
        padded = np.zeros((*self.shape, rows.shape[1]))
        padded[self.block, self.place] = rows
        return padded

    def _kernel(self, ratios: Floats) -> tuple[float, Floats]:
        """log det(I + D T D) and K = D (I + D T D)^-1 D, with D the roots of the levels' ratios: (c, m, m), kept until the
        ratios change"""
        if self.last is None or not np.array_equal(self.last[0], ratios):
            root = np.zeros(self.shape)
            root[self.block, self.place] = np.sqrt(ratios)[self.term]
            inner = root[:, :, None] * self.t * root[:, None, :] + np.eye(self.shape[1])
            log_det = float(np.linalg.slogdet(inner)[1].sum())
            self.last = ratios.copy(), (log_det, root[:, :, None] * np.linalg.inv(inner) * root[:, None, :])
        return self.last[1]

    def _sparse_kernel(self, kernel: Floats) -> scipy.sparse.csr_matrix:
        rows, cols, values = [], [], []
        table = np.full(self.shape, -1, dtype=np.int64)
        table[self.block, self.place] = np.arange(self.levels_in_all)
        for i in range(self.shape[1]):
            for j in range(self.shape[1]):
                there = (table[:, i] >= 0) & (table[:, j] >= 0) & (kernel[:, i, j] != 0)
                rows.append(table[there, i])
                cols.append(table[there, j])
                values.append(kernel[there, i, j])
        place = np.concatenate(rows), np.concatenate(cols)
        return scipy.sparse.csr_matrix((np.concatenate(values), place), shape=(self.levels_in_all,) * 2)

    def eliminate(self, ratios: Floats, gram: Floats) -> tuple[float, Floats]:
        """The log determinant, and B' M B: (d + p + 1, d + p + 1)"""
        if not self.levels_in_all:
            return 0.0, gram
        log_det, kernel = self._kernel(ratios)
        if self.dense:
            assert self.h_padded is not None
            width = self.h_padded.shape[-1]
            explained = self.h_padded.reshape(-1, width).T @ (kernel @ self.h_padded).reshape(-1, width)
        else:
            explained = (self.h.T @ (self._sparse_kernel(kernel) @ self.h)).toarray()
        return log_det, gram - explained

    def operator(self, ratios: Floats, gram: scipy.sparse.csr_matrix) -> tuple[Operator, Floats]:
        """(v (d + p + 1, k) -> B' M B v, the diagonal of B' M B)"""
        if not self.levels_in_all:
            return lambda v: gram @ v, gram.diagonal()
        _, kernel = self._kernel(ratios)
        h = self.h

        def times(v: Floats) -> Floats:
            return np.asarray(gram @ v - h.T @ self._unpadded(kernel @ self._padded(np.asarray(h @ v))))

        diagonal = gram.diagonal()
        return times, diagonal

    def levels(self, ratios: Floats, v: Floats) -> list[Floats]:
        """Z' M B v of each term: (levels, k)"""
        if not self.levels_in_all:
            return []
        _, kernel = self._kernel(ratios)
        hv = self._padded(np.asarray(self.h @ v))
        rows = self._unpadded(hv - self.t @ (kernel @ hv))
        return np.split(rows, np.cumsum(self.sizes)[:-1])

    def explained(self, ratios: Floats, v: Floats) -> Floats | float:
        """What the levels take of B v: (answers, k)"""
        if not self.levels_in_all:
            return 0.0
        _, kernel = self._kernel(ratios)
        return np.asarray(self.z @ self._unpadded(kernel @ self._padded(np.asarray(self.h @ v))))

    def diagonal(self, ratios: Floats) -> tuple[Floats, Floats]:
        """The diagonal of Z' M Z (q,), and Z' M B (q, d + p + 1), where they are dense."""
        assert self.h_padded is not None
        _, kernel = self._kernel(ratios)
        moved = self.t @ kernel  # (c, m, m)
        own = np.einsum("cii->ci", self.t) - np.einsum("cij,cji->ci", moved, self.t)
        return self._unpadded(own), self._unpadded(self.h_padded - moved @ self.h_padded)

    def information(self, ratios: Floats) -> Floats:
        """tr(M V_i M V_j) / 2 of the terms inside, in (terms, terms)"""
        _, kernel = self._kernel(ratios)
        inside = (self.t - self.t @ kernel @ self.t) ** 2  # (c, m, m)
        of = np.zeros((*self.shape, len(self.sizes)))
        of[self.block, self.place, self.term] = 1.0  # (c, m, terms)
        return np.asarray(np.einsum("cmi,cmn,cnj->ij", of, inside, of, optimize=True) / 2)

    def full(self, ratios: Floats) -> tuple[Floats, Floats]:
        """Z' M Z (q, q) and Z' M B (q, d + p + 1)"""
        q = self.levels_in_all
        if not q:
            return np.zeros((0, 0)), np.zeros((0, 0))
        _, kernel = self._kernel(ratios)
        inside = self.t - self.t @ kernel @ self.t  # (c, m, m)
        whole = np.zeros((q, q))
        same = self.block[:, None] == self.block[None, :]
        i, j = np.nonzero(same)
        whole[i, j] = inside[self.block[i], self.place[i], self.place[j]]
        padded = self._padded(self.h.toarray())
        return whole, self._unpadded(padded - self.t @ (kernel @ padded))

    def _unpadded(self, padded: Floats) -> Floats:
        return np.asarray(padded[self.block, self.place])


def _conjugate_gradients(times: Operator, right: Floats, diagonal: Floats) -> Floats:
    """Solves A x = right for all columns at once; diagonal: of A, as preconditioner (Hestenes & Stiefel 1952).
    Raises ValueError where that does not come to an end."""
    x = np.zeros_like(right)
    rest = right.copy()
    z = rest / diagonal[:, None]
    direction, size = z.copy(), (rest * z).sum(0)
    goal = TOLERANCE * np.sqrt((right**2).sum(0)) + 1e-300
    for _ in range(MOST_STEPS):
        if (np.sqrt((rest**2).sum(0)) <= goal).all():
            break
        product = times(direction)
        step = size / np.maximum((direction * product).sum(0), 1e-300)
        x += step * direction
        rest -= step * product
        z = rest / diagonal[:, None]
        new = (rest * z).sum(0)
        direction = z + new / np.maximum(size, 1e-300) * direction
        size = new
    left = np.sqrt(((right - times(x)) ** 2).sum(0))
    if not (left <= LEAST_SOLVED * np.sqrt((right**2).sum(0)) + 1e-300).all():
        raise ValueError("So many people and systems are too loosely connected by their answers to be compared with certainty.")
    return x
