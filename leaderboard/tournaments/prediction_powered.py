"""People and comparator together on one board (`rating.prediction_powered`), read from the snapshot and the utilities."""

from collections.abc import Set
from dataclasses import dataclass, replace

import numpy as np

from core.errors import Refused
from evaluator.judges.protocol import Verdicts
from evaluator.judges.texts import context_key
from leaderboard.boards.basis import AnswersLeftOut, BoardPeople, BoardWorth
from leaderboard.models import Tournament
from leaderboard.rating import ranking
from leaderboard.rating.games import Games
from leaderboard.rating.people_board import drawn_tastes
from leaderboard.rating.prediction_powered import Calibrated, calibrate, tastes, worth_by_chance
from leaderboard.rating.ranking import Tastes
from leaderboard.tournaments import rate
from leaderboard.tournaments.context_results import meetings
from leaderboard.tournaments.entrants import Entrants
from leaderboard.tournaments.own_unit import PreferenceShare
from leaderboard.tournaments.people_games import PeopleAnswers, as_pairs, games_of, read_answers
from leaderboard.tournaments.rate import Known, Rated


@dataclass(frozen=True)
class Corrected:
    """games: people's between outputs, as far as they count; people: what the comparator was worth beside them."""

    games: Games
    rated: Rated
    people: BoardPeople


def calibrated(
    tournament: Tournament, entrants: Entrants, answers: PeopleAnswers, verdicts: Verdicts, learnt: Set[str]
) -> Corrected:
    """The board of people corrected by a comparator. learnt: keys of the contexts that every member of the comparator learned
    from. What people said there is left out, since the comparator was taught it and would seem to foresee it."""
    about = f"scores of {tournament.criterion!r}" if tournament.criterion else "judgments of pairs"
    given = games_of(entrants, answers, tournament.seed)
    if not len(given):
        raise Refused(f"No game follows from people's {about}, so the comparator cannot be calibrated.")
    answers = _not_taught(tournament, entrants, answers, learnt)
    people = games_of(entrants, answers, tournament.seed)
    if not len(people):
        raise Refused(
            f"The comparator learned from every context of people's {about}, so no held-out context is left to calibrate it."
        )
    n, draws = len(entrants.systems), rate.draws_of(entrants)
    imitated = decided(entrants, verdicts, people.first, people.second)
    everything = rate.between_systems(entrants, decided(entrants, verdicts, *meetings(entrants)))
    games = rate.between_systems(entrants, people)
    try:
        found = calibrate(n, games, rate.between_systems(entrants, imitated), everything, draws, tournament.rules())
    except ValueError as error:
        raise Refused(str(error)) from error
    units, component = entrants.units(games.context), rate.components(n, games)
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
    worth = BoardWorth(
        weight=round(found.weight, 3),
        judgments=found.judgments,
        worth=round(found.worth),
        saved=round(found.saved),
        games=len(everything),
        by_chance=round(worth_by_chance(found.judgments, units), 1),
    )
    who, left_out = as_pairs(entrants, answers)[3], len(given) - len(people)
    whose = BoardPeople(
        annotators=len(np.unique(who)),
        kind=answers.kind,  # type: ignore[arg-type]
        answers=len(answers),
        left_out=(AnswersLeftOut("learnt", left_out, len(given)),) if left_out else (),
        worth=worth,
    )
    if not tournament.rules().rates_by_default:  # how leanings move another rating is not known
        return Corrected(people, board, whose)
    board = replace(board, own=PreferenceShare() if answers.kind == "pairs" else None)
    others = _other_people(entrants, answers, found)
    return Corrected(people, board if others is None else _of_people(board, others), whose)


def _other_people(entrants: Entrants, answers: PeopleAnswers, found: Calibrated) -> Tastes | None:
    """What others like these annotators would add; None where these, or their answers, are too few to tell."""
    first, second, outcome, who = as_pairs(entrants, answers)
    units = entrants.groups[entrants.context_of[first]]
    games = Games(entrants.system_of[first], entrants.system_of[second], outcome, units)
    try:
        reading = read_answers(entrants, answers)
    except Refused:
        return None
    return tastes(found.people, games, who, reading) if reading.speaks_of_people() else None


def _of_people(board: Rated, others: Tastes) -> Rated:
    """The board, which speaks of these annotators only, speaking of people like them."""
    low, high = ranking.intervals(board.standings, board.replicates, board.units, tastes=others)
    compared = ranking.compare(board.standings, board.replicates, board.units, tastes=others, component=board.component)
    drawn = drawn_tastes(others.covariance, len(board.replicates), rate.RESAMPLING_SEED)
    known = Known(low, high, compared, rate.chances(board, others))
    narrow = replace(board.known, best=rate.chances(board))
    return replace(board, replicates=board.replicates + drawn, known=known, narrow=narrow)


def _not_taught(tournament: Tournament, entrants: Entrants, answers: PeopleAnswers, learnt: Set[str]) -> PeopleAnswers:
    """People's answers in other contexts than these."""
    if not learnt:
        return answers
    turns = dict(tournament.campaign.contexts.values_list("pk", "turns"))
    return answers.of_contexts(entrants, np.array([context_key(turns[pk]) not in learnt for pk in entrants.contexts]))


def decided(entrants: Entrants, verdicts: Verdicts, a: np.ndarray, b: np.ndarray) -> Games:
    """The judge's games between outputs, which need not answer one context; each counts for the first one's."""
    ids = np.array([output.pk for output in entrants.outputs])
    outcome = np.asarray(verdicts.outcomes(ids[a].tolist(), ids[b].tolist()), dtype=np.int64)
    return Games(a, b, outcome, entrants.context_of[a])
