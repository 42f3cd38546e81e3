"""People and comparator together: the comparator judges everything, people a part, and people have the last word.

Prediction-powered inference (Angelopoulos et al. 2023), power-tuned (PPI++: Angelopoulos, Duchi & Zrnic 2023), for any
estimate and with contexts as what was sampled (predict-then-debias: Chen & Chen 2000; Kluger et al. 2025). With

    H  what people's judgments say
    L  what the comparator says of the same games
    A  what the comparator says of all games

the estimate is H - weight (L - A): how lucky the judged games were for a system in the comparator's eyes is taken off. A
biased comparator is as biased in L as in A, so it cancels; the weight that makes the variance smallest is read from
replicates over resampled contexts, and for a useless comparator it is near 0. Contexts that people judged must be no
easier or harder for one system than the others are: chosen at random, or by what the comparator does not see.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from leaderboard.rating.games import Games, Standings
from leaderboard.rating.pair_counts import resampled_scores, scores
from leaderboard.rating.ranking import CONFIDENCE
from leaderboard.rating.rules import DEFAULT, Rules, replicates, standings

PRIOR_GAMES = 2.0  # ties that a win rate starts from, so that five wins of five are not a certainty


@dataclass(frozen=True)
class Calibrated:
    """standings, replicates: calibrated, as `ranking` takes them; people, people_replicates: of people alone;
    contexts: how many people judged on; weight: given to the comparator, from 0; judgments: people's;
    worth: how many of people's judgments would have said as much without the comparator."""

    standings: Standings
    replicates: np.ndarray
    people: Standings
    people_replicates: np.ndarray
    contexts: int
    weight: float
    judgments: int
    worth: float

    @property
    def saved(self) -> float:
        """How many judgments of people the comparator saved."""
        return self.worth - self.judgments


def calibrate(
    n_systems: int, people: Games, imitated: Games, everything: Games, draws: ArrayLike, rules: Rules = DEFAULT
) -> Calibrated:
    """Calibrated ratings.

    people: their games; imitated: the comparator's outcomes of the same games, one for one; everything: all games that
    the comparator judged, those among them; draws: (replicates, contexts) of `context_draws`. The rules' rating must
    not depend on the order of games.
    """
    _check_same(people, imitated)
    if rules.rating == "by-game":
        raise ValueError("Calibrated ratings need a rating that does not depend on the order of games.")
    alone = standings(n_systems, people, rules)
    resampled = replicates(n_systems, people, draws, rules)
    luck = standings(n_systems, imitated, rules).rating - standings(n_systems, everything, rules).rating
    luck_resampled = replicates(n_systems, imitated, draws, rules) - replicates(n_systems, everything, draws, rules)
    weight = float(_best_weight(resampled, luck_resampled, axis=None))
    calibrated = resampled - weight * luck_resampled
    left = calibrated.var(axis=0).sum()
    gain = float(resampled.var(axis=0).sum() / left) if left > 0 else 1.0  # as if people had judged so many times more
    return Calibrated(
        replace(alone, rating=alone.rating - weight * luck, rd=alone.rd / np.sqrt(gain)),
        calibrated,
        alone,
        resampled,
        len(np.unique(people.context)),
        weight,
        len(people),
        len(people) * gain,
    )


@dataclass(frozen=True)
class WinRates:
    """Of i against j, a tie counting half: (systems, systems), nan where people judged on fewer than two contexts."""

    rate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray


def win_rates(
    n_systems: int, people: Games, imitated: Games, everything: Games, draws: ArrayLike, confidence: float = CONFIDENCE
) -> WinRates:
    """Calibrated win rates with intervals, each by itself; the arguments are those of `calibrate`."""
    _check_same(people, imitated)
    point = [_rates(*scores(n_systems, games)[:2]) for games in (people, imitated, everything)]
    again = [_rates(*resampled_scores(n_systems, games, draws)[:2]) for games in (people, imitated, everything)]
    weight = _best_weight(again[0], again[1] - again[2], axis=0)
    rate = point[0] - weight * (point[1] - point[2])
    spread = (again[0] - weight * (again[1] - again[2])).var(axis=0, ddof=1)
    contexts = _contexts_met(n_systems, people)
    met = scores(n_systems, people)[0]
    pulled = (PRIOR_GAMES / (met + PRIOR_GAMES)) ** 2 / 12  # 1 / 12: the variance of a win rate that may be anything
    error = np.sqrt(spread * contexts / np.maximum(contexts - 1, 1) + pulled)
    reach = stats.t.ppf((1 + confidence) / 2, np.maximum(contexts - 1, 1)) * error
    known = np.where(contexts < 2, np.nan, 1.0)
    rate, low, high = (np.clip(x, 0, 1) * known for x in (rate, rate - reach, rate + reach))
    return WinRates(rate, low, high, weight * known)


def _best_weight(people: np.ndarray, luck: np.ndarray, axis: int | None) -> np.ndarray:
    """The weight, from 0, that makes the variance of people - weight * luck smallest over replicates (axis 0); one for
    all (axis None) or one for each column."""
    people, luck = people - people.mean(axis=0), luck - luck.mean(axis=0)
    varies = np.maximum((luck**2).sum(axis=axis), np.finfo(float).tiny)
    weight: np.ndarray = np.maximum((people * luck).sum(axis=axis) / varies, 0.0)
    return weight


def _rates(met: np.ndarray, score: np.ndarray) -> np.ndarray:
    rates: np.ndarray = (score + PRIOR_GAMES / 2) / (met + PRIOR_GAMES)
    return rates


def _contexts_met(n_systems: int, games: Games) -> np.ndarray:
    """On how many different contexts i and j met: (systems, systems)."""
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    _, once = np.unique(np.stack([low, high, games.context]), axis=1, return_index=True)
    return scores(n_systems, games.take(once))[0]


def _check_same(people: Games, imitated: Games) -> None:
    if len(people) != len(imitated) or not replace(imitated, outcome=people.outcome).same_as(people):
        raise ValueError("The comparator must judge the same games as people, one for one.")
