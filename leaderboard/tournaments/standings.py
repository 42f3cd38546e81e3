"""From a rating's arrays to what a board says of each system and of each two."""

from __future__ import annotations

from typing import Literal

import numpy as np

from leaderboard.boards.board import Narrow
from leaderboard.boards.estimates import Difference, Estimate, Forecast, Joining, Name, Standing, rough
from leaderboard.rating import ranking
from leaderboard.tournaments import rate
from leaderboard.tournaments.entrants import Entrants
from leaderboard.tournaments.own_unit import OwnUnit
from leaderboard.tournaments.rate import Known, Rated

Forecasts = dict[tuple[int, int], Forecast]


def standings(entrants: Entrants, rated: Rated, known: Known, means: list[float | None]) -> tuple[Standing, ...]:
    """Best first. means: people's mean score of each system."""
    s, own, ranks = rated.standings, rated.own, known.ranking
    cluster, group = clusters(rated, known), {i: k for k, members in enumerate(groups(rated), start=1) for i in members}
    best = rate.rounded(rate.chances(rated) if known.best is None else known.best, 2)

    def standing(i: int) -> Standing:
        games = int(s.wins[i] + s.ties[i] + s.losses[i])
        return Standing(
            id=entrants.systems[i].pk,
            system=Name(entrants.systems[i].name),
            human_written=entrants.systems[i].is_human,
            rank_low=int(ranks.rank_low[i]),
            rank_high=int(ranks.rank_high[i]),
            rating=round(float(s.rating[i]), 2),
            low=round(float(known.low[i]), 2),
            high=round(float(known.high[i]), 2),
            error=round(float(s.rd[i]), 2),
            volatility=round(float(s.volatility[i]), 6),
            own=_own(own, i, s.rating[i], known.low[i], known.high[i]) if s.games[i] else None,
            cluster=cluster[i],
            group=group[i],
            best=best[i],
            answers=int(s.games[i]) if rated.by_answers else None,
            games=games,
            wins=int(s.wins[i]),
            ties=int(s.ties[i]),
            losses=int(s.losses[i]),
            human_mean=None if (mean := means[i]) is None else round(mean, 4),
        )

    return tuple(standing(i) for i in order(entrants, s.rating))


def _own(own: OwnUnit | None, i: int, *ratings: float) -> Estimate | None:
    if own is None:
        return None
    value, *ends = (round(own.of(i, float(rating)), 4) for rating in ratings)
    if not np.isfinite(value):
        return None
    return Estimate(value, *sorted(ends))


def order(entrants: Entrants, rating: np.ndarray) -> list[int]:
    """The systems' numbers, best first; of equal ones by name, as the database orders them."""
    return sorted(range(len(rating)), key=lambda i: (-rating[i], entrants.systems[i].name))


def clusters(rated: Rated, known: Known) -> list[int | None]:
    """`ranking.clusters` of each system; None where it met no other, and for all where not all that met can be compared."""
    met = np.bincount(rated.component)[rated.component] > 1
    if len(np.unique(rated.component[met])) > 1:
        met = np.zeros_like(met)
    found = ranking.clusters(rated.standings.rating, known.ranking.above, met)
    return [int(number) or None for number in found]


def groups(rated: Rated) -> list[list[int]]:
    """The systems' numbers by what can be compared, directly or through others."""
    return [np.flatnonzero(rated.component == k).tolist() for k in np.unique(rated.component)]


def differences(entrants: Entrants, rated: Rated, known: Known, forecasts: Forecasts | None = None) -> tuple[Difference, ...]:
    """Of each two systems, the higher one first. forecasts: by the systems' numbers."""
    table, names = head_to_head(rated), rate.names(entrants)
    placed = order(entrants, rated.standings.rating)

    def difference(i: int, j: int) -> Difference:
        apart, margin = float(known.ranking.difference[i, j]), float(known.ranking.margin[i, j])
        comparable = np.isfinite(margin)
        won, tied, lost = table[i, j].tolist()
        return Difference(
            upper=names[i],
            lower=names[j],
            known=bool(known.ranking.above[i, j]),
            rating=round(apart, 1),
            margin=round(margin, 1) if comparable else None,
            own=_own_difference(rated.own, apart, margin) if comparable else None,
            won=won,
            tied=tied,
            lost=lost,
            forecast=(forecasts or {}).get((i, j)),
        )

    return tuple(difference(i, j) for k, i in enumerate(placed) for j in placed[k + 1 :])


def _own_difference(own: OwnUnit | None, apart: float, margin: float) -> Estimate | None:
    """With what the margin leaves open: it holds for all differences of the board together."""
    if own is None:
        return None
    value, *ends = (round(own.difference(points), 4) for points in (apart, apart - margin, apart + margin))
    return Estimate(value, *sorted(ends))


def head_to_head(rated: Rated) -> np.ndarray:
    """(systems, systems, 3): [i, j] = games that i won against j, tied, lost."""
    n, games = len(rated.standings.rating), rated.games
    table = np.zeros((n, n, 3), dtype=int)
    np.add.at(table, (games.first, games.second, 1 - games.outcome), 1)
    np.add.at(table, (games.second, games.first, 1 + games.outcome), 1)
    return table


def narrow(entrants: Entrants, rated: Rated, means: list[float | None]) -> Narrow | None:
    """What is known of these annotators only; None where the board speaks of nobody else."""
    if rated.narrow is None:
        return None
    return Narrow(standings(entrants, rated, rated.narrow, means), differences(entrants, rated, rated.narrow))


def forecasts(rated: Rated, of_pairs: bool, rankings: int = 0) -> Forecasts:
    """What might separate neighbours in rank that are not known to be apart, in what can be collected: judgments, where people
    judge pairs (of_pairs), rankings, where there are so many of them, else contexts or groups of them, with all their
    answers."""
    units: Literal["groups", "contexts"] = "groups" if rated.units < rated.contexts else "contexts"
    rating, found = rated.standings.rating, {}
    count = rankings or rated.count
    placed = np.argsort(-rating, kind="stable")
    only = rated.narrow.ranking if rated.narrow else None
    for rank, _, games in ranking.games_to_part(rated.known.ranking, rating, count, only=only):
        pair = int(placed[rank - 1]), int(placed[rank])
        if games is None:
            found[pair] = Forecast("annotators")
        elif games:
            more = games if of_pairs or rankings else -(-games * rated.units // count)
            found[pair] = Forecast("rankings" if rankings else "judgments" if of_pairs else units, rough(more))
    return found


def joining(entrants: Entrants, rated: Rated) -> tuple[Joining, ...]:
    """Which judgments would join each group to the first: two systems with the most contexts in common."""
    (first, *others), names = groups(rated), rate.names(entrants)
    if not others:
        return ()
    pairs, found = entrants.contexts_by_pair(), []
    for group in others:
        shared = {(i, j): len(pairs[min(i, j), max(i, j)]) for i in first for j in group}
        (i, j), contexts = max(shared.items(), key=lambda item: item[1])
        found.append(Joining(names[i], names[j], contexts))
    return tuple(found)
