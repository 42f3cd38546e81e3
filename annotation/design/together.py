"""What one ranking of several outputs tells of a difference of two systems, beside one judgment of a pair of them.

Where systems are equal, a ranking of k tells of its outputs' strengths an information c (I - J / k), and of a pair c is 1 / 2
(Plackett and Luce's model, `leaderboard.rating.rankings`). Blocks of k of S systems in which two systems meet m times tell
m S / k times as much of their difference as one block does (the efficiency of balanced blocks: Bose 1939). So a difference
varies by 2 / (c m S / k): 1 / (2 c) times as much as m S / k judgments of that pair alone. Where one system is ahead, the
information is that of the model at its strength; of the best and the worst alone, of what they tell. Where preferences are
normal, rankings see a system a little less far ahead than pairs do.

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
        k, information = self.outputs, np.zeros((self.outputs, self.outputs))
        for rank, orders in self._places():
            value, slope = self._told(rank, logits)
            own, others = slope[0], slope[1:]
            outer = np.full((k, k), (others.sum() ** 2 - others @ others) / max((k - 1) * (k - 2), 1))  # whichever they are
            np.fill_diagonal(outer, others @ others / (k - 1))
            outer[0] = outer[:, 0] = own * others.mean()
            outer[0, 0] = own**2
            information += orders * math.exp(value) * outer
        apart = np.eye(k)[0] - np.eye(k)[1]
        win = scipy.special.expit(logits)
        return float(apart @ np.linalg.pinv(information) @ apart * win * (1 - win))

    def strength_at(self, logits: float) -> float:
        """The likeliest of many orders: where its slope is 0."""
        if logits == 0:
            return 0.0
        seen = NODES + math.sqrt(2) * scipy.special.ndtri(scipy.special.expit(logits))
        place = (
            scipy.stats.binom.pmf(np.arange(self.outputs)[:, None], self.outputs - 1, scipy.special.ndtr(-seen)) @ NODE_WEIGHTS
        )
        if self.best_worst:
            place = np.array([place[0], place[-1], place[1:-1].sum()])
        ranks = [rank for rank, _ in self._places()]

        def slope(strength: float) -> float:
            return float(sum(chance * self._told(rank, strength)[1][0] for chance, rank in zip(place, ranks)))

        return float(scipy.optimize.brentq(slope, 0.0, 2 * logits))

    def _told(self, rank: list[int], ahead: float) -> tuple[float, Any]:
        """The logarithm of the chance of this order, and its slope, where the first is ahead by so much."""
        given = Rankings.of([0] * self.outputs, np.arange(self.outputs), rank, [self.best_worst])
        value, slope, _ = given.told(np.append(ahead, np.zeros(self.outputs - 1)))
        return value, slope

    def _places(self) -> Iterator[tuple[list[int], int]]:
        """(ranks, the first that of the system ahead; in how many ways the others fill what is left)"""
        k = self.outputs
        if not self.best_worst:
            yield from (([p, *(q for q in range(k) if q != p)], math.factorial(k - 1)) for p in range(k))
            return
        middle = [1] * (k - 2)
        yield [0, *middle, 2], k - 1
        yield [2, 0, *middle], k - 1
        yield [1, 0, *middle[1:], 2], (k - 1) * (k - 2)

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


@cache  # a plan asks for the same ones many times
def variances(together: Together) -> list[float]:
    """At AHEAD."""
    return [together.variance_at(logits) for logits in AHEAD]


@cache
def strengths(together: Together) -> list[float]:
    """At AHEAD."""
    return [together.strength_at(logits) if together.outputs > 2 else logits for logits in AHEAD]


PAIR = Together()
