"""How often a judge contradicts itself: its answer changes with the sides, or A beats B, B beats C and C beats A; and whether
it still says the same when it is asked again later (`drift`): its agreement with people then and now, and how many answers
changed.

A judge that is asked anew may also answer otherwise by chance, where its server draws. So an answer that changed is no proof of
another model; a change of agreement whose interval leaves out 0 is a change of the judge as it is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from evaluator.metaevaluation.resampling import bootstrap

RESAMPLES = 1000
SIDES = ("A", "tie", "B")
Figure = tuple[float, float, float]  # a value with its 95% interval, which draws whole contexts


@dataclass(frozen=True)
class Consistency:
    """Shares with 95% intervals, bootstrapped over contexts. None where there is nothing to count."""

    flips: float | None  # of the pairs, whose answer in one order is another when the sides are swapped
    flips_interval: tuple[float, float] | None
    pairs: int
    circular: float | None  # of the triples of outputs of one context, by the averaged answers
    circular_interval: tuple[float, float] | None
    triples: int


def measure_consistency(flipped: np.ndarray, units: np.ndarray, triples: Sequence[tuple[int, int]], seed: int) -> Consistency:
    """flipped (p,) booleans and units (p,) numbers of contexts or groups, of pairs; triples: (circular, all) of each unit."""
    _, where = np.unique(units, return_inverse=True)
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


@dataclass(frozen=True)
class Drift:
    """pairs: judged both times; the agreements are shares of people's answers that the judge gave too, pairs weighing alike."""

    pairs: int
    then: float
    now: float
    change: Figure  # now - then
    flips: Figure  # share of answers that differ


def drift(then: Sequence[str], now: Sequence[str], people: np.ndarray, contexts: Sequence[str], seed: int = 0) -> Drift | None:
    """then, now: (n,) "A", "tie", "B", or "" where the judge said nothing; people (n, 3): shares of their answers A, tie, B;
    contexts (n,), or their groups. None where no pair was judged both times."""
    both = np.array([bool(before and after) for before, after in zip(then, now, strict=True)], dtype=bool)
    if not both.any():
        return None
    before, after = (np.array([SIDES.index(choice) if choice else 0 for choice in said]) for said in (then, now))
    rows = np.flatnonzero(both)
    agreed_then, agreed_now = people[rows, before[rows]], people[rows, after[rows]]  # (m,)
    of = np.unique(np.asarray(contexts), return_inverse=True)[1][rows]
    flipped = (before != after)[rows].astype(float)
    change, flips = ((float(values.mean()), *bootstrap(values, of, seed)) for values in (agreed_now - agreed_then, flipped))
    return Drift(len(rows), float(agreed_then.mean()), float(agreed_now.mean()), change, flips)
