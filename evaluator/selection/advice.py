"""The verdict on a training that is watched: is it still getting better, and which checkpoint to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from core.errors import Refused
from evaluator.selection.best_checkpoint import Best, all_strengths, best
from evaluator.selection.curve import Curve, Floats
from evaluator.selection.losing_streak import Streak, against_previous, losing_streak
from evaluator.selection.plateau import FIRST, LEAST_UNITS, Look, newest_look
from evaluator.selection.rules import Rules, points
from evaluator.selection.strengths import variance

Word = Literal["improving", "open", "no longer improving", "getting worse"]
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Point:
    """One checkpoint. wins, ties, losses: against the previous k, over contexts; low, high: 95% interval of win rate less loss
    rate, None where nothing was compared or with one unit; strength: log-odds of winning against the first checkpoint, with its
    95% interval."""

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
    look, streak = newest_look(curve, rules), losing_streak(curve, rules)
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
        points=_points(curve, rules, found.values, found.influences(np.eye(len(curve)))),
        said=_said(curve, rules, look, streak),
    )


def _word(look: Look | None, rules: Rules) -> Word:
    if look is None:
        return "open"
    if look.stops(rules.worthwhile_slope):
        return "getting worse" if look.falls() else "no longer improving"
    return "improving" if look.rises() else "open"


def _interval(look: Look) -> tuple[float, float, float]:
    ends = look.slope.quantile(look.share), look.slope.quantile(1 - look.share)
    return points(float(look.slope.estimate[0])), points(ends[0]), points(ends[1])


def _points(curve: Curve, rules: Rules, values: Floats, influences: Floats) -> list[Point]:
    from_first = influences - influences[:1]
    spread = np.sqrt([float(variance(curve, row[None])[0, 0]) for row in from_first])
    units = int(curve.units.max()) + 1
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, units - 1)) * spread if units > 1 else None  # (m,)
    strength = values - values[0]
    ends = [(None, None)] * len(values) if reach is None else zip((strength - reach).tolist(), (strength + reach).tolist())
    return [
        Point(step, *_against(curve, i, rules), value, low, high)
        for i, (step, value, (low, high)) in enumerate(zip(curve.steps.tolist(), strength.tolist(), ends))
    ]


def _against(curve: Curve, m: int, rules: Rules) -> tuple[int, int, int, float | None, float | None]:
    outcomes = against_previous(curve, m, rules.previous)
    wins, ties, losses = (int((outcomes == side).sum()) for side in (1, 0, -1))
    low, high = _balance_interval(curve, outcomes)
    return wins, ties, losses, low, high


def _balance_interval(curve: Curve, outcomes: Floats) -> tuple[float | None, float | None]:
    """Of the mean of outcomes (k, n), units as clusters (Cochran 1977, 6.3: a ratio)."""
    judged = ~np.isnan(outcomes)
    count = judged.sum(0).astype(float)  # (n,)
    units = int(curve.units.max()) + 1
    if not count.any() or units < 2:
        return None, None
    total = np.where(judged, outcomes, 0.0).sum(0)
    mean = float(total.sum() / count.sum())
    residual = curve.by_unit(total - mean * count)
    error = float(np.sqrt((residual**2).sum() * units / (units - 1))) / float(count.sum())
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, units - 1)) * error
    return max(mean - half, -1.0), min(mean + half, 1.0)


def _said(curve: Curve, rules: Rules, look: Look | None, streak: Streak) -> list[str]:
    units = int(curve.units.max()) + 1
    per = f"{rules.per:,} steps"
    if units < LEAST_UNITS:
        first = f"{units} contexts or groups tell nothing of the noise: at least {LEAST_UNITS} are needed."
    elif look is None:
        first = f"One looks after {FIRST} evaluations for the first time; there are {len(curve)}."
    else:
        slope, low, high = _interval(look)
        first = (
            f"At evaluation {look.evaluations}, the newest {look.window} gain {slope:+.2f} points of win rate in {per} "
            f"({low:+.2f} to {high:+.2f}; the interval holds at all looks together)."
        )
    return [
        first,
        f"A training that gains {rules.worthwhile:g} points or more in {per} is stopped with a probability of about "
        f"{rules.error:.0%} at most, over all looks together; up to twice that where lucky checkpoints come in a row.",
        _of_streak(curve, rules, streak),
    ]


def _of_streak(curve: Curve, rules: Rules, streak: Streak) -> str:
    """What the rule as published says."""
    rule = f"The rule of Zhou & Xu ({rules.losses} evaluations lost in a row against the previous {rules.previous})"
    if streak.stopped_at is not None:
        return f"{rule} would have stopped at step {int(curve.steps[streak.stopped_at])}."
    return f"{rule} goes on: {streak.losses} lost in a row now."
