"""How a comparator judges contexts of which it learnt nothing: its utility beside the untrained cosines.

Out of fold, members are measured on what they know: other contexts of the same campaigns. On other campaigns they are worth
less, and the untrained cosines are not. So half of the cosines' weight is what they are worth out of fold, and half that of a
part as good as the utility: equal weights are hard to beat where the true ones are not known (Dawes 1979, "The robust beauty of
improper linear models in decision making").
"""

from dataclasses import dataclass

import numpy as np

from evaluator.judges.calibration import worth_beside

EQUAL = 1.0  # what the cosines weigh against a utility of the same spread, where they are as good
MOST = 2.0
WHOLE = 0.5  # of what an output lacks of being whole counts: whole outputs of other campaigns read otherwise. Our choice.


@dataclass(frozen=True)
class Elsewhere:
    """own u + last_turn c1 + whole_context c2 + level, with the cosines c of an output with the last turn and with the whole
    context; of the same mean and spread as u where members learnt. The defaults leave u as it is."""

    own: float = 1.0
    last_turn: float = 0.0
    whole_context: float = 0.0
    level: float = 0.0

    def utilities(self, u: np.ndarray, cosines: np.ndarray) -> np.ndarray:
        """u (n,), cosines (n, 2) -> (n,)"""
        return np.asarray(self.own * u + cosines @ (self.last_turn, self.whole_context) + self.level)

    def scaled(self, by: float) -> "Elsewhere":
        """The same for utilities that are `by` times as large."""
        return Elsewhere(self.own, by * self.last_turn, by * self.whole_context, by * self.level)


def beside_cosines(
    u: np.ndarray, cosines: np.ndarray, scores: np.ndarray, pairs: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
) -> Elsewhere:
    """u (n,) out of fold, NaN where unknown; cosines (n, 2); mean scores (n,) from 0 to 1, NaN where unknown; pairs: as from
    `as_arrays`. Where a cosine does not vary, everything stays as it is."""
    known = ~np.isnan(u)  # (n,)
    mean, spread = u[known].mean(), u[known].std()
    means, spreads = cosines[known].mean(0), cosines[known].std(0)
    if min(spread, *spreads) < 1e-6:
        return Elsewhere()
    own, beside = (u - mean) / spread, ((cosines - means) / spreads).mean(1)  # (n,), (n,)
    a, b, targets, weights = pairs
    scored = known & ~np.isnan(scores)  # (n,)
    told = own[scored], beside[scored], scores[scored]
    scale, worth = worth_beside(own[a] - own[b], beside[a] - beside[b], targets, weights, MOST, told)
    weight = (min(worth / scale, MOST) + EQUAL) / 2
    by = spread / float((own + weight * beside)[known].std())
    last_turn, whole_context = by * weight / 2 / spreads
    level = mean - by / spread * mean - means @ (last_turn, whole_context)
    return Elsewhere(float(by / spread), float(last_turn), float(whole_context), float(level))
