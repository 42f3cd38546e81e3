"""Which judge agrees with these people, how far it is from them, and whether it may stand in for one: a row for each."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metaevaluation import ceiling
from evaluator.metaevaluation.agreement import Share, accuracy, agreement
from evaluator.metaevaluation.alternative_annotator import (
    EPSILON,
    Alignment,
    AlternativeAnnotator,
    Comparison,
    UntestableJudge,
    alternative_annotator,
    in_peoples_scores,
)
from evaluator.metaevaluation.correlation_levels import Figure, levels
from evaluator.metaevaluation.held_out import decide_by_other_folds
from evaluator.metaevaluation.judge_comparison import JudgeDifference, Stack, differences, share_differences, stack
from evaluator.metaevaluation.judge_profile import OwnSystems, Profile, own_by_pairs, own_by_scores, pairs_of_systems, profile
from evaluator.metaevaluation.pairs import JudgedPair, as_arrays
from evaluator.metaevaluation.score_changes import Changed, score_changes

FOLDS = 5  # of contexts or groups of them: a judge without ties of its own says as many as people did in the other folds
LABELS = {"A": 1.0, "tie": 0.0, "B": -1.0}
CEILING, LONGER, CONSTANT = "one person against the rest", "longer is better", "the same score for all"

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class PeopleScores:
    """What people said of n outputs. Contexts and systems are numbers; pairs are positions among the outputs."""

    scores: Numbers  # (n, annotators) on one scale, NaN where that person did not score that output
    contexts: NDArray[np.int64]  # (n,)
    systems: NDArray[np.int64]  # (n,)
    human: NDArray[np.bool_]  # (n,) written by a person
    words: NDArray[np.int64]  # (n,) length
    pairs: tuple[JudgedPair, ...] = ()  # with what single people said of them (`Pair.said`)
    groups: NDArray[np.int64] | None = None  # (n,) of contexts that are not independent, where the campaign has such groups
    scale: tuple[float, float] | None = None  # the lowest and the highest score that one can give, where that is known

    @property
    def units(self) -> NDArray[np.int64]:
        """(n,) what intervals draw and tests exchange: groups of contexts, else the contexts"""
        return self.contexts if self.groups is None else self.groups

    def take(self, rows: NDArray[np.int64]) -> "PeopleScores":
        """The outputs `rows`, and the pairs of which both are there."""
        place = {row: i for i, row in enumerate(rows.tolist())}
        pairs = tuple(replace(p, a=place[p.a], b=place[p.b]) for p in self.pairs if p.a in place and p.b in place)
        scores, contexts, systems = self.scores[rows], self.contexts[rows], self.systems[rows]
        groups = None if self.groups is None else self.groups[rows]
        return PeopleScores(scores, contexts, systems, self.human[rows], self.words[rows], pairs, groups, self.scale)


@dataclass(frozen=True)
class JudgeAnswers:
    """What one judge said of the same outputs."""

    name: str
    utilities: Numbers  # (n,) higher is better, on its own scale; NaN where it could not judge
    choices: dict[tuple[int, int], str] | None = None  # of a judge with ties of its own: "A" | "tie" | "B" by (a, b) of a pair
    seconds: float | None = None  # it took to judge
    lacks: str = ""  # what it had not, in words
    settings: dict[str, Any] = field(default_factory=dict)
    kind: str = "judge"  # or "baseline", which says what costs nothing
    own: tuple[int, ...] = ()  # the systems of its own family

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, None for NaN; `from_json` reads it."""
        utilities = [u if np.isfinite(u) else None for u in self.utilities.tolist()]
        choices = None if self.choices is None else [[*pair, choice] for pair, choice in self.choices.items()]
        return {**self.__dict__, "utilities": utilities, "choices": choices}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "JudgeAnswers":
        utilities = np.array([np.nan if u is None else u for u in given["utilities"]], dtype=float)
        choices = None if given["choices"] is None else {(a, b): choice for a, b, choice in given["choices"]}
        return cls(**{**given, "utilities": utilities, "choices": choices, "own": tuple(given["own"])})


@dataclass(frozen=True)
class JudgeRow:
    """None where there is nothing to work it out from."""

    name: str
    kind: str  # "judge", "baseline" or "ceiling"
    outputs: int  # that it judged and people scored
    correlations: dict[str, Figure]  # as `correlation_levels.levels` names them
    accuracy: Share | None  # of people's clear preferences, how many it orders the same way
    pairs: int  # people's pairs that it judged
    three_way: float | None  # of all of these, how many it answers as people do, ties included; None where people gave none
    alternative: AlternativeAnnotator | None  # by scores, where there are any, else by judgments of pairs
    alternative_of: str  # "scores", "pairs", or why there is no such test
    seconds: float | None
    lacks: str
    settings: dict[str, Any]
    changes: list[Changed] = field(default_factory=list)  # of correlations, where scores change a little
    profile: Profile = field(default_factory=Profile)
    own: OwnSystems | None = None  # where its family's systems were named

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "JudgeRow":
        """What `dataclasses.asdict` made of a row."""
        share, alternative = given["accuracy"], given["alternative"]
        if alternative:
            comparisons = tuple(Comparison(**one) for one in alternative["comparisons"])
            left_out = tuple(alternative["left_out"])
            alternative = AlternativeAnnotator(**{**alternative, "comparisons": comparisons, "left_out": left_out})
        parts = {
            "correlations": {name: Figure(**figure) for name, figure in given["correlations"].items()},
            "accuracy": share and Share(**share),
            "alternative": alternative,
            "changes": [Changed(**change) for change in given["changes"]],
            "profile": Profile.from_json(given["profile"]),
            "own": given["own"] and OwnSystems(**given["own"]),
        }
        return cls(**{**given, **parts})


@dataclass(frozen=True)
class JudgeTable:
    rows: list[JudgeRow]  # the ceiling first of all; of those that judged the same outputs, those that agree most first
    differences: list[JudgeDifference]  # of every two judges, by scores where there are any, else by judgments of pairs
    stack: Stack | None = None  # all judges together


def table(people: PeopleScores, judges: Sequence[JudgeAnswers], annotators: str, seed: int) -> JudgeTable:
    """annotators: what kind of people they are, a key of `alternative_annotator.EPSILON`."""
    return _table(people, judges, [_row(people, one, EPSILON[annotators], seed) for one in judges], annotators, seed)


def tables(people: PeopleScores, judges: Sequence[JudgeAnswers], annotators: str, seed: int) -> dict[str, JudgeTable]:
    """{"all": ..., "without_human": ...}, the second where people wrote some of the outputs and not all: what they write is
    often the best by far, and a judge may gain by telling people's writing from machines' alone."""
    return from_rows(people, judges, [rows_of(people, one, annotators, seed) for one in judges], annotators, seed)


def rows_of(people: PeopleScores, judge: JudgeAnswers, annotators: str, seed: int) -> dict[str, JudgeRow]:
    """A judge's row in each of the `tables`: what depends on no other judge."""
    epsilon = EPSILON[annotators]
    found = {"all": _row(people, judge, epsilon, seed)}
    if (written := _machine_written(people)) is not None:
        rows, place = written
        found["without_human"] = _row(people.take(rows), _take(judge, rows, place), epsilon, seed)
    return found


def from_rows(
    people: PeopleScores, judges: Sequence[JudgeAnswers], rows: Sequence[Mapping[str, JudgeRow]], annotators: str, seed: int
) -> dict[str, JudgeTable]:
    """The `tables` of judges whose rows are worked out already. rows: of each judge, as `rows_of` gives them."""
    found = {"all": _table(people, judges, [row["all"] for row in rows], annotators, seed)}
    if (written := _machine_written(people)) is not None:
        kept, place = written
        taken = [_take(one, kept, place) for one in judges]
        found["without_human"] = _table(people.take(kept), taken, [row["without_human"] for row in rows], annotators, seed)
    return found


def _table(
    people: PeopleScores, judges: Sequence[JudgeAnswers], rows: Sequence[JudgeRow], annotators: str, seed: int
) -> JudgeTable:
    """rows: of the judges; those of the baselines and of the ceiling are added."""
    baselines = [JudgeAnswers(LONGER, people.words.astype(float), kind="baseline")]
    if np.isfinite(people.scores).any():  # such a judge passes where people agree little, whatever it is worth
        baselines.append(JudgeAnswers(CONSTANT, np.zeros(len(people.words)), kind="baseline"))
    every = [*rows, *(_row(people, one, EPSILON[annotators], seed) for one in baselines)]
    judged = {one.name: _judged(people, one) for one in [*judges, *baselines]}
    order = sorted(every, key=lambda row: (judged[row.name], _rank(row)))
    together = _together(people, judges, seed)
    return JudgeTable([_ceiling(people, seed), *order], _differences(people, [*judges, *baselines], seed), together)


def _judged(people: PeopleScores, judge: JudgeAnswers) -> tuple[int, bytes]:
    """What a judge is measured on, those with the most first: rows of different outputs are not ordered among each other"""
    known = np.isfinite(judge.utilities)
    if np.isfinite(people.scores).any():
        known = known & np.isfinite(people.scores).any(axis=1)
    else:
        known = np.isfinite(_ahead(judge, people.pairs))
    return -int(known.sum()), known.tobytes()


def _together(people: PeopleScores, judges: Sequence[JudgeAnswers], seed: int) -> Stack | None:
    if not people.pairs:
        return None
    a, b, targets, _ = as_arrays(people.pairs)
    sides = np.where(people.systems[a] <= people.systems[b], 1.0, -1.0)
    cells = pairs_of_systems(people.systems[a], people.systems[b])
    ahead = {one.name: sides * _ahead(one, people.pairs) for one in judges}
    return stack(ahead, sides * (targets[:, 0] - targets[:, 2]), cells, people.units[a], _folds(people.units[a], seed))


def _machine_written(people: PeopleScores) -> tuple[NDArray[np.int64], dict[int, int]] | None:
    """(positions of the outputs that no person wrote, where each comes among them); None where these are all or none."""
    rows = np.flatnonzero(~people.human)
    return (rows, {row: i for i, row in enumerate(rows.tolist())}) if 0 < len(rows) < len(people.human) else None


def _take(judge: JudgeAnswers, rows: NDArray[np.int64], place: dict[int, int]) -> JudgeAnswers:
    choices = judge.choices and {
        (place[a], place[b]): choice for (a, b), choice in judge.choices.items() if a in place and b in place
    }
    return replace(judge, utilities=judge.utilities[rows], choices=choices)


def as_json(found: JudgeTable) -> dict[str, Any]:
    return asdict(found)


def _differences(people: PeopleScores, judges: Sequence[JudgeAnswers], seed: int) -> list[JudgeDifference]:
    scores = _mean(people.scores)
    if np.isfinite(scores).any():
        return differences({one.name: one.utilities for one in judges}, scores, people.units, seed)
    clear = [pair for pair in people.pairs if pair.choice != "tie"]
    choices = np.array([pair.choice for pair in clear], dtype="<U3")
    contexts = people.units[[pair.a for pair in clear]]
    ahead = {one.name: _ahead(one, clear) for one in judges}
    agreed = {name: np.where(np.isnan(d), np.nan, agreement(d, choices)) for name, d in ahead.items()}
    return share_differences(agreed, contexts, seed)


def _ahead(judge: JudgeAnswers, pairs: Sequence[JudgedPair]) -> Numbers:
    """(p,) above 0 where a is ahead, NaN where the judge did not say"""
    if judge.choices is None:
        return np.array([judge.utilities[p.a] - judge.utilities[p.b] for p in pairs])
    return np.array([LABELS.get(judge.choices.get((p.a, p.b), ""), np.nan) for p in pairs])


def _rank(row: JudgeRow) -> tuple[float, float]:
    correlation = row.correlations.get("sample_pearson")
    by_pairs = row.accuracy.value if row.accuracy else np.nan
    return (-correlation.value if correlation else 2.0, -by_pairs if np.isfinite(by_pairs) else 2.0)


def _row(people: PeopleScores, judge: JudgeAnswers, epsilon: float, seed: int) -> JudgeRow:
    u = judge.utilities
    correlations = levels(u, people.scores, people.contexts, people.systems, seed, units=people.units)
    judged = [p for p in people.pairs if np.isfinite(u[p.a]) and np.isfinite(u[p.b]) and _asked(judge, p)]
    share, three_way = None, None
    choices, d, folds = np.empty(0, dtype="<U3"), np.empty(0), np.empty(0, dtype=np.int64)
    if judged:
        a, b, targets, weights = as_arrays(judged)
        folds = _folds(people.units[a], seed)
        if judge.choices is None:
            choices = decide_by_other_folds(u[a] - u[b], targets, weights, folds)
            d = u[a] - u[b]
        else:
            choices = np.array([judge.choices[p.a, p.b] for p in judged], dtype="<U3")
            d = (choices == "A").astype(float) - (choices == "B")
        by_people = np.array([p.choice for p in judged])
        found = accuracy(d, judged, people.units[a], seed)
        share = found if np.isfinite(found.value) else None
        three_way = float((choices == by_people).mean()) if (by_people == "tie").any() else None
    alternative, why = _alternative(people, u, judged, choices, epsilon)
    outputs = int((np.isfinite(u) & np.isfinite(people.scores).any(axis=1)).sum())
    return JudgeRow(
        judge.name,
        judge.kind,
        outputs,
        correlations,
        share,
        len(judged),
        three_way,
        alternative,
        why,
        judge.seconds,
        judge.lacks,
        judge.settings,
        score_changes(u, people.scores, people.scale),
        profile(u, _mean(people.scores), people.words, people.contexts, people.systems, people.units, judged, d, folds, seed),
        _own(people, judge, judged, d, seed),
    )


def _own(people: PeopleScores, judge: JudgeAnswers, judged: Sequence[JudgedPair], d: Numbers, seed: int) -> OwnSystems | None:
    if not judge.own:
        return None
    own = np.isin(people.systems, judge.own)
    if np.isfinite(people.scores).any():
        return own_by_scores(judge.utilities, people.scores, own, people.units, seed)
    return own_by_pairs(judged, d, own, people.units, seed)


def _asked(judge: JudgeAnswers, pair: JudgedPair) -> bool:
    return judge.choices is None or (pair.a, pair.b) in judge.choices


def _folds(units: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """(p,) the fold of each pair's context or group"""
    _, where = np.unique(units, return_inverse=True)
    folds: NDArray[np.int64] = np.random.default_rng(seed).permutation(int(where.max()) + 1)[where] % FOLDS
    return folds


def _alternative(
    people: PeopleScores, u: Numbers, judged: Sequence[JudgedPair], choices: NDArray[np.str_], epsilon: float
) -> tuple[AlternativeAnnotator | None, str]:
    alignment: Alignment
    if np.isfinite(people.scores).any():
        scored = people.scores[:, np.isfinite(people.scores).any(axis=0)]
        answers, judge, alignment, of = scored, in_peoples_scores(u, scored), "neg_rmse", "scores"
    else:
        answers, alignment, of = _labels(judged), "accuracy", "pairs"
        judge = np.array([LABELS[choice] for choice in choices.tolist()])
    try:
        return alternative_annotator(answers, judge, alignment, epsilon), of
    except UntestableJudge as error:
        return None, str(error)


def _labels(pairs: Sequence[JudgedPair]) -> Numbers:
    """(p, annotators) what each person said of each pair, as LABELS; NaN where that is unknown"""
    names = sorted({said.annotator for pair in pairs for said in pair.said})
    labels = np.full((len(pairs), len(names)), np.nan)
    for i, pair in enumerate(pairs):
        for said in pair.said:
            labels[i, names.index(said.annotator)] = np.sign(said.a - said.b)
    return labels


def _ceiling(people: PeopleScores, seed: int) -> JudgeRow:
    """How far one person agrees with the others: of two who know as much, no judge can be asked for more."""
    output, annotator = np.nonzero(np.isfinite(people.scores))
    groups = {} if people.groups is None else dict(zip(map(str, people.contexts.tolist()), map(str, people.groups.tolist())))
    if len(output):
        of = people.contexts[output].tolist(), output.tolist(), annotator.tolist(), people.scores[output, annotator].tolist()
        found = ceiling.from_scores(((str(c), str(o), str(a), s) for c, o, a, s in zip(*of, strict=True)), seed, groups)
    else:
        sides = {1.0: "A", 0.0: "tie", -1.0: "B"}
        said = [(p, s) for p in people.pairs for s in p.said]
        found = ceiling.from_judgments(
            ((str(people.contexts[p.a]), (p.a, p.b), s.annotator, sides[float(np.sign(s.a - s.b))]) for p, s in said),
            seed,
            groups,
        )
    share = None
    if found.pairwise_accuracy is not None and found.pairwise_interval is not None:
        share = Share(found.pairwise_accuracy, *found.pairwise_interval, found.population, found.annotators)
    known = {"sample_pearson": found.pearson, "sample_spearman": found.spearman}
    shown = {name: Figure(value, None, None, len(output)) for name, value in known.items() if value is not None}
    outputs = len(np.unique(output))
    return JudgeRow(CEILING, "ceiling", outputs, shown, share, found.pairs, None, None, "is people themselves", None, "", {})


def _mean(scores: Numbers) -> Numbers:
    """(n,) NaN where nobody scored"""
    given = np.isfinite(scores)
    total = np.where(given, scores, 0.0).sum(axis=1)
    mean: Numbers = np.divide(total, given.sum(axis=1), out=np.full(len(total), np.nan), where=given.any(axis=1))
    return mean
