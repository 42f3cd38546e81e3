"""What each annotator does to the ranking of systems: a rigging alarm.

Each annotator is left out in turn, and the systems are rated again (Glicko-2 for frozen systems, which has no order of
games). Leaving out anybody moves something, so the move is compared with that of stand-ins: on each context that the
annotator judged, the answers of one of its annotators, drawn at random, are left out. Where annotators are alike, their
names may be exchanged within a context, so this is a permutation test; who pushes a system moves it further.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from annotation.quality.suspicion import LEVEL, holm
from leaderboard.rating.counts import resampled_scores
from leaderboard.rating.frozen import settle
from leaderboard.rating.games import Games

DRAWS = 999  # stand-ins, so that the smallest p, 0.001, stands the correction for 50 annotators


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

    def as_dict(self) -> dict:
        return asdict(self)


def ratings(n_systems: int, games: Games, weights=None) -> np.ndarray:
    """Ratings (..., systems) of the games, each context counted as often as weights (..., contexts) says; once when
    left out."""
    once = np.ones(int(games.context.max(initial=0)) + 1) if weights is None else np.asarray(weights, dtype=float)
    met, score, _ = resampled_scores(n_systems, games, np.atleast_2d(once))
    return settle(met, score)[0].reshape(*once.shape[:-1], n_systems)


def ranks(rating) -> np.ndarray:
    """1 for the highest; equals share the better rank: (systems,) -> int (systems,)."""
    rating = np.asarray(rating, dtype=float)
    return (rating[None, :] > rating[:, None] + 1e-9).sum(axis=1) + 1


def influences(n_systems: int, games: Games, annotator, draws: int = DRAWS, seed: int = 0) -> list[Influence]:
    """One for each annotator who made a game; annotator: int (games,). The strongest push comes first."""
    annotator = np.asarray(annotator, dtype=np.int64)
    contexts = int(games.context.max(initial=0)) + 1
    blocks, block = np.unique(annotator * contexts + games.context, return_inverse=True)  # an annotator's on a context
    who, where = np.divmod(blocks, contexts)
    by_block = Games(games.first, games.second, games.outcome, block)
    everything = np.ones(len(blocks))
    rating = ratings(n_systems, by_block, everything)
    rng, found = np.random.default_rng(seed), []
    for person in np.unique(who):
        without = ratings(n_systems, by_block, everything - (who == person))
        push = rating - without
        largest = _pushes_of_stand_ins(n_systems, by_block, who, where, person, rating, draws, rng)
        p, usual = None, None
        if largest is not None:
            p = float((1 + (largest >= np.abs(push).max() - 1e-9).sum()) / (1 + len(largest)))
            usual = float(np.quantile(largest, 0.95))
        found.append((int(person), int((annotator == person).sum()), push.tolist(), ranks(without).tolist(), usual, p))
    corrected = iter(holm([row[-1] for row in found if row[-1] is not None]))
    made = [Influence(*row, p_corrected=None if row[-1] is None else next(corrected)) for row in found]
    return sorted(made, key=lambda one: (1.0 if one.p is None else one.p, -np.abs(one.push).max()))


def _pushes_of_stand_ins(n_systems, by_block, who, where, person, rating, draws, rng) -> np.ndarray | None:
    """The largest push of each stand-in (draws,), None where the annotator's contexts were judged by nobody else."""
    judged = np.isin(where, where[who == person])
    if (who[judged] == person).all():
        return None
    order = np.flatnonzero(judged)[np.argsort(where[judged], kind="stable")]
    _, start, choices = np.unique(where[order], return_index=True, return_counts=True)
    picked = order[start + (rng.random((draws, len(start))) * choices).astype(np.int64)]  # (draws, contexts)
    weights = np.ones((draws, len(who)))
    np.put_along_axis(weights, picked, 0.0, axis=1)
    return np.abs(rating - ratings(n_systems, by_block, weights)).max(axis=1)
