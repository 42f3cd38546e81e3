"""Training curves and the utilities of their checkpoints' outputs, drawn from a known truth.

One evaluation is the unit of time. Quality and utility are in standard deviations of an output, so a difference d between two
checkpoints whose outputs share nothing is a win rate of Phi(d / sqrt 2): .01 is .28 points in 100. `trend` is the shape;
`quality` = trend + scatter is real: a lucky checkpoint is better on every context. Somebody wrote it who had not seen the
estimators, and it shares nothing with them.
"""

from __future__ import annotations

import numpy as np


def trend(shape: str, evaluations: int) -> np.ndarray:
    """(evaluations,) The shape without scatter."""
    i = np.arange(evaluations, dtype=float)
    shapes = {
        "equal": 0 * i,
        "slow": 0.01 * i,
        "flat_after": _broken(i, 0),
        "down_after": _broken(i, -0.02),
        "logarithmic": 0.5 * np.log1p(i / 2),  # the slope is .25 at first, .01 at 48
        "late_slow_decline": _broken(i, -0.005),
    }
    return shapes[shape]


def _broken(i: np.ndarray, after: float) -> np.ndarray:
    """+ .05 each time until 30, then `after`"""
    return 0.05 * np.minimum(i, 30) + after * np.maximum(i - 30, 0)


def _ar1(innovations: np.ndarray, r: float) -> np.ndarray:
    """In place along axis 0: a stationary AR(1) with the innovations' own variance."""
    if r:
        innovations[1:] *= np.sqrt(1 - r * r)
        for i in range(1, len(innovations)):
            innovations[i] += r * innovations[i - 1]
    return innovations


def training(
    shape: str,
    evaluations: int,
    contexts: int,
    scatter: float,
    ar: float,
    seed: int,
    *,
    persistence: float = 0.0,
    copied: float = 0.0,
    tails: str = "normal",
    group_size: int = 1,
    group_share: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(quality (evaluations,), utility (evaluations, contexts), groups (contexts,)).

    scatter: SD of checkpoints around the trend; ar: correlation of neighbouring checkpoints' scatter
    persistence: correlation of an output's luck with the previous checkpoint's
    copied: share of outputs that are the previous checkpoint's, so exact ties
    tails: of an output's luck, "normal" or "t3"
    group_share: share of an output's luck that its group of contexts has in common in this checkpoint
    """
    rng = np.random.default_rng([seed, 11])
    size = (evaluations, contexts)
    quality = trend(shape, evaluations) + scatter * _ar1(rng.standard_normal(evaluations), ar)
    groups = np.arange(contexts) // group_size
    luck = rng.standard_t(3, size) / np.sqrt(3) if tails == "t3" else rng.standard_normal(size, dtype=np.float32)
    if group_share:
        topics = rng.standard_normal((evaluations, groups.max() + 1), dtype=np.float32)
        luck = np.sqrt(1 - group_share) * luck + np.sqrt(group_share) * topics[:, groups]
    _ar1(luck, persistence)
    fresh = quality.copy()
    if copied:
        fresh[1:] = (quality[1:] - copied * quality[:-1]) / (1 - copied)
    utility = luck + fresh[:, None]
    if copied:
        again = rng.random(size, dtype=np.float32) < copied
        for i in range(1, evaluations):
            np.copyto(utility[i], utility[i - 1], where=again[i])
    return quality, utility + rng.standard_normal(contexts), groups
