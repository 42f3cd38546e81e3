"""Who meets whom next, and on which context: at random, all in turn, or where a game tells most about the order.

The active rule chooses, one after the other, the games that tell most about the order of all systems. It reads what
Davidson's model says of the games so far: how unsure each difference is (RD), how close two systems are, and how likely a
tie is, for a tie tells less. After each choice the variances are what they will be once that game is known, so that a
batch spreads over the pairs (sequential design for a weighted sum of variances: Fedorov 1972, "Theory of Optimal
Experiments"). Pairs that are only chosen while they look close are never corrected once chance has drawn them apart. Where
strengths are closer than the start's RD of 350 supposes, that made intervals hold the truth in 85% instead of 95% in
simulation. So a share of the games, 1 - s^2 / 350^2, goes to the pairs that met least; s is by how much the strengths vary,
as far as is known (empirical Bayes, as in `ranking`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.rating import bradley_terry
from leaderboard.rating.bradley_terry import Floats
from leaderboard.rating.games import Games
from leaderboard.rating.glicko2 import SCALE, START_RATING, START_RD
from leaderboard.rating.pair_counts import scores


class Cells:
    """Every pair of systems on every context that both have answered: each a game that can be played.

    pairs: int (pairs, 2), the lower system first; pair, context: int (cells,), ordered by pair and within a pair at
    random, so that a seed means the same everywhere.
    """

    def __init__(self, n_systems: int, contexts_by_pair: Mapping[tuple[int, int], Sequence[int]], seed: int = 0):
        if any(not 0 <= i < j < n_systems for i, j in contexts_by_pair):
            raise ValueError(f"A pair must be two of the {n_systems} systems, the lower number first.")
        playable = [(pair, contexts) for pair, contexts in sorted(contexts_by_pair.items()) if len(contexts)]
        if not playable:
            raise ValueError("No two systems have answered the same context, so no game can be played.")
        self.n_systems, rng = n_systems, np.random.default_rng([seed, 0])
        self.pairs = np.array([pair for pair, _ in playable])
        self.sizes = np.array([len(contexts) for _, contexts in playable])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.pair = np.repeat(np.arange(len(playable)), self.sizes)
        self.context = np.concatenate([rng.permutation(np.asarray(contexts, dtype=np.int64)) for _, contexts in playable])
        self.number = np.full((n_systems, n_systems), -1)  # of the pair (i, j), either way round
        self.number[tuple(self.pairs.T)] = self.number[tuple(self.pairs.T[::-1])] = np.arange(len(playable))

    def __len__(self) -> int:
        return len(self.pair)

    def shuffled(self, seed: int) -> np.ndarray:
        """All cells in random order: int (cells,)."""
        return np.random.default_rng([seed, 1]).permutation(len(self))

    def in_turn(self, seed: int) -> np.ndarray:
        """Round robin: each pair once, in random order, then each pair again, as long as it has contexts."""
        turn = np.arange(len(self)) - self.starts[self.pair]
        return np.lexsort((np.random.default_rng([seed, 1]).random(len(self)), turn))

    def again(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Random pairs, each on a random one of its contexts, as if nothing had been played before."""
        pair = rng.integers(len(self.pairs), size=size)
        return self.starts[pair] + rng.integers(self.sizes[pair])

    def most_telling(self, games: Games, size: int, rng: np.random.Generator) -> np.ndarray:
        """At most `size` unplayed cells: int (<= size,). Each is what tells most after those before it, or, with the
        chance that the strengths so far call for, of the pair that met least."""
        played = self._met(games)
        return self._chosen(games, played, min(size, len(self) - int(played.sum())), rng)

    def in_order_of_worth(self, games: Games, rng: np.random.Generator) -> np.ndarray:
        """All cells in that order, where `games` are of other cells: int (cells,)."""
        met = self._met(games)
        return self._chosen(games, met, len(self), rng, before=met.copy())

    def _met(self, games: Games) -> np.ndarray:
        """How often each pair has: int (pairs,)."""
        number = self.number[games.first, games.second]
        return np.bincount(number[number >= 0], minlength=len(self.pairs))

    def _chosen(
        self, games: Games, met: np.ndarray, size: int, rng: np.random.Generator, before: np.ndarray | int = 0
    ) -> np.ndarray:
        fit = bradley_terry.fit(*scores(self.n_systems, games), prior_sd=START_RD)
        neglected = rng.random(size) < _neglected_share(fit)
        return self._greedy(fit.rating / SCALE, fit.covariance / SCALE**2, fit.nu, met, neglected, rng, before)

    def _greedy(
        self,
        strength: Floats,
        covariance: Floats,
        nu: Floats,
        met: np.ndarray,
        neglected: np.ndarray,
        rng: np.random.Generator,
        before: np.ndarray | int = 0,
    ) -> np.ndarray:
        """met: int (pairs,), how often each pair has so far, counted up; before: how many of those games were of other cells"""
        i, j = self.pairs.T
        difference = strength[:, None] - strength[None, :]
        win, tie, lose = bradley_terry.chances(difference[i, j] * SCALE, nu if np.isfinite(nu) else 0.0)
        information = _information(win, tie, lose)
        chosen = []
        for least_met in neglected:
            value = rng.random(len(i)) - met if least_met else _value(difference, covariance, i, j, information)
            best = int(np.where(met - before < self.sizes, value, -np.inf).argmax())
            chosen.append(self.starts[best] + (met - before)[best])
            met[best] += 1
            covariance = _after_game(covariance, i[best], j[best], information[best])
        return np.array(chosen, dtype=np.int64)


def order_to_ask(n_systems: int, games: Games, first: ArrayLike, second: ArrayLike, seed: int = 0) -> np.ndarray:
    """In which order people are asked which of two outputs is better: positions (pairs,).

    games: people's so far; first, second: int (pairs,), the systems of the outputs that could be judged. The order is the
    active rule's, and which of the outputs of two systems come first is left to chance: no judge has a say. Pairs on which a
    judge is unsure are more alike than their systems are, so that games of those alone draw the systems together. Two outputs
    of one system say nothing of the order, and come last.
    """
    first, second = np.asarray(first), np.asarray(second)
    by_pair: dict[tuple[int, int], list[int]] = defaultdict(list)
    for position in np.flatnonzero(first != second):
        pair = sorted((int(first[position]), int(second[position])))
        by_pair[pair[0], pair[1]].append(int(position))
    last = np.flatnonzero(first == second)
    if not by_pair:
        return last
    cells = Cells(n_systems, by_pair, seed)
    return np.concatenate([cells.context[cells.in_order_of_worth(games, np.random.default_rng([seed, 3]))], last])


def _information(win: Floats, tie: Floats, lose: Floats) -> Floats:
    """Fisher information of a game about the difference of two strengths under Davidson's model: (pairs,)."""
    information: Floats = (1 - tie - (win - lose) ** 2) / 4
    return information


def _neglected_share(fit: bradley_terry.Fit) -> float:
    """Of the games, for the pairs that met least: 0 where the strengths vary as the start supposes, or more."""
    strengths = ((fit.rating - START_RATING) ** 2 + fit.se**2).sum() / (len(fit.rating) - 1)  # s^2, around their mean
    return max(0.0, 1 - float(strengths) / START_RD**2)


def _value(difference: Floats, covariance: Floats, i: np.ndarray, j: np.ndarray, information: Floats) -> Floats:
    """How much games of systems i and j, with that information about their difference, tell about the order: (games,).

    The share of its variance that a game removes from each difference d of two systems, summed over all of them, each
    as far as its order is open: exp(-d^2 / 2v), the density of the true difference at 0, where the order turns, against
    that of two systems that look equal.
    difference, covariance: (systems, systems), of the strengths; i, j: int (games,); information: (games,).
    """
    variance = _of_differences(covariance)
    spread = variance + np.eye(len(variance))  # of a system with itself nothing is asked; no division by 0
    weight = np.exp(-(difference**2) / spread / 2) / spread
    laplacian = np.diag(weight.sum(axis=1)) - weight
    removed = _of_differences(covariance @ laplacian @ covariance)
    value: Floats = information * removed[i, j] / (1 + information * variance[i, j])
    return value


def _of_differences(covariance: Floats) -> Floats:
    """The variance of each difference of two: (n, n)."""
    own = np.diag(covariance)
    variance: Floats = own[:, None] + own[None, :] - 2 * covariance
    return variance


def _after_game(covariance: Floats, i: int, j: int, information: float) -> Floats:
    """The covariance of the strengths once a game of i and j is known (a rank-one update)."""
    along = covariance[:, i] - covariance[:, j]
    after: Floats = covariance - np.outer(along, along) * information / (1 + information * (along[i] - along[j]))
    return after
