"""How far utilities go with people's scores: over all outputs, within contexts, and over systems.

Over all outputs ("sample level") a judge may gain by knowing which contexts are easy; within contexts it has to tell the
answers to one context apart; over systems errors of single outputs average out (Graham & Baldwin 2014; Deutsch, Dror & Roth
2021, section 2, names the last two). Contexts and annotators are both samples in every interval.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from annotation.quality.crossed import PEOPLE, of_whom
from evaluator.judges.protocol import meetings
from evaluator.metaevaluation.correlation import UndefinedCorrelation, kendall, of_rows, pearson, spearman
from evaluator.metaevaluation.crossed import Kept, Statistic, correlation_of_means, crossed, one_by_one
from evaluator.metaevaluation.resampling import RESAMPLES, blocks, bootstrap, correlation_interval

LEVELS = ("sample", "context", "system")
MEASURES: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
FEWEST_SYSTEMS = 3  # two systems correlate perfectly or not at all

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Figure:
    """A correlation with its 95% interval, None where too few draws have one; n: outputs, contexts or systems behind it."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class _Scored:
    """The outputs that have a utility and a score: u (n,), scores (n, annotators) with NaN, contexts (n,), systems (n,); units
    (n,): what intervals draw, the contexts or their groups."""

    u: Numbers
    scores: Numbers
    contexts: Whole
    systems: Whole
    units: Whole
    seed: int

    @cached_property
    def answers(self) -> tuple[Whole, Whole, Numbers]:
        """(answers,) output, (answers,) annotator, (answers,) score"""
        output, annotator = np.nonzero(np.isfinite(self.scores))
        return output, annotator, self.scores[output, annotator]

    def means(self, kept: Kept | slice = slice(None)) -> Numbers:
        """(n,) people's mean of each output, NaN where none of the kept answers scored it; kept: bool (answers,)."""
        output, _, score = self.answers
        return _quotient(np.bincount(output[kept], score[kept], len(self.u)), np.bincount(output[kept], minlength=len(self.u)))

    @cached_property
    def system_means(self) -> Numbers:
        """(1 + RESAMPLES, 2, systems) utilities and people's means of each system: of all contexts and annotators, then of
        those drawn, without the draws in which a system has no output."""
        _, systems = np.unique(self.systems, return_inverse=True)
        _, units = np.unique(self.units, return_inverse=True)
        n, c, people = int(systems.max(initial=-1)) + 1, int(units.max(initial=-1)) + 1, self.scores.shape[1]
        several = of_whom(self.answers[1])[0] == PEOPLE
        rng = np.random.default_rng(self.seed)
        of_unit: list[np.ndarray] = [np.ones(c)]
        of_annotator: list[np.ndarray] = [np.ones(people)]
        for _ in range(RESAMPLES):
            of_unit.append(rng.multinomial(c, np.full(c, 1 / c)))
            of_annotator.append(rng.multinomial(people, np.full(people, 1 / people)) if several else np.ones(people))
        drawn = zip(
            blocks(np.array(of_unit), len(self.u)), blocks(np.array(of_annotator, dtype=float), len(self.u)), strict=True
        )
        found = np.concatenate([self._system_means_of(unit[:, units], who, systems, n) for unit, who in drawn])
        defined: Numbers = found[np.isfinite(found).all(axis=(1, 2))]
        return defined

    def _system_means_of(self, weight: Numbers, of_annotator: Numbers, systems: Whole, n: int) -> Numbers:
        """(rows, 2, n) of outputs that weigh (rows, outputs) by annotators who weigh (rows, annotators)."""
        given = np.isfinite(self.scores)
        means = _quotient(of_annotator @ np.where(given, self.scores, 0.0).T, of_annotator @ given.T)
        weight = np.where(np.isfinite(means), weight, 0.0)
        is_of = (systems[:, None] == np.arange(n)).astype(float)  # (outputs, n)
        total = weight @ is_of
        return np.stack([_quotient((weight * np.nan_to_num(values)) @ is_of, total) for values in (self.u, means)], axis=1)


def levels(
    u: Numbers,
    scores: Numbers,
    contexts: Whole,
    systems: Whole,
    seed: int,
    measures: Iterable[str] = tuple(MEASURES),
    units: Whole | None = None,
) -> dict[str, Figure]:
    """{"sample_pearson": ..., "context_kendall": ..., "system_spearman": ...}, those defined, of these measures. u (n,)
    utilities and scores (n, annotators), NaN being none; contexts (n,), systems (n,) numbers; units (n,): numbers of what is
    independent, which intervals draw, where that is not the contexts but groups of them."""
    rows = np.isfinite(u) & np.isfinite(scores).any(axis=1)
    drawn = contexts if units is None else units
    data = _Scored(u[rows], scores[rows], contexts[rows], systems[rows], drawn[rows], seed)
    found: dict[str, Figure] = {}
    for name in measures:
        for level, figure in (("sample", _sample), ("context", _context), ("system", _system)):
            try:
                found[f"{level}_{name}"] = figure(data, name)
            except UndefinedCorrelation:
                continue
    return found


def within_contexts(u: Numbers, scores: Numbers, contexts: Whole, measure: str) -> Numbers:
    """(contexts,) the correlation of u (n,) and scores (n,) among the outputs of each context; NaN where one of the two says
    the same of all. A score that is NaN is left out."""
    known = np.isfinite(u) & np.isfinite(scores)
    _, c = np.unique(contexts, return_inverse=True)
    m = int(c.max(initial=-1)) + 1
    u, scores, c = u[known], scores[known], c[known]
    if measure == "kendall":
        a, b = meetings(c.tolist())
        x, y, c = np.sign(u[a] - u[b]), np.sign(scores[a] - scores[b]), c[a]
    else:
        x, y = (_centred(_ranks(v, c) if measure == "spearman" else v, c, m) for v in (u, scores))
    product, of_x, of_y = (np.bincount(c, values, m) for values in (x * y, x * x, y * y))
    tiny = 1e-12
    return _quotient(product, np.where((of_x > tiny) & (of_y > tiny), np.sqrt(of_x * of_y), 0.0))


def _sample(data: _Scored, name: str) -> Figure:
    means = data.means()
    value = MEASURES[name](data.u, means)
    output, _, score = data.answers
    low, high = _over_people(data, correlation_of_means(name, data.u, output, score), value) or (
        correlation_interval(name, data.u, means, data.units, data.seed) or (None, None)
    )
    return Figure(value, low, high, len(means))


def _context(data: _Scored, name: str) -> Figure:
    def mean_of(means: Numbers) -> float:
        values = within_contexts(data.u, means, data.contexts, name)
        if not np.isfinite(values).any():
            raise UndefinedCorrelation("No context has outputs that differ.")
        return float(np.nanmean(values))

    each = within_contexts(data.u, data.means(), data.contexts, name)
    value, defined = mean_of(data.means()), each[np.isfinite(each)]
    of_people = _over_people(data, one_by_one(lambda kept: mean_of(data.means(kept))), value)
    _, first = np.unique(data.contexts, return_index=True)  # in the order of `each`
    low, high = of_people or bootstrap(defined, data.units[first][np.isfinite(each)], data.seed)
    return Figure(value, low, high, len(defined))


def _system(data: _Scored, name: str) -> Figure:
    """Its interval draws contexts, and annotators where there are enough of them, with replacement (the pigeonhole bootstrap,
    Owen 2007): a correlation of few systems moves in steps, which a jackknife cannot see."""
    n = len(np.unique(data.systems))
    if n < FEWEST_SYSTEMS:
        raise UndefinedCorrelation(f"Correlations over systems need at least {FEWEST_SYSTEMS}.")
    value = MEASURES[name](*data.system_means[0])
    drawn = of_rows(name, *data.system_means[1:].swapaxes(0, 1))
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) < RESAMPLES / 2:
        return Figure(value, None, None, n)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Figure(value, float(low), float(high), n)


def _over_people(data: _Scored, of_answers: Statistic, value: float) -> tuple[float, float] | None:
    """None where there are too few annotators to speak of others."""
    output, annotator, _ = data.answers
    if of_whom(annotator)[0] != PEOPLE:
        return None
    found = crossed(of_answers, data.units[output], annotator, data.seed)
    return None if found is None else found.around_correlation(value)


def _centred(values: Numbers, groups: Whole, m: int) -> Numbers:
    means = np.bincount(groups, values, m) / np.maximum(np.bincount(groups, minlength=m), 1)
    centred: Numbers = values - means[groups]
    return centred


def _ranks(values: Numbers, groups: Whole) -> Numbers:
    """(n,) ranks within each group, equal values sharing their mean rank; less a number that is the group's own."""
    dense = scipy.stats.rankdata(values, method="dense")
    ranks: Numbers = scipy.stats.rankdata(groups * (dense.max(initial=0) + 1) + dense)
    return ranks


def _quotient(total: ArrayLike, count: ArrayLike) -> Numbers:
    """NaN where there is nothing to divide by."""
    above, below = np.asarray(total, dtype=float), np.asarray(count, dtype=float)
    quotient: Numbers = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return quotient
