"""Starting a tournament. What plays is read by its job: here nothing is read that grows with the outputs."""

import logging
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Count

from annotation import jobs
from annotation.models import AuditEvent, Campaign, Job, Output
from annotation.questions.conditions import untold
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator.comparator.settings import check_seed
from evaluator.models import ComparatorVersion, Judge
from evaluator.roster import judge_of
from evaluator.versions.limits import parted_groups
from evaluator.versions.registry import comparator_in_use
from evaluator.versions.selectors import architecture, criteria, criterion_in, learned_from_people, usual_criterion
from evaluator.versions.selectors import basis as what_counts
from leaderboard.models import Tournament
from leaderboard.rating import sample_scores
from leaderboard.rating.rules import DEFAULT, PAPER, Rules
from leaderboard.tournaments import active_selection, entrants

log = logging.getLogger(__name__)

TASK = "leaderboard.tasks.play"
MAX_GAMES = 100_000
MOST_READINGS = 2_000_000  # some hours of two CPU cores: those of a board of 9,800 outputs
PEOPLE, JUDGE, CORRECTED = Tournament.Basis.PEOPLE, Tournament.Basis.JUDGE, Tournament.Basis.CORRECTED


@transaction.atomic
def start_tournament(
    campaign,
    basis: str,
    judge: Judge | None = None,
    criterion: str | None = None,
    seed: int = 0,
    games: int | None = None,
    user=None,
    foreground: bool = False,
    rules: Rules = DEFAULT,
    level: str = Tournament.Level.SYSTEM,
    extends: Tournament | None = None,
    only_kept: bool = False,
) -> Tournament:
    """Record a tournament and its job. basis: people, a judge, or people corrected by one; judge: who that is, by default the
    comparator in use. criterion: "" for judgments of pairs, None for what a training would take.

    games: so many, as far as there are; None plays until the rules' stop, or, where people judge, all their games.
    level: do systems play, or outputs? extends: a finished board of this judge whose games are taken over, so that only
    what is new since then plays. only_kept: where people judge, by what the filter kept of their answers, else by all that
    count. Where the same waits or runs already, that one is returned (`was_waiting`).
    """
    if basis not in Tournament.Basis.values:
        raise Refused(f"The basis is people, judge or corrected, not {basis!r}.")
    if games is not None and not 1 <= games <= MAX_GAMES:
        raise Refused(f"The number of games must be from 1 to {MAX_GAMES}, not {games}.")
    check_seed(seed)
    if only_kept and basis != PEOPLE:
        raise Refused("Only people's board can rest on what the filter kept; every other one counts all of people's answers.")
    _check_level(basis, level, rules)
    snapshot = latest_snapshot(campaign)
    judge, criterion, warning = _who_judges(campaign, basis, judge, snapshot, criterion)
    version = judge.version if judge else None
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
        basis=basis,
        judge=judge,
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
    if not foreground and (waiting := _waiting(asked, only_kept)):
        return waiting
    return _enqueue(asked, warning, user, foreground, only_kept)


def readings(campaign, games: int | None = None) -> int:
    """How often, at most, a joint comparator reads two outputs together where the campaign's outputs play: each game, and each
    output against each common reference, in both contexts and both orders; every two outputs of a context in both orders."""
    outputs = Output.objects.filter(context__campaign=campaign, replaced_at=None)
    counts = outputs.order_by().values("context").annotate(n=Count("pk")).values_list("n", flat=True)
    across = (games or sample_scores.PLAYS) + min(sample_scores.REFERENCES, sum(counts)) * sum(counts)
    return 4 * across + sum(n * (n - 1) for n in counts)


def play_new_comparator(sender, version: ComparatorVersion, campaign, **kwargs) -> None:
    """A comparator that is promoted plays there at once, alone and together with people, unless the
    campaign says no. Receiver of `promoted`."""
    if not campaign.plays_new_comparators:
        return
    for basis in (JUDGE, CORRECTED):
        try:
            start_tournament(campaign, basis, judge_of(campaign, version), seed=version.seed)
        except Refused as refusal:
            log.warning("no board of %s on %s, basis %s: %s", version.name, campaign.slug, basis, refusal)


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


def _enqueue(asked: dict, warning: str, user, foreground: bool, only_kept: bool) -> Tournament:
    campaign, judge, snapshot = asked["campaign"], asked["judge"], asked["snapshot"]
    version = judge.version if judge else None
    who = {PEOPLE: "people", CORRECTED: "people and {}"}.get(asked["basis"], "{}").format(judge)
    about = "" if asked["basis"] == JUDGE else f" ({asked['criterion'] or 'pairs'})"
    title = f"Tournament on {campaign.slug}, judged by {who}{about}, seed {asked['seed']}"[:200]
    simulated = bool((version and version.is_simulated) or (snapshot and snapshot.is_simulated))
    job = jobs.enqueue(TASK, title, campaign=campaign, user=user, foreground=foreground)
    settings = {"warning": warning, **entrants.bounds(), **({"only_kept": True} if only_kept else {})}
    tournament = Tournament.objects.create(**asked, job=job, is_simulated=simulated, settings=settings)
    detail = {
        "tournament": tournament.pk,
        "basis": asked["basis"],
        "judge": judge.name if judge else "",
        "criterion": asked["criterion"],
        "seed": asked["seed"],
    }
    AuditEvent.objects.create(campaign=campaign, user=user, action="tournament started", detail=detail)
    return tournament


def _who_judges(campaign, basis: str, judge: Judge | None, snapshot, criterion) -> tuple[Judge | None, str, str]:
    """Who judges, which of people's answers count, and why they are not above every doubt."""
    if basis == PEOPLE:
        if judge is not None:
            raise Refused("The basis is people, who use no judge. Name a judge with the basis judge or corrected.")
        found = what_counts(_judged(campaign, snapshot), criterion)
        asked = "" if found.criterion else active_selection.had_a_say(campaign, snapshot)  # only pairs are queued
        return None, found.criterion, " ".join(filter(None, [found.warning, asked]))
    if judge is None:
        judge = judge_of(campaign, _serving(campaign, criterion))
    if judge.campaign_id != campaign.pk:
        raise Refused(f"The judge {judge.name!r} is of another campaign.")
    doubts = [judge.version.warning, parted_groups(judge.version)] if judge.version else []
    if basis == CORRECTED:
        doubts.append(active_selection.had_a_say(campaign, _judged(campaign, snapshot)))
    if judge.version:
        about = _criterion_beside(campaign, judge.version, snapshot, criterion, basis)
    else:
        about = _criterion_of_people(campaign, snapshot, criterion, basis)
    asked = campaign.criteria.filter(name=about).first()
    return judge, about, " ".join(filter(None, [*doubts, untold(about, asked.asked_if) if asked else ""]))


def _check_level(basis: str, level: str, rules: Rules) -> None:
    if level not in Tournament.Level.values:
        raise Refused(f"The level is 'system' or 'sample', not {level!r}.")
    if level == Tournament.Level.SAMPLE and basis != JUDGE:
        raise Refused("The level 'sample' compares outputs of several contexts, so the basis must be 'judge'.")
    if basis == CORRECTED and rules.rating == "by-game":
        raise Refused(
            "The basis 'corrected' needs a rating that does not depend on the order of games: glicko2 or bradley-terry."
        )


def _judged(campaign, snapshot):
    if snapshot is None:
        raise Refused(f"Campaign {campaign.slug!r} has no snapshot of accepted judgments yet; assess its quality first.")
    return snapshot


def _serving(campaign, criterion: str | None) -> ComparatorVersion:
    """The newest one of the criterion that is named, else the one in use in the campaign. One that learned without human
    judgments plays only where it was promoted, or is named itself."""
    there = [version for version in campaign.comparators.filter(retired_at=None) if learned_from_people(version)]
    named = next((version for version in there if version.criterion == criterion), None)
    version = named or comparator_in_use(campaign) or next(iter(there), None)
    if version is None:
        raise Refused(
            f"No comparator has been trained on people's judgments of campaign {campaign.slug!r} yet; train_comparator makes"
            " one."
        )
    return version


def _criterion_beside(campaign, version, snapshot, criterion: str | None, basis: str) -> str:
    """Which of people's criteria stands beside a comparator's board. The comparator itself does not ask."""
    learnt = criterion_in(version, campaign)
    if snapshot is not None and criterion is None and learnt in criteria(snapshot):
        return learnt
    return _criterion_of_people(campaign, snapshot, criterion, basis)


def _criterion_of_people(campaign, snapshot, criterion: str | None, basis: str) -> str:
    """A judge alone plays also where people's answers make no board."""
    if basis == JUDGE and criterion is None:
        return usual_criterion(snapshot) or ""
    if snapshot is not None:
        return what_counts(snapshot, criterion).criterion
    if criterion:
        raise Refused(f"Campaign {campaign.slug!r} has no snapshot yet, so no scores for {criterion!r}.")
    return ""


def _waiting(asked: dict, only_kept: bool) -> Tournament | None:
    """The same, asked for before, which waits or runs and plays all that is there now."""
    campaign = Campaign.objects.select_for_update().get(pk=asked["campaign"].pk)  # two clicks make one tournament
    waiting = Tournament.objects.filter(**asked, job__status__in=[Job.Status.QUEUED, Job.Status.RUNNING])
    for tournament in waiting.select_related("job", "judge__version").order_by("-pk"):
        if bool(tournament.settings.get("only_kept")) == only_kept and not entrants.has_changed(campaign, tournament):
            tournament.was_waiting = True
            return tournament
    return None
