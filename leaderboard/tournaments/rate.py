"""From games to what a board says: ratings, intervals, ranks, who is above whom, and the same within categories."""

from dataclasses import dataclass

import numpy as np

from annotation.models import Context
from leaderboard.rating import ranking, rules
from leaderboard.rating.bootstrap import context_draws
from leaderboard.rating.games import Games, Standings
from leaderboard.rating.ranking import Ranking
from leaderboard.rating.rules import DEFAULT, Rules
from leaderboard.rating.stability import rank_stability
from leaderboard.tournaments.entrants import Entrants

REPLICATES = 200
RESAMPLING_SEED = 0  # one for all boards, so that any two on the same contexts are rated on the same draws
CATEGORY_VALUES = range(2, 13)  # how many values a entrants of the contexts' metadata may have to be a category
CATEGORY_CONTEXTS = 2  # fewer say nothing about how contexts differ


@dataclass(frozen=True)
class Rated:
    """All by system, in the field's order; replicates: (replicates, systems)."""

    games: Games
    standings: Standings
    replicates: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ranking: Ranking


def rate(n_systems: int, games: Games, draws: np.ndarray, by: Rules = DEFAULT, looks: int = 1) -> Rated:
    """games: between systems; draws: (replicates, contexts); looks: at how many moments the tournament might have ended."""
    standings = rules.standings(n_systems, games, by)
    replicates = rules.replicates(n_systems, games, draws, by, RESAMPLING_SEED)
    contexts = len(np.unique(games.context))
    low, high = ranking.intervals(standings, replicates, contexts)
    return Rated(games, standings, replicates, low, high, ranking.compare(standings, replicates, contexts, looks=looks))


def between_systems(entrants: Entrants, games: Games) -> Games:
    """Games between outputs as games between their systems."""
    return Games(entrants.system_of[games.first], entrants.system_of[games.second], games.outcome, games.context)


def draws_of(entrants: Entrants) -> np.ndarray:
    return context_draws(len(entrants.contexts), REPLICATES, RESAMPLING_SEED)


def neighbours(entrants: Entrants, rated: Rated) -> list[dict]:
    """Each system and the next in rank: is it known to be above, by how much, and how many more games would tell."""
    order = np.argsort(-rated.standings.rating, kind="stable")
    forecast = {
        rank: games for rank, _, games in ranking.games_to_part(rated.ranking, rated.standings.rating, len(rated.games))
    }
    return [
        {
            "upper": entrants.systems[i].pk,
            "lower": entrants.systems[j].pk,
            "above": bool(rated.ranking.above[i, j]),
            "difference": round(float(rated.ranking.difference[i, j]), 1),
            "margin": round(float(rated.ranking.margin[i, j]), 1),
            "more_games": forecast.get(rank),
        }
        for rank, (i, j) in enumerate(zip(order[:-1], order[1:]), start=1)
    ]


def categories(entrants: Entrants, games: Games, draws: np.ndarray) -> list[dict]:
    """Ratings from the games on the contexts of each category: {key, values: [{value, contexts}], systems: {id: cells}}.

    Always by the default rule, which reads few games better than a rule for each game."""
    found = []
    for key, values in _metadata(entrants).items():
        columns = []
        for value in sorted(set(values.values())):
            of = np.array([values.get(context) == value for context in range(len(entrants.contexts))])
            part = games.take(of[games.context])
            if len(np.unique(part.context)) >= CATEGORY_CONTEXTS:
                rated = rate(len(entrants.systems), part, draws)
                columns.append(({"value": value, "contexts": len(np.unique(part.context))}, _cells(rated)))
        if len(columns) in CATEGORY_VALUES:
            systems = {str(s.pk): [cells[i] for _, cells in columns] for i, s in enumerate(entrants.systems)}
            found.append({"key": key, "values": [value for value, _ in columns], "systems": systems})
    return found


def stability(entrants: Entrants, rated: Rated, by: Rules, others: dict[str, Games]) -> list[dict]:
    """Does the order hold under another choice? {name, order: system ids, tau: None where undefined, moved: system ids}"""

    def ids(systems: np.ndarray) -> list[int]:
        return [entrants.systems[i].pk for i in systems]

    return [
        {"name": o.name, "order": ids(o.order), "tau": None if np.isnan(o.tau) else round(o.tau, 3), "moved": ids(o.moved)}
        for o in rank_stability(len(entrants.systems), rated.games, by, others)
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
