"""The sequential rule: a training stops when it is known to gain less than what is worthwhile.

One looks every few evaluations, at the shortest window of the newest ones that is precise enough to decide. It stops the
training where the probability of a slope as large as the worthwhile one is below the look's share of the error. Few evaluations
do not show whether lucky checkpoints come in a row, so that short windows get less of it. Looks overlap, and the probabilities
lean to the safe side where the scatter is independent: the shares add up to SHARED times the error, and how many trainings that
keep gaining are stopped in truth is measured (docs/judges/early-stopping.md), not derived.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.selection.curve import Curve, Floats, Whole
from evaluator.selection.rules import Rules
from evaluator.selection.strengths import pairs_among, strengths, variance
from evaluator.selection.trend import Slope, slope

FIRST, EVERY = 10, 5  # evaluations: of the first look, and between looks
FULL, LONG = 30, 60  # evaluations of a window that gets its look's whole share; of one where that is not precise enough
SHORT = (10, 15, 20)  # of those that are taken where they are precise enough
PRECISE, ENOUGH = 5.0, 2.5  # errors that the worthwhile slope has in a short window, in the full one
DECAY = 8  # look j has the share DECAY / ((DECAY + j - 1) (DECAY + j)): they add up to 1, however many there are
SHARED = 3
CONTRASTS = 6  # slow movements within a window from which the noise of its points is taken
CONVEX = 1.645  # errors: a curve that bends upwards by more, and rises at its end, is not stopped by its past
LEAST_UNITS = 5  # contexts or groups: of fewer the noise is not known


@dataclass(frozen=True)
class Look:
    """number: from 1; evaluations: how many there were; window: how many of the newest were looked at; share: of the error;
    bend: how far the curve bends upwards, in errors; end: the slope of a parabola at the newest evaluation."""

    number: int
    evaluations: int
    window: int
    slope: Slope
    share: float
    bend: float
    end: float

    def stops(self, worthwhile: float) -> bool:
        turning = self.bend > CONVEX and self.end >= worthwhile
        return bool(not turning and self.slope.above(worthwhile)[0] < self.share)

    def falls(self) -> bool:
        return bool(self.slope.above(0.0)[0] < self.share)

    def rises(self) -> bool:
        return bool(1 - self.slope.above(0.0)[0] < self.share)


def looks_until(evaluations: int) -> list[int]:
    """The numbers of evaluations at which one looks."""
    return list(range(FIRST, evaluations + 1, EVERY))


def newest_look(curve: Curve, rules: Rules) -> Look | None:
    """At what was there when one last looked; None before the first look, or with too few contexts or groups."""
    looks = looks_until(len(curve))
    return look(curve, rules, looks[-1]) if looks and curve.units.max() + 1 >= LEAST_UNITS else None


def look(curve: Curve, rules: Rules, evaluations: int) -> Look:
    number = len(looks_until(evaluations))
    size = min(evaluations, FULL)
    found = _window(curve, rules, evaluations, size)
    for tried in [size for size in SHORT if size < min(evaluations, FULL)]:
        t = np.asarray(curve.steps[evaluations - tried : evaluations], dtype=float) / rules.per
        if least_error(t, found.noise)[0] * PRECISE <= rules.worthwhile_slope:
            window = _window(curve, rules, evaluations, tried)
            if window.slope.error[0] * PRECISE <= rules.worthwhile_slope:
                found, size = window, tried
                break
    if evaluations >= LONG and size == FULL and found.slope.error[0] * ENOUGH > rules.worthwhile_slope:
        found, size = _window(curve, rules, evaluations, LONG), LONG
    return Look(number, evaluations, size, found.slope, share(rules, number, size), float(found.bend[0]), float(found.end[0]))


def share(rules: Rules, number: int, size: int) -> float:
    """Of the error, for a window of so many evaluations at look `number`."""
    of_look = DECAY / ((DECAY + number - 1) * (DECAY + number))
    return SHARED * rules.error * of_look * min(1.0, (size / FULL) ** 3)


def least_error(t: Floats, noise: Floats) -> Floats:
    """(b,) that the slope of evaluations at t (w,) has at least, from half the noise (b,) of the full window: one that
    cannot be precise enough need not be tried."""
    error: Floats = np.sqrt(noise / 2 / ((t - t.mean()) ** 2).sum())
    return error


def before(evaluations: int, size: int) -> tuple[int, int] | None:
    """First and end of the part before a window that tells of scatter too; None where it is too short."""
    length = min(size, FULL, evaluations - size)
    return (evaluations - size - length, evaluations - size) if length >= FIRST else None


def _window(curve: Curve, rules: Rules, evaluations: int, size: int) -> Movement:
    earlier = before(evaluations, size)
    past = None if earlier is None else _part(curve, rules, np.arange(*earlier), None).slope.told
    return _part(curve, rules, np.arange(evaluations - size, evaluations), past)


def _part(curve: Curve, rules: Rules, checkpoints: Whole, past: Floats | None) -> Movement:
    t = np.asarray(curve.steps[checkpoints], dtype=float) / rules.per
    found = strengths(pairs_among(curve, checkpoints))
    contrasts = movements(t)  # (k, w)
    variances = np.diag(variance(curve, found.influences(contrasts)))
    known = 1 / (curve.units.max() + 1) ** 2  # where no context tells two checkpoints apart, one more might have
    return movement(t, found.values[None], np.maximum(variances, known)[None], past)


@dataclass(frozen=True)
class Movement:
    """Of b curves. bend, end: (b,), as in `Look`; noise: (b,), variance of a strength by contexts."""

    slope: Slope
    noise: Floats
    bend: Floats
    end: Floats


def movement(t: Floats, values: Floats, variances: Floats, past: Floats | None = None) -> Movement:
    """t: (w,); values: (b, w), strengths of b curves; variances: (b, k), of each of its `movements`, by contexts; past: what an
    earlier part told of scatter."""
    noise = variances[:, 1:].mean(1)
    spread = float(((t - t.mean()) ** 2).sum())
    extra = np.maximum(variances[:, 0] - noise, 0.0) / spread
    found = slope(t, values, noise, extra, past)
    bend = values @ movements(t)[1] / (found.error * np.sqrt(spread))
    parabola = np.linalg.pinv(np.vander(t - t[-1], 3, increasing=True))  # (3, w)
    return Movement(found, noise, bend, values @ parabola[1])


def movements(t: Floats) -> Floats:
    """(k, w) orthonormal polynomials of degree 1 to k in t (w,), each with a positive leading coefficient."""
    scaled = (t - t.mean()) / float(np.ptp(t))
    q, r = np.linalg.qr(np.vander(scaled, CONTRASTS + 1, increasing=True))
    rising: Floats = (q * np.sign(np.diag(r)))[:, 1:].T
    return rising
