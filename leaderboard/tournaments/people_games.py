"""People's accepted answers about what plays, from the snapshot: as they are, as games, and as mean scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.models import Criterion
from annotation.outcome import Outcome
from annotation.questions import registry, store
from annotation.snapshots import SnapshotContent
from core.errors import Refused
from leaderboard.models import Tournament
from leaderboard.rating import people_board
from leaderboard.rating.games import Games
from leaderboard.rating.games_from_answers import games_from_judgments, games_from_scores, meetings
from leaderboard.rating.mixed_model import Fit
from leaderboard.rating.people_board import Reading
from leaderboard.tournaments.entrants import Entrants


@dataclass(frozen=True)
class PeopleAnswers:
    """Of one question. All arrays are int but the scores' values: outputs and annotators by number, outcomes +1, 0 or -1.
    left_out: kept answers about outputs that do not play. sign: -1 where low scores are good ones; values are negative then, so
    that the higher is always the better."""

    scored: np.ndarray  # (scores,) outputs
    scorer: np.ndarray  # (scores,)
    value: np.ndarray  # (scores,)
    first: np.ndarray  # (judgments,) outputs
    second: np.ndarray
    outcome: np.ndarray
    judge: np.ndarray  # (judgments,)
    left_out: int = 0
    sign: int = 1

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
        first, second, outcome, judge = (column[pairs] for column in (self.first, self.second, self.outcome, self.judge))
        return PeopleAnswers(
            self.scored[scores], self.scorer[scores], self.value[scores], first, second, outcome, judge, 0, self.sign
        )

    def contexts(self, entrants: Entrants) -> np.ndarray:
        """The numbers of the contexts with an answer."""
        return np.unique(entrants.context_of[np.concatenate([self.scored, self.first])])

    def by_system(self, entrants: Entrants) -> np.ndarray:
        """(systems,) how many answers each has."""
        outputs = np.concatenate([self.scored, self.first, self.second])
        return np.bincount(entrants.system_of[outputs], minlength=len(entrants.systems))


def people_answers(entrants: Entrants, content: SnapshotContent | None, criterion: str) -> PeopleAnswers:
    """Everything accepted about one question: a criterion's scores, and the judgments of pairs by it or on the whole."""
    content = content or SnapshotContent()
    if criterion:
        scores = [row for row in content.scores if row["criterion"] == criterion]
        judged = [row for row in content.criterion_judgments if row["criterion"] == criterion]
    else:
        scores, judged = [], content.judgments
    numbers: dict[str, int] = {}
    sign = content.sign(criterion)
    of = entrants.number_of
    known = [(of.get((r["context"], r["system"], r["checkpoint"], r["sample"])), r) for r in scores]
    rows = [(o, numbers.setdefault(r["annotator"], len(numbers)), sign * r["value"]) for o, r in known if o is not None]
    places = [(of.get((r["context"], *r["a"])), of.get((r["context"], *r["b"])), r) for r in judged]
    pairs = [
        (a, b, 1 - Outcome(r["choice"]).code, numbers.setdefault(r["annotator"], len(numbers)))
        for a, b, r in places
        if a is not None and b is not None and entrants.system_of[a] != entrants.system_of[b]
    ]
    left_out = len(scores) + len(judged) - len(rows) - len(pairs)
    of_pairs = np.array(pairs, dtype=np.int64).reshape(-1, 4)
    first, second, outcome, judge = of_pairs.T
    return PeopleAnswers(*_scores(rows), first, second, outcome, judge, left_out, sign)


def unfiltered_answers(tournament: Tournament, entrants: Entrants) -> PeopleAnswers:
    """Had no score of the criterion been filtered out, by what counts now and was there by the snapshot."""
    criterion = tournament.campaign.criteria.filter(name=tournament.criterion).first()
    question = registry.about_output(criterion or Criterion())
    scores = store.to(tournament.campaign, question).counted().filter(created_at__lte=tournament.snapshot.created_at)
    number = {output.pk: i for i, output in enumerate(entrants.outputs)}
    rows = scores.order_by("pk").values_list("output_id", "annotator_id", "value")
    kept = [(number[output], annotator, question.sign * value) for output, annotator, value in rows if output in number]
    none = np.zeros(0, dtype=np.int64)
    return PeopleAnswers(*_scores(kept), none, none, none, none, 0, question.sign)


def _scores(rows: list[tuple[int, int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    outputs, annotators = (np.array([row[i] for row in rows], dtype=np.int64) for i in (0, 1))
    return outputs, annotators, np.array([row[2] for row in rows], dtype=float)


def read_answers(entrants: Entrants, answers: PeopleAnswers, like: Fit | None = None) -> Reading:
    """What the answers say of the systems. Where people scored and judged pairs by the same criterion, the scores count as
    games between two outputs that one person scored. like: of answers that these are a part of, whose variances are taken."""
    n, context, system = len(entrants.systems), entrants.context_of, entrants.system_of
    answered = answers.contexts(entrants)
    groups = entrants.groups if entrants.units(answered) < len(answered) else None
    try:
        if answers.kind == "scores":
            o = answers.scored
            group = None if groups is None else groups[context[o]]
            return people_board.read_scores(n, system[o], context[o], answers.scorer, answers.value, group, o, like)
        first, second, outcome, judge = as_pairs(entrants, answers)
        group = None if groups is None else groups[context[first]]
        of = system[first], system[second], outcome, context[first], judge
        return people_board.read_pairs(n, *of, group, (first, second), like)
    except ValueError as error:
        raise Refused(str(error)) from error


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


def people_games(entrants: Entrants, content: SnapshotContent | None, criterion: str, seed: int) -> Games:
    """`games_of` what was accepted."""
    return games_of(entrants, people_answers(entrants, content, criterion), seed)


def human_means(entrants: Entrants, answers: PeopleAnswers) -> list[float | None]:
    """Each system's mean kept score, as people gave it; None where nobody scored it."""
    system, n = entrants.system_of[answers.scored], len(entrants.systems)
    count, total = np.bincount(system, minlength=n), np.bincount(system, answers.value, n)
    return [answers.sign * float(t / c) if c else None for t, c in zip(total.tolist(), count.tolist(), strict=True)]
