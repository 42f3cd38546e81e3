"""People and comparator together on one board (`rating.prediction_powered`), read from the snapshot and the utilities."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from core.errors import Refused
from evaluator.judges.jury import UNJUDGED
from evaluator.judges.protocol import AskedVerdicts, Verdicts
from evaluator.judges.texts import Text
from evaluator.trainings.sources import text_in
from leaderboard.boards.basis import AnswersLeftOut, BoardPeople, BoardWorth, Transport
from leaderboard.boards.board import Doubt
from leaderboard.models import Tournament
from leaderboard.rating import ranking
from leaderboard.rating.games import Games
from leaderboard.rating.people_board import Reading
from leaderboard.rating.prediction_powered import (
    Calibrated,
    Correction,
    Transported,
    calibrate,
    correct,
    transport,
    worth_by_chance,
)
from leaderboard.tournaments import context_groups, rate
from leaderboard.tournaments.context_results import meetings
from leaderboard.tournaments.entrants import Entrants
from leaderboard.tournaments.people_games import PeopleAnswers, as_pairs, games_of, read_answers
from leaderboard.tournaments.rate import Known, Rated

Taught = Callable[[Text], bool]  # was a judge taught what people said of the text's context or its group?


@dataclass(frozen=True)
class Corrected:
    """games: people's between outputs, as far as they count; people: what the comparator was worth beside them; doubts: about
    groups of contexts that nobody declared."""

    games: Games
    rated: Rated
    people: BoardPeople
    doubts: tuple[Doubt, ...] = ()


def calibrated(
    tournament: Tournament, entrants: Entrants, answers: PeopleAnswers, verdicts: Verdicts, taught: Taught | None
) -> Corrected:
    """The board of people corrected by a comparator. taught: whether every member of the comparator learned from a text's
    context or group. What people said there is left out, since the comparator was taught it and would seem to foresee it."""
    about = f"scores of {tournament.criterion!r}" if tournament.criterion else "judgments of pairs"
    given, gone = games_of(entrants, answers, tournament.seed), answers.left_out
    whole = len(answers) + gone
    if not len(given):
        raise Refused(f"No game follows from people's {about}, so the comparator cannot be calibrated.")
    answers = _not_taught(tournament, entrants, answers, taught)
    people = games_of(entrants, answers, tournament.seed)
    if not len(people):
        raise Refused(
            f"The comparator learned from every context of people's {about}, so no held-out context is left to calibrate it."
        )
    reading = _reading(tournament, entrants, answers)
    entrants, doubts = context_groups.grouped(entrants, reading) if reading else (entrants, ())
    if doubts:
        reading = _reading(tournament, entrants, answers)
    n, draws = len(entrants.systems), rate.draws_of(entrants)
    imitated, is_imitated = decided(entrants, verdicts, people.first, people.second)
    a, b = meetings(entrants)
    judged, _ = decided(entrants, verdicts, a, b)
    if isinstance(verdicts, AskedVerdicts):
        verdicts.check()
    elif (missing := len(a) - len(judged)) > UNJUDGED * len(a):
        raise Refused(
            f"{tournament.judge_name} says nothing of {missing:,} of the {len(a):,} pairs that may meet. A board of people and"
            f" a judge needs its answers on {1 - UNJUDGED:.0%} of them, since nobody knows how it would have judged the others."
        )
    people = people.take(is_imitated)
    everything = rate.between_systems(entrants, judged)
    games = rate.between_systems(entrants, people)
    try:
        found = calibrate(n, games, rate.between_systems(entrants, imitated), everything, draws, tournament.rules())
    except ValueError as error:
        raise Refused(str(error)) from error
    who, left_out = as_pairs(entrants, answers)[3], len(given) - len(people)
    board, weight, worth, verdicts_of = _by_games(entrants, games, found)
    if reading is not None:
        of_judge = rate.between_systems(entrants, imitated)
        correction = correct(reading, games, of_judge, everything, draws, tournament.rules(), entrants.groups)
        board = _by_answers(entrants, answers, correction, games, found, draws)
        weight, worth = correction.weight, len(people) * correction.worth
        verdicts_of = transport(correction, rate.between_systems(entrants, imitated), draws)
    told = BoardWorth(
        weight=round(weight, 3),
        judgments=len(people),
        worth=round(worth),
        saved=round(worth - len(people)),
        games=len(everything),
        by_chance=round(worth_by_chance(len(people), board.units), 1),
        transport=tuple(Transport(name, verdict) for name, verdict in zip(rate.names(entrants), verdicts_of)),
    )
    whose = BoardPeople(
        annotators=len(np.unique(who)),
        kind=answers.kind,  # type: ignore[arg-type]
        answers=len(answers),
        left_out=(
            *((AnswersLeftOut("learnt", left_out, len(given)),) if left_out else ()),
            *((AnswersLeftOut("outputs", gone, whole),) if gone else ()),
        ),
        worth=told,
    )
    return Corrected(people, board, whose, (*doubts, *context_groups.dependent(tournament)))


def _by_games(entrants: Entrants, games: Games, found: Calibrated) -> tuple[Rated, float, float, list[Transported]]:
    """(the board of people's games, which speaks of these annotators, the judge's weight, its worth, no verdicts)"""
    units, component = entrants.units(games.context), rate.components(len(entrants.systems), games)
    low, high = ranking.intervals(found.standings, found.replicates, units)
    board = Rated(
        games=games,
        standings=found.standings,
        replicates=found.replicates,
        known=Known(low, high, ranking.compare(found.standings, found.replicates, units, component=component)),
        count=len(games),
        contexts=found.contexts,
        units=units,
        component=component,
    )
    return board, found.weight, found.worth, []


def _reading(tournament: Tournament, entrants: Entrants, answers: PeopleAnswers) -> Reading | None:
    """By people's mixed model; None where another rating was asked for, or the answers are too few for a model."""
    if not tournament.rules().rates_by_default:
        return None
    try:
        return read_answers(entrants, answers)
    except Refused:
        return None


def _by_answers(
    entrants: Entrants, answers: PeopleAnswers, correction: Correction, games: Games, found: Calibrated, draws: np.ndarray
) -> Rated:
    """The board of people's answers, corrected. What it counts are people's games, which the judge decided as well."""
    population = "people" if correction.people.speaks_of_people() else "annotators"
    board = rate.rate_people(entrants, answers, correction.reading, draws, population)
    standings = replace(board.standings, games=found.standings.games)
    return replace(board, games=games, standings=standings, count=len(games), by_answers=False, is_corrected=True)


def _not_taught(tournament: Tournament, entrants: Entrants, answers: PeopleAnswers, taught: Taught | None) -> PeopleAnswers:
    """People's answers in contexts that the judge was not taught."""
    if taught is None:
        return answers
    new = {context.pk: not taught(text_in(context, "")) for context in tournament.campaign.contexts.all()}
    return answers.of_contexts(entrants, np.array([new[pk] for pk in entrants.contexts]))


def decided(entrants: Entrants, verdicts: Verdicts, a: np.ndarray, b: np.ndarray) -> tuple[Games, np.ndarray]:
    """The judge's games between outputs, which need not answer one context (each counts for the first one's), and of which of
    the pairs it says something, (n,)."""
    ids = np.array([output.pk for output in entrants.outputs])
    outcome = np.asarray(verdicts.outcomes(ids[a].tolist(), ids[b].tolist()))
    judged = ~np.isnan(outcome)
    return Games(a[judged], b[judged], outcome[judged].astype(np.int64), entrants.context_of[a[judged]]), judged
