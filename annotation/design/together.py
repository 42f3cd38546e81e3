"""What one ranking of several outputs tells of a difference of two systems, beside one judgment of a pair of them.

Where systems are equal, a ranking of k tells of its outputs' strengths an information c (I - J / k), and of a pair c is 1 / 2
(Plackett and Luce's model, `leaderboard.rating.rankings`). Blocks of k of S systems in which two systems meet m times tell m S
/ k times as much of their difference as one block does (the efficiency of balanced blocks: Bose 1939). So a difference varies
by 2 / (c m S / k): 1 / (2 c) times as much as m S / k judgments of that pair alone. Of the best and the worst alone, c is what
they tell. Where one system is ahead, preferences are normal, as the plan of pairs has them. Then Plackett and Luce's model is
an approximation, which sees the system a little less far ahead than pairs do, and its likeliest strength varies more than the
model says: by the sandwich of what rankings tell and of what their slopes vary by.

Two rankings of k whose normal preferences correlate at r have the rank correlation (asin r + (k - 2) asin(r / 2)) 6 / (pi (k +
1)) on average (Moran 1948, Biometrika 35, 203-206); of a pair this is 2 asin(r) / pi. A tie of two that stand beside each other
takes 3 / (k + 1) of a pair's share from the variance of ranks (Kendall's correction for ties, 6 / (k^3 - k) for each).

The best and the worst alone have no ties. Their correlation is taken as that of pairs: from 3 to 7 outputs it is between .88
and 1.08 times that, in simulations of normal preferences."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy

from leaderboard.rating.rankings.plackett_luce import Rankings

ALMOST = 1 - 1e-9  # a correlation
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(48)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
AHEAD = np.linspace(0, 5, 21).tolist()  # logits at which the variance is worked out; in between it is interpolated


@dataclass(frozen=True)
class Together:
    """outputs: that are compared at a time; best_worst: only these two of them are told"""

    outputs: int = 2
    best_worst: bool = False

    def variance(self, logits: float = 0.0) -> float:
        """Of a difference that one ranking tells, as a share of what one judgment of the pair has, where one system is ahead of
        all others by so many logits."""
        return float(np.interp(abs(logits), AHEAD, variances(self)))

    def strength(self, logits: float) -> float:
        """How far ahead rankings see a system that wins pairs by so many logits, where preferences are normal."""
        return float(np.sign(logits) * np.interp(abs(logits), AHEAD, strengths(self)))

    def variance_at(self, logits: float) -> float:
        """What slopes vary by, between the inverses of what rankings tell (White 1982, Econometrica 50, 1-25)."""
        strength, spread, information = self.strength_at(logits), np.zeros(2 * [self.outputs]), np.zeros(2 * [self.outputs])
        for chance, rank in self._places(logits):
            slope, told = self._told(rank, strength)
            spread += chance * _whoever(np.outer(slope, slope))
            information += chance * _whoever(told)
        apart = np.linalg.pinv(information) @ (np.eye(self.outputs)[0] - np.eye(self.outputs)[1])
        win = scipy.special.expit(logits)
        return float(apart @ spread @ apart * win * (1 - win))

    def strength_at(self, logits: float) -> float:
        """The likeliest of many orders: where its slope is 0."""
        if logits == 0:
            return 0.0
        places = list(self._places(logits))

        def slope(strength: float) -> float:
            return float(sum(chance * self._told(rank, strength)[0][0] for chance, rank in places))

        return float(scipy.optimize.brentq(slope, 0.0, 2 * logits))

    def _told(self, rank: list[int], ahead: float) -> tuple[Any, Any]:
        """The slope of the logarithm of this order's chance, and less its second derivatives, the first ahead by so much."""
        given = Rankings.of([0] * self.outputs, np.arange(self.outputs), rank, [self.best_worst])
        _, slope, ((rows, second),) = given.told(np.append(ahead, np.zeros(self.outputs - 1)))
        back = np.argsort(rows[0])
        return slope, second[0][np.ix_(back, back)]

    def _places(self, logits: float) -> Iterator[tuple[float, list[int]]]:
        """(chance, ranks), the first rank that of the system ahead, where preferences are normal"""
        k, seen = self.outputs, NODES + math.sqrt(2) * scipy.special.ndtri(scipy.special.expit(logits))
        place = scipy.stats.binom.pmf(np.arange(k)[:, None], k - 1, scipy.special.ndtr(-seen)) @ NODE_WEIGHTS
        if not self.best_worst:
            yield from ((place[p], [p, *(q for q in range(k) if q != p)]) for p in range(k))
            return
        middle = [1] * (k - 2)
        yield place[0], [0, *middle, 2]
        yield place[-1], [2, 0, *middle]
        yield place[1:-1].sum(), [1, 0, *middle[1:], 2]

    @property
    def ties(self) -> float:
        """How much a share of ties takes from the variance."""
        return 0.0 if self.best_worst else 3 / (self.outputs + 1)

    def alike(self, share: float) -> float:
        """The correlation of two answers of which judgments of one pair correlate at `share`."""
        if self.best_worst or self.outputs == 2:
            return share
        r, k = math.sin(math.pi * min(share, 1.0) / 2), self.outputs
        return 6 / (math.pi * (k + 1)) * (math.asin(r) + (k - 2) * math.asin(r / 2))

    @property
    def alike_at_first(self) -> float:
        """The slope of `alike` at 0."""
        return 1.0 if self.best_worst else 1.5 * self.outputs / (self.outputs + 1)

    def of_pairs(self, alike: float) -> float:
        """The other way round."""
        if self.best_worst or self.outputs == 2 or alike <= 0:
            return alike
        most = self.alike(ALMOST)
        return float(scipy.optimize.brentq(lambda share: self.alike(share) - min(alike, most), 0.0, ALMOST))


def _whoever(told: Any) -> Any:
    """(k, k), whichever of the others is which"""
    others = told[1:, 1:]
    mean = np.full(told.shape, (others.sum() - np.trace(others)) / max(others.size - len(others), 1))
    np.fill_diagonal(mean, np.trace(others) / len(others))
    mean[0] = mean[:, 0] = told[0, 1:].mean()
    mean[0, 0] = told[0, 0]
    return mean


@cache  # a plan asks for the same ones many times
def variances(together: Together) -> list[float]:
    """At AHEAD."""
    return [together.variance_at(logits) if together.outputs > 2 else 1.0 for logits in AHEAD]


@cache
def strengths(together: Together) -> list[float]:
    """At AHEAD."""
    return [together.strength_at(logits) if together.outputs > 2 else logits for logits in AHEAD]


PAIR = Together()
