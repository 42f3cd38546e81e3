"""Marked errors: what they weigh, and how far people mark the same ones.

A text's score is the sum of its errors' weights, so that the lowest is best (Freitag et al. 2021, "Experts, Errors, and
Context", table 4, for MQM). Whether two people mark the same is an F score: their marks are matched one to one by how much they
overlap, and a match counts by the share of each mark that the other covers ("match with partial overlap and partial credit",
micro-averaged; Perrella, Agostinho & Zaragoza 2026, arXiv 2603.19921). Neither of two people is the reference, so that both
directions are pooled, over all texts and all pairs of people; then precision, recall and F are one number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

OUTPUT, SOURCE, NOWHERE = "output", "source", "nowhere"  # where a mark stands; nowhere: no place is known


@dataclass(frozen=True, order=True)
class Span:
    """An error. turn: of the source, from 0; start, end: characters (code points) from the text's beginning, end not included;
    0 and 0 for an error that stands nowhere. category: empty where none was asked."""

    where: str
    turn: int
    start: int
    end: int
    severity: str
    category: str = ""

    def overlap(self, other: "Span") -> int:
        """Characters that both mark; of two that stand nowhere, 1."""
        if (self.where, self.turn) != (other.where, other.turn):
            return 0
        return 1 if self.where == NOWHERE else max(0, min(self.end, other.end) - max(self.start, other.start))

    @property
    def length(self) -> int:
        return 1 if self.where == NOWHERE else self.end - self.start


@dataclass(frozen=True)
class Scheme:
    """severities: {name: weight}. categories: {name: {severity: a weight of its own}}, in the order in which they are offered;
    a category's weights are those of its sub-categories ("Fluency" for "Fluency/Grammar") too."""

    severities: Mapping[str, float]
    categories: Mapping[str, Mapping[str, float]]

    def weight(self, severity: str, category: str = "") -> float:
        """Raises KeyError for a severity that is none of the scheme's."""
        own, usual = _plain(category), self.severities[severity]
        for name, weights in self.categories.items():
            if severity in weights and (own == _plain(name) or own.startswith(f"{_plain(name)}/")):
                return weights[severity]
        return usual

    def score(self, spans: Iterable[Span]) -> float:
        """The sum of the errors' weights: 0 where there is none, without an upper end."""
        return round(sum(self.weight(span.severity, span.category) for span in spans), 6)


# Freitag et al. 2021, table 4. Releases of other years have neutral and critical errors, too.
MQM = Scheme(
    {"neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 5.0},
    {"Non-translation": {"minor": 25.0, "major": 25.0, "critical": 25.0}, "Fluency/Punctuation": {"minor": 0.1}},
)


def _plain(category: str) -> str:
    return category.strip().rstrip("!").casefold()


@dataclass(frozen=True)
class SpanAgreement:
    """Shares from 0 to 1 of what two people mark that the other marks too: where alone, with the same severity, with the same
    category; low, high: the first's 95% interval for other texts, None of fewer than two. errors: all that were marked; texts:
    those that two people or more read."""

    where: float
    severity: float
    category: float
    low: float | None
    high: float | None
    errors: int
    texts: int


def matched(one: Sequence[Span], other: Sequence[Span]) -> list[tuple[Span, Span]]:
    """Pairs of marks that overlap, each mark in one of them at most: those of the most credit together."""
    if not (one and other):
        return []
    credits = np.array([[_credit(a, b) for b in other] for a in one])
    rows, columns = scipy.optimize.linear_sum_assignment(-credits)
    return [(one[i], other[j]) for i, j in zip(rows, columns, strict=True) if credits[i, j] > 0]


def _credit(a: Span, b: Span) -> float:
    """Of both sides together, from 0 to 2."""
    common = a.overlap(b)
    return common / a.length + common / b.length if common else 0.0


def credits(one: Sequence[Span], other: Sequence[Span]) -> np.ndarray:
    """(4,) of two people on one text: credit for where, with the severity, with the category; and what there was to get."""
    found = np.zeros(4)
    found[3] = len(one) + len(other)
    for a, b in matched(one, other):
        share = _credit(a, b)
        found[:3] += share, share * (a.severity == b.severity), share * (a.category == b.category)
    return found


def span_agreement(texts: Iterable[Sequence[Sequence[Span]]], replicates: int = 200, seed: int = 0) -> SpanAgreement | None:
    """texts: of each text, what each of its readers marked. None where no text has two readers, or they marked nothing."""
    read = [readers for readers in texts if len(readers) > 1]
    sums = np.array([sum(credits(a, b) for a, b in combinations(readers, 2)) for readers in read]).reshape(-1, 4)
    if not sums[:, 3].sum():
        return None
    where, severity, category = (sums[:, :3].sum(axis=0) / sums[:, 3].sum()).tolist()
    low, high = _interval(sums, replicates, seed) if len(read) > 1 else (None, None)
    return SpanAgreement(where, severity, category, low, high, sum(len(marks) for r in read for marks in r), len(read))


def _interval(sums: np.ndarray, replicates: int, seed: int) -> tuple[float, float]:
    """Percentiles of the first figure over resampled texts; draws without any mark are left out."""
    drawn = np.random.default_rng(seed).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), replicates)
    of, total = drawn @ sums[:, 0], drawn @ sums[:, 3]
    low, high = np.quantile(of[total > 0] / total[total > 0], (0.025, 0.975))
    return float(low), float(high)
