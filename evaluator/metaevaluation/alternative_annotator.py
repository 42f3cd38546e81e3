"""May a judge stand in for an annotator? The alternative annotator test (Calderon, Reichart & Dror 2025, ACL, section 3).

Each annotator is left out in turn. On what that person annotated, the judge and the person are both compared with the
remaining annotators; the judge wins against the person where it fits them as well, give or take epsilon.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

# What a judge's lower price is worth, as a share of instances on which it may fit the others worse (section 4.2): an
# expert's annotations are dear, a crowd worker's cheap.
EPSILON = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
LEAST_ANNOTATORS = 3  # with two there is no group that the one who is left out could be compared with (appendix A, FAQ)
LEAST_INSTANCES = 30  # of an annotator: the t test takes means of that many as normal (section 4.3)
FALSE_DISCOVERIES = 0.05  # the rate q that Benjamini & Yekutieli's procedure keeps
EQUAL = 1e-9  # two alignments closer than this differ by rounding alone

Alignment = Literal["accuracy", "neg_rmse", "neg_mae"]
Numbers = NDArray[np.float64]


class UntestableJudge(ValueError):
    """There are too few annotators or annotations for the test; the message is one plain sentence saying why."""


@dataclass(frozen=True)
class Comparison:
    """The judge beside one annotator, both against the others."""

    annotator: int  # column of `people`
    instances: int
    judge: float  # share of instances on which the judge fits the others at least as well: the advantage probability
    person: float  # share on which the annotator fits them at least as well as the judge
    p: float  # of the t test that person - judge < epsilon
    won: bool  # after Benjamini & Yekutieli's correction


@dataclass(frozen=True)
class AlternativeAnnotator:
    epsilon: float
    winning_rate: float  # omega: the share of the annotators against whom the judge wins
    advantage: float  # rho: mean over annotators of the advantage probability; what judges are compared by
    comparisons: tuple[Comparison, ...]
    left_out: tuple[int, ...]  # annotators (columns of `people`) with fewer than LEAST_INSTANCES shared instances

    @property
    def passes(self) -> bool:
        return self.winning_rate >= 0.5


def alternative_annotator(people: Numbers, judge: Numbers, alignment: Alignment, epsilon: float) -> AlternativeAnnotator:
    """people (n, annotators) and judge (n,): scores on one scale, or labels as numbers; NaN where there is none. An instance
    counts where the judge and at least two people annotated it. Raises UntestableJudge."""
    if people.shape[1] < LEAST_ANNOTATORS:
        raise UntestableJudge(
            f"The alternative annotator test needs at least {LEAST_ANNOTATORS} annotators; there are {people.shape[1]}."
        )
    kept = np.isfinite(judge) & (np.isfinite(people).sum(axis=1) >= 2)  # (n,)
    people, judge = people[kept], judge[kept]
    compared: dict[int, tuple[Numbers, Numbers]] = {}
    for who in range(people.shape[1]):
        rows = np.isfinite(people[:, who])
        if rows.sum() >= LEAST_INSTANCES:
            others = np.delete(people[rows], who, axis=1)  # (rows, annotators - 1)
            compared[who] = aligned(judge[rows], others, alignment), aligned(people[rows, who], others, alignment)
    left_out = tuple(who for who in range(people.shape[1]) if who not in compared)
    if not compared:
        raise UntestableJudge(
            f"No annotator shares {LEAST_INSTANCES} annotations with another one and with the judge,"
            " as the alternative annotator test needs."
        )
    advantages = [(judge >= person - EQUAL, person >= judge - EQUAL) for judge, person in compared.values()]
    return over_annotators(list(compared), advantages, epsilon, left_out)


def over_annotators(
    annotators: list[int],
    advantages: list[tuple[NDArray[np.bool_], NDArray[np.bool_]]],
    epsilon: float,
    left_out: tuple[int, ...] = (),
) -> AlternativeAnnotator:
    """advantages: for each annotator (instances,) whether the judge, or the person, fits the others at least as well."""
    p = [_p(person.astype(float) - judge.astype(float), epsilon) for judge, person in advantages]
    won = discoveries(np.array(p))
    comparisons = tuple(
        Comparison(who, len(judge), float(judge.mean()), float(person.mean()), p[i], bool(won[i]))
        for i, (who, (judge, person)) in enumerate(zip(annotators, advantages, strict=True))
    )
    return AlternativeAnnotator(
        epsilon, float(won.mean()), float(np.mean([c.judge for c in comparisons])), comparisons, left_out
    )


def aligned(answers: Numbers, others: Numbers, alignment: Alignment) -> Numbers:
    """(n,) how well answers (n,) fit those of the others (n, m), NaN being none (section 3.1, "alignment scoring function"):
    the share that is equal, the negative root mean square error, or the negative mean absolute error."""
    if alignment == "accuracy":
        equal: Numbers = np.nanmean(np.where(np.isnan(others), np.nan, others == answers[:, None]), axis=1)
        return equal
    error = others - answers[:, None]
    away: Numbers = np.sqrt(np.nanmean(error**2, axis=1)) if alignment == "neg_rmse" else np.nanmean(np.abs(error), axis=1)
    return -away


def discoveries(p: Numbers, q: float = FALSE_DISCOVERIES) -> NDArray[np.bool_]:
    """(m,) which of the hypotheses with p (m,) are rejected, however dependent (Benjamini & Yekutieli 2001, theorem 1.3)."""
    m, order = len(p), np.argsort(p, kind="stable")
    bound = np.arange(1, m + 1) / m * q / (1 / np.arange(1, m + 1)).sum()  # (m,)
    below = np.flatnonzero(p[order] <= bound)
    rejected = np.zeros(m, dtype=bool)
    rejected[order[: below[-1] + 1 if len(below) else 0]] = True
    return rejected


def in_peoples_scores(utilities: Numbers, people: Numbers) -> Numbers:
    """(n,) utilities (n,), NaN being none, as scores that people (n, annotators) give: the same order, and each score about as
    often as people gave it. Alignments compare scores on one scale; a judge has its own. Equal utilities get one score."""
    known = np.isfinite(utilities)
    given = np.sort(people[known][np.isfinite(people[known])])
    scores = np.full(len(utilities), np.nan)
    if len(given):
        place = (scipy.stats.rankdata(utilities[known]) - 0.5) / known.sum()  # from 0 to 1
        scores[known] = given[np.minimum((place * len(given)).astype(int), len(given) - 1)]
    return scores


def _p(difference: Numbers, epsilon: float) -> float:
    """Of the one-sided t test that the mean of difference (n,) is below epsilon; without any spread the mean itself says it."""
    mean, error = float(difference.mean()), float(difference.std(ddof=1)) / np.sqrt(len(difference))
    if error == 0:
        return 0.0 if mean < epsilon else 1.0
    return float(scipy.stats.t.cdf((mean - epsilon) / error, len(difference) - 1))
