"""What can be said about each annotator: a card with numbers, each with how much it rests on.

Everything compares an annotator with the others on the same items, so nobody is measured by a truth that nobody knows.
Nothing says which output of a pair is the first: answers about pairs stand in both orders, and each counts once.
What follows from the numbers is in `suspicion.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from annotation.quality.answer_arrays import Answers, others
from annotation.quality.errors import UndefinedAgreement
from annotation.quality.people.association import association
from annotation.quality.people.constancy import constancy
from annotation.quality.people.dawid_skene import dawid_skene

Observations = tuple[ArrayLike, ArrayLike]  # (annotator, what), both (observations,)

MIN_SHARED = 5  # items: below, a correlation says nothing and Fisher's z has no spread


@dataclass(frozen=True)
class AnnotatorCard:
    """One annotator. None where a number is undefined or nothing is known.

    agreement: correlation with the mean of the others' answers to the same items and criteria, with its 95% interval
    (Fisher's z over items). severity: mean of the others' answers less own, in standard deviations of the criterion, with
    its 95% interval over items; above 0 is strict. spread: own standard deviation over the others'. association: Fisher's z of
    the agreement with severities and ceilings taken off, and its standard error. commonest: the largest share of one answer
    (of pairs: of ties), and p that somebody honest gives one as often. competence: expected share of answers that name the
    true category (Dawid & Skene 1979), averaged over criteria. longest_run: the same answer (of pairs: as shown) that many
    items in a row; longest_run_share: how often that answer was given at all. repetition: how often an answer was as the one
    before, from 0, as often as in a random order of own answers, to 1, always; and its standard error. left, right: how often
    the output shown on that side was preferred (ties left out). repeats: items seen twice, repeats_same of them answered
    alike; gold: items with a known answer. seconds: median per item.
    """

    annotator: int
    answers: int
    items: int
    shared_items: int
    agreement: float | None
    agreement_low: float | None
    agreement_high: float | None
    severity: float | None
    severity_low: float | None
    severity_high: float | None
    spread: float | None
    association: float | None
    association_error: float | None
    commonest: float | None
    commonest_p: float | None
    competence: float | None
    ordered_items: int
    longest_run: int
    longest_run_share: float | None
    repetition: float | None
    repetition_error: float | None
    left: int
    right: int
    repeats: int
    repeats_same: int
    gold: int
    gold_right: int
    seconds: float | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Behaviour:
    """What is known beside the answers; each pair of arrays is (annotator, what), one row an observation.

    sides: +1 the left output was preferred, -1 the right, 0 a tie. repeats: True where an item that came back with its
    sides or its place changed was answered as before. gold: True where the known answer was given. seconds: per item.
    """

    sides: Observations = ((), ())
    repeats: Observations = ((), ())
    gold: Observations = ((), ())
    seconds: Observations = ((), ())


def cards(answers: Answers, behaviour: Behaviour = Behaviour(), annotators: int | None = None) -> list[AnnotatorCard]:
    """A card for each annotator from 0 to annotators - 1 (as many as answered, when left out)."""
    people = int(answers.annotator.max(initial=-1)) + 1 if annotators is None else annotators
    columns = {
        "annotator": np.arange(people),
        "answers": _whole(np.bincount(answers.annotator, answers.weight, minlength=people)),
        "items": _distinct_items(answers, people),
        **_beside_others(answers, people),
        **dict(zip(("association", "association_error"), association(answers, people))),
        **dict(zip(("commonest", "commonest_p"), constancy(answers, people))),
        "competence": _competence(answers, people),
        **_runs(answers, people),
        **_behaviour(behaviour, people),
    }
    rows = zip(*(column.tolist() for column in columns.values()))
    return [AnnotatorCard(**{name: _or_none(value) for name, value in zip(columns, row)}) for row in rows]


def _or_none(value: Any) -> Any:
    return None if value != value else value  # nan alone differs from itself


def _distinct_items(answers: Answers, people: int, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
    """Different items of each annotator among these rows; a pair is one, in whatever order: int (annotators,)."""
    of = np.stack([answers.annotator[rows], answers.item[rows]])
    _, first = np.unique(of, axis=1, return_index=True)
    return _whole(np.bincount(of[0][first], answers.weight[rows][first], minlength=people))


def _whole(counted: np.ndarray) -> np.ndarray:
    return np.asarray(np.rint(counted), dtype=np.int64)


def _beside_others(answers: Answers, people: int) -> dict[str, np.ndarray]:
    """Agreement, severity and spread, from the answers to units that others answered too."""
    value = answers.standardised()
    other = others(answers.unit, value)
    shared = other.n > 0
    annotator, own, weight = answers.annotator[shared], value[shared], answers.weight[shared]
    mean, square, n = other.mean[shared], other.square[shared], weight * other.n[shared]
    items = _distinct_items(answers, people, shared)

    def average(x: np.ndarray) -> np.ndarray:
        return _divide(np.bincount(annotator, weight * x, minlength=people), np.bincount(annotator, weight, minlength=people))

    def variance(x: np.ndarray) -> np.ndarray:
        return average((x - average(x)[annotator]) ** 2)

    covariance = average((own - average(own)[annotator]) * mean)
    agreement = _divide(covariance, np.sqrt(variance(own) * variance(mean)))
    agreement[items < MIN_SHARED] = np.nan
    low, high = fisher_interval(agreement, items)
    others_n = np.bincount(annotator, n, minlength=people)
    others_mean = _divide(np.bincount(annotator, n * mean, minlength=people), others_n)
    others_variance = _divide(np.bincount(annotator, n * square, minlength=people), others_n) - others_mean**2
    return {
        "shared_items": items,
        "agreement": agreement,
        "agreement_low": low,
        "agreement_high": high,
        **_severity(answers, value, other.mean, people),
        "spread": np.sqrt(_divide(variance(own), np.maximum(others_variance, 0))),
    }


def _severity(answers: Answers, value: np.ndarray, others_mean: np.ndarray, people: int) -> dict[str, np.ndarray]:
    """Of scores: nobody is strict about which of two is better."""
    scored = ~np.isnan(others_mean) & ~answers.has_sides
    annotator, less = answers.annotator[scored], (others_mean - value)[scored]
    n = np.bincount(annotator, minlength=people)
    severity = _divide(np.bincount(annotator, less, minlength=people), n)
    variance = _divide(np.bincount(annotator, (less - severity[annotator]) ** 2, minlength=people), n)
    items = _distinct_items(answers, people, scored)
    half = scipy.stats.norm.ppf(0.975) * np.sqrt(_divide(variance, np.maximum(items - 1.0, 0)))
    return {"severity": severity, "severity_low": severity - half, "severity_high": severity + half}


def fisher_interval(r: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """95% interval of correlations r over n pairs each (Fisher 1921): tanh(atanh r -+ 1.96 / sqrt(n - 3))."""
    z, half = fisher_z(r), scipy.stats.norm.ppf(0.975) / np.sqrt(np.maximum(n - 3.0, 1e-9))
    return np.tanh(z - half), np.tanh(z + half)


def fisher_z(r: ArrayLike) -> NDArray[np.float64]:
    z: NDArray[np.float64] = np.arctanh(np.clip(r, -0.999999, 0.999999))
    return z


def _competence(answers: Answers, people: int) -> np.ndarray:
    """Dawid-Skene accuracy, criterion by criterion, averaged by the number of answers: (annotators,)."""
    total, weight = np.zeros(people), np.zeros(people)
    for criterion in np.unique(answers.criterion):
        rows = answers.criterion == criterion
        rows[rows] = others(answers.item[rows], answers.value[rows]).n > 0
        if not rows.any():
            continue
        try:
            fitted = dawid_skene(answers.annotator[rows], answers.item[rows], answers.value[rows])
        except UndefinedAgreement:
            continue
        times = np.bincount(answers.annotator[rows], answers.weight[rows], minlength=people)
        total[: len(fitted.accuracy)] += np.nan_to_num(fitted.accuracy) * times[: len(fitted.accuracy)]
        weight += times
    return _divide(total, weight)


def _runs(answers: Answers, people: int) -> dict[str, np.ndarray]:
    """How often the same answer (to all criteria of an item) came again and again, where the order is known."""
    known = ~np.isnan(answers.order)
    annotator, alike = _answers_in_order(answers, known)
    same_person = annotator[1:] == annotator[:-1] if len(annotator) else np.zeros(0, dtype=bool)
    again = np.concatenate([[False], same_person & (alike[1:] == alike[:-1])])[: len(annotator)]
    start = np.maximum.accumulate(np.where(again, 0, np.arange(len(annotator)))) if len(annotator) else annotator
    longest = np.zeros(people, dtype=np.int64)
    run = np.arange(len(annotator)) - start + 1
    np.maximum.at(longest, annotator, run)
    n = np.bincount(annotator, minlength=people)
    share = np.full(people, np.nan)
    _, one = np.unique(np.stack([annotator, alike]), axis=1, return_inverse=True)
    times = np.bincount(one.ravel())[one.ravel()] if len(annotator) else one.ravel()  # how often each answer was given
    at_longest = run == longest[annotator]
    share[annotator[at_longest]] = times[at_longest] / n[annotator[at_longest]]
    by_chance = _divide(np.bincount(annotator, times - 1, minlength=people), n * (n - 1))
    repeated = _divide(np.bincount(annotator[again], minlength=people), n - 1)
    return {
        "ordered_items": n,
        "longest_run": longest,
        "longest_run_share": share,
        "repetition": _divide(repeated - by_chance, 1 - by_chance),
        "repetition_error": np.sqrt(_divide(by_chance + _divide(1, n), (1 - by_chance) * (n - 1))),
    }


def _answers_in_order(answers: Answers, known: NDArray[np.bool_]) -> tuple[np.ndarray, np.ndarray]:
    """(annotator, number of the answer vector) of each item, in the order answered: int (items answered,) each."""
    if not known.any():
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    asked, row = np.unique(np.stack([answers.annotator[known], answers.item[known]]), axis=1, return_inverse=True)
    table = np.full((asked.shape[1], answers.criterion.max() + 1), -np.inf)  # (items answered, criteria)
    table[row.ravel(), answers.criterion[known]] = answers.value[known]
    last = np.full(asked.shape[1], -np.inf)
    np.maximum.at(last, row.ravel(), answers.order[known])
    _, alike = np.unique(table, axis=0, return_inverse=True)
    order = np.lexsort((last, asked[0]))
    return asked[0][order], alike.ravel()[order]


def _behaviour(behaviour: Behaviour, people: int) -> dict[str, np.ndarray]:
    def count(observed: Observations, wanted: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        who, what = np.asarray(observed[0], dtype=np.int64), np.asarray(observed[1])
        return np.bincount(who[wanted(what)], minlength=people)

    everything = lambda what: np.ones(len(what), dtype=bool)
    who, seconds = np.asarray(behaviour.seconds[0], dtype=np.int64), np.asarray(behaviour.seconds[1], dtype=float)
    median = [np.median(seconds[who == i]) if (who == i).any() else np.nan for i in range(people)]
    return {
        "left": count(behaviour.sides, lambda side: side > 0),
        "right": count(behaviour.sides, lambda side: side < 0),
        "repeats": count(behaviour.repeats, everything),
        "repeats_same": count(behaviour.repeats, lambda same: same.astype(bool)),
        "gold": count(behaviour.gold, everything),
        "gold_right": count(behaviour.gold, lambda right: right.astype(bool)),
        "seconds": np.array(median, dtype=float),
    }


def _divide(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """a / b, nan where b is 0 or nan."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    quotient: NDArray[np.float64] = np.divide(a, b, out=np.full(a.shape, np.nan), where=b > 0)
    return quotient
