"""Writing down what a tournament found."""

import hashlib
import json

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.models import Output
from annotation.outcome import Outcome
from annotation.snapshots import output_names
from core.version import code_version
from leaderboard.boards.tree import to_json
from leaderboard.models import ContextResult, Game, OutputResult, SystemRating, Tournament
from leaderboard.rating.decision import CONFIDENCE
from leaderboard.rating.diagnostics.order_fit import REPLICATES
from leaderboard.rating.ranking import DRAWS
from leaderboard.rating.rules import PAPER
from leaderboard.signature import signature
from leaderboard.tournaments.assembly import Found, Played, assembled
from leaderboard.tournaments.assembly import method as made_by
from leaderboard.tournaments.context_results import Shares
from leaderboard.tournaments.entrants import Entrants
from leaderboard.tournaments.rate import RESAMPLING_SEED, Rated
from leaderboard.tournaments.standings import head_to_head

BATCH = 2000
OUTCOMES = {1: Outcome.A.value, 0: Outcome.TIE.value, -1: Outcome.B.value}


def record(tournament: Tournament, entrants: Entrants, found: Found, means: list[float | None], shares: Shares) -> Tournament:
    """Write down what a tournament found, once. means: people's mean score of each system."""
    with transaction.atomic():
        tournament = Tournament.objects.select_for_update(of=("self",)).get(pk=tournament.pk)
        if tournament.finished_at:  # another worker was first
            return tournament
        if tournament.plays_itself:
            Game.objects.bulk_create(_game_rows(tournament, entrants, found.played), batch_size=BATCH)
        SystemRating.objects.bulk_create(_rating_rows(tournament, entrants, found.rated, means))
        OutputResult.objects.bulk_create(_output_rows(tournament, entrants, found, shares), batch_size=BATCH)
        ContextResult.objects.bulk_create(_context_rows(tournament, entrants, shares), batch_size=BATCH)
        rated, played = found.rated, found.played
        tournament.settings = {
            **tournament.settings,
            "systems": [s.pk for s in entrants.systems],
            "contexts": len(entrants.contexts),
            "resampling_seed": RESAMPLING_SEED,
            "looks": played.looks,
            "ending": played.ending,
        }
        tournament.played = rated.count
        tournament.settled = played.ending == "settled" if tournament.plays_itself else None
        tournament.head_to_head = head_to_head(rated).tolist()
        tournament.replicates = np.round(rated.replicates, 2).tolist()
        tournament.signature = _signature(tournament, entrants, found)
        tournament.finished_at = timezone.now()
        tournament.board = to_json(assembled(tournament, entrants, found, means))
        tournament.save()
    return tournament


def _signature(tournament: Tournament, entrants: Entrants, found: Found) -> str:
    """Every setting that can change a digit; what is none of these follows from them and from the code."""
    about, rules = tournament.criterion.replace("|", "/").strip() or "pairs", tournament.rules()
    by_people = not tournament.plays_itself
    method = made_by(tournament, found)
    reads_answers = method.rating is None
    return signature(
        **_judge(tournament, about),
        refit=_refit(tournament.settings.get("refit")),
        snapshot=tournament.snapshot.name if tournament.snapshot else "none",
        entrants=_digest(entrants),
        **({"groups": "texts"} if any(one.kind == "texts" for one in found.doubts) else {}),
        criterion=about,
        level=tournament.level,
        extends=tournament.extends_id,
        method=method.name,
        rating=None if reads_answers else _rating(tournament),
        pairing=method.pairing,
        ties=method.ties,
        stop=None if by_people else rules.stop,
        idle=None if reads_answers else "yes" if rules.idle_growth else "no",
        wanted=tournament.wanted_games,
        games=tournament.played,
        looks=tournament.settings["looks"],
        seed=tournament.seed,
        resampling=tournament.settings["resampling_seed"],
        replicates=len(tournament.replicates),
        draws=DRAWS,
        circles=REPLICATES if found.beside.order_fit else None,
        confidence=CONFIDENCE,
        population=None if found.speaks_of(tournament) == "contexts" else found.speaks_of(tournament),
        code=code_version(),
    )


def _judge(tournament: Tournament, about: str) -> dict[str, str | None]:
    """Who judged, in the signature's words; of a judge that is no comparator its name, and a digest of the settings that its
    answers depend on, which themselves are in the board's JSON."""
    corrected, version = tournament.basis == Tournament.Basis.CORRECTED, tournament.version
    if tournament.plays_itself:
        judge = "comparator" if version else "other"
    else:
        judge = f"{'calibrated' if corrected else 'people'}/{about}"
    found: dict[str, str | None] = {"judge": judge, "comparator": version.name if version else None}
    if version or tournament.judge is None:
        return found
    content = json.dumps(tournament.settings.get("judge_record", {}).get("settings"), sort_keys=True).encode()
    named = tournament.judge_name.replace("|", "/").strip()
    return found | {"named": named, "settings": hashlib.sha256(content).hexdigest()[:12]}


def _digest(entrants: Entrants) -> str:
    """What plays, by the names that it has everywhere and by its texts: "4x12-5d1e0a77" for 4 systems on 12 contexts."""
    campaign, wrote = entrants.systems[0].campaign, {}
    for pk, text in Output.objects.filter(context__campaign=campaign).values_list("pk", "text").iterator():
        wrote[pk] = hashlib.sha256(text.encode()).hexdigest()
    outputs = [(*output_names(one, {})[0], one.system.is_human, wrote[one.pk]) for one in entrants.outputs]
    turns = dict(campaign.contexts.values_list("pk", "turns"))
    content = json.dumps([outputs, [turns[pk] for pk in entrants.contexts]]).encode()
    return f"{len(entrants.systems)}x{len(entrants.contexts)}-{hashlib.sha256(content).hexdigest()[:8]}"


def _refit(refit: dict | None) -> str | None:
    """Short for what the tournament's settings keep: "9f2c/72/0.437/0.215/0.0981"."""
    numbers = [f"{refit[name]:.4g}" for name in ("scale", "theta", "tie_threshold")] if refit else []
    return "/".join([refit["snapshot"], str(refit["pairs"]), *numbers]) if refit else None


def _rating(tournament: Tournament) -> str:
    """paper is the name of all its rules; a rating of outputs says so."""
    rules = tournament.rules()
    name = "paper" if rules == PAPER else rules.rating
    return f"{name}-samples" if tournament.level == Tournament.Level.SAMPLE else name


def _game_rows(tournament: Tournament, entrants: Entrants, played: Played):
    ids = np.array([output.pk for output in entrants.outputs])
    first, second = ids[played.games.first].tolist(), ids[played.games.second].tolist()
    assert played.verdicts is not None, "a comparator's games have its verdicts"
    chances = np.asarray(played.verdicts.probabilities(first, second)).tolist()
    outcomes = [OUTCOMES[outcome] for outcome in played.games.outcome.tolist()]
    for number, (a, b, outcome, (p_a, _, p_b)) in enumerate(zip(first, second, outcomes, chances), start=1):
        yield Game(tournament_id=tournament.pk, number=number, output_a_id=a, output_b_id=b, outcome=outcome, p_a=p_a, p_b=p_b)


def _rating_rows(tournament: Tournament, entrants: Entrants, rated: Rated, means: list[float | None]):
    s = rated.standings
    low, high, rank_low, rank_high = (
        rated.known.low,
        rated.known.high,
        rated.known.ranking.rank_low,
        rated.known.ranking.rank_high,
    )
    for i, system in enumerate(entrants.systems):
        yield SystemRating(
            tournament=tournament,
            system=system,
            name=system.name,
            is_human=system.is_human,
            rating=s.rating[i],
            rd=s.rd[i],
            volatility=s.volatility[i],
            low=low[i],
            high=high[i],
            rank_low=int(rank_low[i]),
            rank_high=int(rank_high[i]),
            games=int(s.games[i]),
            wins=int(s.wins[i]),
            ties=int(s.ties[i]),
            losses=int(s.losses[i]),
            human_mean=means[i],
        )


def _output_rows(tournament: Tournament, entrants: Entrants, found: Found, shares: Shares):
    nothing = np.full(len(entrants.outputs), np.nan)
    rating, rd = (nothing, nothing) if found.outputs is None else (found.outputs.rating, found.outputs.rd)
    points = nothing if found.points is None else found.points
    columns = [shares.people_games.tolist(), *(_or_none(c) for c in (shares.comparator, shares.people, rating, rd, points))]
    for output, games, comparator, people, rating, rd, points in zip(entrants.outputs, *columns):
        yield OutputResult(
            tournament_id=tournament.pk,
            output_id=output.pk,
            system_id=output.system_id,
            context_id=output.context_id,
            comparator=comparator,
            people=people,
            people_games=games,
            rating=rating,
            rd=rd,
            points=points,
        )


def _context_rows(tournament: Tournament, entrants: Entrants, shares: Shares):
    """Of the contexts that somebody answered."""
    columns = list(zip(entrants.contexts, shares.context_games.tolist(), _or_none(shares.disagreement)))
    for number in np.unique(entrants.context_of).tolist():
        context, games, disagreement = columns[number]
        yield ContextResult(tournament_id=tournament.pk, context_id=context, games=games, disagreement=disagreement)


def _or_none(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]
