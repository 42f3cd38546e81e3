"""Outputs as players (`rating.sample_scores`): a rating for each, and the paper's scores of systems made of them."""

import numpy as np

from core.errors import Refused
from evaluator.judges.protocol import Verdicts
from leaderboard.boards.estimates import Name
from leaderboard.boards.panels import ThreeScores
from leaderboard.boards.queries import asked_by, latest
from leaderboard.models import Tournament
from leaderboard.rating import ranking, rules, sample_scores
from leaderboard.rating.games import Games, Standings, tally
from leaderboard.tournaments import rate
from leaderboard.tournaments.entrants import Entrants
from leaderboard.tournaments.prediction_powered import decided
from leaderboard.tournaments.rate import Known, Rated

MOST_AT_ONCE = 1500  # players of an order-free rating, which solves a system of as many equations


def drawn(tournament: Tournament, entrants: Entrants) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Which outputs meet, by position: who plays whom (games,) each, and output and reference (games,) each."""
    pairs = sample_scores.sample_pairs(len(entrants.outputs), tournament.wanted_games or sample_scores.PLAYS, tournament.seed)
    machine = np.array([not entrants.systems[s].is_human for s in entrants.system_of])
    return pairs, sample_scores.reference_pairs(machine if machine.any() else ~machine, seed=tournament.seed)


def drawn_ids(tournament: Tournament, entrants: Entrants) -> list[tuple[int, int]]:
    """The same as pairs of the outputs' ids."""
    ids = np.array([output.pk for output in entrants.outputs])
    pairs, references = drawn(tournament, entrants)
    a, b = (ids[np.concatenate([x, y])].tolist() for x, y in zip(pairs, references))
    return list(zip(a, b))


def sampled(tournament: Tournament, entrants: Entrants, verdicts: Verdicts) -> tuple[Games, Rated, Standings, np.ndarray]:
    """Games between outputs (of any contexts), the board of systems, the outputs' standings, and their mean points
    against common references (outputs,)."""
    n, by = len(entrants.outputs), tournament.rules()
    if by.rating != "by-game" and n > MOST_AT_ONCE:
        raise Refused(f"Only the ratings 'paper' and 'by-game' can rate {n} outputs at once. Choose one of them.")
    pairs, (output, reference) = drawn(tournament, entrants)
    games, judged = decided(entrants, verdicts, *pairs)
    beside, judged_beside = decided(entrants, verdicts, output, reference)
    if not (judged.all() and judged_beside.all()):
        raise Refused("The judge says nothing of some of the pairs, so outputs cannot be rated. Play systems instead.")
    standings = rules.standings(n, games, by)
    points = sample_scores.reference_scores(n, output, beside.outcome)
    return games, _board(entrants, games, standings), standings, points


def three_scores(tournament: Tournament, entrants: Entrants, board: Rated, points: np.ndarray) -> tuple[ThreeScores, ...]:
    """The paper's three model-level scores of each system; its rating as a player from the newest board of systems."""
    basis, judge = asked_by(tournament)
    systems = latest(tournament.campaign, basis, tournament.criterion, judge=judge)
    ratings = dict(systems.ratings.values_list("system", "rating")) if systems else {}
    mean_points = sample_scores.mean_by_system(len(entrants.systems), entrants.system_of, points)
    return tuple(
        ThreeScores(
            system=Name(system.name),
            sample_rating=round(float(board.standings.rating[i]), 1),
            points=None if np.isnan(mean_points[i]) else round(float(mean_points[i]), 3),
            rating=round(ratings[system.pk], 1) if system.pk in ratings else None,
        )
        for i, system in enumerate(entrants.systems)
    )


def _board(entrants: Entrants, games: Games, of_outputs: Standings) -> Rated:
    """A system's rating is the mean of its outputs'; contexts resampled with all that was written for them. RD is the
    root mean square of its outputs'."""
    n = len(entrants.systems)
    mean = lambda values: sample_scores.mean_by_system(n, entrants.system_of, values)
    apart = games.take(entrants.system_of[games.first] != entrants.system_of[games.second])
    between = rate.between_systems(entrants, apart)
    wins, ties, losses = tally(n, between)
    rd, volatility = np.sqrt(mean(of_outputs.rd**2)), mean(of_outputs.volatility)
    standings = Standings(mean(of_outputs.rating), rd, volatility, wins + ties + losses, wins, ties, losses)
    replicates = _resampled_means(entrants, of_outputs.rating)
    units = entrants.units(entrants.context_of)
    low, high = ranking.intervals(standings, replicates, units)
    compared = ranking.compare(standings, replicates, units)
    contexts = np.unique(between.context)
    return Rated(
        games=between,
        standings=standings,
        replicates=replicates,
        known=Known(low, high, compared),
        count=len(between),
        contexts=len(contexts),
        units=entrants.units(contexts),
        component=rate.components(n, between),
    )


def _resampled_means(entrants: Entrants, rating: np.ndarray) -> np.ndarray:
    """(replicates, systems) mean rating of the outputs on the contexts drawn; the plain mean where none was."""
    times = rate.draws_of(entrants)[:, entrants.context_of]  # (replicates, outputs)
    mine = (entrants.system_of[:, None] == np.arange(len(entrants.systems))).astype(float)  # (outputs, systems)
    count = times @ mine
    plain = sample_scores.mean_by_system(len(entrants.systems), entrants.system_of, rating)
    return np.divide((times * rating) @ mine, count, out=np.tile(plain, (len(times), 1)), where=count > 0)
