"""Whether a language model still judges as it did: a set of pairs that people judged, drawn once, which it is asked about again
by a button or a command. Servers change models under one name. No torch here."""

from typing import Any

from django.db import transaction

from annotation import jobs
from annotation.models import AuditEvent, Campaign, Job
from annotation.snapshots import latest_snapshot
from core.errors import Refused, quoted
from evaluator.models import AnchorAsking, AnchorSet, Judge
from evaluator.versions.selectors import basis

TASK = "evaluator.tasks.ask_anchors"
PAIRS = 100  # of an anchor set, if nobody says how many: two requests each where both orders are asked
MOST_PAIRS = 10_000


@transaction.atomic
def start(
    campaign: Campaign, name: str, pairs: int | None = None, seed: int = 0, user: Any = None, foreground: bool = False
) -> AnchorAsking:
    """Have the judge of this name asked again; the first time, pairs are drawn for it. One that waits or runs is
    returned. pairs: how many, which the first time fixes. Raises Refused."""
    judge = campaign.judges.select_for_update().filter(name=name).first()
    if judge is None or judge.kind != Judge.Kind.LANGUAGE_MODEL:
        raise Refused(f"There is no language model {quoted(name)} in campaign {campaign.slug!r}.")
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


def _planned(judge: Judge, size: int, seed: int) -> AnchorSet:
    """Of the newest snapshot; the pairs are drawn when they are asked about first."""
    snapshot = latest_snapshot(judge.campaign)
    if snapshot is None:
        raise Refused(f"Campaign {judge.campaign.slug!r} has no accepted judgments yet; assess its quality first.")
    if not 1 <= size <= MOST_PAIRS:
        raise Refused(f"An anchor set has 1 to {MOST_PAIRS:,} pairs.")
    criterion = basis(snapshot).criterion
    return AnchorSet.objects.create(judge=judge, snapshot=snapshot, criterion=criterion, seed=seed, size=size)
