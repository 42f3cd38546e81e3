"""Choice among settings: the best checkpoints of several runs answered the same contexts, and a judge compared them.

Here nothing says that neighbours are alike: a priori each candidate is as good as any, with a variance that is taken from how
much they differ beyond the noise (Robbins 1956: empirical Bayes), so that the winner's lead is not taken at its face value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from core.errors import Refused
from evaluator.selection.best_checkpoint import CONFIDENCE, chances_of, drawn_exchangeable, kept
from evaluator.selection.curve import Curve
from evaluator.selection.strengths import by_unit, meetings, strengths


@dataclass(frozen=True)
class Candidate:
    """name: of the run; win_rate, low, high: against the other candidates on average, ties half, shrunk, with its 95% interval;
    probability: that it is the best; rank_low, rank_high: its 95% interval of rank, 1 the best."""

    name: str
    win_rate: float
    low: float
    high: float
    probability: float
    rank_low: int
    rank_high: int


@dataclass(frozen=True)
class Choice:
    """candidates: the likeliest best first; not_worse: names among which the best is with 95% probability."""

    candidates: list[Candidate]
    not_worse: list[str]


def choice(names: Sequence[str], curve: Curve, seed: int = 0) -> Choice:
    """names: (r,), of the runs in the order of the curve's checkpoints, whose steps are their numbers. Raises Refused for fewer
    than two, or a curve of another length."""
    if len(names) < 2 or len(names) != len(curve):
        raise Refused("A choice needs at least two runs.")
    found = strengths(meetings(curve, np.arange(len(curve))))
    centred = np.eye(len(names)) - 1 / len(names)
    each = by_unit(found.influences(centred)[0], curve.units) / len(curve.groups)  # (r, u)
    draws = drawn_exchangeable(found.values[0], each, seed)  # (d, r)
    chances = chances_of(draws)
    ranks = 1 + (draws[:, None, :] > draws[:, :, None]).sum(2)  # (d, r)
    against = scipy.special.expit(draws[:, :, None] - draws[:, None, :])  # (d, r, r)
    rates = (against.sum(2) - 0.5) / (len(names) - 1)
    ends = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    low, high = np.quantile(rates, ends, axis=0)
    rank_low, rank_high = np.quantile(ranks, ends, axis=0, method="inverted_cdf").astype(int)
    rows = [
        Candidate(
            name,
            float(rates[:, i].mean()),
            float(low[i]),
            float(high[i]),
            float(chances[i]),
            int(rank_low[i]),
            int(rank_high[i]),
        )
        for i, name in enumerate(names)
    ]
    order = np.lexsort((np.arange(len(names)), -chances))
    return Choice([rows[i] for i in order], [names[i] for i in kept(chances)])
