"""Does one judge correlate with people more than another? Two correlations with the same people's scores are dependent, so
they are tested together: by Williams' test, as machine translation does (Graham & Baldwin 2014), and by exchanging the judges'
scores of whole contexts (Deutsch, Dror & Roth 2021, PERM-INPUTS), which needs neither normal scores nor independent outputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from annotation.quality.people.suspicion import holm
from evaluator.metaevaluation.correlation import UndefinedCorrelation, pearson

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
    return float(t), float(2 * stats.t.sf(abs(t), n - 3))


def permutation(
    first: Numbers, second: Numbers, people: Numbers, contexts: NDArray[np.int64], seed: int, draws: int | None = None
) -> float:
    """Two-sided p of the difference of two judges' Pearson correlations with people: all (n,) and finite, contexts numbers. The
    judges' standard scores are exchanged in contexts drawn at random, `draws` times (default PERMUTATIONS). Raises
    UndefinedCorrelation where one of them is constant."""
    found = abs(pearson(first, people) - pearson(second, people))
    _, where = np.unique(contexts, return_inverse=True)
    sums = [_sums(stats.zscore(values), people, where) for values in (first, second)]  # (contexts, 3) each
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
