"""What a judge says of a training's checkpoints: who beats whom, on the same contexts.

The first checkpoint has index 0. Outcomes are of the later checkpoint: +1 where its output is better, 0 for a tie, -1 where
it is worse, NaN where nobody judged the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import Refused
from evaluator.judges.protocol import Preferences

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


class Comparisons(Protocol):
    """Who beats whom among m checkpoints, on n contexts."""

    def earlier(self, later: int) -> Whole:
        """Indices of the checkpoints that this one was compared with, rising."""
        ...

    def outcomes(self, later: int, earlier: ArrayLike) -> NDArray[np.float32]:
        """(n,) against one, (e, n) against several"""
        ...


@dataclass(frozen=True)
class ByUtility:
    """Of a pointwise judge. utilities: (m, n), NaN where it said nothing of an output; preferences: the judge's own."""

    utilities: Floats
    preferences: Callable[[Any, Any], Preferences]

    def earlier(self, later: int) -> Whole:
        return np.arange(later)

    def outcomes(self, later: int, earlier: ArrayLike) -> NDArray[np.float32]:
        """(n,) against one, (e, n) against several"""
        theirs = np.atleast_2d(self.utilities[np.asarray(earlier, dtype=int)])  # (e, n)
        mine = np.broadcast_to(self.utilities[later], theirs.shape)
        if self._all_judged:
            rows = self.preferences(mine.ravel(), theirs.ravel()).outcomes.astype(np.float32).reshape(theirs.shape)
        else:
            said = np.isfinite(mine) & np.isfinite(theirs)
            rows = np.full(theirs.shape, np.nan, dtype=np.float32)
            rows[said] = self.preferences(mine[said], theirs[said]).outcomes
        return rows if np.ndim(earlier) else rows[0]

    @cached_property
    def _all_judged(self) -> bool:
        return bool(np.isfinite(self.utilities).all())


@dataclass(frozen=True)
class ByPairs:
    """Of a pairwise judge, which was asked about some pairs. said: {(later, earlier): (n,)}."""

    said: Mapping[tuple[int, int], ArrayLike]

    def earlier(self, later: int) -> Whole:
        return np.array(sorted(e for one, e in self.said if one == later), dtype=int)

    def outcomes(self, later: int, earlier: ArrayLike) -> NDArray[np.float32]:
        """(n,) against one, (e, n) against several. Raises KeyError for a pair that nobody asked about."""
        if not np.ndim(earlier):
            return np.asarray(self.said[later, int(np.asarray(earlier))], dtype=np.float32)
        return np.stack([np.asarray(self.said[later, e], dtype=np.float32) for e in np.asarray(earlier).tolist()])


@dataclass(frozen=True)
class Curve:
    """A training as its judge sees it: m checkpoints in the order of their steps, n contexts.

    steps: (m,), rising; groups: (n,), contexts of one group are not independent; total: the steps planned, which may have
    grown, or None. Raises Refused where these contradict each other.
    """

    steps: Whole
    groups: Whole
    comparisons: Comparisons
    total: int | None = None

    def __post_init__(self) -> None:
        if len(self.steps) and (np.any(np.diff(self.steps) <= 0) or self.steps[0] < 0):
            raise Refused("The steps of a training's checkpoints rise, from 0 or above.")
        if not len(self.groups):
            raise Refused("A training is compared on at least one context.")
        if self.total is not None and len(self.steps) and self.total < self.steps[-1]:
            raise Refused(f"The training has reached step {self.steps[-1]} of {self.total}: the total is too small.")

    def __len__(self) -> int:
        return len(self.steps)

    @cached_property
    def units(self) -> Whole:
        """(n,) the groups, numbered from 0"""
        numbered: Whole = np.unique(np.asarray(self.groups), return_inverse=True)[1].astype(np.int64)
        return numbered


def curve_of(
    steps: ArrayLike, comparisons: Comparisons, contexts: int, groups: Sequence[Any] | None = None, total: int | None = None
) -> Curve:
    """A curve whose groups may be any labels (n,), or none: then each context is its own group."""
    labels = np.arange(contexts) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    return Curve(np.asarray(steps, dtype=np.int64), labels.astype(np.int64), comparisons, total)
