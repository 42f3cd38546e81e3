"""How far one person agrees with the others: more than that no comparator can be asked for.

Mehri & Eskenazi (2020, USR) report it for correlations: each annotator against the mean of the rest. Beside it here
the same for pairs of outputs, so that it stands next to a comparator's pairwise accuracy.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from annotation.quality.crossed import ANNOTATORS, PEOPLE, of_whom
from evaluator.metaevaluation.correlation import UndefinedCorrelation, pearson, spearman
from evaluator.metaevaluation.crossed import Kept, crossed, one_by_one
from evaluator.metaevaluation.resampling import bootstrap

Pair = tuple[Hashable, ...]  # names a pair of outputs
APART: Mapping[str, str] = MappingProxyType({})  # no context has a group


@dataclass(frozen=True)
class Ceiling:
    """One annotator against the rest. None where nobody shares enough with the others to say."""

    pairwise_accuracy: float | None  # share of the rest's non-tied pairs that one annotator orders the same way
    pairwise_interval: tuple[float, float] | None  # 95%
    pairs: int  # (annotator, pair) comparisons behind it
    pearson: float | None  # of one annotator's scores with the mean of the rest's, over all their scores
    spearman: float | None
    population: str | None = None  # whom the interval speaks of, and how many answered (`quality.crossed.of_whom`)
    annotators: int | None = None


@dataclass(frozen=True)
class _Answers:
    """unit, annotator: (answers,) numbers, a unit being what intervals draw: a context or its group; item: (answers,) output or
    pair; value: (answers,) scores or signs; first, second: (comparisons,) answers by one person about two items, second None
    where an item is a pair itself."""

    unit: np.ndarray
    annotator: np.ndarray
    item: np.ndarray
    value: np.ndarray
    first: np.ndarray
    second: np.ndarray | None = None

    def agreements(self, kept: Kept) -> tuple[np.ndarray, np.ndarray]:
        """(comparisons that the rest of the kept answers decide, whether the one person agrees with them, a tie half)"""
        count, total = np.bincount(self.item, kept), np.bincount(self.item, kept * self.value)
        with np.errstate(invalid="ignore", divide="ignore"):
            rest = (total[self.item] - self.value) / (count[self.item] - 1)  # (answers,)
        able = kept & (count[self.item] > 1)
        rows, own, theirs = able[self.first], self.value[self.first], rest[self.first]
        if self.second is not None:
            rows, own, theirs = rows & able[self.second], own - self.value[self.second], theirs - rest[self.second]
        rows = np.flatnonzero(rows & (theirs != 0))
        own, theirs = np.sign(own[rows]), np.sign(theirs[rows])
        return rows, np.where(own == 0, 0.5, own == theirs)


def from_scores(rows: Iterable[tuple[str, str, str, float]], seed: int = 0, groups: Mapping[str, str] = APART) -> Ceiling:
    """rows: (context, output, annotator, score); an annotator's tie on a pair that the rest order counts half. groups: of
    contexts that have one."""
    scores = {(context, output, who): score for context, output, who, score in rows}
    context, item, annotator = _numbered(scores)
    value = np.array(list(scores.values()), dtype=float)
    by_person = defaultdict(list)
    for i, place in enumerate(zip(context.tolist(), annotator.tolist(), strict=True)):
        by_person[place].append(i)
    first, second = (
        np.array([pair for mine in by_person.values() for pair in combinations(mine, 2)], dtype=np.int64).reshape(-1, 2).T
    )
    answers = _Answers(_units(scores, groups), annotator, item, value, first, second)
    count, total = np.bincount(item), np.bincount(item, value)
    shared = count[item] > 1
    others = (total[item] - value)[shared] / (count[item][shared] - 1)
    own = value[shared]
    return _ceiling(answers, seed, _defined(pearson, own, others), _defined(spearman, own, others))


def from_judgments(rows: Iterable[tuple[str, Pair, str, str]], seed: int = 0, groups: Mapping[str, str] = APART) -> Ceiling:
    """rows: (context, pair, annotator, "A" | "tie" | "B"); the rest's side is the sign of their A's less their B's. groups: as
    in `from_scores`."""
    signs = {"A": 1, "tie": 0, "B": -1}
    judged = {(context, pair, who): signs[choice] for context, pair, who, choice in rows}
    _, item, annotator = _numbered(judged)
    value = np.array(list(judged.values()), dtype=float)
    return _ceiling(_Answers(_units(judged, groups), annotator, item, value, np.arange(len(value))), seed, None, None)


def _numbered(places: Iterable[tuple[Hashable, Hashable, Hashable]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(context, item, annotator) of each answer, numbered; an item is one of its context."""
    contexts: dict[Hashable, int] = {}
    items: dict[Hashable, int] = {}
    people: dict[Hashable, int] = {}
    numbers = [
        (contexts.setdefault(c, len(contexts)), items.setdefault((c, i), len(items)), people.setdefault(a, len(people)))
        for c, i, a in places
    ]
    context, item, annotator = np.array(numbers, dtype=np.int64).reshape(-1, 3).T
    return context, item, annotator


def _units(places: Iterable[tuple[str, Hashable, Hashable]], groups: Mapping[str, str]) -> np.ndarray:
    """(answers,) number of each answer's group, else of its context"""
    number: dict[tuple[bool, str], int] = {}
    named = ((c in groups, groups.get(c, c)) for c, _, _ in places)
    return np.array([number.setdefault(unit, len(number)) for unit in named], dtype=np.int64)


def _defined(measure: Callable[[ArrayLike, ArrayLike], float], own: np.ndarray, others: np.ndarray) -> float | None:
    try:
        return measure(own, others)
    except UndefinedCorrelation:
        return None


def _ceiling(answers: _Answers, seed: int, r: float | None, rho: float | None) -> Ceiling:
    rows, agree = answers.agreements(np.ones(len(answers.value), dtype=bool))
    if not len(rows):
        return Ceiling(None, None, 0, r, rho)
    mean = float(agree.mean())
    population, annotators = of_whom(answers.annotator)

    def again(kept: Kept) -> float:
        some = answers.agreements(kept)[1]
        return float(some.mean()) if len(some) else np.nan

    found = crossed(one_by_one(again), answers.unit, answers.annotator, seed) if population == PEOPLE else None
    if found is None:
        interval = bootstrap(agree, answers.unit[answers.first[rows]], seed)
        return Ceiling(mean, interval, len(rows), r, rho, ANNOTATORS, annotators)
    low, high = found.around(mean)
    return Ceiling(mean, (max(low, 0.0), min(high, 1.0)), len(rows), r, rho, population, annotators)
