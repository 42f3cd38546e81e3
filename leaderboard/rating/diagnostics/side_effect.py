"""Whether the side on which an output stood mattered: the share of judgments, ties left out, that prefer the left one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from leaderboard.rating.diagnostics.clustered import least_clusters, variance_of_sum

CONFIDENCE = 0.95


@dataclass(frozen=True)
class SideEffect:
    """left: share; low, high: 95% interval, nan with fewer than two clusters of a kind; judgments: without ties."""

    left: float
    low: float
    high: float
    judgments: int


def side_effect(left: ArrayLike, clusters: Sequence[ArrayLike]) -> SideEffect:
    """left: bool (judgments,), was the left output preferred; no ties among them. clusters: arrays (judgments,), contexts and
    annotators. Student's t on the share, the variance clustered (`clustered`). ValueError without judgments."""
    preferred = np.asarray(left, dtype=float)
    if len(preferred) == 0:
        raise ValueError("Without judgments no side is preferred.")
    share = float(preferred.mean())
    if least_clusters(clusters) < 2:
        return SideEffect(share, np.nan, np.nan, len(preferred))
    rows = scipy.sparse.csr_matrix((preferred - share)[:, None])
    error = float(np.sqrt(variance_of_sum(rows, clusters)[0, 0])) / len(preferred)
    reach = error * float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, least_clusters(clusters) - 1))
    return SideEffect(share, max(share - reach, 0.0), min(share + reach, 1.0), len(preferred))
