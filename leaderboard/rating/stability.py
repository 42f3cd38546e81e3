"""Does the order hold where a choice is made differently? Another rating, another rule for ties, other games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from leaderboard.rating.games import Games, Standings
from leaderboard.rating.rules import DEFAULT, PAPER, Rules, standings

CHOICES = {  # what the panel tries on the same games
    "Glicko-2, order-free": DEFAULT,
    "Bradley-Terry, fitted ties": Rules(rating="bradley-terry", ties="davidson"),
    "Glicko-2, ties left out": Rules(ties="drop"),
    "Glicko-2 game by game, as in the paper": PAPER,
}


@dataclass(frozen=True)
class Order:
    """One way to order the systems. order: int (systems that played,), best first; tau: Kendall's correlation of its
    ratings with the board's (nan where one of them has no order); moved: the systems whose rank differs."""

    name: str
    order: np.ndarray
    tau: float
    moved: np.ndarray


def rank_stability(n_systems: int, games: Games, rules: Rules, others: Mapping[str, Games]) -> list[Order]:
    """The board's order under each of CHOICES, and under its own rules on other games (another seed, another filter).

    Systems without games, on the board or on the other games, are left out of a comparison.
    """
    board = standings(n_systems, games, rules)
    tried = [(name, standings(n_systems, games, choice)) for name, choice in CHOICES.items() if choice != rules]
    tried += [(name, standings(n_systems, played, rules)) for name, played in others.items()]
    return orders(board, dict(tried))


def orders(board: Standings, tried: Mapping[str, Standings]) -> list[Order]:
    """The order of each of the others beside the board's."""
    return [_against(board, name, other) for name, other in tried.items()]


def _against(board: Standings, name: str, other: Standings) -> Order:
    both = np.flatnonzero((board.games > 0) & (other.games > 0))
    ours, theirs = board.rating[both], other.rating[both]
    our_order, order = both[np.argsort(-ours, kind="stable")], both[np.argsort(-theirs, kind="stable")]
    tau = scipy.stats.kendalltau(ours, theirs).statistic if len(both) > 1 else np.nan
    return Order(name, order, float(tau), np.sort(order[order != our_order]))
