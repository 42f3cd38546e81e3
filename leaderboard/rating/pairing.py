"""Who meets whom next, and on which context: at random, all in turn, or where a game tells most about the order.

The active rule chooses the game that is expected to lower the number of misordered pairs of systems most (an L-optimal
design, chosen greedily: Fedorov 1972, "Theory of Optimal Experiments"). It reads what Davidson's model says of the games
so far: how unsure each difference is (RD), how close it is, and how likely a tie is, for a tie tells less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import special

from leaderboard.rating import bradley_terry
from leaderboard.rating.counts import scores
from leaderboard.rating.games import Games
from leaderboard.rating.glicko2 import SCALE, START_RD


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

    def most_telling(self, games: Games, size: int) -> np.ndarray:
        """At most `size` unplayed cells, each the one that tells most after those before it: int (<= size,)."""
        played = np.bincount(self.number[games.first, games.second], minlength=len(self.pairs))
        fit = bradley_terry.fit(*scores(self.n_systems, games), prior_sd=START_RD)
        return self._greedy(fit.rating / SCALE, fit.covariance / SCALE**2, fit.nu, played.copy(), size)

    def _greedy(self, strength, covariance, nu, played, size) -> np.ndarray:
        i, j = self.pairs.T
        information = game_information((strength[i] - strength[j]) * SCALE, nu)  # (pairs,)
        chosen = []
        for _ in range(size):
            value = np.where(played < self.sizes, _value(strength, covariance, i, j, information), -1.0)
            best = int(value.argmax())
            if value[best] < 0:
                break
            chosen.append(self.starts[best] + played[best])
            played[best] += 1
            covariance = _after_game(covariance, i[best], j[best], information[best])
        return np.array(chosen, dtype=np.int64)


def game_information(rating_difference, nu) -> np.ndarray:
    """Fisher information of a game about the difference of two strengths (mu), under Davidson's model: (...)."""
    win, tie, lose = bradley_terry.chances(rating_difference, np.where(np.isfinite(nu), nu, 0.0))
    return (1 - tie - (win - lose) ** 2) / 4


def _value(strength, covariance, i, j, information) -> np.ndarray:
    """By how much a game of each pair is expected to lower the expected number of misordered pairs: (pairs,).

    A difference known with variance v is misordered with chance E Phi(-|z|), z ~ N(t, 1), t the difference over
    sqrt(v); its slope in v is `_urgency(t) / v`. A game of i and j lowers the variances of all differences, those of
    i and j most.
    """
    spread = np.diag(covariance)
    variance = spread[:, None] + spread[None, :] - 2 * covariance
    np.fill_diagonal(variance, 1.0)
    weight = _urgency((strength[:, None] - strength[None, :]) / np.sqrt(variance)) / variance
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    gain = covariance @ laplacian @ covariance
    lowered = gain[i, i] + gain[j, j] - 2 * gain[i, j]
    return lowered * information / (1 + information * variance[i, j])


def _urgency(t) -> np.ndarray:
    """E |z| phi(z) / 2 for z ~ N(t, 1), in closed form: z is then N(t / 2, 1 / 2) with weight exp(-t^2 / 4)."""
    folded = np.exp(-(t**2) / 4) / np.sqrt(np.pi) + t / 2 * special.erf(t / 2)  # E |N(t / 2, 1 / 2)|
    return np.exp(-(t**2) / 4) * folded / (4 * np.sqrt(np.pi))


def _after_game(covariance, i: int, j: int, information: float) -> np.ndarray:
    """The covariance of the strengths once a game of i and j is known (a rank-one update)."""
    along = covariance[:, i] - covariance[:, j]
    return covariance - np.outer(along, along) * information / (1 + information * (along[i] - along[j]))
