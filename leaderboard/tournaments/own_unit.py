"""Ratings as estimates in the unit of the question: points of a scale, or the chance to be preferred."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from leaderboard.rating.glicko2 import START_RATING

SPREAD = 400.0  # rating points for odds of ten to one (Elo 1978; Glickman 2012)


class OwnUnit(Protocol):
    def of(self, system: int, rating: float) -> float:
        """What it would be if this were the system's rating."""

    def difference(self, points: float) -> float:
        """Of two systems that are so many rating points apart."""


@dataclass(frozen=True)
class Points:
    """Of a scale. level: (systems,) where each stands on it, turned so that higher is better; scale: rating points for one;
    rating: (systems,); sign: -1 where the lowest point is the best."""

    level: np.ndarray
    scale: float
    rating: np.ndarray
    sign: int = 1

    def of(self, system: int, rating: float) -> float:
        return float(self.sign * (self.level[system] + (rating - self.rating[system]) / self.scale))

    def difference(self, points: float) -> float:
        return self.sign * points / self.scale


@dataclass(frozen=True)
class PreferenceShare:
    """The chance that an output is preferred, from 0 to 1: to one of a system rated 1500, or of the other."""

    def of(self, system: int, rating: float) -> float:
        return self.difference(rating - START_RATING)

    def difference(self, points: float) -> float:
        return float(1 / (1 + 10 ** (-points / SPREAD)))
