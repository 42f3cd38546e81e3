"""Whether a language model still judges as it did: a set of pairs that people judged, drawn once, which it is asked about again
by a button, a command or by itself each so many days. Servers change models under one name. No torch here."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation import jobs
from annotation.models import AuditEvent, Campaign, Job
from annotation.snapshots import latest_snapshot
from core.errors import Refused, quoted
from evaluator.models import AnchorAsking, AnchorSet, Judge
from evaluator.versions.selectors import basis

TASK = "evaluator.tasks.ask_anchors"
PAIRS = 100  # of an anchor set, if nobody says how many: two requests each where both orders are asked
MOST_PAIRS = 10_000
MOST_DAYS = 365

log = logging.getLogger(__name__)


@transaction.atomic
def start(
    campaign: Campaign, name: str, pairs: int | None = None, seed: int = 0, user: Any = None, foreground: bool = False
) -> AnchorAsking:
    """Have the judge of this name asked again; the first time, pairs are drawn for it. One that waits or runs is
    returned. pairs: how many, which the first time fixes. Raises Refused."""
    judge = _language_model(campaign, name)
    anchors = AnchorSet.objects.filter(judge=judge).first()
    if anchors is None:
        anchors = _planned(judge, PAIRS if pairs is None else pairs, seed)
    elif pairs is not None and pairs != anchors.size:
        raise Refused(f"The anchor set of {quoted(name)} was drawn with --pairs {anchors.size}, and stays as it is.")
    open_one = anchors.askings.filter(job__status__in=[Job.Status.QUEUED, Job.Status.RUNNING]).first()
    if open_one is not None:
        return open_one
    title = f"Ask {judge.name} again about {len(anchors.pairs) or anchors.size} pairs"[:200]
    job = jobs.enqueue(TASK, title, campaign=campaign, user=user, foreground=foreground)
    AuditEvent.objects.create(campaign=campaign, user=user, action="judge asked again", detail={"judge": judge.name})
    return AnchorAsking.objects.create(anchor_set=anchors, job=job)


def _language_model(campaign: Campaign, name: str) -> Judge:
    judge = campaign.judges.select_for_update().filter(name=name).first()
    if judge is None or judge.kind != Judge.Kind.LANGUAGE_MODEL:
        raise Refused(f"There is no language model {quoted(name)} in campaign {campaign.slug!r}.")
    return judge


@transaction.atomic
def set_schedule(campaign: Campaign, name: str, every_days: int | None, user: Any = None) -> AnchorSet:
    """Have it asked again by itself, so many days after the last time; None: never. Raises Refused for one that has not been
    asked a first time."""
    anchors = AnchorSet.objects.filter(judge=_language_model(campaign, name)).first()
    if anchors is None:
        raise Refused(f"{quoted(name)} has not been asked a first time, which draws its pairs.")
    if every_days is not None and not 1 <= every_days <= MOST_DAYS:
        raise Refused(f"A judge can be asked again each 1 to {MOST_DAYS} days.")
    if anchors.every_days != every_days:
        anchors.every_days = every_days
        anchors.save(update_fields=["every_days"])
        detail = {"judge": name, "every_days": every_days}
        AuditEvent.objects.create(campaign=campaign, user=user, action="judge's schedule set", detail=detail)
    return anchors


def ask_due(now: datetime | None = None) -> int:
    """Ask again where that is due; returns how many. Safe to run anywhere, any time."""
    now = now or timezone.now()
    scheduled = AnchorSet.objects.filter(every_days__isnull=False, judge__campaign__deleted_at=None)
    return sum(_ask_where_due(anchors.pk, now) for anchors in scheduled if _is_due(anchors, now))


@transaction.atomic
def _ask_where_due(pk: int, now: datetime) -> bool:
    """Look again under a lock: of several workers one starts it."""
    anchors = AnchorSet.objects.select_for_update(of=("self",)).select_related("judge__campaign").filter(pk=pk).first()
    if anchors is None or not _is_due(anchors, now):
        return False
    start(anchors.judge.campaign, anchors.judge.name)
    log.info("campaign %s: %s is asked again", anchors.judge.campaign.slug, anchors.judge.name)
    return True


def _is_due(anchors: AnchorSet, now: datetime) -> bool:
    last = anchors.askings.last()
    days = anchors.every_days
    return last is not None and days is not None and last.job.is_finished and now - last.created_at >= timedelta(days=days)


def _planned(judge: Judge, size: int, seed: int) -> AnchorSet:
    """Of the newest snapshot; the pairs are drawn when they are asked about first."""
    snapshot = latest_snapshot(judge.campaign)
    if snapshot is None:
        raise Refused(f"Campaign {judge.campaign.slug!r} has no accepted judgments yet; assess its quality first.")
    if not 1 <= size <= MOST_PAIRS:
        raise Refused(f"An anchor set has 1 to {MOST_PAIRS:,} pairs.")
    criterion = basis(snapshot).criterion
    return AnchorSet.objects.create(judge=judge, snapshot=snapshot, criterion=criterion, seed=seed, size=size)
