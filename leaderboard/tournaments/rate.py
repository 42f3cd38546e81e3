"""From games to what a board says: ratings, intervals, ranks, who is above whom, and the same within categories."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from annotation.models import Context
from core.errors import Refused
from leaderboard.rating import ranking, rules
from leaderboard.rating.bootstrap import group_draws
from leaderboard.rating.games import Games, Standings, tally
from leaderboard.rating.glicko2 import START_RD
from leaderboard.rating.people_board import PeopleBoard, Reading
from leaderboard.rating.ranking import Ranking, Tastes
from leaderboard.rating.rules import DEFAULT, Rules
from leaderboard.rating.stability import Order, orders, rank_stability
from leaderboard.tournaments.entrants import Entrants
from leaderboard.tournaments.people_games import PeopleAnswers, games_of, read_answers

REPLICATES = 200
RESAMPLING_SEED = 0  # one for all boards, so that any two on the same contexts are rated on the same draws
CATEGORY_VALUES = range(2, 13)  # how many values a field of the contexts' metadata may have to be a category
CATEGORY_CONTEXTS = 2  # fewer say nothing about how contexts differ


@dataclass(frozen=True)
class Rated:
    """All by system, in the field's order; replicates: (replicates, systems). count: the games it rests on, or people's
    answers; contexts: how many they are about; units: in how many groups (a context without one is
    its own), which is what intervals resample."""

    games: Games
    standings: Standings
    replicates: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ranking: Ranking
    count: int
    contexts: int
    units: int
    only: Ranking | None = None  # of these annotators alone, where the rest speaks of people in general
    best: np.ndarray | None = None  # (systems,) chance to be the best, where the games do not tell it: `chances`


def rate(entrants: Entrants, games: Games, draws: np.ndarray, by: Rules = DEFAULT, looks: int = 1) -> Rated:
    """games: between systems; draws: (replicates, contexts); looks: at how many moments the tournament might have ended."""
    n_systems, units = len(entrants.systems), entrants.units(games.context)
    standings = rules.standings(n_systems, games, by)
    replicates = rules.replicates(n_systems, games, draws, by, RESAMPLING_SEED)
    low, high = ranking.intervals(standings, replicates, units)
    compared = ranking.compare(standings, replicates, units, looks=looks, component=components(n_systems, games))
    return Rated(games, standings, replicates, low, high, compared, len(games), len(np.unique(games.context)), units)


def rate_people(entrants: Entrants, answers: PeopleAnswers, reading: Reading, draws: np.ndarray, population: str) -> Rated:
    """What people's answers say, in ratings. A system's games are its answers; it won, tied and lost where one person had two
    outputs of a context before them."""
    n, board = len(entrants.systems), reading.board(population)
    games = between_systems(entrants, games_of(entrants, answers, RESAMPLING_SEED))
    spread = np.sqrt(np.maximum(np.diag(board.covariance), 0.0))
    alone = np.bincount(board.component)[board.component] == 1
    rd = np.where(alone, START_RD, spread)
    standings = Standings(board.rating, rd, np.zeros(n), answers.by_system(entrants), *tally(n, games))
    compared = _ranking(board)
    played = len(reading.by_context)
    replicates = reading.replicates(draws[:, :played], population, groups=entrants.groups[:played])
    contexts = answers.contexts(entrants)
    only = _ranking(reading.board("annotators")) if population == "people" else None
    return Rated(
        games,
        standings,
        replicates,
        board.low,
        board.high,
        compared,
        len(answers),
        len(contexts),
        entrants.units(contexts),
        only,
        _best_of_people(board),
    )


def best(rated: Rated) -> list[float | None]:
    """Each system's chance to be the best, by the distribution that the intervals are of. None: it was not compared with the
    others; all None: not all that played can be compared."""
    return rounded(chances(rated) if rated.best is None else rated.best)


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
    met = sparse.csr_matrix((np.ones(len(games)), (games.first, games.second)), shape=(n_systems, n_systems))
    return np.asarray(csgraph.connected_components(met, directed=False)[1])


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


def _ranking(board: PeopleBoard) -> Ranking:
    return Ranking(board.above, board.rank_low, board.rank_high, board.difference, board.margin)


def of_people(entrants: Entrants, answers: PeopleAnswers, reading: Reading, rated: Rated, population: str) -> dict:
    """What a people's board says of its people: {population, annotators, kind, answers, left_out, variances, groups: ids of
    systems that can be compared, and `only`: what is known of these annotators only, by system id, where the board speaks of
    others too}"""
    board = reading.board("annotators")
    groups = [np.flatnonzero(reading.component == k) for k in np.unique(reading.component)]
    return {
        "population": population,
        "annotators": reading.annotators,
        "kind": answers.kind,
        "answers": len(answers),
        "left_out": answers.left_out,
        "variances": {name: round(v, 4) for name, v in reading.variances.items()},
        "groups": [[entrants.systems[i].pk for i in group] for group in groups],
        "joining": _joining(entrants, groups),
        "only": only(entrants, rated.standings, board.low, board.high, _ranking(board), _best_of_people(board))
        if population == "people"
        else None,
    }


def only(entrants: Entrants, standings: Standings, low: np.ndarray, high: np.ndarray, known: Ranking, best: np.ndarray) -> dict:
    """What is known of these annotators only, as a board keeps it."""
    ids = [system.pk for system in entrants.systems]
    cells = {
        str(pk): {"low": round(lowest, 2), "high": round(highest, 2), "rank_low": int(first), "rank_high": int(last)}
        for pk, lowest, highest, first, last in zip(
            ids, low.tolist(), high.tolist(), known.rank_low, known.rank_high, strict=True
        )
    }
    return {
        "systems": cells,
        "above": known.above.astype(int).tolist(),
        "best": rounded(best),
        "neighbours": _neighbours(entrants, known, standings.rating, {}),
    }


def _joining(entrants: Entrants, groups: list[np.ndarray]) -> list[dict]:
    """Which judgments would join each group to the first: two systems with the most contexts in common."""
    pairs, first = entrants.contexts_by_pair(), groups[0]
    joining = []
    for group in groups[1:]:
        shared = {(i, j): len(pairs[min(i, j), max(i, j)]) for i in first.tolist() for j in group.tolist()}
        (i, j), contexts = max(shared.items(), key=lambda item: item[1])
        joining.append({"one": entrants.systems[i].pk, "other": entrants.systems[j].pk, "contexts": contexts})
    return joining


def between_systems(entrants: Entrants, games: Games) -> Games:
    """Games between outputs as games between their systems."""
    return Games(entrants.system_of[games.first], entrants.system_of[games.second], games.outcome, games.context)


def draws_of(entrants: Entrants) -> np.ndarray:
    return group_draws(entrants.groups, REPLICATES, RESAMPLING_SEED)


def neighbours(entrants: Entrants, rated: Rated) -> list[dict]:
    """Each system and the next in rank: is it known to be above, by how much, and how many more games would tell."""
    rating = rated.standings.rating
    forecast = {rank: games for rank, _, games in ranking.games_to_part(rated.ranking, rating, rated.count, only=rated.only)}
    return _neighbours(entrants, rated.ranking, rating, forecast)


def _neighbours(entrants: Entrants, known: Ranking, rating: np.ndarray, forecast: dict[int, int | None]) -> list[dict]:
    order = np.argsort(-rating, kind="stable")
    return [
        {
            "upper": entrants.systems[i].pk,
            "lower": entrants.systems[j].pk,
            "above": bool(known.above[i, j]),
            "difference": round(float(known.difference[i, j]), 1),
            "margin": round(float(known.margin[i, j]), 1) if np.isfinite(known.margin[i, j]) else None,
            "more_games": forecast.get(rank),
            "more_people": rank in forecast and forecast[rank] is None,
        }
        for rank, (i, j) in enumerate(zip(order[:-1], order[1:]), start=1)
    ]


def categories(entrants: Entrants, games: Games, draws: np.ndarray) -> list[dict]:
    """Ratings from the games on the contexts of each category: {key, values: [{value, contexts}], systems: {id: cells}}.

    Always by the default rule, which reads few games better than a rule for each game."""

    def rated(wanted: np.ndarray) -> Rated | None:
        part = games.take(wanted[games.context])
        enough = len(np.unique(part.context)) >= CATEGORY_CONTEXTS
        return rate(entrants, part, draws) if enough else None

    return _by_category(entrants, rated)


def people_categories(
    entrants: Entrants, answers: PeopleAnswers, whole: Reading, draws: np.ndarray, population: str
) -> list[dict]:
    """The same of people's answers on the contexts of each category, with the variances of all answers: few contexts do not
    tell how much people differ."""

    def rated(wanted: np.ndarray) -> Rated | None:
        part = answers.of_contexts(entrants, wanted)
        if len(part.contexts(entrants)) < CATEGORY_CONTEXTS:
            return None
        try:
            alike = (part.kind == "scores") == (answers.kind == "scores")
            reading = read_answers(entrants, part, whole.fit if alike else None)
        except Refused:
            return None
        who = population if reading.speaks_of_people() else "annotators"
        return rate_people(entrants, part, reading, draws, who)

    return _by_category(entrants, rated)


def _by_category(entrants: Entrants, rated: Callable[[np.ndarray], Rated | None]) -> list[dict]:
    """rated: bool (contexts,) -> the board of these contexts; None where they are too few."""
    found = []
    for key, values in _metadata(entrants).items():
        columns = []
        for value in sorted(set(values.values())):
            board = rated(np.array([values.get(context) == value for context in range(len(entrants.contexts))]))
            if board is not None:
                columns.append(({"value": value, "contexts": board.contexts}, _cells(board)))
        if len(columns) in CATEGORY_VALUES:
            systems = {str(s.pk): [cells[i] for _, cells in columns] for i, s in enumerate(entrants.systems)}
            found.append({"key": key, "values": [value for value, _ in columns], "systems": systems})
    return found


def stability(entrants: Entrants, rated: Rated, by: Rules, others: dict[str, Games]) -> list[dict]:
    """Does the order hold under another choice? {name, order: system ids, tau: None where undefined, moved: system ids}"""

    return _named_orders(entrants, rank_stability(len(entrants.systems), rated.games, by, others))


def people_stability(
    entrants: Entrants, rated: Rated, answers: PeopleAnswers, reading: Reading, unfiltered: PeopleAnswers
) -> list[dict]:
    """The same of a people's board: beside plain means, games within one person, and all scores before the filter, with the
    variances of those that are kept."""
    n, tried = len(entrants.systems), {}
    if answers.kind == "scores":
        count = answers.by_system(entrants)
        total = np.bincount(entrants.system_of[answers.scored], answers.value, n)
        tried["Plain mean scores"] = replace(rated.standings, rating=total / np.maximum(count, 1), games=count)
    if len(rated.games):
        tried["Glicko-2 on games within one person"] = rules.standings(n, rated.games, DEFAULT)
        tried["Bradley-Terry on these games, fitted ties"] = rules.standings(n, rated.games, Rules("bradley-terry", "davidson"))
    if len(unfiltered.contexts(entrants)) and answers.kind == "scores":
        board = read_answers(entrants, unfiltered, reading.fit).board("annotators")
        every = replace(rated.standings, rating=board.rating, games=unfiltered.by_system(entrants))
        tried["Every score, none filtered out"] = every
    return _named_orders(entrants, orders(rated.standings, tried))


def _named_orders(entrants: Entrants, found: list[Order]) -> list[dict]:
    def ids(systems: np.ndarray) -> list[int]:
        return [entrants.systems[i].pk for i in systems]

    return [
        {"name": o.name, "order": ids(o.order), "tau": None if np.isnan(o.tau) else round(o.tau, 3), "moved": ids(o.moved)}
        for o in found
    ]


def _metadata(entrants: Entrants) -> dict[str, dict[int, str]]:
    """{key: {context number: value}} of the fields that sort the contexts into few categories."""
    number = {pk: i for i, pk in enumerate(entrants.contexts)}
    found: dict[str, dict[int, str]] = {}
    there = Context.objects.filter(campaign=entrants.systems[0].campaign_id)
    for pk, metadata in there.exclude(metadata={}).values_list("pk", "metadata"):
        for key, value in metadata.items():
            if pk in number and isinstance(value, str | int | bool):
                found.setdefault(key, {})[number[pk]] = str(value)
    return {key: values for key, values in sorted(found.items()) if len(set(values.values())) in CATEGORY_VALUES}


def _cells(rated: Rated) -> list[dict | None]:
    """A cell for each system: what the page shows; None where it did not play."""
    s, r = rated.standings, rated.ranking
    return [
        None
        if not s.games[i]
        else {
            "rating": round(float(s.rating[i]), 1),
            "low": round(float(rated.low[i]), 1),
            "high": round(float(rated.high[i]), 1),
            "rank_low": int(r.rank_low[i]),
            "rank_high": int(r.rank_high[i]),
        }
        for i in range(len(s.rating))
    ]
