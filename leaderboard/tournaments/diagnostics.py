"""What a careful reader asks of a board: win rates at equal length, circles and ties beyond one order, the side shown."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db.models.functions import Length as LengthOf

from annotation.assessment import snapshot_contents
from annotation.models import Output
from annotation.outcome import Outcome
from core.errors import Refused
from leaderboard.boards.estimates import Estimate, Standing
from leaderboard.boards.panels import Closeness, LengthPanel, LengthRow, OrderFitPanel, Sides, WinRate
from leaderboard.models import Tournament
from leaderboard.rating.diagnostics.length_control import Rates, control_length
from leaderboard.rating.diagnostics.order_fit import order_fit
from leaderboard.rating.diagnostics.side_effect import side_effect
from leaderboard.rating.games import Games
from leaderboard.tournaments.entrants import Entrants
from leaderboard.tournaments.people_games import PeopleAnswers, as_pairs
from leaderboard.tournaments.rate import RESAMPLING_SEED, between_systems, names, rounded

CHUNK = 500  # SQLite takes a limited number of parameters


@dataclass(frozen=True)
class Diagnostics:
    """Each None where there is nothing to say."""

    length: LengthPanel | None = None
    order_fit: OrderFitPanel | None = None
    sides: Sides | None = None


def diagnostics(
    tournament: Tournament, entrants: Entrants, games: Games, answers: PeopleAnswers, population: str
) -> Diagnostics:
    """As far as there is something to say. games: between outputs; population: "people"
    where the board speaks of people like these annotators, so that they are a sample as contexts are."""
    annotator = None
    if population == "people":
        first, second, outcome, annotator = as_pairs(entrants, answers)
        games = Games(first, second, outcome, entrants.context_of[first])
    sides = _sides(tournament, entrants, population) if tournament.snapshot and not tournament.plays_itself else None
    if not len(games):
        return Diagnostics(sides=sides)
    return Diagnostics(_length(entrants, games, annotator), _order_fit(entrants, games), sides)


def _length(entrants: Entrants, games: Games, annotator: np.ndarray | None) -> LengthPanel:
    """The rows in the order of the entrants; `in_order` puts them in that of a board."""
    length, between = _lengths(entrants), between_systems(entrants, games)
    contexts = entrants.groups[games.context]
    clusters = [contexts] if annotator is None else [contexts, annotator]
    sides = length[games.first], length[games.second]
    found = control_length(len(entrants.systems), between.first, between.second, between.outcome, sides, clusters)
    won = score_shares(len(entrants.systems), between)
    against = [_estimates(Rates(*row)) for row in zip(found.pairs.rate, found.pairs.low, found.pairs.high)]
    plain, lengths, controlled = rounded(found.plain), rounded(found.length, 1), _estimates(found.controlled)
    odds, low, high = rounded(np.array(found.odds))
    rows = [
        LengthRow(name, plain[i], controlled[i], lengths[i], tuple(_win_rates(won[i], against[i])))
        for i, name in enumerate(names(entrants))
    ]
    return LengthPanel(None if odds is None else Estimate(odds, low, high), round(found.scale, 1), tuple(rows))


def score_shares(n_systems: int, games: Games) -> np.ndarray:
    """(systems, systems) share of the points that i took from j, a tie half; nan where they did not meet."""
    points = np.zeros((n_systems, n_systems))
    np.add.at(points, (games.first, games.second), (1 + games.outcome) / 2)
    np.add.at(points, (games.second, games.first), (1 - games.outcome) / 2)
    met = points + points.T
    return np.divide(points, met, out=np.full_like(points, np.nan), where=met > 0)


def _win_rates(won: np.ndarray, controlled: list[Estimate | None]) -> list[WinRate | None]:
    return [WinRate(round(float(plain), 4), one) if one else None for plain, one in zip(won, controlled, strict=True)]


def _estimates(rates: Rates) -> list[Estimate | None]:
    """One for each; None where nothing was played."""
    rows = zip(*(rounded(column) for column in (rates.rate, rates.low, rates.high)), strict=True)
    return [None if rate is None else Estimate(rate, low, high) for rate, low, high in rows]


def in_order(found: LengthPanel, standings: Sequence[Standing]) -> LengthPanel:
    """Its rows and columns in the order of the standings."""
    place = {row.system: i for i, row in enumerate(found.systems)}
    order = [place[row.system] for row in standings]
    rows = (found.systems[i] for i in order)
    return replace(found, systems=tuple(replace(row, against=tuple(row.against[j] for j in order)) for row in rows))


def _lengths(entrants: Entrants) -> np.ndarray:
    """(outputs,) in characters."""
    ids, length = [output.pk for output in entrants.outputs], {}
    for start in range(0, len(ids), CHUNK):
        part = Output.objects.filter(pk__in=ids[start : start + CHUNK])
        length |= dict(part.annotate(length=LengthOf("text")).values_list("pk", "length"))
    return np.array([length[pk] for pk in ids], dtype=float)


def _order_fit(entrants: Entrants, games: Games) -> OrderFitPanel:
    found = order_fit(len(entrants.systems), between_systems(entrants, games), seed=RESAMPLING_SEED)
    closeness = (
        Closeness(
            games=ties.games,
            points_low=round(ties.points[0], 4),
            points_high=round(ties.points[1], 4),
            share=round(ties.share, 4),
            expected=round(ties.expected, 4),
            low=round(ties.low, 4),
            high=round(ties.high, 4),
        )
        for ties in found.by_closeness
    )
    return OrderFitPanel(
        triples=found.triples,
        circles=found.circles,
        expected=round(found.expected, 2),
        p=round(found.p, 3),
        ties=round(found.ties, 4),
        by_closeness=tuple(closeness),
    )


def _sides(tournament: Tournament, entrants: Entrants, population: str) -> Sides | None:
    """Of the accepted judgments of pairs that play, where it is known which output stood on the left; None without any."""
    if tournament.snapshot is None:
        return None
    try:
        rows = list(snapshot_contents.rows(tournament.snapshot, "judgments"))
    except Refused:  # a snapshot of before they were written down
        return None
    preferred = []
    for row in rows:
        a, b = (
            entrants.number_of.get(
                (row["context_id"], row[f"system_{side}"], row[f"checkpoint_{side}"] or "", row[f"sample_{side}"])
            )
            for side in "ab"
        )
        asked = row["kept"] and (row["aspect"] or "") == tournament.criterion and row["shown_left"]
        if asked and a is not None and b is not None and row["choice"] != Outcome.TIE.value:
            preferred.append((row["choice"] == row["shown_left"], entrants.context_of[a], row["annotator"]))
    if not preferred:
        return None
    left, contexts, annotators = zip(*preferred)
    clusters = [entrants.groups[np.array(contexts)]] + ([np.array(annotators)] if population == "people" else [])
    found = side_effect(left, clusters)
    low, high = rounded(np.array([found.low, found.high]))
    return Sides(found.judgments, Estimate(round(found.left, 4), low, high))
