"""Whether a judge prefers the systems of its own family: language models rate their own kind of text higher than people do
(Zheng et al. 2023, section 3.3, self-enhancement bias)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.comparator.examples import Pair, as_arrays
from evaluator.metaevaluation.alternative_annotator import in_peoples_scores
from evaluator.metaevaluation.correlation import UndefinedCorrelation
from evaluator.metaevaluation.resampling import bootstrap, interval

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class OwnSystems:
    """of "scores": how much higher the mean score of its own systems is than that of the others, in people's points. Of
    "pairs": the share of pairs of an own output and another that prefer the own one, a tie counting half."""

    of: str
    judge: float
    people: float
    favour: float  # the judge's minus people's
    low: float | None  # 95% interval of it over contexts; None where there are too few
    high: float | None


def by_scores(u: Numbers, scores: Numbers, own: NDArray[np.bool_], units: NDArray[np.int64], seed: int) -> OwnSystems | None:
    """u (n,) the judge's utilities, NaN where there is none, mapped to people's scale by `in_peoples_scores`; scores (n,
    annotators); own (n,) of its family's systems; units (n,) the contexts. None where one side has no output with both."""
    both = np.isfinite(u) & np.isfinite(scores).any(axis=1)
    own, units = own[both], units[both]
    if own.all() or not own.any():
        return None
    judge = in_peoples_scores(u[both], scores[both])
    people = np.nanmean(scores[both], axis=1)

    def ahead(values: Numbers, rows: NDArray[np.int64]) -> float:
        mine = own[rows]
        if mine.all() or not mine.any():
            raise UndefinedCorrelation("only one side was drawn")
        return float(values[rows][mine].mean() - values[rows][~mine].mean())

    every = np.arange(len(own))
    found = interval(lambda rows: ahead(judge - people, rows), units, seed) if len(np.unique(units)) > 1 else None
    low, high = found or (None, None)
    of_judge, of_people = ahead(judge, every), ahead(people, every)
    return OwnSystems("scores", of_judge, of_people, of_judge - of_people, low, high)


def by_pairs(
    judged: Sequence[Pair], d: Numbers, own: NDArray[np.bool_], units: NDArray[np.int64], seed: int
) -> OwnSystems | None:
    """judged: people's p pairs of outputs; d (p,) above 0 where the judge prefers the first, 0 for a tie; own and units (n,) of
    the outputs. None where no pair has one of each."""
    if not judged:
        return None
    a, b, targets, weights = as_arrays(judged)
    mixed = own[a] != own[b]
    if not mixed.any():
        return None
    sides = np.where(own[a], 1.0, -1.0)[mixed]
    judge = 0.5 + 0.5 * sides * np.sign(d[mixed])  # (m,) 1, 0.5 or 0
    people = 0.5 + 0.5 * sides * (targets[mixed, 0] - targets[mixed, 2])
    contexts = units[a][mixed]
    low, high = bootstrap(judge - people, contexts, seed) if len(np.unique(contexts)) > 1 else (None, None)
    return OwnSystems("pairs", float(judge.mean()), float(people.mean()), float(judge.mean() - people.mean()), low, high)
