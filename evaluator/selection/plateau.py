"""The sequential rule: a training stops when it is known to gain less than what is worthwhile.

The newest evaluations, some windows of them, are looked at every few evaluations. A window speaks where the probability of a
slope as large as the worthwhile one is below its share of the error; the shares of all windows at all looks add up to the error
that was promised, so that a training which keeps gaining as much is stopped at any look with that probability at most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.selection.curve import Curve, Floats
from evaluator.selection.rules import Rules
from evaluator.selection.strengths import pairs_among, strengths, variance
from evaluator.selection.trend import Slope, slope

WINDOWS = (6, 10, 15, 20, 30, 45, 60)  # evaluations
FIRST_LOOKS, EVERY = (6, 8, 10), 5  # evaluations: at these, and then at each fifth
CONTRASTS = 6  # slow movements within a window from which the noise of its points is taken
CONVEX = 1.645  # standard errors: a curve that bends upwards by as much has begun to rise, and is not stopped by its past


@dataclass(frozen=True)
class Window:
    """What the newest `size` evaluations say. error: its share at this look; bend: the curve's second-order term, in standard
    errors of the noise, above 0 where it bends upwards."""

    size: int
    slope: Slope
    error: float
    bend: float

    def stops(self, worthwhile: float) -> bool:
        return self.bend < CONVEX and self.slope.above(worthwhile) < self.error

    def rises(self) -> bool:
        return 1 - self.slope.above(0.0) < self.error


@dataclass(frozen=True)
class Look:
    """number: from 1; evaluations: how many there were; windows: what each says, shortest first."""

    number: int
    evaluations: int
    windows: list[Window]


def looks_until(evaluations: int) -> list[int]:
    """The numbers of evaluations at which one looks."""
    first = [m for m in FIRST_LOOKS if m <= evaluations]
    return first + list(range(FIRST_LOOKS[-1] + EVERY, evaluations + 1, EVERY))


def newest_look(curve: Curve, rules: Rules) -> Look | None:
    """At what was there when one last looked; None before the first look."""
    looks = looks_until(len(curve))
    return look(curve, rules, len(looks), looks[-1]) if looks else None


def look(curve: Curve, rules: Rules, number: int, evaluations: int) -> Look:
    sizes = [size for size in WINDOWS if size <= evaluations]
    error = rules.error / (number * (number + 1)) / len(sizes)
    return Look(number, evaluations, [_window(curve, rules, evaluations, size, error) for size in sizes])


def _window(curve: Curve, rules: Rules, evaluations: int, size: int, error: float) -> Window:
    newest = np.arange(evaluations - size, evaluations)
    t = np.asarray(curve.steps[newest], dtype=float) / rules.per
    found = strengths(pairs_among(curve, newest))
    contrasts = movements(t, min(CONTRASTS, size - 1))  # (k, w)
    covariance = variance(curve, found.influences(contrasts))
    noise = float(np.diag(covariance)[1:].mean())
    spread = float(((t - t.mean()) ** 2).sum())
    extra = max(0.0, float(covariance[0, 0]) - noise) / spread
    bend = float(contrasts[1] @ found.values) / max(float(np.sqrt(covariance[1, 1])), 1e-9)
    return Window(size, slope(t, found.values, noise, extra), error, bend)


def movements(t: Floats, count: int) -> Floats:
    """(count, w) orthonormal polynomials of degree 1 to count in t (w,), each with a positive leading coefficient."""
    scaled = (t - t.mean()) / max(float(np.ptp(t)), 1e-12)
    q, r = np.linalg.qr(np.vander(scaled, count + 1, increasing=True))
    rising: Floats = (q * np.sign(np.diag(r)))[:, 1:].T
    return rising
