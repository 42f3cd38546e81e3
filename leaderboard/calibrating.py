"""People and comparator together on one board (`rating.calibrated`), read from the snapshot and the utilities."""

import numpy as np

from annotation.errors import Refused
from leaderboard import rated
from leaderboard.field import Field
from leaderboard.models import Tournament
from leaderboard.rated import Rated
from leaderboard.rating import ranking
from leaderboard.rating.calibrated import calibrate
from leaderboard.rating.games import Games
from leaderboard.shares import meetings


def calibrated(tournament: Tournament, field: Field, people: Games, verdicts) -> tuple[Rated, dict]:
    """The board, and what the comparator was worth. people: their games between outputs."""
    if not len(people):
        about = f"scores of {tournament.criterion!r}" if tournament.criterion else "judgments of pairs"
        raise Refused(f"No game follows from people's {about}, so there is nothing to calibrate with.")
    n, draws = len(field.systems), rated.draws_of(field)
    imitated = decided(field, verdicts, people.first, people.second)
    everything = rated.between_systems(field, decided(field, verdicts, *meetings(field)))
    games = rated.between_systems(field, people)
    try:
        found = calibrate(n, games, rated.between_systems(field, imitated), everything, draws, tournament.rules())
    except ValueError as error:
        raise Refused(str(error)) from error
    low, high = ranking.intervals(found.standings, found.replicates, found.contexts)
    compared = ranking.compare(found.standings, found.replicates, found.contexts)
    worth = {
        "weight": round(found.weight, 3), "judgments": found.judgments, "worth": round(found.worth),
        "saved": round(found.saved), "games": len(everything),
    }  # fmt: skip
    return Rated(games, found.standings, found.replicates, low, high, compared), worth


def decided(field: Field, verdicts, a: np.ndarray, b: np.ndarray) -> Games:
    """The comparator's games between these outputs."""
    ids = np.array([output.pk for output in field.outputs])
    outcome = np.asarray(verdicts.outcomes(ids[a].tolist(), ids[b].tolist()), dtype=np.int64)
    return Games(a, b, outcome, field.context_of[a])
