"""How strongly each annotator's answers go with the others', whatever the annotator's severity and share of top answers.

The two-step polyserial correlation (Olsson, Drasgow & Dorans 1982) of own answers with what the others' answers to the same
output, and to all outputs of the same context, say of them; severities are taken off. Own answers are read as a normal variable
cut at points of the annotator's own, so neither severity nor a ceiling lowers it; where nearly all answers are the same it has
a large error.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from annotation.quality.answer_arrays import Answers, others

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MIN_CONTEXTS = 5  # below, the error has no spread
ROUNDS = 20  # of taking items and severities off each other
LARGEST = 0.99
LEAST_WEIGHT = 0.01  # of somebody in the others' mean, who goes with nobody


def association(answers: Answers, people: int) -> tuple[Floats, Floats]:
    """(Fisher's z of the correlation, its standard error), both (people,), nan where it is undefined: somebody gave one answer
    only, or has too little in common with others. The error is that of an infinitesimal jackknife over contexts (Efron &
    Tibshirani 1993, section 21.3).

    The others' mean is taken twice: first all count alike, then by their own correlations, so that who answers at random
    does not blur what the others agree on."""
    value = answers.standardised()
    shared = others(answers.unit, value).n > 0
    who, context, counts = answers.annotator[shared], answers.context[shared], answers.weight[shared]
    criteria = int(answers.criterion.max(initial=0)) + 1
    side = who * criteria + answers.criterion[shared]  # whose answers to which criterion
    _, unit = np.unique(answers.unit[shared], return_inverse=True)
    own = value[shared]
    _, around = np.unique(context * criteria + answers.criterion[shared], return_inverse=True)
    groups = [(group, np.unique(group * people + who, return_inverse=True)[1]) for group in (unit, around)]  # and whose in it
    without_severity = own - _severity(own, unit, side)
    z, error, weight = np.full(people, np.nan), np.full(people, np.nan), np.ones(people)
    for _ in range(2):
        nearby = [_others_mean(without_severity, weight[who], *group) for group in groups]
        z, error = _polyserial(own, _prediction(own, nearby, side, counts), who, side, context, counts, people)
        weight = np.fmax(np.tanh(z), LEAST_WEIGHT)
    return z, error


def _polyserial(
    own: Floats, beside: Floats, who: Integers, side: Integers, context: Integers, counts: Floats, people: int
) -> tuple[Floats, Floats]:
    """(z, its error), both (people,). beside: what the others' answers say of each of own, counts: its weight: (answers,)"""
    n = np.bincount(who, counts, minlength=people)
    x, y = beside, own - _mean(own, side)

    def total(values: Floats) -> Floats:
        return _sums(who, counts * values, people)

    with np.errstate(divide="ignore", invalid="ignore"):
        xx, yy, latent = total(x**2), total(y**2), total(_latent_covariance(own, side)[side] ** 2)
        latent[latent < 1e-9 * np.maximum(yy, 1)] = np.nan
        scale = np.sqrt(xx * latent)
        r = np.clip(total(x * y) / scale, -LARGEST, LARGEST)
        moved = np.nan_to_num(x * y / scale[who] - r[who] / 2 * (x**2 / xx[who] + y**2 / yy[who]), posinf=0.0, neginf=0.0)
        spread, contexts = _sum_of_squares(counts * moved, who, context, people)
        spread[contexts < MIN_CONTEXTS] = np.nan
        error = np.sqrt(spread * contexts / (contexts - 1)) / (1 - r**2)
        least = np.sqrt(yy / latent / n)  # where answers on one context do not go together
    undefined = ~np.isfinite(r + error)
    return np.where(undefined, np.nan, np.arctanh(r)), np.where(undefined, np.nan, np.maximum(error, least))


def _others_mean(value: Floats, weight: Floats, group: Integers, own: Integers) -> Floats:
    """Of the other annotators' answers in each answer's group; own: int, the annotator's part of the group. All (answers,)"""
    total, weights = (np.bincount(group, x)[group] - np.bincount(own, x)[own] for x in (weight * value, weight))
    mean: Floats = total / weights
    return mean


def _prediction(own: Floats, features: list[Floats], side: Integers, counts: Floats) -> Floats:
    """What the features say of own answers: least squares over everybody's, each in distance from the side's mean."""
    x = np.stack([feature - _mean(feature, side) for feature in features], axis=1)
    root = np.sqrt(counts)
    prediction: Floats = x @ np.linalg.lstsq(root[:, None] * x, root * (own - _mean(own, side)), rcond=None)[0]
    return prediction


def _sums(group: Integers, values: Floats, groups: int) -> Floats:
    """(groups,)"""
    return np.asarray(np.bincount(group, values, minlength=groups), dtype=float)


def _mean(values: Floats, group: Integers) -> Floats:
    """Of each value's group: (values,)"""
    mean: Floats = (np.bincount(group, values) / np.maximum(np.bincount(group), 1))[group]
    return mean


def _severity(value: Floats, unit: Integers, side: Integers) -> Floats:
    """What each answer's annotator adds on average to what the units are worth: least squares, by alternating."""
    added = np.zeros_like(value)
    for _ in range(ROUNDS):
        added = _mean(value - _mean(value - added, unit), side)
    return added


def _latent_covariance(value: Floats, side: Integers) -> Floats:
    """Sum of phi(cut) times the step at the cut: the covariance of the answers with the normal variable whose quantiles they
    share; (sides,)"""
    order = np.lexsort((value, side))
    side_sorted, sorted_values = side[order], value[order]
    n = np.bincount(side_sorted)
    place = np.arange(len(order)) - (np.cumsum(n) - n)[side_sorted]
    steps = np.flatnonzero((np.diff(side_sorted) == 0) & (np.diff(sorted_values) > 0))
    density = scipy.stats.norm.pdf(scipy.stats.norm.ppf((place[steps] + 1) / n[side_sorted[steps]]))
    return _sums(side_sorted[steps], density * np.diff(sorted_values)[steps], len(n))


def _sum_of_squares(moved: Floats, who: Integers, context: Integers, people: int) -> tuple[Floats, Floats]:
    """(over each annotator's contexts, of the squared sum in a context; how many contexts), both (people,)"""
    blocks, block = np.unique(who * (int(context.max(initial=0)) + 1) + context, return_inverse=True)
    whose = blocks // (int(context.max(initial=0)) + 1)
    squares = _sums(whose, _sums(block, moved, len(blocks)) ** 2, people)
    return squares, np.bincount(whose, minlength=people).astype(float)
