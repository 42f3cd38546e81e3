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


def losing_streak(recent: Floats, rules: Rules) -> Streak:
    """recent: as `against_previous` says"""
    length, stopped_at = 0, None
    for m, balance in enumerate(_balances(recent, rules)):
        length = length + 1 if balance < 0 else 0
        if stopped_at is None and length >= rules.losses:
            stopped_at = m
    return Streak(length, stopped_at)


def _balances(recent: Floats, rules: Rules) -> list[float]:
    """Wins less losses of each checkpoint's plays; of more than `plays` comparisons so many are drawn, none twice."""
    balances = np.nansum(recent, axis=(1, 2))
    for m in np.flatnonzero((~np.isnan(recent)).sum((1, 2)) > rules.plays).tolist():
        outcomes = recent[m][~np.isnan(recent[m])]
        balances[m] = np.random.default_rng([rules.seed, m]).choice(outcomes, rules.plays, replace=False).sum()
    found: list[float] = balances.tolist()
    return found


def against_previous(curve: Curve, previous: int) -> Floats:
    """(m, k, n) outcomes of each checkpoint against the previous k, NaN where nobody judged"""
    recent = np.full((len(curve), previous, len(curve.groups)), np.nan)
    for m in range(1, len(curve)):
        there = curve.comparisons.earlier(m)
        back = there[there >= m - previous]
        if len(back):
            recent[m, : len(back)] = curve.comparisons.outcomes(m, back)
    return recent
