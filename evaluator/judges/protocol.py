"""Whoever or whatever prefers one output to another, as tournaments, verdicts and files speak to it.

A pointwise judge gives each text a number and says what two numbers mean for each other; a pairwise judge reads two texts of
one context together. A comparator is one of them by its architecture; so is a metric, a reward model or a language model.
The number is called utility, as in Luce's choice theory, since a comparator's `score` is already the mean score to be
expected of people: utilities are on the judge's own scale, higher is better, and only differences need to mean anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.errors import Refused
from evaluator.judges.texts import Text, place_of

CHUNK = 5000  # pairs from different contexts that are read at once: each text is there in as many contexts as it meets
ROUNDING = 1e-6  # utilities closer than this share of the larger are equal: float32 has 24 bits, and sums lose some
OnProgress = Callable[[float, str, dict[str, Any] | None], None]  # share done, what is being done, a point of a learning curve
Numbers = NDArray[Any]


@dataclass(frozen=True)
class Preferences:
    """What a judge says of n pairs. One that it was asked about and left unjudged has NaN and ""."""

    probabilities: Numbers  # (n, 3) P(A better), P(tie), P(B better)
    choices: Numbers  # (n,) "A" | "tie" | "B" | ""

    @classmethod
    def likeliest(cls, probabilities: Numbers) -> Preferences:
        """Of a judge whose choice is its likeliest answer; probabilities (n, 3)."""
        return Preferences(probabilities, likeliest(probabilities))

    @classmethod
    def joined(cls, parts: Sequence[Preferences]) -> Preferences:
        """Of all the pairs, one part after the other."""
        return Preferences(np.concatenate([p.probabilities for p in parts]), np.concatenate([p.choices for p in parts]))

    @cached_property
    def outcomes(self) -> Numbers:
        """(n,) +1 where A is better, 0 for a tie, -1 where B is; NaN, of floats then, where it stayed unjudged"""
        outcomes: Numbers = (self.choices == "A").astype(int) - (self.choices == "B").astype(int)
        return outcomes if self.judged.all() else np.where(self.judged, outcomes, np.nan)

    @property
    def judged(self) -> Numbers:
        """(n,) whether it says anything of the pair"""
        return np.asarray(self.choices != "")

    def swapped(self) -> Preferences:
        """The same of the pairs with their sides exchanged."""
        choices = np.select([self.choices == "A", self.choices == "B", self.choices == ""], ["B", "A", ""], "tie")
        return Preferences(self.probabilities[:, ::-1], choices)


class OfOutcomes(Preferences):
    """The same of outcomes (n,), +1, 0 or -1; the rest is worked out where somebody asks, since curves read outcomes alone."""

    _probabilities: Callable[[], Numbers]

    def __init__(self, outcomes: Numbers, probabilities: Callable[[], Numbers]):
        vars(self).update(outcomes=outcomes, _probabilities=probabilities)

    @cached_property
    def probabilities(self) -> Numbers:
        return self._probabilities()

    @cached_property
    def choices(self) -> Numbers:
        named: Numbers = np.array(["B", "tie", "A"])[self.outcomes + 1]
        return named


class PointwiseJudge(Protocol):
    @property
    def kind(self) -> Literal["pointwise"]: ...

    def utilities(self, texts: Sequence[Text], *, on_progress: OnProgress | None = None) -> Numbers:
        """(n,) finite, higher is better; of one text whatever it is judged beside"""
        ...

    def preferences(self, utility_a: Numbers, utility_b: Numbers) -> Preferences:
        """Utilities (n,) of the sides -> what they say of n pairs. Exchanged sides exchange the answers."""
        ...


class PairwiseJudge(Protocol):
    @property
    def kind(self) -> Literal["pairwise"]: ...

    def compare(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], *, on_progress: OnProgress | None = None
    ) -> Preferences:
        """Text by text; the two of a pair share their context. Exchanged sides exchange the answers."""
        ...


Judge = PointwiseJudge | PairwiseJudge


@runtime_checkable
class ForeseesScores(Protocol):
    """What a pointwise judge may do besides: foresee people's mean scores, by the criteria that it learnt."""

    criteria: list[str]  # (c,)

    def by_criterion(self, texts: Sequence[Text]) -> Numbers:
        """(n, c) utilities"""
        ...

    def expected(self, u: Numbers) -> Numbers:
        """Utilities (n, c) -> (n, c) mean scores to be expected of people, from 0 to 1"""
        ...


class Verdicts(Protocol):
    """What a judge says of outputs by their ids: all that a tournament asks."""

    def outcomes(self, a: Iterable[int], b: Iterable[int]) -> Numbers:
        """(n,) +1 where a is better, 0 for a tie, -1 where b is, NaN where the judge was asked and says nothing"""
        ...

    def probabilities(self, a: Iterable[int], b: Iterable[int]) -> Numbers:
        """(n, 3) P(a better), P(tie), P(b better)"""
        ...


@dataclass(frozen=True)
class PointwiseVerdicts:
    """From one utility for each output."""

    utility: Mapping[int, float]
    preferences: Callable[[Numbers, Numbers], Preferences]  # PointwiseJudge.preferences
    used: Mapping[str, Any] = field(default_factory=dict)  # what it took, where it costs something

    def outcomes(self, a: Iterable[int], b: Iterable[int]) -> Numbers:
        return self._of(a, b).outcomes

    def probabilities(self, a: Iterable[int], b: Iterable[int]) -> Numbers:
        return self._of(a, b).probabilities

    def _of(self, a: Iterable[int], b: Iterable[int]) -> Preferences:
        sides = (np.array([self.utility[pk] for pk in side], dtype=float) for side in (a, b))
        return self.preferences(*sides)


@dataclass(frozen=True)
class PairwiseVerdicts:
    """From every two outputs of one context, and the pairs from different ones that were asked about, read once."""

    place: Mapping[tuple[int, int], int]  # of a pair whose first id is the smaller, among the g pairs that were read
    read: Preferences  # (g,)

    def outcomes(self, a: Iterable[int], b: Iterable[int]) -> Numbers:
        """Raises Refused for outputs of different contexts that were not read."""
        rows, exchanged = self._rows(a, b)
        outcomes = self.read.outcomes[rows]
        return np.where(exchanged, -outcomes, outcomes)

    def probabilities(self, a: Iterable[int], b: Iterable[int]) -> Numbers:
        """Raises Refused for outputs of different contexts that were not read."""
        rows, exchanged = self._rows(a, b)
        p = self.read.probabilities[rows]  # (n, 3)
        return np.where(exchanged[:, None], p[:, ::-1], p)

    def has_read(self, a: Iterable[int], b: Iterable[int]) -> Numbers:
        """(n,) whether the pair was read and judged"""
        rows = [self.place.get((min(pair), max(pair))) for pair in zip(a, b, strict=True)]
        judged = self.read.judged
        return np.array([row is not None and bool(judged[row]) for row in rows], dtype=bool)

    def _rows(self, a: Iterable[int], b: Iterable[int]) -> tuple[Numbers, Numbers]:
        """((n,) places among what was read, (n,) whether the sides were the other way round)"""
        pairs = list(zip(a, b, strict=True))
        try:
            rows = [self.place[min(pair), max(pair)] for pair in pairs]
        except KeyError:
            raise Refused("A judge that reads two outputs together compares outputs of one context only.") from None
        return np.array(rows, dtype=int), np.array([i > j for i, j in pairs], dtype=bool)


class AskedVerdicts:
    """Of a pairwise judge of which each pair costs something: a pair of one context is read when somebody asks for it, once."""

    def __init__(self, judge: PairwiseJudge, texts: Mapping[int, Text], on_progress: OnProgress | None = None):
        self.judge, self._texts, self._on_progress = judge, texts, on_progress
        self._place: dict[tuple[int, int], int] = {}
        self._read = Preferences.likeliest(np.empty((0, 3)))

    def outcomes(self, a: Iterable[int], b: Iterable[int]) -> Numbers:
        """As `PairwiseVerdicts.outcomes`, and raises what the judge raises."""
        a, b = list(a), list(b)
        return self._with(a, b).outcomes(a, b)

    def check(self) -> None:
        """Raises Refused where the judge left more unjudged than its user allows."""
        if check := getattr(self.judge, "check", None):
            check()

    def probabilities(self, a: Iterable[int], b: Iterable[int]) -> Numbers:
        """As `PairwiseVerdicts.probabilities`, and raises what the judge raises."""
        a, b = list(a), list(b)
        return self._with(a, b).probabilities(a, b)

    def has_read(self, a: Iterable[int], b: Iterable[int]) -> Numbers:
        """(n,) whether the pair was read already and judged, so that it costs nothing"""
        return PairwiseVerdicts(self._place, self._read).has_read(a, b)

    def _with(self, a: list[int], b: list[int]) -> PairwiseVerdicts:
        """After reading those that are new; pairs of different contexts are left to PairwiseVerdicts to refuse."""
        pairs = sorted({(min(pair), max(pair)) for pair in zip(a, b, strict=True)} - self._place.keys())
        new = [(i, j) for i, j in pairs if place_of(self._texts[i]) == place_of(self._texts[j])]
        if new:
            sides = [[self._texts[pk] for pk in side] for side in zip(*new)]
            read = self.judge.compare(sides[0], sides[1], on_progress=self._on_progress)
            self._place |= {pair: len(self._place) + row for row, pair in enumerate(new)}
            self._read = Preferences.joined([self._read, read])
        return PairwiseVerdicts(self._place, self._read)


def has_read(verdicts: Verdicts, a: Sequence[int], b: Sequence[int]) -> Numbers:
    """(n,) whether the judge has said something of the pair, or says it at no cost"""
    if isinstance(verdicts, AskedVerdicts | PairwiseVerdicts):
        return verdicts.has_read(a, b)
    return np.ones(len(a), dtype=bool)


def verdicts_on(
    judge: Judge, texts: Mapping[int, Text], on_progress: OnProgress | None = None, across: Iterable[tuple[int, int]] = ()
) -> Verdicts:
    """What the judge says of outputs; texts: {id: text}. across: of a pairwise judge, the pairs of ids from different contexts
    that it is asked about too (`across_contexts`)."""
    ids = sorted(texts)
    ordered = [texts[pk] for pk in ids]
    if judge.kind == "pointwise":
        u = judge.utilities(ordered, on_progress=on_progress)  # (n,)
        return PointwiseVerdicts(dict(zip(ids, u.tolist(), strict=True)), judge.preferences)
    a, b = pairs_of(ordered)  # (g,)
    place = {(ids[i], ids[j]): row for row, (i, j) in enumerate(zip(a.tolist(), b.tolist()))}
    further = sorted({(min(pair), max(pair)) for pair in across} - place.keys())  # (m,)
    own = len(a) / max(1, len(a) + 2 * len(further))  # of the readings
    read = preferences(judge, ordered, a, b, _part(on_progress, 0.0, own))
    if further:
        sides = [[texts[pk] for pk in side] for side in zip(*further)]
        beyond = across_contexts(judge, sides[0], sides[1], _part(on_progress, own, 1.0))
        read = Preferences.joined([read, beyond])
        place |= {pair: len(a) + row for row, pair in enumerate(further)}
    return PairwiseVerdicts(place, read)


def across_contexts(
    judge: PairwiseJudge, texts_a: Sequence[Text], texts_b: Sequence[Text], on_progress: OnProgress | None = None
) -> Preferences:
    """Text by text, of different contexts: the mean of what the judge says with both read in A's context, and with both in
    B's. Our choice: Zhou & Xu (2020, section 4.2) let such outputs meet, and do not say in which context they are read."""
    read = []
    for start in range(0, len(texts_a), CHUNK):
        a, b = texts_a[start : start + CHUNK], texts_b[start : start + CHUNK]
        moved_a = [Text(other.context, text.output, group=other.group) for text, other in zip(a, b, strict=True)]
        moved_b = [Text(other.context, text.output, group=other.group) for text, other in zip(b, a, strict=True)]
        watch = _part(on_progress, start / len(texts_a), (start + len(a)) / len(texts_a))
        p = judge.compare([*a, *moved_a], [*moved_b, *b], on_progress=watch).probabilities  # (2c, 3)
        read.append(Preferences.likeliest((p[: len(a)] + p[len(a) :]) / 2))
    return Preferences.joined(read)


def _part(on_progress: OnProgress | None, begin: float, end: float) -> OnProgress | None:
    """The same for one part of the work, which counts its own from 0 to 1."""
    return on_progress and (lambda done, *what: on_progress(begin + (end - begin) * done, *what))


def preferences(
    judge: Judge,
    texts: Sequence[Text],
    a: Sequence[int] | Numbers,
    b: Sequence[int] | Numbers,
    on_progress: OnProgress | None = None,
) -> Preferences:
    """What any judge says of the pairs at positions a (n,), b (n,) among the texts."""
    if judge.kind == "pointwise":
        u = judge.utilities(texts, on_progress=on_progress)
        return judge.preferences(u[np.asarray(a, dtype=int)], u[np.asarray(b, dtype=int)])
    return judge.compare([texts[i] for i in a], [texts[i] for i in b], on_progress=on_progress)


def utilities(judge: Judge, texts: Sequence[Text], on_progress: OnProgress | None = None) -> Numbers:
    """(n,) one number for each text: its utility, or from a pairwise judge the mean of P(better) + P(tie) / 2 against the
    other texts of its context, 0.5 where there is none."""
    if judge.kind == "pointwise":
        return judge.utilities(texts, on_progress=on_progress)
    a, b = pairs_of(texts)  # (g,)
    p = preferences(judge, texts, a, b, on_progress).probabilities
    judged = ~np.isnan(p).any(axis=1)
    return mean_points(len(texts), a[judged], b[judged], p[judged])


def likeliest(p: Numbers) -> Numbers:
    """(n, 3) -> (n,) the likeliest of "A", "tie", "B"; a tie where no side is likelier than both others, "" of NaN."""
    clear = (p[:, 0] != p[:, 2]) & (np.maximum(p[:, 0], p[:, 2]) > p[:, 1])  # (n,)
    return np.where(np.isnan(p).any(axis=1), "", np.where(clear, np.where(p[:, 0] > p[:, 2], "A", "B"), "tie"))


def pairs_of(texts: Sequence[Text]) -> tuple[Numbers, Numbers]:
    """Positions (g,), (g,) of every two texts of one context, once."""
    return meetings([place_of(text) for text in texts])


def meetings(contexts: Sequence[Any]) -> tuple[Numbers, Numbers]:
    """Positions (g,), (g,) of every two texts of one context, once; contexts (n,) are their names."""
    groups: dict[Any, list[int]] = {}
    for i, context in enumerate(contexts):
        groups.setdefault(context, []).append(i)
    pairs = [pair for group in groups.values() for pair in combinations(group, 2)]
    a, b = np.array(pairs, dtype=int).reshape(-1, 2).T
    return a, b


def differences(a: Numbers, b: Numbers) -> Numbers:
    """(n,) utilities a - b, 0 where that is no more than rounding"""
    d: Numbers = np.where(np.isclose(a, b, rtol=ROUNDING, atol=0.0), 0.0, np.asarray(a) - np.asarray(b))
    return d


def by_order(a: Numbers, b: Numbers) -> Preferences:
    """What the order of two utilities (n,) says alone, with P 0 or 1: how sure the judge is it does not tell."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    near = np.where(np.isfinite(b), ROUNDING * np.abs(b), 0.0)  # as `differences`
    d = a - b
    outcomes = (d > near).astype(int) - (d < -near)
    return OfOutcomes(outcomes, lambda: np.eye(3)[1 - outcomes])


def mean_points(n: int, a: Numbers, b: Numbers, p: Numbers) -> Numbers:
    """(n,) mean of P(better) + P(tie) / 2 over the games a (g,), b (g,), p (g, 3) of each of n texts; 0.5 without any"""
    won = np.bincount(a, p[:, 0] + p[:, 1] / 2, n) + np.bincount(b, p[:, 2] + p[:, 1] / 2, n)
    played = np.bincount(a, minlength=n) + np.bincount(b, minlength=n)
    points: Numbers = np.divide(won, played, out=np.full(n, 0.5), where=played > 0)
    return points
