"""What to see beside a curve, since a generator can be trained against its judge: does it win by length?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evaluator.selection.curve import Curve
from leaderboard.rating.diagnostics.length_control import control_length
from leaderboard.rating.glicko2_static import NotSettled


def length_controlled(curve: Curve, lengths: ArrayLike, previous: int = 2) -> list[float | None]:
    """Of each checkpoint the win rate against the previous k, ties half, as it would be if no output were longer than the other
    (Dubois et al. 2024); None where there is none, or it did not settle. lengths: (m, n), characters of the outputs."""
    lengths = np.asarray(lengths, dtype=float)
    games: list[tuple[int, int]] = []
    for m in range(len(curve)):
        games += [(m, e) for e in curve.comparisons.earlier(m).tolist() if e >= m - previous]
    nothing: list[float | None] = [None] * len(curve)
    if not games:
        return nothing
    outcomes = np.stack([curve.comparisons.outcomes(m, e) for m, e in games])  # (g, n)
    pair, context = np.nonzero(~np.isnan(outcomes))
    if not len(pair):
        return nothing
    later, earlier = np.array(games).T[:, pair]
    sides = (lengths[later, context], lengths[earlier, context])
    try:
        found = control_length(len(curve), later, earlier, outcomes[pair, context], sides, [curve.units[context]])
    except NotSettled:
        return nothing
    rates: dict[int, list[float]] = {}
    for m, e in games:
        if np.isfinite(found.pairs.rate[m, e]):
            rates.setdefault(m, []).append(float(found.pairs.rate[m, e]))
    return [float(np.mean(rates[m])) if m in rates else None for m in range(len(curve))]
