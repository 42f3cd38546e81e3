"""Does a judge agree with people, by how much does it misstate each system, and what do both together say?

Two files: what a judge said, and what people said of a part of it. The agreement is that of the judges' table
(`evaluator.metaevaluation.judges_table`); the corrected ranking is `leaderboard.offline.correction`, of the systems' mean
scores or of wins less losses of each two systems, with differences known as on boards (`leaderboard.rating.decision`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from core.errors import Refused, quoted
from evaluator.judges.texts import Text
from evaluator.metaevaluation.alternative_annotator import in_peoples_scores
from evaluator.metaevaluation.judges_table import JudgeAnswers, JudgeTable, PeopleScores, table
from evaluator.metaevaluation.pairs import JudgedPair, pairs_from_judgments, pairs_from_scores
from leaderboard.offline.answers import Answers, Output, PairAnswer, ScoreAnswer
from leaderboard.offline.answers import pairs_from_scores as judged_pairs
from leaderboard.offline.correction import Correction, Floats, Interval, Judged, Labels
from leaderboard.rating.decision import decide

MORE = (1, 2, 4, 8)  # times as many labels
MOST_TIMES = 10  # as in `leaderboard.rating.ranking`
BY_RANKS = "by ranks: each of people's scores as often as they gave it"
CHOICES = {1: "A", 0: "tie", -1: "B"}


@dataclass(frozen=True)
class SystemRow:
    """judge: by all its answers; people: by their labels alone; misstated: the judge's less the corrected. Ranks that the known
    differences leave possible, 1 is best; None where nobody labelled the system beside others."""

    system: str
    labels: int
    judge: float
    people: Interval | None
    corrected: Interval | None
    misstated: Interval | None
    rank_low: int
    rank_high: int


@dataclass(frozen=True)
class Gap:
    """first less second. known: whether first is above second with all such statements holding together (95%).
    times: of neighbours, how many times as many labels would tell them apart if this gap is the true one; None: more than
    ten times as many, or it is known."""

    first: str
    second: str
    judge: float
    people: Interval | None
    corrected: Interval | None
    known: bool
    times: float | None


@dataclass(frozen=True)
class Budget:
    """Half the width of a system's 95% interval, the median over systems, with so many labels: corrected, by people alone."""

    labels: int
    corrected: float
    people: float


@dataclass(frozen=True)
class Checked:
    """One judge. scale: how its scores were put on people's. groups: of systems that labels compare. unmatched: labels of what
    it did not answer."""

    judge: str
    rows: list[SystemRow]
    gaps: list[Gap]
    budget: list[Budget]
    weight: float
    labels: int
    judged: int
    contexts: int
    annotators: int | None
    population: str | None
    groups: int
    scale: str
    unmatched: int


@dataclass(frozen=True)
class Check:
    """about: "scores" or "pairs"; ends: of people's scale, where they scored."""

    about: str
    criterion: str
    ends: tuple[float, float] | None
    table: JudgeTable
    judges: list[Checked]
    warnings: list[str]
    assumed: list[str]


def check(judge: Answers, people: Answers, annotators: str, seed: int, rescale: str = "auto") -> Check:
    """judge: answers of programs alone; people: of people, on one criterion. annotators: a key of `EPSILON`. rescale: "auto",
    "ranks" or "no". Raises Refused where the two have nothing in common."""
    about = "scores" if people.scores and not people.pairs else "pairs"
    if about == "scores" and not judge.scores:
        about = "pairs"
    world = _World(judge, people, about)
    means = {name: world.means(name, rescale) for name in sorted({one.who for one in [*judge.pairs, *judge.scores]})}
    names = [name for name, of in means.items() if len(of.labels.of)]
    apart = [name for name in means if name not in names]
    if not names:
        raise Refused(f"{_apart(world, apart)}: contexts and systems must have the same names, or texts, in both files.")
    found = table(world.people(), [world.judge_answers(name) for name in names], annotators, seed)
    checked = [_checked(world, name, means[name]) for name in names]
    warnings = _warnings(judge, people, checked) + ([f"{_apart(world, apart)}, and is left out."] if apart else [])
    criterion = next(iter([*people.scores, *people.pairs])).aspect
    return Check(about, criterion, world.ends, found, checked, warnings, world.assumed)


def _apart(world: _World, judges: Sequence[str]) -> str:
    who = ", ".join(map(quoted, judges))
    return f"The judge {who} in {world.judge.file} answered nothing that people labelled in {world.labels.file}"


class _World:
    """Both files' outputs, contexts, systems and annotators as numbers: outputs sorted by context, so that no figure depends on
    the order of rows."""

    def __init__(self, judge: Answers, people: Answers, about: str):
        scores = _scores_once(people.scores)
        self.judge, self.labels, self.about = judge, replace(people, scores=scores), about
        self.assumed: list[str] = []
        if again := len(people.scores) - len(scores):
            self.assumed.append(
                f"{again} of people's scores are of an output that the same person had scored: the mean counts."
            )
        self.people_pairs = _once([*people.pairs, *(judged_pairs(scores) if about == "pairs" else ())])
        self.sign = -1.0 if any(score.best == "low" for score in people.scores) else 1.0
        outputs = {score.output for score in [*people.scores, *judge.scores]}
        outputs |= {side for pair in [*self.people_pairs, *judge.pairs] for side in (pair.a, pair.b)}
        self.outputs = sorted(outputs, key=lambda output: (output.context, output.system, output.sample))
        self.place = {output: i for i, output in enumerate(self.outputs)}
        self.systems = sorted({output.system for output in self.outputs})
        self.system = {name: i for i, name in enumerate(self.systems)}
        self.group = self._groups()
        units = sorted({self.unit(output) for output in self.outputs})
        self.unit_number = {unit: i for i, unit in enumerate(units)}
        who = sorted({one.who for one in [*people.scores, *self.people_pairs]})
        self.annotator = {name: i for i, name in enumerate(who)}
        self.ends = self._ends()
        if about == "pairs" and people.scores:
            self.assumed.append("People's scores are compared within one person and one context: the better score wins.")

    def _groups(self) -> dict[str, str]:
        every = [(score.output.context, score.group) for score in [*self.labels.scores, *self.judge.scores]]
        every += [(pair.a.context, pair.group) for pair in [*self.people_pairs, *self.judge.pairs]]
        return {context: group for context, group in every if group}

    def unit(self, output: Output) -> str:
        return self.group.get(output.context, output.context)

    def unit_of(self, output: Output) -> int:
        return self.unit_number[self.unit(output)]

    def _ends(self) -> tuple[float, float] | None:
        """Of people's scale: as the file says, else the lowest and highest score."""
        values = [score.value for score in self.labels.scores]
        if not values:
            return None
        stated = {score.scale for score in self.labels.scores if score.scale}
        low, high = (min(values), max(values)) if len(stated) != 1 else next(iter(stated))
        return min(low, *values), max(high, *values)

    def people(self) -> PeopleScores:
        n = len(self.outputs)
        scores = np.full((n, max(len(self.annotator), 1)), np.nan)
        for score in self.labels.scores if self.about == "scores" else ():
            scores[self.place[score.output], self.annotator[score.who]] = self.sign * score.value
        contexts = sorted({output.context for output in self.outputs})
        number = {context: i for i, context in enumerate(contexts)}
        units = np.array([self.unit_number[self.unit(output)] for output in self.outputs], dtype=np.int64)
        return PeopleScores(
            scores,
            np.array([number[output.context] for output in self.outputs], dtype=np.int64),
            np.array([self.system[output.system] for output in self.outputs], dtype=np.int64),
            np.zeros(n, dtype=bool),
            self._words(),
            tuple(self._pairs()),
            units if self.group else None,
        )

    def _pairs(self) -> list[JudgedPair]:
        if self.about == "scores":
            texts = [Text((output.context,), str(i)) for i, output in enumerate(self.outputs)]
            rows = [(self.place[one.output], one.who, self.sign * one.value) for one in self.labels.scores]
            ends = self.ends or (0.0, 1.0)
            return pairs_from_scores(rows, texts, ends if self.sign > 0 else (-ends[1], -ends[0]))
        rows_of_pairs = [
            (self.place[pair.a], self.place[pair.b], pair.who, CHOICES[int(np.sign(pair.points))]) for pair in self.people_pairs
        ]
        return pairs_from_judgments(rows_of_pairs)

    def _words(self) -> NDArray[np.int64]:
        words = np.zeros(len(self.outputs), dtype=np.int64)
        for score in [*self.labels.scores, *self.judge.scores]:
            words[self.place[score.output]] = max(words[self.place[score.output]], len(score.text.split()))
        for pair in [*self.people_pairs, *self.judge.pairs]:
            for side, text in zip((pair.a, pair.b), pair.texts):
                words[self.place[side]] = max(words[self.place[side]], len(text.split()))
        return words

    def scores_of(self, name: str) -> dict[Output, float]:
        """What the judge said of single outputs, where it said anything: the mean, where it was asked again."""
        given: dict[Output, list[float]] = defaultdict(list)
        for score in self.judge.scores:
            if score.who == name:
                given[score.output].append(score.value if score.best == "high" else -score.value)
        return {output: float(np.mean(values)) for output, values in given.items()}

    def pairs_of(self, name: str) -> dict[tuple[int, int], float]:
        """Points of the first of two outputs, which has the smaller number: the mean over orders and repeats. Of a judge of
        single outputs: the side that it scored higher."""
        given: dict[tuple[int, int], list[float]] = defaultdict(list)
        for pair in self.judge.pairs:
            if pair.who == name:
                a, b = self.place[pair.a], self.place[pair.b]
                given[min(a, b), max(a, b)].append(pair.points if a < b else -pair.points)
        if given:
            return {pair: float(np.mean(points)) for pair, points in given.items()}
        scores, of_context = self.scores_of(name), defaultdict(list)
        for output in scores:
            of_context[output.context].append(output)
        met = (both for outputs in of_context.values() for both in combinations(sorted(outputs, key=self.place.__getitem__), 2))
        return {(self.place[a], self.place[b]): float(np.sign(scores[a] - scores[b])) for a, b in met if a.system != b.system}

    def means(self, name: str, rescale: str) -> _Means:
        return _score_means(self, name, rescale) if self.about == "scores" else _pair_means(self, name)

    def judge_answers(self, name: str) -> JudgeAnswers:
        utilities = np.full(len(self.outputs), np.nan)
        scores, choices = self.scores_of(name), None
        for output, value in scores.items():
            utilities[self.place[output]] = value
        if not scores:
            points: dict[int, list[float]] = defaultdict(list)
            pairs = self.pairs_of(name)
            for (a, b), value in pairs.items():
                points[a].append(value)
                points[b].append(-value)
            for place, values in points.items():
                utilities[place] = float(np.mean(values))
            choices = {pair: CHOICES[int(np.sign(value))] for pair, value in pairs.items()}
        return JudgeAnswers(name, utilities, choices)


def _once(pairs: Iterable[PairAnswer]) -> list[PairAnswer]:
    """Of two outputs of different systems. Where one person answered again on the same two, the mean counts."""
    given: dict[tuple[object, ...], list[PairAnswer]] = defaultdict(list)
    for pair in pairs:
        if pair.a.system != pair.b.system:
            given[pair.who, frozenset((pair.a, pair.b))].append(pair)
    return [_mean_of(same) for same in given.values()]


def _mean_of(same: Sequence[PairAnswer]) -> PairAnswer:
    first = same[0]
    return replace(first, points=float(np.mean([one.points if one.a == first.a else -one.points for one in same])))


def _scores_once(scores: Iterable[ScoreAnswer]) -> list[ScoreAnswer]:
    given: dict[tuple[str, Output], list[ScoreAnswer]] = defaultdict(list)
    for score in scores:
        given[score.who, score.output].append(score)
    return [replace(same[0], value=float(np.mean([one.value for one in same]))) for same in given.values()]


@dataclass(frozen=True)
class _Means:
    """What is estimated. strengths (systems, k): each system in the means; between: the mean of (first, second), signed."""

    k: int
    labels: Labels
    judged: Judged
    span: float
    names: list[tuple[int, ...]]
    unmatched: int
    scale: str = ""

    @cached_property
    def places(self) -> dict[tuple[int, ...], int]:
        return {names: place for place, names in enumerate(self.names)}


def _checked(world: _World, name: str, means: _Means) -> Checked:
    found = Correction(means.k, means.labels, means.judged, means.span)
    strengths, component = _strengths(world, means, found)
    of_systems = found.combined(strengths)
    rows, gaps = _rows(world, means, found, of_systems, component)
    return Checked(
        name,
        rows,
        gaps,
        _budget(of_systems, len(means.labels.of)),
        found.weight,
        len(means.labels.of),
        len(means.judged.of),
        found.contexts,
        found.annotators,
        found.population,
        len(set(component[_met(component)].tolist())),
        means.scale,
        means.unmatched,
    )


def _score_means(world: _World, name: str, rescale: str) -> _Means:
    """The mean score of each system, on people's scale."""
    scores = world.scores_of(name)
    on_scale, scale = _on_peoples_scale(world, scores, rescale)
    both = [score for score in world.labels.scores if score.output in scores]
    both.sort(key=lambda score: (world.place[score.output], score.who))
    labels = Labels(
        np.array([world.system[score.output.system] for score in both], dtype=np.int64),
        np.array([world.sign * score.value for score in both]),
        np.array([on_scale[score.output] for score in both]),
        np.array([world.unit_of(score.output) for score in both], dtype=np.int64),
        np.array([world.annotator[score.who] for score in both], dtype=np.int64),
    )
    every = sorted(scores, key=world.place.__getitem__)
    judged = Judged(
        np.array([world.system[output.system] for output in every], dtype=np.int64),
        np.array([on_scale[output] for output in every]),
        np.array([world.unit_of(output) for output in every], dtype=np.int64),
    )
    low, high = world.ends or (0.0, 1.0)
    names: list[tuple[int, ...]] = [(i,) for i in range(len(world.systems))]
    return _Means(len(names), labels, judged, high - low or 1.0, names, len(world.labels.scores) - len(both), scale)


def _on_peoples_scale(world: _World, scores: Mapping[Output, float], rescale: str) -> tuple[dict[Output, float], str]:
    low, high = world.ends or (0.0, 1.0)
    values = np.array(list(scores.values()))
    inside = bool(((values >= low) & (values <= high)).all())
    if world.sign < 0:
        inside = bool(((-values >= low) & (-values <= high)).all())
    if rescale == "no" or (rescale == "auto" and inside):
        return dict(scores), "as it is: it lies within people's scale" if inside else "as it is"
    utilities = np.full(len(world.outputs), np.nan)
    for output, value in scores.items():
        utilities[world.place[output]] = value
    given = world.people().scores
    put = in_peoples_scores(utilities, given)
    return {output: float(put[world.place[output]]) for output in scores}, BY_RANKS


def _pair_means(world: _World, name: str) -> _Means:
    """Wins less losses of each two systems."""
    answers = world.pairs_of(name)
    kinds = sorted({_systems(world, pair)[0] for pair in answers})
    number = {systems: i for i, systems in enumerate(kinds)}
    rows, unmatched = [], 0
    for pair in world.people_pairs:
        a, b = world.place[pair.a], world.place[pair.b]
        key, points = ((a, b), pair.points) if a < b else ((b, a), -pair.points)
        if key not in answers:
            unmatched += 1
            continue
        systems, side = _systems(world, key)
        unit = world.unit_of(world.outputs[a])
        rows.append((number[systems], side * points, side * answers[key], unit, world.annotator[pair.who], key))
    rows.sort(key=lambda row: (row[-1], row[-2]))
    columns = [np.array([row[i] for row in rows]) for i in range(5)]
    number_of, unit_of, who = (columns[i].astype(np.int64) for i in (0, 3, 4))
    labels = Labels(number_of, columns[1].astype(float), columns[2].astype(float), unit_of, who)
    every = sorted(answers)
    judged = Judged(
        np.array([number[_systems(world, key)[0]] for key in every], dtype=np.int64),
        np.array([_systems(world, key)[1] * answers[key] for key in every]),
        np.array([world.unit_of(world.outputs[key[0]]) for key in every], dtype=np.int64),
    )
    return _Means(len(kinds), labels, judged, 2.0, list(kinds), unmatched)


def _systems(world: _World, pair: tuple[int, int]) -> tuple[tuple[int, int], float]:
    """((the two systems, the smaller number first), 1 where the pair's first output is the first system's, else -1)"""
    a, b = (world.system[world.outputs[place].system] for place in pair)
    return ((a, b), 1.0) if a < b else ((b, a), -1.0)


def _strengths(world: _World, means: _Means, found: Correction) -> tuple[Floats, NDArray[np.int64]]:
    """((systems, k) each system's strength in the means, (systems,) the group of systems that labels compare).

    Of scores, the mean itself. Of pairs, the least-squares fit of a difference of strengths to the wins less losses of each two
    labelled systems (Jiang et al. 2011, HodgeRank), times s / (s - 1): with all pairs labelled, the mean over opponents."""
    s = len(world.systems)
    if world.about == "scores":
        return np.eye(s), np.where(found.known, 0, 1 + np.arange(s)).astype(np.int64)
    edges = [(i, means.names[i]) for i in np.flatnonzero(found.known)]
    incidence = np.zeros((len(edges), s))
    adjacent = np.zeros((s, s))
    for row, (_, (a, b)) in enumerate(edges):
        incidence[row, a], incidence[row, b] = 1.0, -1.0
        adjacent[a, b] = 1.0
    component = np.asarray(scipy.sparse.csgraph.connected_components(adjacent, directed=False)[1], dtype=np.int64)
    strengths = np.zeros((s, means.k))
    size = np.bincount(component)[component]
    opponents = (size / np.maximum(size - 1, 1))[:, None]
    strengths[:, [i for i, _ in edges]] = np.linalg.pinv(incidence) * opponents
    return strengths, component


def _met(component: NDArray[np.int64]) -> NDArray[np.bool_]:
    met: NDArray[np.bool_] = np.bincount(component)[component] > 1
    return met


def _rows(
    world: _World, means: _Means, found: Correction, strengths: Correction, component: NDArray[np.int64]
) -> tuple[list[SystemRow], list[Gap]]:
    """strengths: of the systems"""
    s = len(world.systems)
    labelled = strengths.known
    difference, se, df = np.zeros((s, s)), np.full((s, s), np.inf), np.ones((s, s))
    for i, j in combinations(range(s), 2):
        if component[i] == component[j] and labelled[i] and labelled[j]:
            apart = strengths.of_corrected(_contrast(s, i, j))
            difference[i, j], difference[j, i] = apart.value, -apart.value
            se[i, j] = se[j, i] = apart.se
            df[i, j] = df[j, i] = apart.df
    margin, above = decide(difference, se, df, component)
    one = np.eye(s)
    rows = [
        SystemRow(
            name,
            _labels_of(means, found, i),
            float(strengths.judge[i]) if labelled[i] else _alone(world, means, found, i),
            strengths.of_people(one[i]) if labelled[i] else None,
            strengths.of_corrected(one[i]) if labelled[i] else None,
            strengths.of_error(one[i]) if labelled[i] else None,
            int(1 + above[:, i].sum()),
            int(s - above[i].sum()),
        )
        for i, name in enumerate(world.systems)
    ]
    keys = [(not labelled[i], -float(np.nan_to_num(strengths.corrected[i])), world.systems[i]) for i in range(s)]
    order = sorted(range(s), key=keys.__getitem__)
    gaps = []
    for place, i in enumerate(order):
        for later, j in enumerate(order[place + 1 :]):
            times = None
            if later == 0 and not above[i, j] and np.isfinite(margin[i, j]) and difference[i, j] != 0:
                times = _times(strengths, _contrast(s, i, j), abs(difference[i, j]), margin[i, j])
            gaps.append(_gap(world, means, found, i, j, bool(above[i, j]), times))
    if world.sign < 0:
        rows, gaps = [_turned(row) for row in rows], [_turned_gap(gap) for gap in gaps]
    return [rows[i] for i in order], gaps


def _turned(row: SystemRow) -> SystemRow:
    """On people's own scale, on which low is best."""
    return SystemRow(
        row.system,
        row.labels,
        -row.judge,
        _minus(row.people),
        _minus(row.corrected),
        _minus(row.misstated),
        row.rank_low,
        row.rank_high,
    )


def _minus(one: Interval | None) -> Interval | None:
    return None if one is None else Interval(-one.value, -one.high, -one.low, one.se, one.df)


def _turned_gap(gap: Gap) -> Gap:
    return Gap(gap.first, gap.second, -gap.judge, _minus(gap.people), _minus(gap.corrected), gap.known, gap.times)


def _alone(world: _World, means: _Means, found: Correction, system: int) -> float:
    """The judge's word on a system that nobody labelled: its mean score, or its mean over opponents."""
    if world.about == "scores":
        return float(found.judge[system]) if found.judged[system] else float("nan")
    of = [
        found.judge[i] * (1 if pair[0] == system else -1)
        for i, pair in enumerate(means.names)
        if system in pair and found.judged[i]
    ]
    return float(np.mean(of)) if of else float("nan")


def _labels_of(means: _Means, found: Correction, system: int) -> int:
    return int(sum(found.labels[i] for i, names in enumerate(means.names) if system in names))


def _gap(world: _World, means: _Means, found: Correction, i: int, j: int, known: bool, times: float | None) -> Gap:
    """Of scores, of the two means; of pairs, of the two systems' own games, where there are labels of these."""
    v = np.zeros(means.k)
    if world.about == "scores":
        v = _contrast(means.k, i, j)
    elif (pair := (min(i, j), max(i, j))) in means.places:
        v[means.places[pair]] = 1.0 if i < j else -1.0
    there = bool(v.any()) and bool(found.known[np.flatnonzero(v)].all())
    judge = float(v @ found.judge) if v.any() else float("nan")
    people, corrected = (found.of_people(v), found.of_corrected(v)) if there else (None, None)
    return Gap(world.systems[i], world.systems[j], judge, people, corrected, known, times)


def _times(found: Correction, v: Floats, apart: float, margin: float) -> float | None:
    now = found.of_corrected(v).se
    for times in np.arange(1.0, MOST_TIMES + 0.01, 0.25):
        if margin * found.of_corrected(v, float(times)).se / now < apart:
            return float(times)
    return None


def _budget(strengths: Correction, labels: int) -> list[Budget]:
    """labels: of all"""
    systems = [np.eye(strengths.k)[i] for i in np.flatnonzero(strengths.known)]
    corrected = [float(np.median([strengths.of_corrected(v, more).half for v in systems])) for more in MORE]
    people = [float(np.median([strengths.of_people(v, more).half for v in systems])) for more in MORE]
    return [Budget(more * labels, *halves) for more, *halves in zip(MORE, corrected, people)]


def _contrast(k: int, i: int, j: int) -> Floats:
    v = np.zeros(k)
    v[i], v[j] = 1.0, -1.0
    return v


def _warnings(judge: Answers, people: Answers, checked: Sequence[Checked]) -> list[str]:
    found = []
    labels: list[PairAnswer | ScoreAnswer] = [*people.pairs, *people.scores]
    if simulated := sum(one.simulated for one in labels):
        found.append(f"{simulated} of {len(labels)} labels are simulated: a program made them.")
    for one in checked:
        if one.population != "people":
            only = "this one annotator" if one.annotators == 1 else f"these {one.annotators} annotators"
            found.append(f"Intervals speak of {only} only: fewer than four do not show how others differ.")
            break
    for one in checked:
        whose = f"{quoted(one.judge)}: " if len(checked) > 1 else ""
        if one.unmatched:
            found.append(f"{whose}{one.unmatched} labels are of texts that the judge did not answer, and correct nothing.")
        if one.scale == BY_RANKS:
            found.append(f"{whose}its scores were put on people's scale by their ranks.")
        if one.contexts < 10:
            contexts = f"{one.contexts} context{'' if one.contexts == 1 else 's'}"
            found.append(f"{whose}people labelled {contexts}; so few say little about others.")
        if one.groups > 1:
            found.append(f"{whose}people's labels never compare {one.groups} groups of systems with each other.")
    return found
