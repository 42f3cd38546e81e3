"""How well one order describes the games: circles beyond chance, and ties where the model expects them.

The model is Bradley and Terry's with Davidson's ties (`bradley_terry`), with the boards' prior. Under it every pair of
systems has a chance to win, tie and lose, and as many boards as are asked for are drawn with them: a parametric bootstrap
(Davison & Hinkley 1997, "Bootstrap Methods and their Application", section 4.2), each pair with as many games as it has.

Games are drawn as if they were independent. Those on one context, or by one person, are not, but what they have in common is
a quality or a taste, which orders the systems: it makes a pair's share of points vary more, and circles rarer, and in simulated
campaigns the two are even (docs/results/diagnostics.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating import bradley_terry
from leaderboard.rating.games import Games
from leaderboard.rating.glicko2 import START_RD
from leaderboard.rating.pair_counts import scores

REPLICATES = 999  # so that the smallest p-value is 0.001
GROUPS = 3  # of games, by how close their systems are

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class TieFit:
    """Of a share of the games. points: (least, most) that the better system may expect of one of them, 0.5 to 1; share: of
    ties; expected, low, high: by the model, and the central 95% of what boards drawn from it have."""

    games: int
    points: tuple[float, float]
    share: float
    expected: float
    low: float
    high: float


@dataclass(frozen=True)
class OrderFit:
    """triples: of systems of which each two have met and one took more points; circles: of these, A over B over C over A;
    expected: circles in boards drawn from the model, on average; p: the share of these boards with as many circles or more
    (1 where there is no triple); ties: of all games; by_closeness: of the closest games first, empty where none or all are
    ties."""

    triples: int
    circles: int
    expected: float
    p: float
    ties: float
    by_closeness: tuple[TieFit, ...]


def order_fit(n_systems: int, games: Games, replicates: int = REPLICATES, seed: int = 0) -> OrderFit:
    """replicates: boards drawn from the model. ValueError without games."""
    if not len(games):
        raise ValueError("Without games there is no order.")
    met, score, tied = scores(n_systems, games)
    fit = bradley_terry.fit(met, score, tied, prior_sd=START_RD)
    i, j = np.nonzero(np.triu(met))
    played = met[i, j].astype(np.int64)  # (pairs,)
    circles, triples = _circles(_beats(n_systems, i, j, score[i, j] - played / 2))
    share = float(tied[i, j].sum() / played.sum())
    if not np.isfinite(fit.nu):  # every game is a tie
        return OrderFit(0, 0, 0.0, 1.0, share, ())
    chances = np.stack(bradley_terry.chances(fit.rating[i] - fit.rating[j], fit.nu), axis=1)  # (pairs, 3)
    drawn = np.random.default_rng(seed).multinomial(played, chances, size=(replicates, len(played)))  # (r, pairs, 3)
    by_chance = np.array([_circles(_beats(n_systems, i, j, lead))[0] for lead in drawn[..., 0] - drawn[..., 2]])
    by_closeness = _by_closeness(played, tied[i, j], chances, drawn[..., 1]) if 0 < share else ()
    p = (1 + int((by_chance >= circles).sum())) / (1 + replicates)
    return OrderFit(triples, circles, float(by_chance.mean()), p, share, by_closeness)


def _beats(n: int, i: Integers, j: Integers, lead: Floats) -> Floats:
    """(n, n), 1 where the row's system took more points than the column's; lead: (pairs,), of i over j, of any scale"""
    beats = np.zeros((n, n))
    beats[i, j], beats[j, i] = lead > 0, lead < 0
    return beats


def _circles(beats: Floats) -> tuple[int, int]:
    """(circular triples, triples in which each two differ), after Kendall & Babington Smith 1940"""
    apart = beats + beats.T
    circles, triples = (np.einsum("ij,ji->", met @ met, met) for met in (beats, apart))  # each from three or six sides
    return int(round(circles / 3)), int(round(triples / 6))


def _by_closeness(played: Integers, tied: Floats, chances: Floats, drawn: Integers) -> tuple[TieFit, ...]:
    """Of about as many games each; a pair's games stay together. drawn: (replicates, pairs) ties"""
    points = np.maximum(chances[:, 0], chances[:, 2]) + chances[:, 1] / 2  # (pairs,)
    order = np.argsort(points, kind="stable")
    middle = np.cumsum(played[order]) - played[order] / 2
    group = np.minimum((middle / played.sum() * GROUPS).astype(int), GROUPS - 1)
    groups = []
    for number in np.unique(group):
        pairs = order[group == number]
        games = int(played[pairs].sum())
        low, high = np.quantile(drawn[:, pairs].sum(axis=1) / games, [0.025, 0.975])
        ends = float(points[pairs].min()), float(points[pairs].max())
        share, expected = float(tied[pairs].sum()) / games, float(chances[pairs, 1] @ played[pairs]) / games
        groups.append(TieFit(games, ends, share, expected, float(low), float(high)))
    return tuple(groups)
