"""From games, or from people's answers, to ratings: with intervals, ranks, who is above whom, and the same within
categories."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from annotation.models import Context
from core.errors import Refused
from leaderboard.boards.estimates import Name
from leaderboard.boards.panels import Alternative, Category, CategoryCell, CategoryRow, CategoryValue
from leaderboard.rating import ranking, rules
from leaderboard.rating.bootstrap import group_draws
from leaderboard.rating.games import Games, Standings, tally
from leaderboard.rating.glicko2 import START_RD
from leaderboard.rating.people_board import PeopleBoard, Reading
from leaderboard.rating.ranking import Ranking, Tastes
from leaderboard.rating.rules import DEFAULT, Rules
from leaderboard.rating.stability import Order, orders, rank_stability
from leaderboard.tournaments.entrants import Entrants
from leaderboard.tournaments.own_unit import OwnUnit, Points, PreferenceShare
from leaderboard.tournaments.people_games import PeopleAnswers, games_of, read_answers

REPLICATES = 200
RESAMPLING_SEED = 0  # one for all boards, so that any two on the same contexts are rated on the same draws
CATEGORY_VALUES = range(2, 13)  # how many values a field of the contexts' metadata may have to be a category
CATEGORY_CONTEXTS = 2  # fewer say nothing about how contexts differ


@dataclass(frozen=True)
class Known:
    """What is known of a population: intervals of ratings, low and high (systems,), and who is above whom. best: (systems,)
    chance to be the best, where the games do not tell it (`chances`)."""

    low: np.ndarray
    high: np.ndarray
    ranking: Ranking
    best: np.ndarray | None = None


@dataclass(frozen=True)
class Rated:
    """All by system, in the field's order; replicates: (replicates, systems). count: the games it rests on, or people's
    answers; by_answers: are the standings' games answers? is_corrected: are the numbers those of people's model, corrected by
    a judge? contexts: how many they are about; units: in how many groups (a context without one is its own), which is what
    intervals resample; component: int (systems,), the group of systems that can be compared; narrow: of these annotators
    alone, where `known` speaks of people in general."""

    games: Games
    standings: Standings
    replicates: np.ndarray
    known: Known
    count: int
    contexts: int
    units: int
    component: np.ndarray
    narrow: Known | None = None
    by_answers: bool = False
    is_corrected: bool = False
    own: OwnUnit | None = None


def rate(entrants: Entrants, games: Games, draws: np.ndarray, by: Rules = DEFAULT, looks: int = 1) -> Rated:
    """games: between systems; draws: (replicates, contexts); looks: at how many moments the tournament might have ended."""
    n_systems, units = len(entrants.systems), entrants.units(games.context)
    component = components(n_systems, games)
    standings = rules.standings(n_systems, games, by)
    replicates = rules.replicates(n_systems, games, draws, by, RESAMPLING_SEED)
    low, high = ranking.intervals(standings, replicates, units)
    compared = ranking.compare(standings, replicates, units, looks=looks, component=component)
    return Rated(
        games=games,
        standings=standings,
        replicates=replicates,
        known=Known(low, high, compared),
        count=len(games),
        contexts=len(np.unique(games.context)),
        units=units,
        component=component,
    )


def rate_people(
    entrants: Entrants, answers: PeopleAnswers, reading: Reading, draws: np.ndarray, population: str, whole: bool = True
) -> Rated:
    """What people's answers say, in ratings. A system's games are its answers; it won, tied and lost where one person had two
    outputs of a context before them. whole: with the chances to be the best, and what is known of these annotators alone?"""
    answers = answers.read_by(reading)
    n, board = len(entrants.systems), reading.board(population)
    games = between_systems(entrants, games_of(entrants, answers, RESAMPLING_SEED))
    spread = np.sqrt(np.maximum(np.diag(board.covariance), 0.0))
    alone = np.bincount(board.component)[board.component] == 1
    count, rd = answers.by_system(entrants), np.where(alone, START_RD, spread)
    standings = Standings(board.rating, rd, np.zeros(n), count, *tally(n, games))
    played, contexts = len(reading.by_context), answers.contexts(entrants)
    return Rated(
        games=games,
        standings=standings,
        replicates=reading.replicates(draws[:, :played], population, groups=entrants.groups[:played]),
        known=_known(board, whole),
        count=len(answers),
        contexts=len(contexts),
        units=entrants.units(contexts),
        component=board.component,
        narrow=_known(reading.board("annotators"), whole) if whole and population == "people" else None,
        by_answers=True,
        own=_own_unit(answers, reading),
    )


def _own_unit(answers: PeopleAnswers, reading: Reading) -> OwnUnit | None:
    if reading.scores:
        return Points(reading.level, reading.scale, reading.rating, getattr(answers, "sign", 1))
    return PreferenceShare() if answers.kind == "pairs" or reading.omitted else None


def _known(board: PeopleBoard, whole: bool) -> Known:
    compared = ranking.of_board(board)
    return Known(board.low, board.high, compared, _best_of_people(board) if whole else None)


def chances(rated: Rated, others: Tastes | None = None) -> np.ndarray:
    """The same from games, (systems,), nan for None; others: what other people than these annotators would add."""
    n = len(rated.standings.rating)
    component = components(n, rated.games)
    covariance = ranking.covariance(rated.standings, rated.replicates, rated.units)
    freedom = float(ranking.freedom(rated.units))
    if others is not None:
        pairs = np.triu_indices(n, 1)
        variance, unit = (ranking.of_differences(part)[pairs] for part in (covariance, others.unit))
        freedom = float(others.freedom(variance, rated.units, unit).min(initial=np.inf))
        covariance = covariance + others.covariance
    return _chances(rated.standings.rating, covariance, freedom, component)


def components(n_systems: int, games: Games) -> np.ndarray:
    """Which systems met, directly or through others: int (systems,), numbers of groups. games: between systems."""
    met = scipy.sparse.csr_matrix((np.ones(len(games)), (games.first, games.second)), shape=(n_systems, n_systems))
    return np.asarray(scipy.sparse.csgraph.connected_components(met, directed=False)[1])


def _best_of_people(board: PeopleBoard) -> np.ndarray:
    """The degrees of freedom are the fewest of any difference that is compared."""
    same = board.component[:, None] == board.component[None, :]
    return _chances(board.rating, board.covariance, float(board.df[same].min()), board.component)


def _chances(rating: np.ndarray, covariance: np.ndarray, freedom: float, component: np.ndarray) -> np.ndarray:
    """(systems,), nan for a system that met no other; all nan where several groups of systems cannot be compared"""
    chances, compared = np.full(len(rating), np.nan), np.bincount(component)[component] > 1
    if len(np.unique(component[compared])) == 1:
        among = covariance[np.ix_(compared, compared)]
        chances[compared] = ranking.best_chances(rating[compared], among, freedom, seed=RESAMPLING_SEED)
    return chances


def rounded(values: np.ndarray, digits: int = 4) -> list[float | None]:
    return [None if np.isnan(value) else round(value, digits) for value in values.tolist()]


def between_systems(entrants: Entrants, games: Games) -> Games:
    """Games between outputs as games between their systems."""
    return Games(entrants.system_of[games.first], entrants.system_of[games.second], games.outcome, games.context)


def draws_of(entrants: Entrants) -> np.ndarray:
    return group_draws(entrants.groups, REPLICATES, RESAMPLING_SEED)


def categories(entrants: Entrants, games: Games, draws: np.ndarray) -> tuple[Category, ...]:
    """Ratings from the games on the contexts of each category.

    Always by the default rule, which reads few games better than a rule for each game."""

    def rated(wanted: np.ndarray) -> Rated | None:
        part = games.take(wanted[games.context])
        enough = len(np.unique(part.context)) >= CATEGORY_CONTEXTS
        return rate(entrants, part, draws) if enough else None

    return _by_category(entrants, rated)


def people_categories(
    entrants: Entrants, answers: PeopleAnswers, whole: Reading, draws: np.ndarray, population: str
) -> tuple[Category, ...]:
    """The same of people's answers on the contexts of each category, with the variances of all answers: few contexts do not
    tell how much people differ."""

    def rated(wanted: np.ndarray) -> Rated | None:
        part = answers.of_contexts(entrants, wanted)
        if len(part.contexts(entrants)) < CATEGORY_CONTEXTS:
            return None
        try:
            alike = part.kind == answers.kind != "both"
            reading = read_answers(entrants, part, whole.fit if alike else None)
        except Refused:
            return None
        who = population if reading.speaks_of_people() else "annotators"
        return rate_people(entrants, part, reading, draws, who, whole=False)

    return _by_category(entrants, rated)


def _by_category(entrants: Entrants, rated: Callable[[np.ndarray], Rated | None]) -> tuple[Category, ...]:
    """rated: bool (contexts,) -> the board of these contexts; None where they are too few."""
    found = []
    for key, values in _metadata(entrants).items():
        there, columns = [], []
        for value in sorted(set(values.values())):
            board = rated(np.array([values.get(context) == value for context in range(len(entrants.contexts))]))
            if board is not None:
                there.append(CategoryValue(value, board.contexts))
                columns.append(_cells(board))
        if len(columns) in CATEGORY_VALUES:
            rows = zip(names(entrants), zip(*columns, strict=True), strict=True)
            found.append(Category(key, tuple(there), tuple(CategoryRow(name, cells) for name, cells in rows)))
    return tuple(found)


def stability(entrants: Entrants, rated: Rated, by: Rules, others: dict[str, Games]) -> tuple[Alternative, ...]:
    """Does the order hold under another choice?"""
    return _named_orders(entrants, rank_stability(len(entrants.systems), rated.games, by, others))


def people_stability(
    entrants: Entrants, rated: Rated, answers: PeopleAnswers, reading: Reading, other: tuple[str, PeopleAnswers]
) -> tuple[Alternative, ...]:
    """The same of a people's board: beside plain means, games within one person, and the other of all answers and what the
    filter kept, with the variances of these."""
    name, others = other
    n, tried = len(entrants.systems), {}
    if answers.kind == "scores":
        count = answers.by_system(entrants)
        total = np.bincount(entrants.system_of[answers.scored], answers.value, n)
        tried["Plain mean scores"] = replace(rated.standings, rating=total / np.maximum(count, 1), games=count)
    if len(rated.games):
        tried["Glicko-2 on games within one person"] = rules.standings(n, rated.games, DEFAULT)
        tried["Bradley-Terry on these games, fitted ties"] = rules.standings(n, rated.games, Rules("bradley-terry", "davidson"))
    if len(others) and len(others) != len(answers) and answers.kind == others.kind == "scores":
        board = read_answers(entrants, others, reading.fit).board("annotators")
        tried[name] = replace(rated.standings, rating=board.rating, games=others.by_system(entrants))
    return _named_orders(entrants, orders(rated.standings, tried))


def _named_orders(entrants: Entrants, found: list[Order]) -> tuple[Alternative, ...]:
    every = names(entrants)

    def named(systems: np.ndarray) -> tuple[Name, ...]:
        return tuple(every[i] for i in systems)

    return tuple(
        Alternative(o.name, named(o.order), None if np.isnan(o.tau) else round(o.tau, 3), named(o.moved)) for o in found
    )


def names(entrants: Entrants) -> list[Name]:
    """(systems,)"""
    return [Name(system.name) for system in entrants.systems]


def _metadata(entrants: Entrants) -> dict[str, dict[int, str]]:
    """{key: {context number: value}} of the fields that sort the contexts into few categories."""
    number = {pk: i for i, pk in enumerate(entrants.contexts)}
    found: dict[str, dict[int, str]] = {}
    there = Context.objects.filter(campaign=entrants.systems[0].campaign_id)
    for pk, metadata in there.exclude(metadata={}).values_list("pk", "metadata"):
        for key, value in metadata.items():
            is_own = key == "conversation" and "turns" in metadata  # of one system alone
            if pk in number and isinstance(value, str | int | bool) and not is_own:
                found.setdefault(key, {})[number[pk]] = str(value)
    return {key: values for key, values in sorted(found.items()) if len(set(values.values())) in CATEGORY_VALUES}


def _cells(rated: Rated) -> list[CategoryCell | None]:
    """A cell for each system; None where it did not play."""
    s, known = rated.standings, rated.known
    return [
        CategoryCell(
            rating=round(float(s.rating[i]), 1),
            low=round(float(known.low[i]), 1),
            high=round(float(known.high[i]), 1),
            rank_low=int(known.ranking.rank_low[i]),
            rank_high=int(known.ranking.rank_high[i]),
        )
        if s.games[i]
        else None
        for i in range(len(s.rating))
    ]
