"""How far one person agrees with the others: more than that no comparator can be asked for.

Mehri & Eskenazi (2020, USR) report it for correlations: each annotator against the mean of the rest. Beside it here
the same for pairs of outputs, so that it stands next to a comparator's pairwise accuracy.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from evaluator.metaevaluation.correlation import UndefinedCorrelation, pearson, spearman
from evaluator.metaevaluation.resampling import bootstrap

Pair = tuple[Hashable, ...]  # names a pair of outputs


@dataclass(frozen=True)
class Ceiling:
    """One annotator against the rest. None where nobody shares enough with the others to say."""

    pairwise_accuracy: float | None  # share of the rest's non-tied pairs that one annotator orders the same way
    pairwise_interval: tuple[float, float] | None  # 95%, bootstrapped over contexts
    pairs: int  # (annotator, pair) comparisons behind it
    pearson: float | None  # of one annotator's scores with the mean of the rest's, over all their scores
    spearman: float | None


def from_scores(rows: Iterable[tuple[str, str, str, float]], seed: int = 0) -> Ceiling:
    """rows: (context, output, annotator, score); an annotator's tie on a pair that the rest order counts half."""
    scores: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for context, output, annotator, score in rows:
        scores[context][output][annotator] = score
    agree, where, own, others = [], [], [], []
    for context, outputs in scores.items():
        for given in outputs.values():
            for annotator, score in given.items():
                if len(given) > 1:
                    own.append(score)
                    others.append(_rest(given, annotator))
        for one, other in combinations(outputs.values(), 2):
            for annotator in one.keys() & other.keys():
                if len(one) > 1 and len(other) > 1:
                    theirs = np.sign(_rest(one, annotator) - _rest(other, annotator))
                    if theirs:
                        agree.append(_agreement(np.sign(one[annotator] - other[annotator]), theirs))
                        where.append(context)
    return _ceiling(agree, where, seed, _defined(pearson, own, others), _defined(spearman, own, others))


def from_judgments(rows: Iterable[tuple[str, Pair, str, str]], seed: int = 0) -> Ceiling:
    """rows: (context, pair, annotator, "A" | "tie" | "B"); the rest's side is the sign of their A's less their B's."""
    signs = {"A": 1, "tie": 0, "B": -1}
    judged: dict[tuple[str, Pair], dict[str, int]] = defaultdict(dict)
    for context, pair, annotator, choice in rows:
        judged[context, pair][annotator] = signs[choice]
    agree, where = [], []
    for (context, _), given in judged.items():
        for own in given.values():
            theirs = np.sign(sum(given.values()) - own)
            if theirs:
                agree.append(_agreement(own, theirs))
                where.append(context)
    return _ceiling(agree, where, seed, None, None)


def _rest(given: dict[str, float], annotator: str) -> float:
    """Mean score of the others."""
    return (sum(given.values()) - given[annotator]) / (len(given) - 1)


def _agreement(own: float, theirs: float) -> float:
    return 0.5 if own == 0 else float(own == theirs)


def _defined(measure: Callable[[ArrayLike, ArrayLike], float], own: list[float], others: list[float]) -> float | None:
    try:
        return measure(own, others)
    except UndefinedCorrelation:
        return None


def _ceiling(agree: list[float], where: list[str], seed: int, r: float | None, rho: float | None) -> Ceiling:
    if not agree:
        return Ceiling(None, None, 0, r, rho)
    interval = bootstrap(np.array(agree), np.array(where), seed)
    return Ceiling(float(np.mean(agree)), interval, len(agree), r, rho)
