"""What each annotator does to the ranking of systems: a rigging alarm.

Each annotator is left out in turn, and the systems are rated again (Glicko-2 for frozen systems, which has no order of
games). Honest annotators push systems too, for tastes differ. So each is compared with what the others' tastes make of it
(`random_effects`): by how much an annotator's answers would move the ratings if all answers were like them, in the first order,
as the infinitesimal jackknife has it (Efron & Tibshirani 1993, section 21.3), with a standard error over contexts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from annotation.quality.people.random_effects import Floats, both_tails
from annotation.quality.people.suspicion import holm
from leaderboard.rating.games import Games
from leaderboard.rating.glicko2 import SCALE, START_RATING, START_RD
from leaderboard.rating.glicko2_static import settle

LEVEL = 0.005  # chance that anybody honest is flagged, over the whole campaign, beside the level of suspicion
FEWEST_CONTEXTS = 5  # of an annotator: below, the error has no spread


@dataclass(frozen=True)
class Influence:
    """One annotator. push: (systems,), rating points by which the annotator's answers raise each system; rank_without:
    (systems,), ranks from 1 without them; spreads: how many standard deviations of honest annotators the furthest system lies
    from the others', and p of that (both None where there is nobody to compare with), corrected for all (Holm 1979)."""

    annotator: int
    games: int
    push: list[float]
    rank_without: list[int]
    spreads: float | None
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
    return _rated(n_systems, *_by_context(n_systems, together), np.ones(1))


def _by_context(n_systems: int, games: Games) -> tuple[np.ndarray, np.ndarray]:
    """Games of each pair of systems i < j on each context, and the score of i in them: float (contexts, pairs) each."""
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    pair = low * (2 * n_systems - low - 1) // 2 + high - low - 1
    score = (1 + np.where(games.first < games.second, 1, -1) * games.outcome) / 2
    shape = int(games.context.max(initial=0)) + 1, n_systems * (n_systems - 1) // 2
    cell = games.context * shape[1] + pair
    counts = (np.bincount(cell, values, minlength=shape[0] * shape[1]) for values in (None, score))
    met, won = (count.reshape(shape).astype(np.float64) for count in counts)
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


def influences(n_systems: int, games: Games, annotator: ArrayLike) -> list[Influence]:
    """One for each annotator who made a game; annotator: int (games,). The most unusual push comes first."""
    games.check_systems(n_systems)
    if len(games) == 0:
        return []
    annotator = np.asarray(annotator, dtype=np.int64)
    contexts = int(games.context.max(initial=0)) + 1
    blocks, block = np.unique(annotator * contexts + games.context, return_inverse=True)  # an annotator's on a context
    met, score = _by_context(n_systems, Games(games.first, games.second, games.outcome, block))
    people, whose = np.unique(blocks // contexts, return_inverse=True)
    rating = _rated(n_systems, met, score, np.ones(len(blocks)))
    without = _rated(n_systems, met, score, (whose != np.arange(len(people))[:, None]).astype(float))  # (people, systems)
    opinion, error = _opinions(rating, met, score, whose)
    compared = np.bincount(whose) >= FEWEST_CONTEXTS
    p, t = np.full(len(people), np.nan), np.full(opinion.shape, np.nan)
    p[compared], t[compared] = both_tails(opinion[compared], error[compared])
    corrected = np.full(len(people), np.nan)
    corrected[np.isfinite(p)] = holm(p[np.isfinite(p)])
    made = [
        Influence(
            int(person),
            int((annotator == person).sum()),
            (rating - without[i]).tolist(),
            ranks(without[i]).tolist(),
            *(None if np.isnan(p[i]) else float(x) for x in (np.abs(t[i]).max(), p[i], corrected[i])),
        )
        for i, person in enumerate(people)
    ]
    return sorted(made, key=lambda one: (1.0 if one.p is None else one.p, -np.abs(one.push).max()))


def _opinions(rating: Floats, met: Floats, score: Floats, whose: np.ndarray) -> tuple[Floats, Floats]:
    """How far the ratings would go, in the first order, if all answers were like each annotator's, and its standard error;
    both (people, systems). met, score: (blocks, pairs); whose: int (blocks,)."""
    n = len(rating)
    i, j = np.triu_indices(n, 1)
    expected = scipy.special.expit((rating[i] - rating[j]) / SCALE)  # (pairs,)
    signs = np.zeros((len(i), n))
    signs[np.arange(len(i)), i], signs[np.arange(len(i)), j] = 1.0, -1.0
    information = signs.T @ (signs * (met.sum(axis=0) * expected * (1 - expected))[:, None])
    information[np.arange(n), np.arange(n)] += (SCALE / START_RD) ** 2
    surprise = (score - met * expected) @ signs  # (blocks, systems)
    start = (SCALE / START_RD) ** 2 * (rating - START_RATING) / SCALE  # what the start takes back, of everybody's games alike
    surprise -= met.sum(axis=1, keepdims=True) / met.sum() * start
    moved = SCALE * np.linalg.solve(information, surprise.T).T  # (blocks, systems)
    moved -= moved.mean(axis=1, keepdims=True)
    member = (whose == np.arange(whose.max() + 1)[:, None]).astype(float)  # (people, blocks)
    share, contexts = member @ met.sum(axis=1) / met.sum(), member.sum(axis=1)
    total, square = member @ moved, member @ moved**2
    few = contexts / np.maximum(contexts - 1, 1)
    variance = np.maximum(few[:, None] * (square / contexts[:, None] - (total / contexts[:, None]) ** 2), 0)  # over contexts
    variance = np.maximum(variance, np.median(variance, axis=0))  # whoever always says the same is not surer than others
    return total / share[:, None], np.sqrt(contexts[:, None] * variance) / share[:, None]
