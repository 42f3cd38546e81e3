"""Which way of asking agrees better: direct scores, or scores made from comparisons.

Zhou & Xu (2020), section 4.1: 20 outputs are scored from 1 to 5; 20 are compared with four other outputs each and
"scored to 1-5 based on how many times they are considered to be better"; kappa is 0.53 and 0.76. Here the *same*
outputs are asked about in both ways, so that the difference is paired by output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.kappa import fleiss_kappa
from annotation.quality.krippendorff import alpha_from_counts
from annotation.quality.scores import as_scores, value_counts

Measure = Callable[[np.ndarray, np.ndarray], float]  # counts (outputs, values) and the values (values,)

AGAINST = 4  # other outputs, so that wins 0 to 4 become scores 1 to 5


@dataclass(frozen=True)
class ProtocolEstimate:
    """A value with its 95% interval over outputs drawn with replacement; None where it is not defined."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Study:
    """measures: {name: {"direct", "compared", "difference"}}, the difference is compared less direct, paired by output.
    across: agreement of the two protocols' mean scores of each output."""

    outputs: int
    direct_raters: int
    compared_raters: int
    measures: dict[str, dict[str, ProtocolEstimate]]
    across: dict[str, ProtocolEstimate]
    replicates: int
    seed: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def scores_from_comparisons(
    annotator: ArrayLike,
    output: ArrayLike,
    points: ArrayLike,
    against: int = AGAINST,
    annotators: int | None = None,
    outputs: int | None = None,
) -> np.ndarray:
    """Scores (annotators, outputs) made from each annotator's comparisons of an output with `against` others.

    annotator, output: int (comparisons,); points: (comparisons,), 1 where the output was better, else 0 (the paper counts
    wins; a tie is none). The score is 1 + wins; nan where an annotator compared the output with fewer or more others.
    """
    annotator, output = np.asarray(annotator, dtype=np.int64), np.asarray(output, dtype=np.int64)
    people = int(annotator.max(initial=-1)) + 1 if annotators is None else annotators
    texts = int(output.max(initial=-1)) + 1 if outputs is None else outputs
    cell, shape = annotator * texts + output, (people, texts)
    times = np.bincount(cell, minlength=people * texts).reshape(shape)
    wins = np.bincount(cell, np.asarray(points, dtype=float), minlength=people * texts).reshape(shape)
    return np.where(times == against, 1 + wins, np.nan)


def compare_protocols(direct: ArrayLike, compared: ArrayLike, replicates: int = 1000, seed: int = 0) -> Study:
    """Agreement of both protocols; direct, compared: (raters, outputs), the same outputs in the same columns.

    Only outputs that both protocols reached with two raters or more count.
    """
    direct, compared = as_scores(direct), as_scores(compared)
    if direct.shape[1] != compared.shape[1]:
        raise ValueError("Both protocols need the same outputs, column by column.")
    both = ((~np.isnan(direct)).sum(axis=0) >= 2) & ((~np.isnan(compared)).sum(axis=0) >= 2)
    direct, compared = direct[:, both], compared[:, both]
    outputs = int(both.sum())
    if outputs == 0:
        raise UndefinedAgreement("No output was asked about in both ways by two annotators or more.")
    rng = np.random.default_rng(seed)
    draws = [np.arange(outputs), *rng.integers(outputs, size=(replicates, outputs))]
    counts = [value_counts(table) for table in (direct, compared)]
    measures = {}
    for name, measure in MEASURES.items():
        both_ways = np.array([[measure(c[draw], values) for c, values in counts] for draw in draws])  # (draws, 2)
        columns = {"direct": both_ways[:, 0], "compared": both_ways[:, 1], "difference": both_ways[:, 1] - both_ways[:, 0]}
        measures[name] = {which: _estimate(column) for which, column in columns.items()}
    means = np.nanmean(direct, axis=0), np.nanmean(compared, axis=0)
    across = {"spearman": _estimate(np.array([_spearman(means[0][draw], means[1][draw]) for draw in draws]))}
    of_means, values = value_counts(np.stack(means))
    across["alpha_interval"] = _estimate(np.array([alpha_from_counts(of_means[draw], values, "interval") for draw in draws]))
    direct_raters, compared_raters = (int((~np.isnan(table)).any(axis=1).sum()) for table in (direct, compared))
    return Study(outputs, direct_raters, compared_raters, measures, across, replicates, seed)


def _fleiss(weights: str | None) -> Measure:
    def measure(counts: np.ndarray, values: np.ndarray) -> float:
        try:
            return fleiss_kappa(counts, values, weights)
        except UndefinedAgreement:
            return np.nan

    return measure


MEASURES: dict[str, Measure] = {
    "kappa": _fleiss(None),
    "kappa_linear": _fleiss("linear"),
    "alpha_ordinal": lambda counts, values: alpha_from_counts(counts, values, "ordinal"),
    "alpha_interval": lambda counts, values: alpha_from_counts(counts, values, "interval"),
}


def _spearman(a: np.ndarray, b: np.ndarray) -> float:
    return float(scipy.stats.spearmanr(a, b).statistic) if np.ptp(a) > 0 and np.ptp(b) > 0 else np.nan


def _estimate(draws: np.ndarray) -> ProtocolEstimate:
    """The first is the value, the rest are its bootstrap; no interval where most of them are not defined."""
    value, rest = draws[0], draws[1:]
    rest = rest[~np.isnan(rest)]
    if np.isnan(value):
        return ProtocolEstimate(None, None, None)
    if len(rest) <= len(draws) / 2:
        return ProtocolEstimate(float(value), None, None)
    low, high = np.quantile(rest, [0.025, 0.975])
    return ProtocolEstimate(float(value), float(low), float(high))
