"""Does one judge correlate with people more than another? Two correlations with the same people's scores are dependent, so
they are tested together: by Williams' test, as machine translation does (Graham & Baldwin 2014), and by exchanging the judges'
scores of whole contexts (Deutsch, Dror & Roth 2021, PERM-INPUTS), which needs neither normal scores nor independent outputs.

And what all judges together are worth beside people (`stack`). Several proxies in one prediction-powered estimate are one,
their best linear combination (Angelopoulos, Duchi & Zrnic 2023, section 6; Miao et al. 2023, "Assumption-lean and data-adaptive
post-prediction inference"). Weights are not below 0, are shrunk towards 0, and are fitted out of fold: who adds nothing
gets none, and a second that says the same adds nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from annotation.quality.people.suspicion import holm
from evaluator.metaevaluation.correlation import UndefinedCorrelation, pearson
from evaluator.metaevaluation.judge_profile import PLUS_FOUR, JudgeWorth, worth

PERMUTATIONS = 1000  # at least
FOR_EACH_PAIR = 40  # more where many pairs are tested: Holm's smallest p is the number of pairs times that of one, 0.025 so
FEWEST = 4  # outputs: Williams' t has n - 3 degrees of freedom

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class JudgeDifference:
    """Two judges on what both judged. p values are two-sided."""

    first: str
    second: str
    n: int  # outputs that people scored, or pairs of which they prefer one side
    difference: float  # first's figure less the second's: Pearson's correlation with people, or the share of such pairs
    williams: float | None  # p, of correlations; None where the test is not defined, or of shares
    permutation: float
    corrected: float  # the permutation test's p, for all pairs of judges (Holm 1979)


def williams(r_first: float, r_second: float, r_between: float, n: int) -> tuple[float, float]:
    """(t, two-sided p) of the difference of two correlations of n outputs with one variable, whose own correlation is r_between
    (Williams 1959, as Steiger 1980, equation 7, writes it). Raises UndefinedCorrelation where n is below FEWEST or the three
    correlations leave nothing to tell the two judges apart by."""
    if n < FEWEST:
        raise UndefinedCorrelation(f"Williams' test needs at least {FEWEST} outputs; there are {n}.")
    determinant = 1 - r_first**2 - r_second**2 - r_between**2 + 2 * r_first * r_second * r_between
    mean = (r_first + r_second) / 2
    spread = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_between) ** 3
    if spread <= 1e-12:
        raise UndefinedCorrelation("The two judges order everything alike, so there is nothing to test.")
    t = (r_first - r_second) * np.sqrt((n - 1) * (1 + r_between) / spread)
    return float(t), float(2 * scipy.stats.t.sf(abs(t), n - 3))


def permutation(
    first: Numbers, second: Numbers, people: Numbers, contexts: NDArray[np.int64], seed: int, draws: int | None = None
) -> float:
    """Two-sided p of the difference of two judges' Pearson correlations with people: all (n,) and finite, contexts numbers. The
    judges' standard scores are exchanged in contexts drawn at random, `draws` times (default PERMUTATIONS). Raises
    UndefinedCorrelation where one of them is constant."""
    found = abs(pearson(first, people) - pearson(second, people))
    _, where = np.unique(contexts, return_inverse=True)
    sums = [_sums(scipy.stats.zscore(values), people, where) for values in (first, second)]  # (contexts, 3) each
    swapped = _swaps(draws or PERMUTATIONS, int(where.max()) + 1, seed)  # (draws, contexts)
    moved = _times(swapped, sums[1] - sums[0])  # (draws, 3)
    one, other = sums[0].sum(0) + moved, sums[1].sum(0) - moved
    with np.errstate(invalid="ignore", divide="ignore"):
        differences = np.abs(_pearson_of(one, people) - _pearson_of(other, people))  # (draws,) not a number: counted against
    as_large = int((~(differences < found - 1e-12)).sum())
    return (as_large + 1) / (len(swapped) + 1)


def _sums(values: Numbers, people: Numbers, where: NDArray[np.int64]) -> Numbers:
    """(contexts, 3): of each context the sum of the values, of their squares and of their products with people's"""
    return np.stack([np.bincount(where, column) for column in (values, values**2, values * people)], axis=1)


def _pearson_of(sums: Numbers, people: Numbers) -> Numbers:
    """Sums (draws, 3) over all contexts -> (draws,) correlations with people (n,)"""
    n, (x, xx, xz) = len(people), sums.T
    z, zz = people.sum(), (people**2).sum()
    return np.asarray((n * xz - x * z) / np.sqrt((n * xx - x**2) * (n * zz - z**2)))


@lru_cache(maxsize=2)
def _swaps(draws: int, contexts: int, seed: int) -> NDArray[np.bool_]:
    """(draws, contexts) whether the two judges change places; the same for all pairs of judges of one table"""
    return np.random.default_rng(seed).integers(0, 2, (draws, contexts), dtype=bool)


def _times(swapped: NDArray[np.bool_], sums: Numbers) -> Numbers:
    """(draws, contexts) by (contexts, k) -> (draws, k), in parts, so that few of the draws take eight bytes each at once"""
    return np.concatenate([swapped[i : i + PERMUTATIONS].astype(float) @ sums for i in range(0, len(swapped), PERMUTATIONS)])


def differences(
    judges: Mapping[str, Numbers], people: Numbers, contexts: NDArray[np.int64], seed: int
) -> list[JudgeDifference]:
    """Every two judges, by their Pearson correlations with people; utilities (n,) by name, people (n,), NaN being none.
    contexts: (n,). Pairs of which one is constant are left out."""
    found, draws = [], _draws(len(judges))
    for one, other in combinations(judges, 2):
        rows = np.isfinite(judges[one]) & np.isfinite(judges[other]) & np.isfinite(people)
        x, y, z = judges[one][rows], judges[other][rows], people[rows]
        try:
            r = pearson(x, z), pearson(y, z), pearson(x, y)
            by_chance = permutation(x, y, z, contexts[rows], seed, draws)
        except UndefinedCorrelation:
            continue
        found.append((one, other, int(rows.sum()), r[0] - r[1], _williams(*r, int(rows.sum())), by_chance))
    corrected = holm([row[-1] for row in found]) if found else []
    return [JudgeDifference(*row, p) for row, p in zip(found, corrected, strict=True)]


def share_differences(judges: Mapping[str, Numbers], contexts: NDArray[np.int64], seed: int) -> list[JudgeDifference]:
    """Every two judges by the share of people's clear preferences that they order the same way: agreement (p,) by name, 1 where
    it does, 0 where not, 0.5 for neither, NaN where it did not judge; contexts (p,). Whole contexts change hands."""
    found, draws = [], _draws(len(judges))
    for one, other in combinations(judges, 2):
        rows = np.isfinite(judges[one]) & np.isfinite(judges[other])
        if not rows.any():
            continue
        ahead = judges[one][rows] - judges[other][rows]
        _, where = np.unique(contexts[rows], return_inverse=True)
        sums = np.asarray(np.bincount(where, ahead), dtype=float)  # (contexts,)
        exchanged = sums.sum() - 2 * _times(_swaps(draws, len(sums), seed), sums[:, None])[:, 0]  # (draws,)
        as_large = int((np.abs(exchanged) >= abs(sums.sum()) - 1e-9).sum())
        p = (as_large + 1) / (draws + 1)
        found.append((one, other, len(ahead), float(ahead.mean()), None, p))
    corrected = holm([row[-1] for row in found]) if found else []
    return [JudgeDifference(*row, p) for row, p in zip(found, corrected, strict=True)]


def _draws(judges: int) -> int:
    return max(PERMUTATIONS, FOR_EACH_PAIR * (judges * (judges - 1) // 2))


def _williams(r_first: float, r_second: float, r_between: float, n: int) -> float | None:
    try:
        return williams(r_first, r_second, r_between, n)[1]
    except UndefinedCorrelation:
        return None


ENOUGH = 0.95  # of the pairs that the fullest judge answered: who answered fewer is left out, since all must answer a pair
FEWEST_FOLDS = 3  # with pairs, below which nothing is fitted


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
    if len(names) < 2 or len(np.unique(folds[rows])) < FEWEST_FOLDS:
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
    found = scipy.optimize.nnls(
        np.concatenate([scaled, prior]), np.concatenate([_within(y[:, None], cells)[:, 0], np.zeros(x.shape[1])])
    )[0]
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
