"""How often a judge contradicts itself: its answer changes with the sides, or A beats B, B beats C and C beats A."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

RESAMPLES = 1000


@dataclass(frozen=True)
class Consistency:
    """Shares with 95% intervals, bootstrapped over contexts. None where there is nothing to count."""

    flips: float | None  # of the pairs, whose answer in one order is another when the sides are swapped
    flips_interval: tuple[float, float] | None
    pairs: int
    circular: float | None  # of the triples of outputs of one context, by the averaged answers
    circular_interval: tuple[float, float] | None
    triples: int


def measure_consistency(
    flipped: np.ndarray, contexts: np.ndarray, triples: Sequence[tuple[int, int]], seed: int
) -> Consistency:
    """flipped (p,) booleans and contexts (p,) numbers, of pairs; triples: (circular, all) of each context."""
    _, where = np.unique(contexts, return_inverse=True)
    circular, every = np.array(triples, dtype=float).reshape(-1, 2).T  # (c,), (c,)
    share, interval = _share(np.bincount(where, weights=flipped), np.bincount(where), seed)
    round_share, round_interval = _share(circular, every, seed)
    return Consistency(share, interval, len(flipped), round_share, round_interval, int(every.sum()))


def circular_triples(beats: np.ndarray) -> tuple[int, int]:
    """(circular triples, all triples) of m outputs; beats (m, m): beats[i, j] where i is better than j."""
    beats = beats.astype(int)
    return int(np.trace(beats @ beats @ beats)) // 3, comb(len(beats), 3)  # a circle is met from each of its three outputs


def _share(counts: np.ndarray, of: np.ndarray, seed: int) -> tuple[float | None, tuple[float, float] | None]:
    """counts (c,) of `of` (c,) by context -> the share of all, and its interval"""
    if not of.sum():
        return None, None
    counts, of = counts[of > 0], of[of > 0]
    draws = np.random.default_rng(seed).integers(len(of), size=(RESAMPLES, len(of)))  # (r, c)
    low, high = np.quantile(counts[draws].sum(1) / of[draws].sum(1), [0.025, 0.975])
    return float(counts.sum() / of.sum()), (float(low), float(high))
