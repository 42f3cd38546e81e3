"""What a careful reader asks of a board: win rates at equal length, circles and ties beyond one order, the side shown."""

import numpy as np
from django.db.models.functions import Length

from annotation.assessment import snapshot_contents
from annotation.models import Output
from annotation.outcome import Outcome
from core.errors import Refused
from leaderboard.models import Tournament
from leaderboard.rating.diagnostics.length_control import Rates, control_length
from leaderboard.rating.diagnostics.order_fit import order_fit
from leaderboard.rating.diagnostics.side_effect import side_effect
from leaderboard.rating.games import Games
from leaderboard.tournaments.entrants import Entrants
from leaderboard.tournaments.people_games import PeopleAnswers, as_pairs
from leaderboard.tournaments.rate import RESAMPLING_SEED, between_systems, rounded

CHUNK = 500  # SQLite takes a limited number of parameters


def diagnostics(tournament: Tournament, entrants: Entrants, games: Games, answers: PeopleAnswers, population: str) -> dict:
    """{length_control, order_fit, sides}, as far as there is something to say. games: between outputs; population: "people"
    where the board speaks of people like these annotators, so that they are a sample as contexts are."""
    annotator = None
    if population == "people":
        first, second, outcome, annotator = as_pairs(entrants, answers)
        games = Games(first, second, outcome, entrants.context_of[first])
    found: dict[str, dict | None] = {}
    if len(games):
        found["length_control"] = _length_control(entrants, games, annotator)
        found["order_fit"] = _order_fit(entrants, games)
    if not tournament.plays_itself and tournament.snapshot:
        found["sides"] = _sides(tournament, entrants, population)
    return found


def _length_control(entrants: Entrants, games: Games, annotator: np.ndarray | None) -> dict:
    """By system in the order of the board's settings; lengths in characters."""
    length, between = _lengths(entrants), between_systems(entrants, games)
    contexts = entrants.groups[games.context]
    clusters = [contexts] if annotator is None else [contexts, annotator]
    sides = length[games.first], length[games.second]
    found = control_length(len(entrants.systems), between.first, between.second, between.outcome, sides, clusters)
    return {
        "plain": rounded(found.plain),
        "controlled": _rates(found.controlled),
        "pairs": [_rates(Rates(*row)) for row in zip(found.pairs.rate, found.pairs.low, found.pairs.high)],
        "length": rounded(found.length, 1),
        "odds": dict(zip(("value", "low", "high"), rounded(np.array(found.odds)))),
        "scale": round(found.scale, 1),
    }


def _rates(rates: Rates) -> list[dict | None]:
    """A cell for each; None where nothing was played."""
    rows = zip(*(rounded(column) for column in (rates.rate, rates.low, rates.high)), strict=True)
    return [None if rate is None else {"value": rate, "low": low, "high": high} for rate, low, high in rows]


def _lengths(entrants: Entrants) -> np.ndarray:
    """(outputs,) in characters."""
    ids, length = [output.pk for output in entrants.outputs], {}
    for start in range(0, len(ids), CHUNK):
        part = Output.objects.filter(pk__in=ids[start : start + CHUNK])
        length |= dict(part.annotate(length=Length("text")).values_list("pk", "length"))
    return np.array([length[pk] for pk in ids], dtype=float)


def _order_fit(entrants: Entrants, games: Games) -> dict:
    found = order_fit(len(entrants.systems), between_systems(entrants, games), seed=RESAMPLING_SEED)
    return {
        "triples": found.triples,
        "circles": found.circles,
        "expected": round(found.expected, 2),
        "p": round(found.p, 3),
        "ties": round(found.ties, 4),
        "by_closeness": [
            {
                "games": ties.games,
                "points": [round(end, 4) for end in ties.points],
                **{name: round(getattr(ties, name), 4) for name in ("share", "expected", "low", "high")},
            }
            for ties in found.by_closeness
        ],
    }


def _sides(tournament: Tournament, entrants: Entrants, population: str) -> dict | None:
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
    return {"left": round(found.left, 4), "low": low, "high": high, "judgments": found.judgments}
