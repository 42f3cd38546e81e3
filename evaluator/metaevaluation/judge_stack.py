"""What all judges together are worth beside people: their answers joined, with weights that people's answers fit.

Several proxies in one prediction-powered estimate are one proxy, their best linear combination (Angelopoulos, Duchi & Zrnic
2023, section 6; Miao et al. 2023, "Assumption-lean and data-adaptive post-prediction inference"). Weights are not below 0, are
shrunk towards 0, and are fitted out of fold: a judge that adds nothing gets none, and a second that says the same adds nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from evaluator.metaevaluation.judge_profile import PLUS_FOUR, JudgeWorth, worth

ENOUGH = 0.95  # of the pairs that the fullest judge answered: who answered fewer is left out, since all must answer a pair
FEWEST = 3  # folds with pairs, below which nothing is fitted

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Stack:
    """judges: {name: weight} over all pairs, of answers that vary alike; left_out: who answered too few of them."""

    judges: dict[str, float]
    pairs: int
    left_out: tuple[str, ...]
    worth: JudgeWorth | None

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "Stack":
        return cls(**{**given, "left_out": tuple(given["left_out"]), "worth": given["worth"] and JudgeWorth(**given["worth"])})


def stack(
    ahead: Mapping[str, Numbers], people: Numbers, cells: NDArray[np.int64], units: NDArray[np.int64], folds: NDArray[np.int64]
) -> Stack | None:
    """ahead: of each judge (p,) how far it puts the first of a pair before the second, on its own scale, NaN where it did not
    say; people (p,) their answers, from -1 to 1; cells (p,) the pair of systems, units (p,) the contexts, folds (p,) of these.
    None where fewer than two judges answered, or too few pairs were."""
    answered = {name: np.isfinite(d) for name, d in ahead.items()}
    most = max((int(known.sum()) for known in answered.values()), default=0)
    names = [name for name, known in answered.items() if most and known.sum() >= ENOUGH * most]
    rows = np.flatnonzero(np.logical_and.reduce([answered[name] for name in names])) if names else np.empty(0, dtype=int)
    if len(names) < 2 or len(np.unique(folds[rows])) < FEWEST:
        return None
    x = np.stack([_bounded(ahead[name][rows]) for name in names], axis=1)  # (r, j)
    y, cells, units, folds = people[rows], cells[rows], units[rows], folds[rows]
    joined = np.zeros(len(rows))
    for fold in np.unique(folds):
        others = folds != fold
        joined[~others] = x[~others] @ _weights(x[others], y[others], cells[others], units[others])
    left_out = tuple(name for name in ahead if name not in names)
    weights = _weights(x, y, cells, units) * _spread(x, cells)
    return Stack(dict(zip(names, weights.tolist(), strict=True)), len(rows), left_out, worth(joined, y, cells, units))


def _bounded(d: Numbers) -> Numbers:
    """(p,) from -1 to 1, in the order of d, so that no score outweighs all others; half of the answers are beyond 0.5"""
    size = float(np.median(np.abs(d[d != 0]))) if (d != 0).any() else 1.0
    bounded: Numbers = d / size / (1 + np.abs(d / size))
    return bounded


def _weights(x: Numbers, y: Numbers, cells: NDArray[np.int64], units: NDArray[np.int64]) -> Numbers:
    """(j,) at least 0: least squares of people's answers y (r,) on judges' x (r, j), within pairs of systems, as if there were
    PLUS_FOUR more contexts in which the judges say nothing of people."""
    spread = _spread(x, cells)
    scaled = _within(x, cells) / spread
    m = len(np.unique(units))
    prior = np.sqrt(len(y) * PLUS_FOUR / m) * np.eye(x.shape[1])
    found = nnls(np.concatenate([scaled, prior]), np.concatenate([_within(y[:, None], cells)[:, 0], np.zeros(x.shape[1])]))[0]
    weights: Numbers = found / spread
    return weights


def _spread(x: Numbers, cells: NDArray[np.int64]) -> Numbers:
    """(j,) standard deviations within pairs of systems; 1 where nothing varies"""
    spread = np.sqrt((_within(x, cells) ** 2).mean(axis=0))
    found: Numbers = np.where(spread > 1e-9, spread, 1.0)
    return found


def _within(x: Numbers, cells: NDArray[np.int64]) -> Numbers:
    """x (r, j) less its mean in each pair of systems"""
    _, of = np.unique(cells, return_inverse=True)
    sums = np.zeros((int(of.max()) + 1, x.shape[1]))
    np.add.at(sums, of, x)
    left: Numbers = x - (sums / np.bincount(of)[:, None])[of]
    return left
