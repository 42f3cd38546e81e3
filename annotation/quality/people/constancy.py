"""Whether somebody gave one answer far too often: beside what an honest annotator gives, however severe.

Answers are a normal variable cut at points, the same for all; an annotator's severity moves it. Somebody lenient gives the top
score nearly always, and is honest; nobody honest gives nearly always the middle one. The margin: half the others' variance.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from annotation.quality.answer_arrays import Answers

Floats = NDArray[np.float64]

HALF = 1 / 2  # of the variance of the others' answers
LARGEST_SHARE = 0.9
SEVERITIES = np.linspace(-12, 12, 481)  # in standard deviations: where the integral over severities is taken
PRIOR_SHARE, PRIOR_DF = (
    1 / 4,
    4,
)  # of the variance that severities make, before anybody's are known, and its weight in annotators


def constancy(answers: Answers, people: int) -> tuple[Floats, Floats]:
    """(the largest share of one answer, of pairs that of ties, p that somebody honest gives one as often), both (people,), nan
    without answers, or where nobody else answered.

    Over several criteria: the criterion with the smallest p, times their number. Contexts count, not answers, since the
    answers on one context go together."""
    share, p = np.full(people, np.nan), np.full(people, np.nan)
    criteria = np.unique(answers.criterion)
    for criterion in criteria:
        rows = answers.criterion == criterion
        who = answers.annotator[rows]
        values, category = np.unique(answers.value[rows], return_inverse=True)
        given = np.bincount(who * len(values) + category, answers.weight[rows], people * len(values)).astype(float)
        given = given.reshape(people, -1)
        pairs = np.unique(np.stack([who, answers.context[rows]]), axis=1)
        contexts = np.bincount(pairs[0], minlength=people)
        if np.count_nonzero(contexts) < 2:
            continue
        for person in np.flatnonzero(contexts):
            most = np.flatnonzero(given[person] == given[person].max())
            if answers.has_sides[rows].any():  # which output comes first says nothing: only a tie is the same answer
                most = np.flatnonzero(values == values.mean())
            if not len(most):
                continue
            often = given[person][most[0]] / given[person].sum()
            chance = max(_chance(given, int(person), int(contexts[person]), int(answer)) for answer in most)
            chance = min(1.0, len(criteria) * chance)
            if not chance >= p[person]:
                share[person], p[person] = often, chance
    return share, p


def _chance(given: Floats, person: int, contexts: int, commonest: int) -> float:
    """given: (people, categories), how often each was given."""
    rest = np.delete(given, person, axis=0)
    rest = rest[rest.sum(axis=1) > 0]
    cumulative = np.cumsum(rest.sum(axis=0) + HALF) / (rest.sum() + HALF * rest.shape[1])
    cuts = np.concatenate([[-np.inf], scipy.stats.norm.ppf(cumulative[:-1]), [np.inf]])
    share, df = _share_of_severity(rest, cuts)
    often = int(np.ceil(contexts * given[person][commonest] / given[person].sum() - 1e-9))
    low, high = cuts[commonest], cuts[commonest + 1]
    narrow, wide = np.sqrt(HALF * (1 - share)), np.sqrt(1 - share)
    if np.isfinite(high - low):  # not at an end: no severity gives it more often than one that has it in the middle
        return float(scipy.stats.binom.sf(often - 1, contexts, 2 * scipy.stats.norm.cdf((high - low) / 2 / narrow) - 1))
    moved = np.sqrt(share * (1 + 1 / len(rest))) * SEVERITIES
    weight = scipy.stats.t.pdf(SEVERITIES, df)
    one = [
        scipy.stats.norm.cdf((high - moved) / spread) - scipy.stats.norm.cdf((low - moved) / spread)
        for spread in (narrow, wide)
    ]
    return max(float(weight @ scipy.stats.binom.sf(often - 1, contexts, chance) / weight.sum()) for chance in one)


def _share_of_severity(rest: Floats, cuts: Floats) -> tuple[float, int]:
    """(of the latent variance, what lies between annotators, the degrees of freedom of that). Where annotators seem more alike
    than the prior has it, the prior moderates."""
    n = rest.sum(axis=1)
    density = scipy.stats.norm.pdf(cuts)
    middle = -np.diff(density) / np.diff(scipy.stats.norm.cdf(cuts))  # the latent mean of each category
    mean = rest @ middle / n
    within = (rest @ middle**2 / n - mean**2).mean()
    between = max(0.0, float(mean.var(ddof=1) - (within / n).mean())) if len(rest) > 1 else 0.0
    df = len(rest) - 1
    if between > PRIOR_SHARE:
        return min(between, LARGEST_SHARE), df
    return (PRIOR_DF * PRIOR_SHARE + df * between) / (PRIOR_DF + df), PRIOR_DF + df
