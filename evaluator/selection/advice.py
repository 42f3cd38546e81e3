"""The verdict on a training that is watched: is it still getting better, and which checkpoint to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from core.errors import Refused
from evaluator.selection.best_checkpoint import Best, all_strengths, best
from evaluator.selection.curve import Curve, Floats, Whole
from evaluator.selection.losing_streak import Streak, against_previous, losing_streak
from evaluator.selection.plateau import FIRST, Look, newest_look
from evaluator.selection.rules import Rules, amount, points
from evaluator.selection.strengths import LEAST_UNITS, Strengths, by_unit, variances

Word = Literal["improving", "open", "no longer improving", "getting worse"]
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Point:
    """One checkpoint. wins, ties, losses: against the previous k, over contexts; low, high: 95% interval of win rate less loss
    rate, None where nothing was compared or the units are too few; strength: log-odds of winning against the first checkpoint,
    with its 95% interval."""

    step: int
    wins: int
    ties: int
    losses: int
    low: float | None
    high: float | None
    strength: float
    strength_low: float | None
    strength_high: float | None


@dataclass(frozen=True)
class Advice:
    """slope, low, high: points of win rate above 50% against the checkpoint `per` steps earlier, None before the first look;
    the interval holds at all looks together. looks: how many there were. said: sentences, for people."""

    word: Word
    stop: bool
    streak_stop: bool
    slope: float | None
    low: float | None
    high: float | None
    looks: int
    best: Best
    points: list[Point]
    said: list[str]


def advice(curve: Curve, rules: Rules) -> Advice:
    """The same for the same rows. Raises Refused for a curve without a checkpoint."""
    if not len(curve):
        raise Refused("A training without a checkpoint has no verdict.")
    recent = against_previous(curve, rules.previous)
    look, streak = newest_look(curve, rules), losing_streak(recent, rules)
    word = _word(look, rules)
    found = all_strengths(curve)
    slope, low, high = _interval(look) if look else (None, None, None)
    return Advice(
        word=word,
        stop=word in ("no longer improving", "getting worse"),
        streak_stop=streak.stopped_at is not None,
        slope=slope,
        low=low,
        high=high,
        looks=look.number if look else 0,
        best=best(curve, rules, found),
        points=_points(curve, recent, found),
        said=_said(curve, rules, look, streak),
    )


def _word(look: Look | None, rules: Rules) -> Word:
    if look is None:
        return "open"
    if look.stops(rules.worthwhile_slope):
        return "getting worse" if look.falls() else "no longer improving"
    return "improving" if look.rises() else "open"


def _interval(look: Look) -> tuple[float, float, float]:
    share = float(look.share[0])
    ends = look.slope.quantile(share), look.slope.quantile(1 - share)
    return points(float(look.slope.estimate[0])), points(ends[0]), points(ends[1])


def _points(curve: Curve, recent: Floats, found: Strengths) -> list[Point]:
    units = int(curve.units.max()) + 1
    factor = float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, units - 1)) if units >= LEAST_UNITS else np.nan
    strength = found.values[0] - found.values[0, 0]
    influences = found.influences(np.eye(len(curve)))[0]
    reach = factor * np.sqrt(variances(influences - influences[:1], curve.units))
    sides = [(recent == side).sum((1, 2)).tolist() for side in (1, 0, -1)]
    low, high = _balance_intervals(recent, curve.units, factor)
    known = [_finite(low), _finite(high), strength.tolist(), _finite(strength - reach), _finite(strength + reach)]
    return [Point(*row) for row in zip(curve.steps.tolist(), *sides, *known)]


def _finite(values: Floats) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]


def _balance_intervals(recent: Floats, units: Whole, factor: float) -> tuple[Floats, Floats]:
    """(m,), (m,), of the mean outcome of each checkpoint, units as clusters (Cochran 1977, 6.3: a ratio); NaN where nothing was
    compared."""
    count = (~np.isnan(recent)).sum(1).astype(float)  # (m, n)
    total, played = np.nansum(recent, axis=1), np.where(count.any(1), count.sum(1), np.nan)
    mean = total.sum(1) / played
    residual = by_unit(total - mean[:, None] * count, units)  # (m, u)
    u = residual.shape[1]
    half = factor * np.sqrt((residual**2).sum(1) * u / max(u - 1, 1)) / played
    return np.maximum(mean - half, -1.0), np.minimum(mean + half, 1.0)


def _said(curve: Curve, rules: Rules, look: Look | None, streak: Streak) -> list[str]:
    units = int(curve.units.max()) + 1
    if units < LEAST_UNITS:
        there = "1 context" if units == 1 else f"{units} contexts or groups"
        first = f"The noise is not known from {there}: {LEAST_UNITS} are needed."
    elif look is None:
        first = f"One looks after {FIRST} evaluations for the first time; so far: {len(curve)}."
    else:
        slope, low, high = _interval(look)
        first = (
            f"At evaluation {look.evaluations}, the newest {look.window[0]} gain {slope:+.2f} points of win rate in "
            f"{rules.span} ({low:+.2f} to {high:+.2f}; the interval holds at all looks together)."
        )
    gain = amount(f"{rules.worthwhile:g}", "point")
    return [
        first,
        f"A training that gains {gain} or more in {rules.span} is stopped with a probability of about {rules.error:.0%} at "
        "most, over all looks together; up to twice that where lucky checkpoints come in a row.",
        _of_streak(curve, rules, streak),
        *of_whom(curve),
    ]


def of_whom(curve: Curve) -> list[str]:
    """What intervals and probabilities speak of; nothing where too few units tell nothing of the noise."""
    contexts, units = len(curve.groups), int(curve.units.max()) + 1
    if units < LEAST_UNITS:
        return []
    what = f"{contexts} contexts" if units == contexts else f"{contexts} contexts, drawn in their {units} groups"
    return [f"Intervals and probabilities hold for contexts like these: {what}, as this judge sees them."]


def _of_streak(curve: Curve, rules: Rules, streak: Streak) -> str:
    """What the rule as published says."""
    lost = amount(str(rules.losses), "evaluation")
    rule = f"The rule of Zhou & Xu ({lost} lost in a row against the previous {rules.previous})"
    if streak.stopped_at is not None:
        return f"{rule} would have stopped at step {int(curve.steps[streak.stopped_at])}."
    return f"{rule} goes on: {streak.losses} lost in a row now."
