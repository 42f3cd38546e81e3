"""What one judge is like beside its agreement with people: how widely it scores, whether it likes long outputs, how honest its
probabilities are, what it would save people, and whether it prefers the systems of its own family."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluator.metaevaluation.agreement import calibration_error
from evaluator.metaevaluation.alternative_annotator import in_peoples_scores
from evaluator.metaevaluation.correlation import UndefinedCorrelation, spearman
from evaluator.metaevaluation.held_out import probabilities_by_other_folds
from evaluator.metaevaluation.pairs import JudgedPair, as_arrays
from evaluator.metaevaluation.resampling import bootstrap, drawn, interval

JUDGMENTS = 10_000  # of the judge, beside those of people
PLUS_FOUR = 4.0  # contexts, as in `leaderboard.rating.prediction_powered`: few contexts may agree by chance
MOST_POINTS = 300  # of a scatter plot: whole contexts drawn by the seed

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Of the outputs that both scored: the judge's scores on its own scale, and people's mean scores on theirs."""

    low: float
    high: float
    deviation: float
    distinct: int  # different scores
    people_low: float
    people_high: float
    people_deviation: float


@dataclass(frozen=True)
class LengthBias:
    """Spearman's correlation with the number of words"""

    judge: float
    people: float | None


@dataclass(frozen=True)
class JudgeWorth:
    """How many more judgments of people say as much as JUDGMENTS of the judge, beside `people` judged pairs."""

    people: int
    judgments: int
    correlation: float  # of its expected answers with people's, within pairs of systems
    more: float
    low: float | None  # 95% interval over contexts; None where there are too few
    high: float | None


@dataclass(frozen=True)
class Profile:
    """None where there is nothing to work it out from."""

    spread: Spread | None = None
    length: LengthBias | None = None
    calibration_error: float | None = None
    worth: JudgeWorth | None = None
    points: tuple[tuple[float, float], ...] = ()  # the judge's score, people's mean score

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "Profile":
        """What `dataclasses.asdict` made of a profile."""
        parts = {
            "spread": given["spread"] and Spread(**given["spread"]),
            "length": given["length"] and LengthBias(**given["length"]),
            "worth": given["worth"] and JudgeWorth(**given["worth"]),
            "points": tuple((judge, people) for judge, people in given["points"]),
        }
        return cls(**{**given, **parts})


def profile(
    u: Numbers,
    scores: Numbers,
    words: NDArray[np.int64],
    contexts: NDArray[np.int64],
    systems: NDArray[np.int64],
    units: NDArray[np.int64],
    judged: Sequence[JudgedPair],
    d: Numbers,
    folds: NDArray[np.int64],
    seed: int,
) -> Profile:
    """u (n,) utilities and scores (n,) people's means, NaN being none; words, contexts, systems, units (n,) of the outputs;
    judged: people's pairs that the judge answered, d (p,) above 0 where it puts a ahead, folds (p,) of contexts."""
    both = np.flatnonzero(np.isfinite(u) & np.isfinite(scores))
    chosen = both[drawn(contexts[both], MOST_POINTS, seed)]
    points = tuple((float(u[i]), float(scores[i])) for i in chosen)
    error, found = None, None
    if judged:
        a, b, targets, weights = as_arrays(judged)
        size = float(np.sqrt(np.mean(d**2))) or 1.0  # the search for a scale begins at the judge's own
        p = probabilities_by_other_folds(d / size, targets, weights, folds, True)
        error = calibration_error(p, targets, weights)
        sides = np.where(systems[a] <= systems[b], 1.0, -1.0)
        cells = pairs_of_systems(systems[a], systems[b])
        found = worth(sides * (p[:, 0] - p[:, 2]), sides * (targets[:, 0] - targets[:, 2]), cells, units[a])
    return Profile(_spread(u[both], scores[both]), _length(u, scores, words), error, found, points)


def pairs_of_systems(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """(p,) the number of each pair of systems, whichever comes first"""
    both = np.sort(np.stack([first, second]), axis=0)  # (2, p)
    numbers: NDArray[np.int64] = np.unique(both, axis=1, return_inverse=True)[1].ravel()
    return numbers


def worth(
    judge: Numbers, people: Numbers, cells: NDArray[np.int64], units: NDArray[np.int64], judgments: int = JUDGMENTS
) -> JudgeWorth | None:
    """judge and people (p,) the expected answers to p pairs, from -1 (the second system's output) to 1; cells (p,) the pair of
    systems; units (p,) the contexts. None where nothing varies within pairs of systems.

    With n judgments of people and N of a judge whose answers correlate with theirs by r, power-tuned prediction-powered
    inference (Angelopoulos, Duchi & Zrnic 2023, section 6) estimates a mean as n / (1 - r^2 N / (n + N)) judgments of people
    alone would. r is taken to be t r, as on the calibrated board (`leaderboard.rating.prediction_powered`, The bound)."""
    x, y = _centred(judge, cells), _centred(people, cells)
    _, where = np.unique(units, return_inverse=True)
    m = int(where.max(initial=-1)) + 1
    sums = np.stack([np.bincount(where, product, m) for product in (x * y, x * x, y * y)])  # (3, m)
    total = sums.sum(axis=1)
    if total[1] < 1e-12 or total[2] < 1e-12:
        return None
    n, kept = len(people), m / (m + PLUS_FOUR)

    def more(r: float) -> float:
        share = (kept * min(max(r, 0.0), 1.0)) ** 2 * judgments / (n + judgments)
        return n / (1 - share) - n

    r = float(total[0] / np.sqrt(total[1] * total[2]))
    left = total[:, None] - sums  # (3, m) without one context
    if m < 3 or (left[1:] < 1e-12).any() or abs(r) > 1 - 1e-9:
        return JudgeWorth(n, judgments, r, more(r), None, None)
    z = np.arctanh(np.clip(left[0] / np.sqrt(left[1] * left[2]), -1 + 1e-9, 1 - 1e-9))
    reach = float(scipy.stats.t.ppf(0.975, m - 1) * np.sqrt((m - 1) / m * ((z - z.mean()) ** 2).sum()))  # the jackknife
    low, high = (float(np.tanh(np.arctanh(r) + side * reach)) for side in (-1, 1))
    return JudgeWorth(n, judgments, r, more(r), more(low), more(high))


def _centred(values: Numbers, cells: NDArray[np.int64]) -> Numbers:
    means = np.bincount(cells, values) / np.maximum(np.bincount(cells), 1)
    left: Numbers = values - means[cells]
    return left


def _spread(u: Numbers, scores: Numbers) -> Spread | None:
    if len(u) < 2:
        return None
    judge = float(u.min()), float(u.max()), float(u.std(ddof=1)), len(np.unique(u))
    return Spread(*judge, float(scores.min()), float(scores.max()), float(scores.std(ddof=1)))


def _length(u: Numbers, scores: Numbers, words: NDArray[np.int64]) -> LengthBias | None:
    judge = _with_words(u, words, np.isfinite(u))
    return None if judge is None else LengthBias(judge, _with_words(scores, words, np.isfinite(u) & np.isfinite(scores)))


def _with_words(values: Numbers, words: NDArray[np.int64], known: NDArray[np.bool_]) -> float | None:
    try:
        return spearman(values[known], words[known].astype(float))
    except UndefinedCorrelation:
        return None


@dataclass(frozen=True)
class OwnSystems:
    """Language models rate their own kind of text higher than people do (self-enhancement, Zheng et al. 2023, section 3.3).

    of "scores": how much higher the mean score of its own systems is than that of the others, in people's points. Of
    "pairs": the share of pairs of an own output and another that prefer the own one, a tie counting half."""

    of: str
    judge: float
    people: float
    favour: float  # the judge's minus people's
    low: float | None  # 95% interval of it over contexts; None where there are too few
    high: float | None


def own_by_scores(
    u: Numbers, scores: Numbers, own: NDArray[np.bool_], units: NDArray[np.int64], seed: int
) -> OwnSystems | None:
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


def own_by_pairs(
    judged: Sequence[JudgedPair], d: Numbers, own: NDArray[np.bool_], units: NDArray[np.int64], seed: int
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
