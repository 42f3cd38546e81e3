"""What people's liking for short outputs is worth, taken out of what is learnt from them; and what a liking for long ones is.

Where people prefer the shorter of two outputs, a comparator takes it up as a habit, which "ok ." profits from and which holds
for no other campaign. So while people are learnt from, the length speaks for itself: an offset beside the utility, as in the
length-controlled win rates of Dubois et al. 2024 (section 3), which is left away when judging. A liking for long outputs is
left in: what says more is often better. A mean over tokens hardly knows how many there are, so there the length is counted in
beside the utility, by as much as it adds out of fold.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_expit

from evaluator.comparator.examples import Text

STEEPEST = 3.0  # logits for each unit of the logarithm, in either direction


def log_words(texts: Sequence[Text]) -> np.ndarray:
    """(n,) logarithm of one more than the words of each output"""
    return np.log1p([len(text.output.split()) for text in texts])


def slope(differences: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> float:
    """By how many logits a unit of the logarithm changes an output's utility, 0 or less: the likeliest by Bradley & Terry
    (1952).

    differences (p,) of the logarithms, a less b; targets (p, 3) P(A better), P(tie), P(B better); weights (p,).
    A tie counts half for each side.
    """
    if not len(differences):
        return 0.0
    won = targets[:, 0] + targets[:, 1] / 2  # (p,)
    likelihood = lambda s: won * log_expit(s * differences) + (1 - won) * log_expit(-s * differences)  # (p,)
    cost = lambda s: -np.average(likelihood(s), weights=weights)
    return min(float(minimize_scalar(cost, bounds=(-STEEPEST, STEEPEST), method="bounded").x), 0.0)
