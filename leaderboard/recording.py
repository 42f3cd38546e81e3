"""Writing down what a tournament found."""

from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.outcome import Outcome
from evaluator.services import code_version
from leaderboard.field import Field
from leaderboard.models import ContextResult, Game, OutputResult, SystemRating, Tournament
from leaderboard.rating import bootstrap
from leaderboard.rating.games import Games, Standings
from leaderboard.shares import Shares
from leaderboard.signature import signature

BATCH = 2000
OUTCOMES = {1: Outcome.A.value, 0: Outcome.TIE.value, -1: Outcome.B.value}


@dataclass(frozen=True)
class Found:
    """What there is to record."""

    played: object  # playing.Played
    games: Games  # between systems
    standings: Standings
    replicates: np.ndarray  # (replicates, systems)
    resampling_seed: int
    means: list[float | None]  # people's mean score of each system
    shares: Shares


def record(tournament: Tournament, field: Field, found: Found) -> Tournament:
    with transaction.atomic():
        tournament = Tournament.objects.select_for_update(of=("self",)).get(pk=tournament.pk)
        if tournament.finished_at:  # another worker was first
            return tournament
        if tournament.judge == Tournament.Judge.COMPARATOR:
            Game.objects.bulk_create(_game_rows(tournament, field, found.played), batch_size=BATCH)
        SystemRating.objects.bulk_create(_rating_rows(tournament, field, found))
        OutputResult.objects.bulk_create(_output_rows(tournament, field, found.shares), batch_size=BATCH)
        ContextResult.objects.bulk_create(_context_rows(tournament, field, found.shares), batch_size=BATCH)
        tournament.settings = {
            **tournament.settings, "systems": [s.pk for s in field.systems], "contexts": len(field.contexts),
            "resampling_seed": found.resampling_seed,
        }  # fmt: skip
        tournament.played = len(found.games)
        tournament.settled = found.played.settled
        tournament.head_to_head = head_to_head(len(field.systems), found.games)
        tournament.replicates = np.round(found.replicates, 2).tolist()
        tournament.signature = _signature(tournament)
        tournament.finished_at = timezone.now()
        tournament.save()
    return tournament


def _signature(tournament: Tournament) -> str:
    judge = str(tournament.judge)
    if tournament.judge == Tournament.Judge.PEOPLE:
        judge = f"people/{tournament.criterion.replace('|', '/').strip() or 'pairs'}"
    return signature(
        judge=judge, comparator=tournament.version.name if tournament.version else None,
        snapshot=tournament.snapshot.name if tournament.snapshot else "none", rating=tournament.rating,
        pairing="once" if tournament.judge == Tournament.Judge.PEOPLE else tournament.pairing, ties=tournament.ties,
        games=tournament.played, seed=tournament.seed, code=code_version(),
    )  # fmt: skip


def _game_rows(tournament: Tournament, field: Field, played):
    between, chances = played.between, played.chances
    for n, (a, b, outcome) in enumerate(zip(between.first, between.second, between.outcome.tolist())):
        yield Game(
            tournament=tournament, number=n + 1, output_a_id=field.outputs[a].pk, output_b_id=field.outputs[b].pk,
            outcome=OUTCOMES[outcome], p_a=float(chances[n, 0]), p_b=float(chances[n, 2]),
        )  # fmt: skip


def _rating_rows(tournament: Tournament, field: Field, found: Found):
    low, high = bootstrap.interval(found.replicates)
    rank_low, rank_high = rank_intervals(found.replicates)
    s = found.standings
    for i, system in enumerate(field.systems):
        yield SystemRating(
            tournament=tournament, system=system, name=system.name, is_human=system.is_human, rating=s.rating[i],
            rd=s.rd[i], volatility=s.volatility[i], low=low[i], high=high[i], rank_low=int(rank_low[i]),
            rank_high=int(rank_high[i]), games=int(s.games[i]), wins=int(s.wins[i]), ties=int(s.ties[i]),
            losses=int(s.losses[i]), human_mean=found.means[i],
        )  # fmt: skip


def _output_rows(tournament: Tournament, field: Field, shares: Shares):
    columns = zip(field.outputs, _or_none(shares.comparator), _or_none(shares.people), shares.people_games.tolist())
    for output, comparator, people, games in columns:
        yield OutputResult(
            tournament=tournament, output_id=output.pk, system_id=output.system_id, context_id=output.context_id,
            comparator=comparator, people=people, people_games=games,
        )  # fmt: skip


def _context_rows(tournament: Tournament, field: Field, shares: Shares):
    """Of the contexts that somebody answered."""
    columns = list(zip(field.contexts, shares.context_games.tolist(), _or_none(shares.disagreement)))
    for number in np.unique(field.context_of).tolist():
        context, games, disagreement = columns[number]
        yield ContextResult(tournament=tournament, context_id=context, games=games, disagreement=disagreement)


def _or_none(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def rank_intervals(replicates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ranks = 1 + (replicates[:, None, :] > replicates[:, :, None]).sum(axis=2)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="nearest")
    return low, high


def head_to_head(n: int, games: Games) -> list:
    """[i][j] = [won, tied, lost] by i against j."""
    table = np.zeros((n, n, 3), dtype=int)
    np.add.at(table, (games.first, games.second, 1 - games.outcome), 1)
    np.add.at(table, (games.second, games.first, 1 + games.outcome), 1)
    return table.tolist()
