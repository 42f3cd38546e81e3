"""What order-free rating rules read: who met whom how often, and with what score. No order of games enters."""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from leaderboard.rating.games import Games


def scores(n_systems: int, games: Games) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three float arrays (systems, systems): games between i and j; the score of i in them (win 1, tie 0.5); ties."""
    once = np.ones((1, int(games.context.max(initial=0)) + 1))
    met, score, tied = resampled_scores(n_systems, games, once)
    return met[0], score[0], tied[0]


def resampled_scores(n_systems: int, games: Games, draws: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`scores` of each resample: three float arrays (replicates, systems, systems).

    draws: (replicates, contexts), how often each context counts.
    """
    games.check_systems(n_systems)
    weights = checked_draws(games, draws)
    cells = np.concatenate([games.first * n_systems + games.second, games.second * n_systems + games.first])
    contexts = np.tile(games.context, 2)

    def total(values: np.ndarray) -> np.ndarray:
        by_context = scipy.sparse.csr_array((values, (cells, contexts)), shape=(n_systems**2, weights.shape[1]))
        by_pair: np.ndarray = by_context @ weights.T.astype(float)  # (systems^2, replicates)
        return by_pair.T.reshape(len(weights), n_systems, n_systems)

    score = np.concatenate([1 + games.outcome, 1 - games.outcome]) / 2
    return total(np.ones(len(cells))), total(score), total((score == 0.5).astype(float))


def checked_draws(games: Games, draws: ArrayLike) -> np.ndarray:
    """draws as an array (replicates, contexts); refused where a game's context is not among them."""
    weights = np.asarray(draws)
    if games.context.max(initial=-1) >= weights.shape[1]:
        raise ValueError(f"A game names context {games.context.max()}, but the draws know only {weights.shape[1]}.")
    return weights
