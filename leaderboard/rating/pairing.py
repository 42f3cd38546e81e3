"""Who meets whom next, and on which context: at random, all in turn, or where a game tells most about the order.

The active rule chooses, one after the other, the games that tell most about the order. It reads what Davidson's model
says of the games so far: how unsure the difference of two systems is (RD), how close they are, and how likely a tie is,
for a tie tells less. After each choice the variances are what they will be once that game is known, so that a batch
spreads over the pairs (sequential design: Fedorov 1972, "Theory of Optimal Experiments"). Every second game is of a
random pair: pairs that are only chosen while they look close are never corrected once chance has drawn them apart, which
in simulation stretched the ratings by a quarter and made their intervals hold the truth in 85% instead of 95%.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from leaderboard.rating import bradley_terry
from leaderboard.rating.counts import scores
from leaderboard.rating.games import Games
from leaderboard.rating.glicko2 import SCALE, START_RD

CONFIDENT = 0.9  # the comparator's chance from which its word is taken


class Cells:
    """Every pair of systems on every context that both have answered: each a game that can be played.

    pairs: int (pairs, 2), the lower system first; pair, context: int (cells,), ordered by pair and within a pair at
    random, so that a seed means the same everywhere.
    """

    def __init__(self, n_systems: int, contexts_by_pair: Mapping[tuple[int, int], Sequence[int]], seed: int = 0):
        if any(not 0 <= i < j < n_systems for i, j in contexts_by_pair):
            raise ValueError(f"A pair must be two of the {n_systems} systems, the lower number first.")
        found = [(pair, contexts) for pair, contexts in sorted(contexts_by_pair.items()) if len(contexts)]
        if not found:
            raise ValueError("No two systems have answered the same context, so no game can be played.")
        self.n_systems, rng = n_systems, np.random.default_rng([seed, 0])
        self.pairs = np.array([pair for pair, _ in found])
        self.sizes = np.array([len(contexts) for _, contexts in found])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.pair = np.repeat(np.arange(len(found)), self.sizes)
        self.context = np.concatenate([rng.permutation(np.asarray(contexts, dtype=np.int64)) for _, contexts in found])
        self.number = np.full((n_systems, n_systems), -1)  # of the pair (i, j), either way round
        self.number[tuple(self.pairs.T)] = self.number[tuple(self.pairs.T[::-1])] = np.arange(len(found))

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
        """At most `size` unplayed cells: int (<= size,). Of each two, one is what tells most after those before it, and
        one is of a random pair."""
        played = np.bincount(self.number[games.first, games.second], minlength=len(self.pairs))
        fit = bradley_terry.fit(*scores(self.n_systems, games), prior_sd=START_RD)
        return self._greedy(fit.rating / SCALE, fit.covariance / SCALE**2, fit.nu, played, size, rng)

    def _greedy(self, strength, covariance, nu, played, size, rng) -> np.ndarray:
        i, j = self.pairs.T
        difference = strength[i] - strength[j]
        win, tie, lose = bradley_terry.chances(difference * SCALE, nu if np.isfinite(nu) else 0.0)
        information = _information(win, tie, lose)
        chosen = []
        for turn in range(min(size, len(self) - int(played.sum()))):
            variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
            value = _value(difference, variance, information) if turn % 2 == 0 else rng.random(len(i))
            best = int(np.where(played < self.sizes, value, -1.0).argmax())
            chosen.append(self.starts[best] + played[best])
            played[best] += 1
            covariance = _after_game(covariance, i[best], j[best], information[best])
        return np.array(chosen, dtype=np.int64)


def worth_asking(n_systems: int, games: Games, first, second, chances, confident: float = CONFIDENT) -> np.ndarray:
    """Which pairs of outputs are worth people's time: (pairs,), the highest first; 0 is left to the comparator.

    games: people's so far; first, second: int (pairs,), the systems of the outputs that could be judged; chances:
    (pairs, 3), the comparator's that the first wins, ties, loses. The worth is the active rule's, with the tie and win
    chances of this pair of outputs in place of the systems': what the comparator is sure of tells little, and where its
    largest chance reaches `confident` people need not be asked.
    """
    chances = np.asarray(chances, dtype=float)
    if chances.shape != (len(first), 3) or (chances < 0).any() or not np.allclose(chances.sum(axis=1), 1, atol=1e-3):
        raise ValueError("The comparator's chances must be three numbers for each pair that add up to 1.")
    fit = bradley_terry.fit(*scores(n_systems, games), prior_sd=START_RD)
    difference, covariance = (fit.rating[first] - fit.rating[second]) / SCALE, fit.covariance / SCALE**2
    variance = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
    win, tie, lose = chances.T
    worth = _value(difference, variance, _information(win, tie, lose))
    return np.where(chances.max(axis=1) >= confident, 0.0, worth)


def _information(win, tie, lose) -> np.ndarray:
    """Fisher information of a game about the difference of two strengths under Davidson's model: (pairs,)."""
    return (1 - tie - (win - lose) ** 2) / 4


def _value(difference, variance, information) -> np.ndarray:
    """How much a game tells about the order of its two systems: (pairs,).

    The share of the difference's variance that it removes, I v / (1 + I v), times how open the order is: the density of
    the true difference at 0, where the order turns, against that of two systems that look equal.
    """
    removed = information * variance / (1 + information * variance)
    return removed * np.exp(-(difference**2) / variance / 2)


def _after_game(covariance, i: int, j: int, information: float) -> np.ndarray:
    """The covariance of the strengths once a game of i and j is known (a rank-one update)."""
    along = covariance[:, i] - covariance[:, j]
    return covariance - np.outer(along, along) * information / (1 + information * (along[i] - along[j]))
