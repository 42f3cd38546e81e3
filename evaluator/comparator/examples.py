"""What a comparator learns from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.judges.texts import Text
from evaluator.metaevaluation.pairs import JudgedPair

# A difference of one point on a scale from 1 to 5 is learnt as 82 in 100 for the higher, of two points as 95. Our choice.
CERTAINTY = 6.0


@dataclass(frozen=True)
class Exchange:
    """A context and what people answered to it; the first reply is the dialogue's own."""

    context: tuple[str, ...]
    replies: tuple[str, ...]
    dialogue: str  # exchanges of one dialogue share it


@dataclass(frozen=True)
class Examples:
    """What a comparator learns from and is measured on."""

    texts: Sequence[Text]  # (n,)
    pairs: Sequence[JudgedPair]
    scores: Any = None  # (n,) or (n, c) mean score of each text, 0..1, NaN where unknown (`mean_scores`)
    criteria: Sequence[str] = ("",)  # (c,) names that `Pair.criterion` counts; it judges, and is measured, by the first
    beside: Any = None  # (n,) True for a text that all members learn from and on which nothing is measured
    exchanges: Sequence[Exchange] = ()  # human dialogue; what shares a dialogue with a measured text is left out


def aligned(scores: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Mean scores (n,) of one campaign at the mean and spread of another's (m,), within 0..1: what a 4 means differs from
    campaign to campaign. NaN stays."""
    spread = float(np.nanstd(scores)) or 1.0
    return np.asarray(np.clip(np.nanmean(like) + (scores - np.nanmean(scores)) / spread * np.nanstd(like), 0.0, 1.0))


def softened(targets: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """Targets to learn from: how sure an order is grows with the difference of the mean scores (CERTAINTY).

    targets (p, 3) shares of those who scored both; differences (p,) of the means, a less b, on 0..1. The share of ties stays.
    """
    a = (1 - targets[:, 1]) / (1 + np.exp(-CERTAINTY * differences))  # (p,)
    return np.stack([a, targets[:, 1], 1 - targets[:, 1] - a], axis=1)
