"""Starting a training, and starting one again. The training itself is in worker/train.py, which no web process imports."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation import jobs
from annotation.access import campaigns_researched_by
from annotation.models import AuditEvent, Campaign, Job, Snapshot
from annotation.snapshots import VALUES, difference, latest_snapshot
from core.errors import Refused
from evaluator.comparator.settings import Settings, check_seed
from evaluator.models import RetrainingRule, TrainingRun
from evaluator.versions import registry
from evaluator.versions.selectors import NO_BASE, TrainingBasis, base_for, basis, others_in

log = logging.getLogger(__name__)
TASK = "evaluator.tasks.train"
UNMEASURED = "It learned without human judgments, and was not measured on people during training."


@transaction.atomic
def start_training(
    campaigns,
    criterion: str | None = None,
    seed: int = 0,
    user=None,
    foreground: bool = False,
    recipe: dict | None = None,
    others: Sequence[str] = (),
    beside: Sequence[Campaign] = (),
    base: str | None = None,
) -> TrainingRun:
    """Record a training on the latest snapshot of each campaign, and its job; where the recipe leaves people's judgments
    out, on what the campaigns hold without them. Where the same waits or runs already, that one is returned (`was_waiting`).

    criterion   whose scores; "" for judgments of pairs alone; None lets each campaign's own default decide, and the first
                of those that are measured names the comparator
    foreground  the caller runs the job itself (evaluator.tasks.run)
    recipe      fields of comparator.settings.Settings that differ from their defaults
    others      criteria learnt beside, from the campaigns that have scores for them
    beside      further campaigns whose judgments are learnt from, and on which the comparator is not measured
    base        name of a base to start from, "none", or None for the default one (selectors.base_for)
    """
    campaigns = list(dict.fromkeys(campaigns))
    if not campaigns:
        raise Refused("Name at least one campaign to learn from.")
    check_seed(seed)
    start = base_for(recipe or {}, base)
    lent = [campaign.slug for campaign in dict.fromkeys(beside) if campaign not in campaigns]
    campaigns += [campaign for campaign in dict.fromkeys(beside) if campaign not in campaigns]
    joint = (recipe or {}).get("architecture") == "joint"
    snapshots, found = _basis_of(campaigns, criterion, others, Settings(**(recipe or {})).human)
    first = next((b.criterion for slug, b in found.items() if b.criterion and slug not in lent), "")
    settings: dict[str, Any] = {
        "sources": {slug: [b.criterion, b.judgments] for slug, b in found.items()},
        "recipe": (recipe or {}) | ({"base": start} if start else {}),
    }
    others = [name for name in dict.fromkeys(others) if name != first]
    doubts = _doubts(snapshots, others)
    if others and joint:
        raise Refused("A joint comparator learns one criterion; name one, or train a utility comparator.")
    settings |= ({"others": others} if others else {}) | ({"beside": lent} if lent else {})
    if not foreground and (waiting := _waiting(campaigns[0], snapshots, settings, seed)):
        return waiting
    title = f"Train a comparator on {', '.join(slug for slug in found if slug not in lent)}"
    job = jobs.enqueue(TASK, title[:200], campaign=campaigns[0], user=user, foreground=foreground)
    run = TrainingRun.objects.create(
        job=job,
        criterion=first,
        seed=seed,
        settings=settings,
        warning=" ".join([*dict.fromkeys(b.warning for b in found.values() if b.warning), *doubts]),
    )
    run.campaigns.set(campaigns)
    run.snapshots.set(snapshots)
    for campaign in campaigns:
        detail = {"job": str(job.pk), "criterion": run.criterion, "seed": seed}
        AuditEvent.objects.create(campaign=campaign, user=user, action="training started", detail=detail)
    return run


def _basis_of(
    campaigns: Sequence[Campaign], criterion: str | None, others: Sequence[str], human: bool
) -> tuple[list[Snapshot], dict[str, TrainingBasis]]:
    """The snapshots that are learnt from, and by slug what is taken of each campaign. human: whether people's judgments are."""
    if human:
        snapshots = [_snapshot(campaign) for campaign in campaigns]
        return snapshots, {c.slug: basis(snapshot, criterion) for c, snapshot in zip(campaigns, snapshots)}
    if criterion or others:
        raise Refused("A criterion needs human judgments. Leave it out to train without them.")
    return [], {c.slug: TrainingBasis("", False, UNMEASURED) for c in campaigns}


def _doubts(snapshots: list[Snapshot], names: list[str]) -> list[str]:
    """Why the scores by the named criteria are not above every doubt. Raises Refused where no snapshot has any."""
    found = [others_in(snapshot, names) for snapshot in snapshots]
    for name in names:
        if not any(name in there for there in found):
            where = " or ".join(f"{s.name} of campaign {s.campaign.slug!r}" for s in snapshots)
            raise Refused(f"There are no scores for the criterion {name!r} in snapshot {where}.")
    return [warning for there in found for warning in there.values() if warning]


def _snapshot(campaign) -> Snapshot:
    snapshot = latest_snapshot(campaign)
    if snapshot is None:
        raise Refused(f"Campaign {campaign.slug!r} has no snapshot of accepted judgments yet; assess its quality first.")
    return snapshot


def _waiting(campaign: Campaign, snapshots: list[Snapshot], settings: dict[str, Any], seed: int) -> TrainingRun | None:
    """The same, asked for before, which waits or runs: a second click must not train a comparator a second time."""
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    waiting = campaign.training_runs.filter(job__status__in=[Job.Status.QUEUED, Job.Status.RUNNING], seed=seed)
    for run in waiting.select_related("job").prefetch_related("snapshots"):
        if run.settings == settings and {s.pk for s in run.snapshots.all()} == {s.pk for s in snapshots}:
            run.was_waiting = True
            return run
    return None


def retrain(run: TrainingRun, user=None) -> TrainingRun:
    """Start a training as this one was asked for, on the newest snapshots. Raises Refused as `start_training` does, and where a
    campaign of it was deleted."""
    campaigns = list(run.campaigns.all())
    if gone := [campaign.slug for campaign in campaigns if campaign.deleted_at]:
        raise Refused(f"Campaign {gone[0]!r}, which it learned from, was deleted.")
    beside = run.settings.get("beside", [])
    recipe = dict(run.settings.get("recipe", {}))
    base = recipe.pop("base", NO_BASE)
    criteria = {criterion for criterion, _ in run.settings.get("sources", {}).values()}
    human = Settings(**recipe).human
    return start_training(
        [campaign for campaign in campaigns if campaign.slug not in beside],
        run.criterion if human and len(criteria) == 1 else None,
        run.seed,
        user,
        recipe=recipe,
        others=run.settings.get("others", []),
        beside=[campaign for campaign in campaigns if campaign.slug in beside],
        base=base,
    )


def set_retraining(campaign: Campaign, after_days: int | None, after_judgments: int | None, user) -> RetrainingRule:
    """From now on the comparator in use is trained again, in this user's name, once there is a newer snapshot and one of the
    two has come: so many days since the last training, or so many accepted answers that it did not have. None twice: never."""
    fields = {"after_days": after_days, "after_judgments": after_judgments, "user": user, "refused": "", "refused_for": ""}
    with transaction.atomic():
        rule, _ = RetrainingRule.objects.update_or_create(campaign=campaign, defaults=fields)
        detail = {"days": after_days, "judgments": after_judgments}
        AuditEvent.objects.create(campaign=campaign, user=user, action="retraining set", detail=detail)
    return rule


def retrain_due(now: datetime | None = None) -> int:
    """Start the trainings that are due by the campaigns' rules; returns how many. Safe to run anywhere, any time."""
    now = now or timezone.now()
    rules = RetrainingRule.objects.filter(campaign__deleted_at=None).exclude(after_days=None, after_judgments=None)
    return sum(_retrain_where_due(rule.pk, now) for rule in rules.select_related("campaign") if _due(rule, now))


@transaction.atomic
def _retrain_where_due(pk: int, now: datetime) -> bool:
    """Look again under a lock: of several workers one starts it."""
    rule = RetrainingRule.objects.select_for_update(of=("self",)).select_related("campaign", "user").filter(pk=pk).first()
    run = rule and _due(rule, now)
    if not rule or not run:
        return False
    try:
        with transaction.atomic():
            retrain(run, _answerable(rule, run))
    except Refused as refused:
        snapshot = latest_snapshot(rule.campaign)
        rule.refused, rule.refused_for = str(refused), snapshot.digest if snapshot else ""
        rule.save(update_fields=["refused", "refused_for"])
        log.warning("campaign %s: no training again: %s", rule.campaign.slug, refused)
        return False
    RetrainingRule.objects.filter(pk=pk).update(refused="", refused_for="")
    return True


def _answerable(rule: RetrainingRule, run: TrainingRun):
    """Who set the rule, while they research all that is learnt from."""
    campaigns = {campaign.pk for campaign in run.campaigns.all()}
    if rule.user is None or not rule.user.is_active:
        raise Refused("The account that set this is closed. Set it again.")
    if not campaigns <= set(campaigns_researched_by(rule.user).filter(pk__in=campaigns).values_list("pk", flat=True)):
        raise Refused(f"{rule.user} no longer researches all campaigns that the comparator learns from.")
    return rule.user


def _due(rule: RetrainingRule, now: datetime) -> TrainingRun | None:
    """The training to repeat: the last one like that of the comparator in use, where the rule asks for it now. A snapshot that
    such a training had is not learnt from twice, however that training ended."""
    used, snapshot = registry.comparator_in_use(rule.campaign), latest_snapshot(rule.campaign)
    if used is None or used.run is None or snapshot is None or snapshot.digest == rule.refused_for:
        return None
    alike = [run for run in rule.campaign.training_runs.order_by("-pk") if _asked(run) == _asked(used.run)]
    last = alike[0] if alike else None
    if last is None or any(snapshot in run.snapshots.all() for run in alike) or not last.job.is_finished:
        return None
    if rule.after_days is not None and last.created_at <= now - timedelta(days=rule.after_days):
        return last
    had = last.snapshots.filter(campaign=rule.campaign).first()
    new = _new_answers(had.pk, snapshot.pk) if had and rule.after_judgments is not None else 0
    return last if rule.after_judgments is not None and new >= rule.after_judgments else None


def _asked(run: TrainingRun) -> tuple:
    """What was asked of a training, without what its snapshots brought."""
    return run.criterion, run.seed, [run.settings.get(name) for name in ("recipe", "others", "beside")]


@lru_cache(maxsize=256)
def _new_answers(old: int, new: int) -> int:
    """People's answers in the snapshot `new` that are not in `old`, or are otherwise there. Snapshots never change."""
    found = difference(Snapshot.objects.get(pk=old), Snapshot.objects.get(pk=new))
    return sum(found.come[kind] for kind in VALUES) + len(found.changed)
