"""Starting a tournament, playing it, recording it: once, in one transaction, never changed afterwards."""

import logging
from collections.abc import Callable, Iterable

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation import jobs, snapshots
from annotation.assessment import latest_snapshot
from annotation.errors import Refused
from annotation.models import AuditEvent, Job, Output
from annotation.outcome import Outcome
from evaluator.models import ComparatorVersion
from evaluator.selectors import basis, criteria
from evaluator.services import check_seed, code_version
from leaderboard import selectors
from leaderboard.models import Game, SystemRating, Tournament
from leaderboard.rating import bootstrap
from leaderboard.rating import tournament as paper
from leaderboard.rating.games import Games, Standings
from leaderboard.selectors import Field
from leaderboard.signature import signature

log = logging.getLogger(__name__)

TASK = "leaderboard.tasks.play"
REPLICATES = 200
RESAMPLING_SEED = 0  # one for all boards, so that any two on the same contexts are replayed on the same draws
MAX_GAMES = 100_000
OUTCOMES = {1: Outcome.A.value, 0: Outcome.TIE.value, -1: Outcome.B.value}

Report = Callable[[float, str], None]
Judging = Callable[[ComparatorVersion, Iterable[Output], Report], object]  # evaluator.runner.verdicts


@transaction.atomic
def start_tournament(
    campaign, judge: str, version: ComparatorVersion | None = None, criterion: str | None = None, seed: int = 0,
    games: int | None = None, user=None, foreground: bool = False,
) -> Tournament:  # fmt: skip
    """Record a tournament and its job. criterion: "" for judgments of pairs, None for what a training would take.

    games: exactly so many; None plays until the order settles, or, where people judge, all their games.
    """
    if judge not in Tournament.Judge.values:
        raise Refused(f"The judge is 'comparator' or 'people', not {judge!r}.")
    if games is not None and not 1 <= games <= MAX_GAMES:
        raise Refused(f"The number of games must be from 1 to {MAX_GAMES}, not {games}.")
    check_seed(seed)
    snapshot = latest_snapshot(campaign)
    if judge == Tournament.Judge.PEOPLE:
        if version is not None:
            raise Refused("People judge without a comparator; name one only where the judge is 'comparator'.")
        criterion, warning = _people_play(campaign, snapshot, criterion, games)
    else:
        version = version or _newest_version(campaign, criterion)
        if not any(selectors.field(campaign).contexts_by_pair().values()):
            raise Refused(f"No two systems of campaign {campaign.slug!r} have answered the same context; nothing can play.")
        criterion, warning = _criterion_beside(campaign, version, snapshot, criterion), version.run.warning
    asked = dict(campaign=campaign, judge=judge, version=version, snapshot=snapshot, criterion=criterion, seed=seed,
                 wanted_games=games)  # fmt: skip
    if not foreground:
        _refuse_the_same_twice(asked)
    who = version.name if version else f"people ({criterion or 'pairs'})"
    return _enqueue(asked, f"Tournament on {campaign.slug}, judged by {who}"[:200], warning, user, foreground)


def play_new_comparator(sender, version: ComparatorVersion, **kwargs) -> None:
    """A comparator trained by a worker plays on the boards of its campaigns at once. Receiver of `trained`."""
    for campaign in version.campaigns.all():
        try:
            start_tournament(campaign, Tournament.Judge.COMPARATOR, version, version.run.criterion or None, version.seed)
        except Refused as refusal:
            log.warning("no tournament of %s on %s: %s", version.name, campaign.slug, refusal)


def _enqueue(asked: dict, title: str, warning: str, user, foreground: bool) -> Tournament:
    campaign, version, snapshot = asked["campaign"], asked["version"], asked["snapshot"]
    simulated = bool((version and version.is_simulated) or (snapshot and snapshot.is_simulated))
    job = jobs.enqueue(TASK, title, campaign=campaign, user=user, foreground=foreground)
    tournament = Tournament.objects.create(**asked, job=job, is_simulated=simulated, settings={"warning": warning})
    detail = {"tournament": tournament.pk, "judge": asked["judge"], "criterion": asked["criterion"], "seed": asked["seed"]}
    AuditEvent.objects.create(campaign=campaign, user=user, action="tournament started", detail=detail)
    return tournament


def _people_play(campaign, snapshot, criterion: str | None, games: int | None) -> tuple[str, str]:
    if snapshot is None:
        raise Refused(f"Campaign {campaign.slug!r} has no snapshot of accepted judgments yet; assess its quality first.")
    found = basis(snapshot, criterion)
    there = len(selectors.people_games(selectors.field(campaign), snapshots.read(snapshot), found.criterion, 0))
    about = f"the scores of {found.criterion!r}" if found.criterion else "the judgments of pairs"
    if not there:
        raise Refused(f"No game follows from {about}: nobody judged two systems on one context.")
    if games is not None and games > there:
        raise Refused(f"Only {there} games follow from {about}; {games} were asked for.")
    return found.criterion, found.warning


def _newest_version(campaign, criterion: str | None) -> ComparatorVersion:
    trained = campaign.comparators.select_related("run")
    version = trained.filter(criterion=criterion or "").first() if criterion is not None else None
    version = version or trained.first()
    if version is None:
        raise Refused(f"No comparator has been trained on campaign {campaign.slug!r} yet; train_comparator makes one.")
    return version


def _criterion_beside(campaign, version, snapshot, criterion: str | None) -> str:
    """Which of people's criteria stands beside a comparator's board. The comparator itself does not ask."""
    if snapshot is None:
        if criterion:
            raise Refused(f"Campaign {campaign.slug!r} has no snapshot yet, so no scores for {criterion!r}.")
        return ""
    if criterion is None and version.criterion in criteria(snapshot):
        return version.criterion
    return basis(snapshot, criterion).criterion


def _refuse_the_same_twice(asked: dict) -> None:
    if Tournament.objects.filter(**asked, job__status__in=[Job.Status.QUEUED, Job.Status.RUNNING]).exists():
        raise Refused("The same tournament, with the same judge and seed, is already waiting or running.")


def play(tournament: Tournament, report: Report, judging: Judging | None = None) -> Tournament:
    """Play and record. judging: evaluator.runner.verdicts, handed in because only a task body may load torch."""
    if tournament.finished_at:
        return tournament
    report(0.0, "Gathering the outputs")
    field = selectors.field(tournament.campaign)
    content = selectors.content_of(tournament)
    if tournament.judge == Tournament.Judge.PEOPLE:
        between, settled = selectors.people_games(field, content, tournament.criterion, tournament.seed), None
        between = between.take(slice(tournament.wanted_games))
        chances = None
    else:
        between, settled, chances = _comparator_games(tournament, field, report, judging)
    games = Games(field.system_of[between.first], field.system_of[between.second], between.outcome, between.context)
    report(0.8, f"Rating {len(games)} games, and {REPLICATES} times on resampled contexts")
    standings = paper.rate(len(field.systems), games)
    draws = bootstrap.context_draws(len(field.contexts), REPLICATES, RESAMPLING_SEED)
    replicates = bootstrap.replay(len(field.systems), games, draws, RESAMPLING_SEED)
    report(0.95, "Recording")
    means = selectors.human_means(field, content, tournament.criterion)
    return _record(tournament, field, between, chances, games, standings, replicates, means, settled)


def _comparator_games(tournament: Tournament, field: Field, report: Report, judging: Judging):
    """The paper's tournament: games between outputs, did the order settle, and (games, 3) probabilities."""
    verdicts = judging(tournament.version, field.outputs, lambda done, message: report(0.6 * done, message))
    ids = [output.pk for output in field.outputs]
    sides: list[tuple[int, int]] = []

    def judge(first: int, second: int, context: int, rng: np.random.Generator) -> int:
        a, b = (answers[rng.integers(len(answers))] for answers in
                (field.answers[first, context], field.answers[second, context]))  # fmt: skip
        sides.append((a, b))
        return int(verdicts.outcomes([ids[a]], [ids[b]])[0])

    try:
        games, _, settled = paper.play(
            len(field.systems), field.contexts_by_pair(), judge, tournament.seed, tournament.wanted_games,
            on_progress=lambda played, most: report(0.6 + 0.2 * played / most, f"{played} games played"),
        )  # fmt: skip
    except ValueError as error:
        raise Refused(str(error)) from error
    a, b = np.array(sides, dtype=np.int64).reshape(-1, 2).T
    chances = verdicts.probabilities([ids[i] for i in a], [ids[i] for i in b])
    return Games(a, b, games.outcome, games.context), settled, chances


def _record(
    tournament: Tournament, field: Field, between: Games, chances, games: Games, standings: Standings,
    replicates: np.ndarray, means: list, settled: bool | None,
) -> Tournament:  # fmt: skip
    low, high = bootstrap.interval(replicates)
    with transaction.atomic():
        tournament = Tournament.objects.select_for_update(of=("self",)).get(pk=tournament.pk)
        if tournament.finished_at:  # another worker was first
            return tournament
        Game.objects.bulk_create(_game_rows(tournament, field, between, chances), batch_size=1000)
        SystemRating.objects.bulk_create(
            SystemRating(
                tournament=tournament, system=system, rating=standings.rating[i], rd=standings.rd[i],
                volatility=standings.volatility[i], low=low[i], high=high[i], games=int(standings.games[i]),
                wins=int(standings.wins[i]), ties=int(standings.ties[i]), losses=int(standings.losses[i]),
                human_mean=means[i],
            )
            for i, system in enumerate(field.systems)
        )  # fmt: skip
        pairing = "once" if tournament.judge == Tournament.Judge.PEOPLE else "random"
        ties = f"ratio{paper.DRAW_RATIO:g}"
        tournament.settings = {
            **tournament.settings, "systems": [s.pk for s in field.systems], "contexts": len(field.contexts),
            "rating": "paper", "pairing": pairing, "ties": ties, "resampling_seed": RESAMPLING_SEED,
        }  # fmt: skip
        tournament.settled = settled
        tournament.head_to_head = _head_to_head(len(field.systems), games)
        tournament.replicates = np.round(replicates, 2).tolist()
        tournament.signature = _signature(tournament, len(games), pairing, ties)
        tournament.finished_at = timezone.now()
        tournament.save()
    return tournament


def _signature(tournament: Tournament, games: int, pairing: str, ties: str) -> str:
    judge = str(tournament.judge)
    if tournament.judge == Tournament.Judge.PEOPLE:
        judge = f"people/{tournament.criterion.replace('|', '/').strip() or 'pairs'}"
    return signature(
        judge=judge, comparator=tournament.version.name if tournament.version else None,
        snapshot=tournament.snapshot.name if tournament.snapshot else "none", pairing=pairing, ties=ties,
        games=games, seed=tournament.seed, code=code_version(),
    )  # fmt: skip


def _game_rows(tournament: Tournament, field: Field, between: Games, chances):
    for n, (a, b, outcome) in enumerate(zip(between.first, between.second, between.outcome.tolist())):
        yield Game(
            tournament=tournament, number=n + 1, output_a=field.outputs[a], output_b=field.outputs[b],
            outcome=OUTCOMES[outcome], p_a=None if chances is None else float(chances[n, 0]),
            p_b=None if chances is None else float(chances[n, 2]),
        )  # fmt: skip


def _head_to_head(n: int, games: Games) -> list:
    """[i][j] = [won, tied, lost] by i against j."""
    table = np.zeros((n, n, 3), dtype=int)
    np.add.at(table, (games.first, games.second, 1 - games.outcome), 1)
    np.add.at(table, (games.second, games.first, 1 + games.outcome), 1)
    return table.tolist()
