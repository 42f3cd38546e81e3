"""What each annotator does to the ranking of systems: a rigging alarm.

Each annotator is left out in turn, and the systems are rated again (Glicko-2 for frozen systems, which has no order of
games). Leaving out anybody moves something, so the move is compared with that of stand-ins: on each context that the
annotator judged, the answers of one of its annotators, drawn at random, are left out. Where annotators are alike, their
names may be exchanged within a context, so this is a permutation test; who pushes a system moves it further.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from annotation.quality.suspicion import LEVEL, holm
from leaderboard.rating.games import Games
from leaderboard.rating.glicko2_static import settle

FEWEST_DRAWS, MOST_DRAWS = 199, 999  # stand-ins: twice as many as the smallest p needs to stand the correction


@dataclass(frozen=True)
class Influence:
    """One annotator. push: (systems,), rating points by which the annotator's answers raise each system; rank_without:
    (systems,), ranks from 1 without them; usual: the 95% quantile of the largest push of a stand-in; p: share of stand-ins
    that push as far (None where nobody else judged the same contexts), corrected for all annotators (Holm 1979)."""

    annotator: int
    games: int
    push: list[float]
    rank_without: list[int]
    usual: float | None
    p: float | None
    p_corrected: float | None

    @property
    def is_flagged(self) -> bool:
        return self.p_corrected is not None and self.p_corrected <= LEVEL

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def ratings(n_systems: int, games: Games) -> np.ndarray:
    """Ratings (systems,) of all games, 1500 for a system without any."""
    games.check_systems(n_systems)
    together = Games(games.first, games.second, games.outcome, np.zeros(len(games), dtype=int))
    return _rated(n_systems, *_by_context(n_systems, together), np.ones(1, dtype=np.float32))


def _by_context(n_systems: int, games: Games) -> tuple[np.ndarray, np.ndarray]:
    """Games of each pair of systems i < j on each context, and the score of i in them: float (contexts, pairs) each."""
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    pair = low * (2 * n_systems - low - 1) // 2 + high - low - 1
    score = (1 + np.where(games.first < games.second, 1, -1) * games.outcome) / 2
    shape = int(games.context.max(initial=0)) + 1, n_systems * (n_systems - 1) // 2
    cell = games.context * shape[1] + pair
    counts = (np.bincount(cell, values, minlength=shape[0] * shape[1]) for values in (None, score))
    met, won = (count.reshape(shape).astype(np.float32) for count in counts)
    return met, won


def _rated(n_systems: int, met: np.ndarray, score: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Ratings (..., systems) of contexts weighted by weights (..., contexts)."""
    i, j = np.triu_indices(n_systems, 1)
    table = np.zeros((2, *weights.shape[:-1], n_systems, n_systems))
    met, score = weights @ met, weights @ score  # (..., pairs)
    table[0][..., i, j] = table[0][..., j, i] = met
    table[1][..., i, j], table[1][..., j, i] = score, met - score
    return settle(*table)[0]


def ranks(rating: ArrayLike) -> np.ndarray:
    """1 for the highest; equals share the better rank: (systems,) -> int (systems,)."""
    points = np.asarray(rating, dtype=float)
    better: np.ndarray = (points[None, :] > points[:, None] + 1e-9).sum(axis=1)
    return better + 1


def influences(n_systems: int, games: Games, annotator: ArrayLike, draws: int | None = None, seed: int = 0) -> list[Influence]:
    """One for each annotator who made a game; annotator: int (games,). The strongest push comes first.

    draws: stand-ins of each; enough for the correction when left out, at most MOST_DRAWS.
    """
    games.check_systems(n_systems)
    if len(games) == 0:
        return []
    annotator = np.asarray(annotator, dtype=np.int64)
    contexts = int(games.context.max(initial=0)) + 1
    blocks, block = np.unique(annotator * contexts + games.context, return_inverse=True)  # an annotator's on a context
    who, where = np.divmod(blocks, contexts)
    tables = _by_context(n_systems, Games(games.first, games.second, games.outcome, block))
    people, rng, effects = np.unique(who), np.random.default_rng(seed), []
    draws = draws or min(MOST_DRAWS, max(FEWEST_DRAWS, 2 * len(people) * round(1 / LEVEL) - 1))

    def rated(weights: np.ndarray) -> np.ndarray:
        return _rated(n_systems, *tables, weights.astype(np.float32))

    everything = np.ones(len(blocks))
    rating = rated(everything)
    for person in people:
        without = rated(everything - (who == person))
        push, p, usual = rating - without, None, None
        stand_ins = _stand_ins(who, where, person, draws, rng)
        if stand_ins is not None:
            largest = np.abs(rating - rated(stand_ins)).max(axis=1)
            p = float((1 + (largest >= np.abs(push).max() - 1e-3).sum()) / (1 + draws))
            usual = float(np.quantile(largest, 0.95))
        effects.append((int(person), int((annotator == person).sum()), push.tolist(), ranks(without).tolist(), usual, p))
    corrected = iter(holm([row[-1] for row in effects if row[-1] is not None]))
    made = [Influence(*row, p_corrected=None if row[-1] is None else next(corrected)) for row in effects]
    return sorted(made, key=lambda one: (1.0 if one.p is None else one.p, -np.abs(one.push).max()))


def _stand_ins(who: np.ndarray, where: np.ndarray, person: int, draws: int, rng: np.random.Generator) -> np.ndarray | None:
    """Which blocks stay when each stand-in's are left out: float (draws, blocks), 1 or 0. None where the annotator's
    contexts were judged by nobody else."""
    judged = np.isin(where, where[who == person])
    if (who[judged] == person).all():
        return None
    order = np.flatnonzero(judged)[np.argsort(where[judged], kind="stable")]
    _, start, choices = np.unique(where[order], return_index=True, return_counts=True)
    picked = order[start + (rng.random((draws, len(start))) * choices).astype(np.int64)]  # (draws, contexts)
    weights = np.ones((draws, len(who)), dtype=np.float32)
    np.put_along_axis(weights, picked, 0.0, axis=1)
    return weights
