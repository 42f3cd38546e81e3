"""Starting a tournament. What plays is read by its job: here nothing is read that grows with the outputs."""

import logging
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Count

from annotation import jobs
from annotation.models import AuditEvent, Job, Output
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator.comparator.settings import check_seed
from evaluator.models import ComparatorVersion
from evaluator.roster import judges_by_name
from evaluator.versions.registry import serving
from evaluator.versions.selectors import architecture, basis, criteria, criterion_in, learned_from_people
from leaderboard.boards import queries
from leaderboard.models import Tournament
from leaderboard.rating import sample_scores
from leaderboard.rating.rules import DEFAULT, PAPER, Rules
from leaderboard.tournaments import active_selection, entrants

log = logging.getLogger(__name__)

TASK = "leaderboard.tasks.play"
MAX_GAMES = 100_000
MOST_READINGS = 2_000_000  # some hours of two CPU cores: those of a board of 9,800 outputs
COMPARATOR, PEOPLE = Tournament.Judge.COMPARATOR, Tournament.Judge.PEOPLE
CALIBRATED, OTHER = Tournament.Judge.CALIBRATED, Tournament.Judge.OTHER


@transaction.atomic
def start_tournament(
    campaign,
    judge: str,
    version: ComparatorVersion | None = None,
    criterion: str | None = None,
    seed: int = 0,
    games: int | None = None,
    user=None,
    foreground: bool = False,
    rules: Rules = DEFAULT,
    level: str = Tournament.Level.SYSTEM,
    extends: Tournament | None = None,
    named: str = "",
) -> Tournament:
    """Record a tournament and its job. criterion: "" for judgments of pairs, None for what a training would take.

    games: so many, as far as there are; None plays until the rules' stop, or, where people judge, all their games.
    level: do systems play, or outputs? extends: a finished board of this judge whose games are taken over, so that only
    what is new since then plays. named: a judge that is no comparator, of `evaluator.roster`, where the judge is
    "other" or "calibrated"; in the foreground any name, since the caller may bring the judge.
    """
    if judge not in Tournament.Judge.values:
        raise Refused(queries.unknown_judge(judge))
    if games is not None and not 1 <= games <= MAX_GAMES:
        raise Refused(f"The number of games must be from 1 to {MAX_GAMES}, not {games}.")
    check_seed(seed)
    _check_level(judge, level, rules)
    snapshot = latest_snapshot(campaign)
    if named or judge == OTHER:
        _check_named(campaign, judge, version, named, foreground)
        criterion, warning = _beside_named(campaign, judge, snapshot, criterion)
    else:
        version, criterion, warning = _basis(campaign, judge, version, snapshot, criterion)
    if level == Tournament.Level.SAMPLE and version and architecture(version) == "joint":
        if (cost := readings(campaign, games)) > MOST_READINGS:
            raise Refused(
                f"A joint comparator would read two outputs together {cost:,} times; at most {MOST_READINGS:,} are allowed. Ask"
                " for fewer games, or choose the level 'system'."
            )
    if campaign.systems.count() < 2:
        raise Refused(f"Campaign {campaign.slug!r} has fewer than two systems, so no game is possible.")
    asked = dict(
        campaign=campaign,
        judge=judge,
        version=version,
        named_judge=named,
        snapshot=snapshot,
        criterion=criterion,
        seed=seed,
        wanted_games=games,
        extends=extends,
        rating=rules.rating,
        ties=rules.ties,
        pairing=rules.pairing,
        stop=rules.stop,
        level=level,
    )
    if not foreground:
        _refuse_the_same_twice(asked)
    return _enqueue(asked, warning, user, foreground)


def readings(campaign, games: int | None = None) -> int:
    """How often, at most, a joint comparator reads two outputs together where the campaign's outputs play: each game, and each
    output against each common reference, in both contexts and both orders; every two outputs of a context in both orders."""
    outputs = Output.objects.filter(context__campaign=campaign, replaced_at=None)
    counts = outputs.order_by().values("context").annotate(n=Count("pk")).values_list("n", flat=True)
    across = (games or sample_scores.PLAYS) + min(sample_scores.REFERENCES, sum(counts)) * sum(counts)
    return 4 * across + sum(n * (n - 1) for n in counts)


def play_new_comparator(sender, version: ComparatorVersion, campaign, **kwargs) -> None:
    """A comparator that serves a campaign from now on plays there at once, alone and together with people, unless the
    campaign says no. Receiver of `promoted`."""
    if not campaign.plays_new_comparators:
        return
    for judge in (Tournament.Judge.COMPARATOR, CALIBRATED):
        try:
            start_tournament(campaign, judge, version, seed=version.seed)
        except Refused as refusal:
            log.warning("no %s board of %s on %s: %s", judge, version.name, campaign.slug, refusal)


def rules_named(rating: str = "", ties: str = "", pairing: str = "", stop: str = "") -> Rules:
    """The rules that somebody asked for; "paper" is all of Zhou & Xu (2020), and what is named beside it differs."""
    asked = {"ties": ties, "pairing": pairing, "stop": stop}
    if rating != "paper":
        asked["rating"] = rating
    if rating == "bradley-terry" and not ties:
        asked["ties"] = "davidson"
    try:
        named: dict[str, Any] = {name: value for name, value in asked.items() if value}
        return replace(PAPER if rating == "paper" else DEFAULT, **named)
    except ValueError as error:
        raise Refused(str(error)) from None


@transaction.atomic
def set_board(campaign, is_public: bool, plays_new: bool, user=None) -> None:
    """Who may see a campaign's boards, and whether a new comparator plays by itself."""
    campaign.board_is_public, campaign.plays_new_comparators = is_public, plays_new
    campaign.save(update_fields=["board_is_public", "plays_new_comparators"])
    detail = {"is_public": is_public, "plays_new": plays_new}
    AuditEvent.objects.create(campaign=campaign, user=user, action="boards set", detail=detail)


def _enqueue(asked: dict, warning: str, user, foreground: bool) -> Tournament:
    campaign, version, snapshot = asked["campaign"], asked["version"], asked["snapshot"]
    who = {PEOPLE: "people", CALIBRATED: "people and {}"}.get(asked["judge"], "{}").format(version or asked["named_judge"])
    about = "" if asked["judge"] in (COMPARATOR, OTHER) else f" ({asked['criterion'] or 'pairs'})"
    title = f"Tournament on {campaign.slug}, judged by {who}{about}, seed {asked['seed']}"[:200]
    simulated = bool((version and version.is_simulated) or (snapshot and snapshot.is_simulated))
    job = jobs.enqueue(TASK, title, campaign=campaign, user=user, foreground=foreground)
    settings = {"warning": warning, **entrants.bounds()}
    tournament = Tournament.objects.create(**asked, job=job, is_simulated=simulated, settings=settings)
    detail = {
        "tournament": tournament.pk,
        "judge": asked["named_judge"] or asked["judge"],
        "criterion": asked["criterion"],
        "seed": asked["seed"],
    }
    AuditEvent.objects.create(campaign=campaign, user=user, action="tournament started", detail=detail)
    return tournament


def _basis(campaign, judge: str, version, snapshot, criterion) -> tuple[ComparatorVersion | None, str, str]:
    """Who judges, which of people's answers count, and why they are not above every doubt."""
    if judge == PEOPLE:
        if version is not None:
            raise Refused("The judge 'people' uses no comparator. Name one only with the judge 'comparator' or 'calibrated'.")
        found = basis(_judged(campaign, snapshot), criterion)
        return None, found.criterion, found.warning
    version = version or _serving(campaign, criterion)
    doubts = [version.warning]
    if judge == CALIBRATED:
        doubts.append(active_selection.had_a_say(campaign, _judged(campaign, snapshot)))
    return version, _criterion_beside(campaign, version, snapshot, criterion), " ".join(filter(None, doubts))


def _check_named(campaign, judge: str, version, named: str, foreground: bool) -> None:
    if judge not in (CALIBRATED, OTHER):
        raise Refused(f"Name a judge only with the judge 'other' or 'calibrated', not with {judge!r}.")
    if version is not None:
        raise Refused("Name either a comparator or another judge, not both.")
    known = judges_by_name(campaign)
    if not named or len(named) > 100 or (named not in known and not foreground):
        raise Refused(f"There is no judge {named!r} in campaign {campaign.slug!r}; there are: {', '.join(known)}.")


def _beside_named(campaign, judge: str, snapshot, criterion: str | None) -> tuple[str, str]:
    """(which of people's criteria stands beside the judge's board, why it is not above every doubt)"""
    if judge == CALIBRATED:
        doubt = active_selection.had_a_say(campaign, _judged(campaign, snapshot))
        return basis(snapshot, criterion).criterion, doubt
    if snapshot is not None:
        return basis(snapshot, criterion).criterion, ""
    if criterion:
        raise Refused(f"Campaign {campaign.slug!r} has no snapshot yet, so no scores for {criterion!r}.")
    return "", ""


def _check_level(judge: str, level: str, rules: Rules) -> None:
    if level not in Tournament.Level.values:
        raise Refused(f"The level is 'system' or 'sample', not {level!r}.")
    if level == Tournament.Level.SAMPLE and judge not in (COMPARATOR, OTHER):
        raise Refused("The level 'sample' compares outputs of several contexts, so the judge must be 'comparator' or 'other'.")
    if judge == CALIBRATED and rules.rating == "by-game":
        raise Refused(
            "The judge 'calibrated' needs a rating that does not depend on the order of games: glicko2 or bradley-terry."
        )


def _judged(campaign, snapshot):
    if snapshot is None:
        raise Refused(f"Campaign {campaign.slug!r} has no snapshot of accepted judgments yet; assess its quality first.")
    return snapshot


def _serving(campaign, criterion: str | None) -> ComparatorVersion:
    """The newest one of the criterion that is named, else the one promoted for the campaign. One that learned without human
    judgments plays only where it was promoted, or is named itself."""
    there = [version for version in campaign.comparators.filter(retired_at=None) if learned_from_people(version)]
    named = next((version for version in there if version.criterion == criterion), None)
    version = named or serving(campaign) or next(iter(there), None)
    if version is None:
        raise Refused(
            f"No comparator has been trained on people's judgments of campaign {campaign.slug!r} yet; train_comparator makes"
            " one."
        )
    return version


def _criterion_beside(campaign, version, snapshot, criterion: str | None) -> str:
    """Which of people's criteria stands beside a comparator's board. The comparator itself does not ask."""
    if snapshot is None:
        if criterion:
            raise Refused(f"Campaign {campaign.slug!r} has no snapshot yet, so no scores for {criterion!r}.")
        return ""
    learnt = criterion_in(version, campaign)
    if criterion is None and learnt in criteria(snapshot):
        return learnt
    return basis(snapshot, criterion).criterion


def _refuse_the_same_twice(asked: dict) -> None:
    if Tournament.objects.filter(**asked, job__status__in=[Job.Status.QUEUED, Job.Status.RUNNING]).exists():
        raise Refused("The same tournament, with the same judge and seed, is already queued or running.")
