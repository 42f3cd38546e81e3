"""Glicko-2 with each game a rating period of its two players, as Zhou & Xu (2020), "Learning to Compare for Better
Training and Evaluation of Open Domain Natural Language Generation Models", section 3.2, rate systems.

Two things differ from Glickman: RD does not grow while a system does not play (systems are frozen), and a tie moves a
rating by a ratio (0.1) of the change that a win against a higher-rated opponent, or a loss against a lower-rated one,
would have given. RD and volatility move on a tie as in Glicko-2, with score 0.5. Either can be switched back.
"""

from __future__ import annotations

import math

import numpy as np

from leaderboard.rating.games import Games, Standings, tally
from leaderboard.rating.glicko2 import SCALE, START_RATING, START_RD, START_VOLATILITY, update_single

DRAW_RATIO = 0.1  # the paper's example

Player = tuple[float, float, float]  # rating, RD, volatility on the public scale


def rate(n_systems: int, games: Games, draw_ratio: float | None = DRAW_RATIO, idle_growth: bool = False) -> Standings:
    """The standings after these games, each a rating period, in their order.

    draw_ratio: of the paper's rule for ties; None is Glicko-2's score 0.5. idle_growth: Glicko-2's step 6 for each
    system that sits a game out.
    """
    games.check_systems(n_systems)
    players = _newcomers(n_systems)
    for first, second, outcome in zip(games.first.tolist(), games.second.tolist(), games.outcome.tolist(), strict=True):
        _record(players, first, second, outcome, draw_ratio)
        if idle_growth:
            players[:] = [p if i in (first, second) else _grown(p) for i, p in enumerate(players)]
    return _standings(players, games)


def _newcomers(n_systems: int) -> list[Player]:
    return [(START_RATING, START_RD, START_VOLATILITY)] * n_systems


def _record(players: list[Player], first: int, second: int, outcome: int, draw_ratio: float | None) -> None:
    """Both players after their game; each meets the other as the other was before it."""
    a, b = players[first], players[second]
    players[first] = _after(a, b, (1 + outcome) / 2, draw_ratio)
    players[second] = _after(b, a, (1 - outcome) / 2, draw_ratio)


def _after(player: Player, opponent: Player, score: float, draw_ratio: float | None) -> Player:
    """A player after one game, by the paper's rule for ties or, without a ratio, Glicko-2's."""
    rating, rd, volatility = update_single(*player, opponent[0], opponent[1], score)
    if score == 0.5 and draw_ratio is not None:
        rating = player[0]
        if player[0] != opponent[0]:
            as_if = 1.0 if opponent[0] > player[0] else 0.0
            rating += draw_ratio * (update_single(*player, opponent[0], opponent[1], as_if)[0] - player[0])
    return rating, rd, volatility


def _grown(player: Player) -> Player:
    """Step 6 of Glicko-2 for a player without games."""
    rating, rd, volatility = player
    return rating, math.hypot(rd, SCALE * volatility), volatility


def _standings(players: list[Player], games: Games) -> Standings:
    rating, rd, volatility = np.array(players, dtype=float).reshape(-1, 3).T
    wins, ties, losses = tally(len(players), games)
    return Standings(rating, rd, volatility, wins + ties + losses, wins, ties, losses)
