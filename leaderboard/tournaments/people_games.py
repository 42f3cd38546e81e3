"""People's answers about what plays, from the snapshot: as they are, as games, and as mean scores.

All answers that were assessed are read, whether or not the filter kept them: what it drops is the disagreement from which
the board learns how people differ. Those of withdrawn and excluded people were not assessed."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from annotation import snapshots
from annotation.assessment import snapshot_contents
from annotation.models import Snapshot
from annotation.outcome import Outcome
from annotation.questions import registry
from annotation.questions.columns import RANKING
from annotation.questions.value_kind import ValueKind
from annotation.snapshots import SnapshotContent
from core.errors import Refused
from leaderboard.models import Tournament
from leaderboard.rating import people_board
from leaderboard.rating.crossed.joint_board import read_both
from leaderboard.rating.games import Games
from leaderboard.rating.games_from_answers import games_from_judgments, games_from_scores, meetings
from leaderboard.rating.mixed_model import Fit
from leaderboard.rating.people_board import Reading
from leaderboard.rating.rankings.board import read_rankings
from leaderboard.rating.rankings.from_pairs import rankings_from_pairs
from leaderboard.tournaments.entrants import Entrants


@dataclass(frozen=True)
class PeopleAnswers:
    """Of one question. All arrays are int but the scores' values: outputs and annotators by number, outcomes +1, 0 or -1.
    sheet: the ranking that a judgment was in, -1 where two outputs were judged alone. left_out: answers about outputs that do
    not play; dropped: those of the filter, where it was asked for; conditional: did earlier answers decide of which outputs it
    was asked? sign: -1 where low scores are good ones; values are negative then, so that the higher is always the better."""

    scored: np.ndarray  # (scores,) outputs
    scorer: np.ndarray  # (scores,)
    value: np.ndarray  # (scores,)
    first: np.ndarray  # (judgments,) outputs
    second: np.ndarray
    outcome: np.ndarray
    judge: np.ndarray  # (judgments,)
    sheet: np.ndarray
    left_out: int = 0
    sign: int = 1
    dropped: int = 0
    conditional: bool = False

    def __len__(self) -> int:
        return len(self.value) + len(self.outcome)

    @property
    def kind(self) -> str:
        """What there is: "scores", "pairs", "both", or ""."""
        names = {(True, False): "scores", (False, True): "pairs", (True, True): "both"}
        return names.get((len(self.value) > 0, len(self.outcome) > 0), "")

    def of_contexts(self, entrants: Entrants, wanted: np.ndarray) -> PeopleAnswers:
        """The answers on the wanted contexts: bool (contexts,)"""
        scores, pairs = wanted[entrants.context_of[self.scored]], wanted[entrants.context_of[self.first]]
        columns = self.first, self.second, self.outcome, self.judge, self.sheet
        first, second, outcome, judge, sheet = (column[pairs] for column in columns)
        scored = self.scored[scores], self.scorer[scores], self.value[scores]
        return PeopleAnswers(*scored, first, second, outcome, judge, sheet, 0, self.sign, conditional=self.conditional)

    def read_by(self, reading: Reading) -> PeopleAnswers:
        """Those that the reading rests on: one kind, where the other would make all less sure."""
        if not reading.omitted:
            return self
        scores, pairs = (slice(None), slice(0)) if reading.scores else (slice(0), slice(None))
        scored = {name: getattr(self, name)[scores] for name in ("scored", "scorer", "value")}
        return replace(
            self, **scored, **{name: getattr(self, name)[pairs] for name in ("first", "second", "outcome", "judge", "sheet")}
        )

    def contexts(self, entrants: Entrants) -> np.ndarray:
        """The numbers of the contexts with an answer."""
        return np.unique(entrants.context_of[np.concatenate([self.scored, self.first])])

    def by_system(self, entrants: Entrants) -> np.ndarray:
        """(systems,) how many answers each has."""
        outputs = np.concatenate([self.scored, self.first, self.second])
        return np.bincount(entrants.system_of[outputs], minlength=len(entrants.systems))


def people_answers(entrants: Entrants, snapshot: Snapshot | None, criterion: str, kept: bool = False) -> PeopleAnswers:
    """Everything said about one question: a criterion's scores, and the judgments of pairs by it or on the whole. kept: only
    what the filter kept."""
    content, dropped = (_kept if kept else _assessed)(snapshot)
    if criterion:
        scores = [row for row in content.scores if row["criterion"] == criterion]
        judged = [row for row in content.criterion_judgments if row["criterion"] == criterion]
    else:
        scores, judged = [], content.judgments
    numbers: dict[str, int] = {}
    sheets: dict[tuple, int] = {}
    sign = content.sign(criterion)
    of = entrants.number_of
    known = [(of.get((r["context"], r["system"], r["checkpoint"], r["sample"])), r) for r in scores]
    rows = [(o, numbers.setdefault(r["annotator"], len(numbers)), sign * r["value"]) for o, r in known if o is not None]
    places = [(of.get((r["context"], *r["a"])), of.get((r["context"], *r["b"])), r) for r in judged]
    pairs = [
        (a, b, 1 - Outcome(r["choice"]).code, numbers.setdefault(r["annotator"], len(numbers)), _sheet(r, sheets))
        for a, b, r in places
        if a is not None and b is not None and entrants.system_of[a] != entrants.system_of[b]
    ]
    left_out = len(scores) + len(judged) - len(rows) - len(pairs)
    of_pairs = np.array(pairs, dtype=np.int64).reshape(-1, 5)
    first, second, outcome, judge, sheet = of_pairs.T
    gone, conditional = dropped.get(criterion, 0), content.is_conditional(criterion)
    return PeopleAnswers(*_scores(rows), first, second, outcome, judge, sheet, left_out, sign, gone, conditional)


def _sheet(row: dict, sheets: dict[tuple, int]) -> int:
    """The number of the ranking that a judgment was in, -1 for none."""
    key = row["annotator"], row["context"], row.get(RANKING)
    return sheets.setdefault(key, len(sheets)) if key[-1] else -1


def answers_of(tournament: Tournament, entrants: Entrants) -> PeopleAnswers:
    """What the tournament rests on: all answers, or, where somebody chose so, what the filter kept."""
    return people_answers(entrants, tournament.snapshot, tournament.criterion, tournament.only_kept)


def other_answers(tournament: Tournament, entrants: Entrants) -> tuple[str, PeopleAnswers]:
    """The other choice, for the panel on rank stability: (its name, the answers)"""
    kept = not tournament.only_kept
    name = "Only what the filter kept" if kept else "All answers"
    return name, people_answers(entrants, tournament.snapshot, tournament.criterion, kept)


def reading_of(tournament: Tournament, entrants: Entrants, answers: PeopleAnswers) -> Reading:
    """What the answers say. Of what the filter kept, only the ratings are read: how surely they are known comes from all
    answers, since those that disagree are the ones that a filter drops."""
    if not tournament.only_kept:
        return read_answers(entrants, answers)
    whole = read_answers(entrants, people_answers(entrants, tournament.snapshot, tournament.criterion))
    try:
        return whole.rated_by(read_answers(entrants, answers, whole.fit))
    except ValueError as error:
        raise Refused(str(error)) from error


def _kept(snapshot: Snapshot | None) -> tuple[SnapshotContent, dict[str, int]]:
    """(what the filter kept, how many answers it dropped by criterion, "" for pairs on the whole)"""
    if snapshot is None:
        return SnapshotContent(), {}
    try:
        assessed = [row for kind in registry.kinds() for row in snapshot_contents.rows(snapshot, kind.files)]
    except Refused:  # an old snapshot
        assessed = []
    return snapshots.read(snapshot), Counter(row["aspect"] or "" for row in assessed if row["kept"] is False)


def _assessed(snapshot: Snapshot | None) -> tuple[SnapshotContent, dict[str, int]]:
    """Every answer that was assessed, as a snapshot's rows. A snapshot without a record of those has what it kept."""
    if snapshot is None:
        return SnapshotContent(), {}
    content = SnapshotContent(criteria=snapshots.read(snapshot).criteria)
    try:
        for kind in registry.kinds():
            for row in snapshot_contents.rows(snapshot, kind.files):
                if row.get("cannot_say"):
                    continue
                if isinstance(kind, ValueKind):
                    content.scores.append(_score_row(row, kind.number_column))
                else:
                    (content.criterion_judgments if row["aspect"] else content.judgments).append(_judgment_row(row))
    except Refused:
        return snapshots.read(snapshot), {}
    content.scores.sort(key=_canonical)
    content.judgments.sort(key=_canonical)
    content.criterion_judgments.sort(key=_canonical)
    return content, {}


def _canonical(row: dict) -> str:
    return json.dumps(row, sort_keys=True)


def _score_row(row: dict, column: str) -> dict:
    place = {"context": row["context_id"], "system": row["system"], "checkpoint": row["checkpoint"] or ""}
    answer = {"criterion": row["aspect"], "annotator": row["annotator"], "value": row[column]}
    return {**place, "sample": row["sample"], **answer}


def _judgment_row(row: dict) -> dict:
    sides = {x: [row[f"system_{x}"], row[f"checkpoint_{x}"] or "", row[f"sample_{x}"]] for x in "ab"}
    judged = {"context": row["context_id"], **sides, "annotator": row["annotator"], "choice": row["choice"]}
    judged |= {RANKING: row[RANKING]} if row.get(RANKING) else {}
    return judged | ({"criterion": row["aspect"]} if row["aspect"] else {})


def _scores(rows: list[tuple[int, int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    outputs, annotators = (np.array([row[i] for row in rows], dtype=np.int64) for i in (0, 1))
    return outputs, annotators, np.array([row[2] for row in rows], dtype=float)


def read_answers(entrants: Entrants, answers: PeopleAnswers, like: Fit | None = None) -> Reading:
    """What the answers say of the systems. like: of answers of the same kind that these are a part of, whose variances are
    taken.

    Where people scored and judged pairs by the same criterion, both are read together (`rating.crossed.joint_board`). Where
    there are too many for that, or one kind says nothing, two outputs that one person scored on one context are a pair."""
    n, context, system = len(entrants.systems), entrants.context_of, entrants.system_of
    answered = answers.contexts(entrants)
    groups = entrants.groups if entrants.units(answered) < len(answered) else None

    def of_scores() -> Reading:
        o = answers.scored
        group = None if groups is None else groups[context[o]]
        of = system[o], context[o], answers.scorer, answers.value
        own = entrants.are_own(answered)
        return people_board.read_scores(n, *of, group, o, like, own, answers.conditional)

    def of_pairs(first: np.ndarray, second: np.ndarray, outcome: np.ndarray, judge: np.ndarray) -> Reading:
        if len(outcome) == len(answers.outcome) and (answers.sheet >= 0).any():
            return _of_rankings(entrants, answers, groups)
        group = None if groups is None else groups[context[first]]
        of = system[first], system[second], outcome, context[first], judge
        return people_board.read_pairs(n, *of, group, (first, second), like)

    try:
        if answers.kind == "scores":
            return of_scores()
        judged = answers.first, answers.second, answers.outcome, answers.judge
        if answers.kind == "both" and like is None:
            with suppress(ValueError):
                if (both := read_both(of_scores(), of_pairs(*judged))) is not None:
                    return both
        return of_pairs(*as_pairs(entrants, answers))
    except ValueError as error:
        raise Refused(str(error)) from error


def _of_rankings(entrants: Entrants, answers: PeopleAnswers, groups: np.ndarray | None) -> Reading:
    """Of outputs that were ranked together; a pair that was judged alone is a ranking of two."""
    of = rankings_from_pairs(answers.first, answers.second, answers.outcome, answers.sheet, entrants.system_of)
    context = entrants.context_of[answers.first[of.judgment]]
    who, group = answers.judge[of.judgment], None if groups is None else groups[context]
    places = of.ranking, entrants.system_of[of.output], of.rank
    return read_rankings(len(entrants.systems), *places, context, who, of.is_open, group)


def as_pairs(entrants: Entrants, answers: PeopleAnswers) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(first output, second, outcome, annotator), each int (games,): the judgments, and two outputs that one person scored."""
    left, right = meetings(answers.scorer, entrants.context_of[answers.scored])
    apart = entrants.system_of[answers.scored[left]] != entrants.system_of[answers.scored[right]]
    left, right = left[apart], right[apart]
    return (
        np.concatenate([answers.scored[left], answers.first]),
        np.concatenate([answers.scored[right], answers.second]),
        np.concatenate([np.sign(answers.value[left] - answers.value[right]).astype(np.int64), answers.outcome]),
        np.concatenate([answers.scorer[left], answers.judge]),
    )


def games_of(entrants: Entrants, answers: PeopleAnswers, seed: int) -> Games:
    """Every game that the answers give, once, in seeded random order; its players are outputs. Two outputs that one person
    scored on one context are a game."""
    outputs = answers.scored
    games = games_from_scores(outputs, entrants.context_of[outputs], answers.scorer, answers.value)
    of_pairs = games_from_judgments(answers.first, answers.second, entrants.context_of[answers.first], 1 - answers.outcome)
    both = games.then(of_pairs)
    apart = entrants.system_of[both.first] != entrants.system_of[both.second]  # two samples of one system play no game
    return both.take(apart).shuffled(seed)


def people_games(entrants: Entrants, snapshot: Snapshot | None, criterion: str, seed: int) -> Games:
    """`games_of` everything that was said."""
    return games_of(entrants, people_answers(entrants, snapshot, criterion), seed)


def human_means(entrants: Entrants, answers: PeopleAnswers) -> list[float | None]:
    """Each system's mean score, as people gave it; None where nobody scored it."""
    system, n = entrants.system_of[answers.scored], len(entrants.systems)
    count, total = np.bincount(system, minlength=n), np.bincount(system, answers.value, n)
    return [answers.sign * float(t / c) if c else None for t, c in zip(total.tolist(), count.tolist(), strict=True)]
