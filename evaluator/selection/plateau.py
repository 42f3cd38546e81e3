"""The sequential rule: a training stops when it is known to gain less than what is worthwhile.

One looks every few evaluations, at the shortest window of the newest ones that is precise enough to decide, or that shows a
decline. It stops the training where the probability of a slope as large as the worthwhile one is below the look's share of the
error. Few evaluations do not show whether lucky checkpoints come in a row, so that short windows get less of it. Looks overlap,
and the probabilities lean to the safe side where the scatter is independent: the shares add up to SHARED times the error, and
how many trainings that keep gaining are stopped in truth is measured (docs/judges/early-stopping.md), not derived.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluator.selection.curve import Curve, Floats, Whole
from evaluator.selection.rules import Rules
from evaluator.selection.strengths import LEAST_UNITS, Meetings, meetings, strengths, variances
from evaluator.selection.trend import Slope, slope

FIRST, EVERY = 10, 5  # evaluations: of the first look, and between looks
FULL, LONG = 30, 60  # evaluations of a window that gets its look's whole share; of one where that is not precise enough
SHORT = (10, 15, 20)  # of those that are taken where they are precise enough
PRECISE, ENOUGH = 5.0, 2.5  # errors that the worthwhile slope has in a short window, in the full one
FALLING = 2.0  # least errors by which the newest strengths fall where a short window may show a decline
DECAY = 8  # look j has the share DECAY / ((DECAY + j - 1) (DECAY + j)): they add up to 1, however many there are
SHARED = 3
CONTRASTS = 6  # slow movements within a window from which the noise of its points is taken
CONVEX = 1.645  # errors: a curve that bends upwards by more, and rises at its end, is not stopped by its past


class Trainings(Protocol):
    """Some trainings whose checkpoints have the same steps (m,) and answered the same contexts, of which units (n,) says which
    belong together, numbered from 0."""

    @property
    def steps(self) -> Whole: ...

    @property
    def units(self) -> Whole: ...

    def meetings(self, which: Whole, first: int, end: int) -> Meetings:
        """Of checkpoints first to end - 1 in these trainings (b,)"""
        ...


@dataclass(frozen=True)
class Alone:
    """One training."""

    curve: Curve

    @property
    def steps(self) -> Whole:
        return self.curve.steps

    @property
    def units(self) -> Whole:
        return self.curve.units

    def meetings(self, which: Whole, first: int, end: int) -> Meetings:
        return meetings(self.curve, np.arange(first, end))


@dataclass(frozen=True)
class Look:
    """At b trainings. number: from 1; evaluations: how many there were; window: (b,), how many of the newest were looked at;
    share: (b,), of the error; movement: of the windows."""

    number: int
    evaluations: int
    window: Whole
    share: Floats
    movement: Movement

    @property
    def slope(self) -> Slope:
        return self.movement.slope

    def stops(self, worthwhile: float) -> NDArray[np.bool_]:
        """(b,)"""
        turning = (self.movement.bend > CONVEX) & (self.movement.end >= worthwhile)
        below: NDArray[np.bool_] = ~turning & (self.slope.above(worthwhile) < self.share)
        return below

    def falls(self) -> NDArray[np.bool_]:
        """(b,)"""
        return self.slope.above(0.0) < self.share

    def rises(self) -> NDArray[np.bool_]:
        """(b,)"""
        return 1 - self.slope.above(0.0) < self.share


def looks_until(evaluations: int) -> list[int]:
    """The numbers of evaluations at which one looks."""
    return list(range(FIRST, evaluations + 1, EVERY))


def newest_look(curve: Curve, rules: Rules) -> Look | None:
    """At what was there when one last looked; None before the first look, or with too few contexts or groups."""
    looks = looks_until(len(curve))
    return look(Alone(curve), rules, looks[-1]) if looks and curve.units.max() + 1 >= LEAST_UNITS else None


def look(trainings: Trainings, rules: Rules, evaluations: int, which: Whole | None = None) -> Look:
    """At these (b,) of the trainings, or at the only one; what comes later than the evaluation counts for nothing."""
    which = np.arange(1) if which is None else which
    number, full = len(looks_until(evaluations)), min(evaluations, FULL)
    movement, window = _window(trainings, rules, which, evaluations, full), np.full(len(which), full)
    values = movement.values
    for size in [size for size in SHORT if size < full]:
        t = _times(trainings, rules, evaluations - size, evaluations)
        least = least_error(t, movement.noise)
        falling = values[:, -size:] @ (t - t.mean()) / ((t - t.mean()) ** 2).sum() < -FALLING * least
        tried = np.flatnonzero((window == full) & (falling | (least * PRECISE <= rules.worthwhile_slope)))
        if len(tried):
            shorter = _window(trainings, rules, which[tried], evaluations, size)
            falls = shorter.slope.above(0.0) < share(rules, number, np.array(size))
            taken = falls | (shorter.slope.error * PRECISE <= rules.worthwhile_slope)
            movement.take(tried[taken], shorter, taken)
            window[tried[taken]] = size
    wide = np.flatnonzero((window == full) & (movement.slope.error * ENOUGH > rules.worthwhile_slope))
    if evaluations >= LONG and len(wide):
        movement.take(wide, _window(trainings, rules, which[wide], evaluations, LONG), np.full(len(wide), True))
        window[wide] = LONG
    return Look(number, evaluations, window, share(rules, number, window), movement)


def share(rules: Rules, number: int, sizes: Whole) -> Floats:
    """(b,) of the error, for windows (b,) of so many evaluations at look `number`."""
    of_look = DECAY / ((DECAY + number - 1) * (DECAY + number))
    shares: Floats = SHARED * rules.error * of_look * np.minimum(1.0, (sizes / FULL) ** 3)
    return shares


def least_error(t: Floats, noise: Floats) -> Floats:
    """(b,) that the slope of evaluations at t (w,) has at least, from half the noise (b,) of the full window: one that
    cannot be precise enough need not be tried."""
    error: Floats = np.sqrt(noise / 2 / ((t - t.mean()) ** 2).sum())
    return error


def before(evaluations: int, size: int) -> tuple[int, int] | None:
    """First and end of the part before a window that tells of scatter too; None where it is too short."""
    length = min(size, FULL, evaluations - size)
    return (evaluations - size - length, evaluations - size) if length >= FIRST else None


def _window(trainings: Trainings, rules: Rules, which: Whole, evaluations: int, size: int) -> Movement:
    earlier = before(evaluations, size)
    past = None if earlier is None else _part(trainings, rules, which, *earlier, None).slope.told
    return _part(trainings, rules, which, evaluations - size, evaluations, past)


def _part(trainings: Trainings, rules: Rules, which: Whole, first: int, end: int, past: Floats | None) -> Movement:
    t = _times(trainings, rules, first, end)
    found = strengths(trainings.meetings(which, first, end))
    known = 1 / (trainings.units.max() + 1) ** 2  # where no context tells two checkpoints apart, one more might have
    noise = np.maximum(variances(found.influences(movements(t)), trainings.units), known)
    return movement(t, found.values, noise, past)


def _times(trainings: Trainings, rules: Rules, first: int, end: int) -> Floats:
    return np.asarray(trainings.steps[first:end], dtype=float) / rules.per


@dataclass(frozen=True)
class Movement:
    """Of b curves. values: (b, w), strengths; noise: (b,), variance of a strength by contexts; bend: (b,), how far the curve
    bends upwards, in errors; end: (b,), the slope of a parabola at the newest evaluation."""

    values: Floats
    slope: Slope
    noise: Floats
    bend: Floats
    end: Floats

    def take(self, rows: Whole, other: Movement, those: NDArray[np.bool_]) -> None:
        """In these rows what the other has in those, but for the strengths."""
        pairs = [(self.noise, other.noise), (self.bend, other.bend), (self.end, other.end)]
        pairs += [(getattr(self.slope, part.name), getattr(other.slope, part.name)) for part in fields(Slope)]
        for mine, theirs in pairs:
            mine[rows] = theirs[those]


def movement(t: Floats, values: Floats, variances: Floats, past: Floats | None = None) -> Movement:
    """t: (w,); values: (b, w), strengths of b curves; variances: (b, k), of each of its `movements`, by contexts; past: what an
    earlier part told of scatter."""
    noise = variances[:, 1:].mean(1)
    spread = float(((t - t.mean()) ** 2).sum())
    extra = np.maximum(variances[:, 0] - noise, 0.0) / spread
    found = slope(t, values, noise, extra, past)
    bend = values @ movements(t)[1] / (found.error * np.sqrt(spread))
    parabola = np.linalg.pinv(np.vander(t - t[-1], 3, increasing=True))  # (3, w)
    return Movement(values, found, noise, bend, values @ parabola[1])


def movements(t: Floats) -> Floats:
    """(k, w) orthonormal polynomials of degree 1 to k in t (w,), each with a positive leading coefficient."""
    scaled = (t - t.mean()) / float(np.ptp(t))
    q, r = np.linalg.qr(np.vander(scaled, CONTRASTS + 1, increasing=True))
    rising: Floats = (q * np.sign(np.diag(r)))[:, 1:].T
    return rising
