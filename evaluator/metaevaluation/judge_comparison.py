"""Does one judge correlate with people more than another? Two correlations with the same people's scores are dependent, so
they are tested together: by Williams' test, as machine translation does (Graham & Baldwin 2014), and by exchanging the judges'
scores of whole contexts (Deutsch, Dror & Roth 2021, PERM-INPUTS), which needs neither normal scores nor independent outputs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from annotation.quality.suspicion import holm
from evaluator.metaevaluation.correlation import UndefinedCorrelation, pearson

PERMUTATIONS = 1000
FEWEST = 4  # outputs: Williams' t has n - 3 degrees of freedom

Numbers = NDArray[np.float64]
Correlation = Callable[[Numbers, Numbers], float]


@dataclass(frozen=True)
class Difference:
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
    first: Numbers, second: Numbers, people: Numbers, contexts: NDArray[np.int64], seed: int, measure: Correlation = pearson
) -> float:
    """Two-sided p of the difference between two judges' correlations with people: all (n,) and finite, contexts numbers. The
    judges' standard scores are exchanged in contexts drawn at random. Raises UndefinedCorrelation where one of them is
    constant."""
    found = abs(measure(first, people) - measure(second, people))
    a, b = (stats.zscore(values) for values in (first, second))
    _, where = np.unique(contexts, return_inverse=True)
    rng, as_large = np.random.default_rng(seed), 0
    for _ in range(PERMUTATIONS):
        swapped = rng.random(where.max() + 1) < 0.5
        here = swapped[where]  # (n,)
        difference = measure(np.where(here, b, a), people) - measure(np.where(here, a, b), people)
        as_large += abs(difference) >= found - 1e-12
    return (as_large + 1) / (PERMUTATIONS + 1)


def differences(judges: Mapping[str, Numbers], people: Numbers, contexts: NDArray[np.int64], seed: int) -> list[Difference]:
    """Every two judges, by their Pearson correlations with people; utilities (n,) by name, people (n,), NaN being none.
    contexts: (n,). Pairs of which one is constant are left out."""
    found = []
    for one, other in combinations(judges, 2):
        rows = np.isfinite(judges[one]) & np.isfinite(judges[other]) & np.isfinite(people)
        x, y, z = judges[one][rows], judges[other][rows], people[rows]
        try:
            r = pearson(x, z), pearson(y, z), pearson(x, y)
            by_chance = permutation(x, y, z, contexts[rows], seed)
        except UndefinedCorrelation:
            continue
        found.append((one, other, int(rows.sum()), r[0] - r[1], _williams(*r, int(rows.sum())), by_chance))
    corrected = holm([row[-1] for row in found]) if found else []
    return [Difference(*row, p) for row, p in zip(found, corrected, strict=True)]


def share_differences(judges: Mapping[str, Numbers], contexts: NDArray[np.int64], seed: int) -> list[Difference]:
    """Every two judges by the share of people's clear preferences that they order the same way: agreement (p,) by name, 1 where
    it does, 0 where not, 0.5 for neither, NaN where it did not judge; contexts (p,). Whole contexts change hands."""
    found = []
    for one, other in combinations(judges, 2):
        rows = np.isfinite(judges[one]) & np.isfinite(judges[other])
        if not rows.any():
            continue
        ahead = judges[one][rows] - judges[other][rows]
        _, where = np.unique(contexts[rows], return_inverse=True)
        sums = np.bincount(where, ahead)  # (contexts,)
        signs = np.random.default_rng(seed).choice([-1, 1], size=(PERMUTATIONS, len(sums)))
        as_large = int((np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9).sum())
        p = (as_large + 1) / (PERMUTATIONS + 1)
        found.append((one, other, len(ahead), float(ahead.mean()), None, p))
    corrected = holm([row[-1] for row in found]) if found else []
    return [Difference(*row, p) for row, p in zip(found, corrected, strict=True)]


def _williams(r_first: float, r_second: float, r_between: float, n: int) -> float | None:
    try:
        return williams(r_first, r_second, r_between, n)[1]
    except UndefinedCorrelation:
        return None
