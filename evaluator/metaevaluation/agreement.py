"""How far a judge agrees with people, pair by pair, and how honest the probabilities are that it states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.quality.crossed import ANNOTATORS, PEOPLE, Crossed, of_whom
from evaluator.metaevaluation.crossed import Kept, crossed, one_by_one
from evaluator.metaevaluation.pairs import JudgedPair
from evaluator.metaevaluation.resampling import bootstrap

CHOICES = np.array(["A", "tie", "B", ""])


def agreement(d: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """(p,) 1 where the sign of d is people's side, 0 where it is the other, 0.5 where d = 0."""
    return np.where(d == 0, 0.5, np.where(d > 0, "A", "B") == choices)


def calibration_error(p: np.ndarray, targets: np.ndarray, weights: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error (Guo et al. 2017, equation 3): p (p, 3) and people's shares (p, 3), weights (p,).

    The bins of `confidence` are equally wide. NaN where there is no pair.
    """
    if not len(p):
        return float("nan")
    said, right, bin_of = confidence(p, targets, bins)
    return float(np.abs(np.bincount(bin_of, weights=(right - said) * weights)).sum() / weights.sum())


def confidence(p: np.ndarray, targets: np.ndarray, bins: int = 10) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p (p, 3) and people's shares (p, 3) -> the probability of each pair's likeliest answer (p,), the share of people who
    gave that answer (p,), and the bin that the probability falls into (p,)."""
    likeliest, rows = p.argmax(-1), np.arange(len(p))  # (p,)
    said = p[rows, likeliest]
    return said, targets[rows, likeliest], np.minimum((said * bins).astype(int), bins - 1)


@dataclass(frozen=True)
class Share:
    """An agreement with its 95% interval, and whom that speaks of (`quality.crossed.of_whom`). NaN where there is no pair."""

    value: float
    low: float
    high: float
    population: str | None
    annotators: int | None


@dataclass(frozen=True)
class PairAnswers:
    """What single people said of p pairs: pair (answers,), context (answers,), annotator (answers,) numbers, a and b
    (answers,) as `Said` has them."""

    pairs: int
    pair: np.ndarray
    context: np.ndarray
    annotator: np.ndarray
    a: np.ndarray
    b: np.ndarray

    @classmethod
    def of(cls, pairs: Sequence[JudgedPair], contexts: np.ndarray) -> PairAnswers:
        """contexts: (p,)"""
        rows = [(i, *said) for i, pair in enumerate(pairs) for said in pair.said]
        pair = np.array([row[0] for row in rows], dtype=np.int64)
        _, annotator = np.unique(np.array([row[1] for row in rows], dtype=object).astype(str), return_inverse=True)
        a, b = (np.array([row[i] for row in rows], dtype=float) for i in (2, 3))
        return cls(len(pairs), pair, np.asarray(contexts)[pair], annotator, a, b)

    def choices(self, kept: Kept) -> np.ndarray:
        """(p,) "A", "tie" or "B" as `Pair.choice` would be had only the kept answers been given; "" where none was."""
        n, pair, a, b = self.pairs, self.pair[kept], self.a[kept], self.b[kept]
        of_a, of_b = np.isfinite(a), np.isfinite(b)
        both = of_a & of_b
        votes = np.bincount(3 * pair[both] + 1 - np.sign(a - b)[both].astype(np.int64), minlength=3 * n).reshape(n, 3)
        side = np.where(votes[:, 0] > votes[:, 1:].max(axis=1), 0, np.where(votes[:, 2] > votes[:, :2].max(axis=1), 2, 1))
        alone = votes.sum(axis=1) == 0
        if alone.any():
            with np.errstate(invalid="ignore", divide="ignore"):
                means = [
                    np.bincount(pair[known], values[known], n) / np.bincount(pair[known], minlength=n)
                    for known, values in ((of_a, a), (of_b, b))
                ]
            difference = means[0] - means[1]  # (p,), NaN where a text has no score
            by_means = np.where(np.abs(difference) < 1, 1, np.where(difference > 0, 0, 2))
            side = np.where(alone, np.where(np.isnan(difference), 3, by_means), side)
        chosen: np.ndarray = CHOICES[side]
        return chosen


def share(
    of: Callable[[np.ndarray], np.ndarray], pairs: Sequence[JudgedPair], contexts: np.ndarray, seed: int, cut: bool = True
) -> Share:
    """The mean of of(choices (p,)) (p,) over people's clear preferences, with its interval over contexts and, where there are
    enough of them, annotators. contexts: (p,); cut: to 0 and 1."""
    choices = np.array([pair.choice for pair in pairs], dtype="<U3")
    clear = choices != "tie"
    if not clear.any():
        return Share(np.nan, np.nan, np.nan, None, None)
    values = of(choices)[clear]
    mean = float(values.mean())
    answers = PairAnswers.of(pairs, contexts)
    population, annotators = of_whom(answers.annotator)

    def again(kept: Kept) -> float:
        chosen = answers.choices(kept)
        preferred = (chosen == "A") | (chosen == "B")
        return float(of(chosen)[preferred].mean()) if preferred.any() else np.nan

    found: Crossed | None = None
    if population == PEOPLE and all(pair.said for pair in pairs):
        found = crossed(one_by_one(again), answers.context, answers.annotator, seed)
    if found is None:
        low, high = bootstrap(values, np.asarray(contexts)[clear], seed)
        return Share(mean, low, high, ANNOTATORS if annotators else None, annotators)
    low, high = found.around(mean)
    return Share(mean, *((max(low, 0.0), min(high, 1.0)) if cut else (low, high)), population, annotators)


def accuracy(d: np.ndarray, pairs: Sequence[JudgedPair], contexts: np.ndarray, seed: int) -> Share:
    """Of people's clear preferences, how many d (p,) orders the same way; d = 0 counts half."""
    return share(lambda choices: agreement(d, choices), pairs, contexts, seed)
