"""The rule of Zhou & Xu (2020, section 4.1), as published: compare n outputs of the newest checkpoint with those of the
previous k, and stop when its winning rate was below its losing rate five times in a row.

It misses most plateaus, since losses in a row are rare there, and it promises no error. It is shown because people know it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.selection.curve import Curve, Floats
from evaluator.selection.rules import Rules


@dataclass(frozen=True)
class Streak:
    """losses: evaluations lost in a row at the end; stopped_at: the first index at which the rule would have stopped the
    training, None where it would not."""

    losses: int
    stopped_at: int | None


def losing_streak(curve: Curve, rules: Rules) -> Streak:
    length, stopped_at = 0, None
    for m in range(1, len(curve)):
        length = length + 1 if balance(curve, m, rules) < 0 else 0
        if stopped_at is None and length >= rules.losses:
            stopped_at = m
    return Streak(length, stopped_at)


def balance(curve: Curve, m: int, rules: Rules) -> float:
    """Wins less losses of the plays of checkpoint m; of more than `plays` comparisons so many are drawn, none twice."""
    outcomes = against_previous(curve, m, rules.previous).ravel()
    outcomes = outcomes[~np.isnan(outcomes)]
    if len(outcomes) > rules.plays:
        rng = np.random.default_rng([rules.seed, m])
        outcomes = rng.choice(outcomes, rules.plays, replace=False)
    return float(outcomes.sum())


def against_previous(curve: Curve, m: int, previous: int) -> Floats:
    """(k, n) outcomes of checkpoint m against the previous k, of which fewer may be there, or judged"""
    there = curve.comparisons.earlier(m)
    back = there[there >= m - previous]
    if not len(back):
        return np.empty((0, len(curve.groups)))
    outcomes: Floats = np.asarray(curve.comparisons.outcomes(m, back), dtype=float)
    return outcomes
