"""Rankings by Plackett and Luce's model (Plackett 1975, J. R. Stat. Soc. C 24; Luce 1959): the best of all is chosen, then the
best of what is left, and so on, each with a chance in proportion to the exponential of its strength.

Places that people gave to several outputs at once are read in one of two ways. A *tie* is half of each order, as it is half a
win of a pair: the logarithm of the chance is averaged over the orders of those that share a place. So two outputs give Bradley
and Terry's model. What was *not asked*, such as the order of those between the best and the worst, is not known: the chance is
summed over those orders. Both go through subsets of those that share a place (at most 2^7), not through orders.

Stages: with T of a place's outputs left and R below them, each subset T of a tie of m is what is left in 1 / C(m, |T|) of all
orders. The chance that a set T comes before all of R, in any order, is the sum over its first j of exp(j) / sum(exp(T and R))
times the chance of T without j."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Told = tuple[Floats, Floats, Floats]  # log-likelihood (g,), its gradient (g, n), and less its second derivatives (g, n, n)

MOST = 7  # outputs of one ranking
ROUNDS, SETTLED = 200, 1e-9
STEEPEST = 3.0  # logits that a strength moves in one step


class NotSettled(ArithmeticError):
    """The strengths have no bound, or Newton's method did not reach them."""


@dataclass(frozen=True)
class Rankings:
    """ranking, system, rank: int (places,), one for each output that a ranking has; the ranking numbered from 0 without gaps;
    rank: the lower the better, equal where outputs share a place. is_open: bool (rankings,), where the order of those that
    share a place was not asked, so that it is no tie."""

    ranking: Integers
    system: Integers
    rank: Integers
    is_open: Booleans

    @classmethod
    def of(cls, ranking: ArrayLike, system: ArrayLike, rank: ArrayLike, is_open: ArrayLike | None = None) -> Rankings:
        """Raises ValueError where a ranking has one output, more than MOST, or two of a system."""
        of, systems = np.asarray(ranking, dtype=np.int64), np.asarray(system, dtype=np.int64)
        size = np.bincount(of)
        if size.min(initial=2) < 2 or size.max(initial=2) > MOST:
            raise ValueError(f"A ranking is of 2 to {MOST} outputs.")
        if len(np.unique(np.stack([of, systems]), axis=1).T) < len(of):
            raise ValueError("A ranking has two outputs of one system.")
        opened = np.zeros(len(size), dtype=bool) if is_open is None else np.asarray(is_open, dtype=bool)
        return cls(of, systems, np.asarray(rank, dtype=np.int64), opened)

    @cached_property
    def alike(self) -> list[_Alike]:
        """All rankings, those together that share as many places in the same way."""
        order = np.lexsort((self.rank, self.ranking))
        ends = np.append(np.flatnonzero(np.diff(self.ranking[order], prepend=-1)), len(order))
        shapes = defaultdict(list)
        for number, (start, stop) in enumerate(zip(ends[:-1], ends[1:])):
            rows = order[start:stop]
            sizes = np.unique(self.rank[rows], return_counts=True)[1]
            shapes[tuple(sizes.tolist()), bool(self.is_open[number])].append(rows)
        return [_Alike(np.array(rows), sizes, opened) for (sizes, opened), rows in shapes.items()]

    def told(self, strength: Floats) -> tuple[float, Floats, list[tuple[Integers, Floats]]]:
        """strength: (systems,) -> (log-likelihood, its gradient (places,), and of rankings with these places (g, n) less the
        second derivatives (g, n, n))"""
        total, slope, information = 0.0, np.zeros(len(self.system)), []
        for alike in self.alike:
            value, of_places, second = alike.told(strength[self.system[alike.rows]])
            total += float(value.sum())
            slope[alike.rows] = of_places
            information.append((alike.rows, second))
        return total, slope, information


@dataclass(frozen=True)
class _Alike:
    """rows: (g, n), the places of each ranking from the best on; sizes: how many share each place"""

    rows: Integers
    sizes: tuple[int, ...]
    is_open: bool

    def told(self, theta: Floats) -> Told:
        """theta: (g, n)"""
        return (_summed if self.is_open else _averaged)(theta, self.sizes)


def _shared(sizes: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """(those of a place, those below it), of each place"""
    start, n = 0, sum(sizes)
    for size in sizes:
        yield list(range(start, start + size)), list(range(start + size, n))
        start += size


def _averaged(theta: Floats, sizes: Sequence[int]) -> Told:
    """Of ties: the mean over the orders of those that share a place."""
    value, slope = theta.sum(axis=1), np.ones_like(theta)
    information = np.zeros((*theta.shape, theta.shape[1]))
    for tied, below in _shared(sizes):
        for k in range(1, len(tied) + 1):
            for left in combinations(tied, k):
                columns, weight = [*left, *below], 1 / comb(len(tied), k)
                total = scipy.special.logsumexp(theta[:, columns], axis=1)
                share = np.zeros_like(theta)
                share[:, columns] = np.exp(theta[:, columns] - total[:, None])
                value -= weight * total
                slope -= weight * share
                information += weight * _spread(share)
    return value, slope, information


def _spread(share: Floats) -> Floats:
    """The covariance of one draw by these chances (g, n): (g, n, n)"""
    return np.asarray(share[:, :, None] * np.eye(share.shape[1]) - share[:, :, None] * share[:, None, :])


def _summed(theta: Floats, sizes: Sequence[int]) -> Told:
    """Of what was not asked: the sum over the orders of those that share a place."""
    worth = np.exp(theta - theta.max(axis=1, keepdims=True))
    value, slope = np.zeros(len(theta)), np.zeros_like(theta)
    information = np.zeros((*theta.shape, theta.shape[1]))
    for together, below in _shared(sizes):
        if not below:
            continue
        chance, first, second = _before(worth, together, below)
        gradient = first / chance[:, None]
        value += np.log(chance)
        slope += gradient
        information += gradient[:, :, None] * gradient[:, None, :] - second / chance[:, None, None]
    return value, slope, information


def _before(worth: Floats, together: Sequence[int], below: Sequence[int]) -> Told:
    """The chance that all of these come before those below, with its first and second derivatives."""
    g, n = worth.shape
    of: dict[tuple[int, ...], Told] = {(): (np.ones(g), np.zeros((g, n)), np.zeros((g, n, n)))}
    for k in range(1, len(together) + 1):
        for left in combinations(together, k):
            columns = [*left, *below]
            share = np.zeros((g, n))
            share[:, columns] = worth[:, columns] / worth[:, columns].sum(axis=1, keepdims=True)
            spread, here = _spread(share), (np.zeros(g), np.zeros((g, n)), np.zeros((g, n, n)))
            for j in left:
                chance, first, second = of[tuple(one for one in left if one != j)]
                turn = np.eye(n)[j] - share  # (g, n) of the logarithm of j's share
                cross = turn[:, :, None] * first[:, None, :]
                bend = (turn[:, :, None] * turn[:, None, :] - spread) * chance[:, None, None] + second
                parts = chance, turn * chance[:, None] + first, bend + cross + cross.transpose(0, 2, 1)
                for total, part in zip(here, parts, strict=True):
                    total += share[:, j].reshape(-1, *[1] * (part.ndim - 1)) * part
            of[left] = here
    return of[tuple(together)]


def gathered(system: Integers, information: Sequence[tuple[Integers, Floats]], systems: int) -> Floats:
    """The sum over rankings: (s, s)"""
    flat = np.zeros(systems * systems)
    for rows, second in information:
        of = system[rows]  # (g, n)
        flat += np.bincount((of[:, :, None] * systems + of[:, None, :]).ravel(), second.ravel(), len(flat))
    return np.asarray(flat.reshape(systems, systems))


def strengths(rankings: Rankings, basis: Floats, ridge: float = 0.0) -> Floats:
    """(p,) the likeliest, in logits, by Newton's method. basis: (s, p), each system in them; ridge: precision of a normal prior
    around 0. Raises NotSettled."""

    def at(b: Floats) -> tuple[float, Floats, Floats]:
        value, slope, information = rankings.told(basis @ b)
        gradient = basis.T @ np.bincount(rankings.system, slope, len(basis)) - ridge * b
        bent = basis.T @ gathered(rankings.system, information, len(basis)) @ basis + ridge * np.eye(len(b))
        return value - ridge * float(b @ b) / 2, gradient, bent

    b = np.zeros(basis.shape[1])
    value, gradient, bent = at(b)
    for _ in range(ROUNDS):
        size, direction = np.linalg.eigh(bent)
        flat = np.maximum(np.abs(size), 1e-9 * np.abs(size).max(initial=1.0))  # upwards also where sums over orders bend up
        step = direction @ ((direction.T @ gradient) / flat)
        if np.abs(step).max(initial=0.0) < SETTLED:
            return b
        step *= min(1.0, STEEPEST / np.abs(step).max())
        while True:
            found = at(b + step)
            if found[0] >= value - 1e-12 * abs(value):
                break
            step = step / 2
            if np.abs(step).max() < SETTLED:
                return b
        b, (value, gradient, bent) = b + step, found
    raise NotSettled(f"Plackett and Luce's strengths did not settle within {ROUNDS} steps of Newton's method.")
