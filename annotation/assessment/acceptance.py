"""Accepting a filter: at once where answers are few; a worker's work where they are many and it takes minutes."""

import hashlib
import json

from django.db import transaction

from annotation import jobs
from annotation.assessment import calculations
from annotation.assessment.assess import assess
from annotation.models import Calculation, Campaign, Job, Snapshot, User
from annotation.questions import store

WHAT, TITLE = "acceptance", "Freeze the answers that a filter keeps"


def accept(campaign: Campaign, user: User, seen: str | None = None, **rule) -> Snapshot | Job:
    """What `assess` freezes, or the job that does so. Who asks for the same while that waits or runs gets the same job.
    Raises Refused."""
    if not store.is_larger(campaign, calculations.AT_ONCE):
        return assess(campaign, **rule, user=user, seen=seen)
    settings = {**rule, "seen": seen, "user": user.pk}
    key = hashlib.sha256(json.dumps([WHAT, rule, seen]).encode()).hexdigest()
    with transaction.atomic():
        row, _ = Calculation.objects.get_or_create(campaign=campaign, key=key, defaults={"what": WHAT})
        row = Calculation.objects.select_for_update().get(pk=row.pk)
        if row.job is None or row.job.is_finished:
            row.job = jobs.enqueue("annotation.tasks.calculate", TITLE, campaign, user)
            row.settings, row.result = settings, None
            row.save(update_fields=["job", "settings", "result"])
    return row.job


def under_way(campaign: Campaign) -> Job | None:
    """The newest job of this kind, unless it is done."""
    job = Job.objects.filter(calculation__campaign=campaign, calculation__what=WHAT).order_by("-created_at").first()
    return None if job is None or job.status == Job.Status.DONE else job


def accepted(job: Job) -> str | None:
    """The digest of the snapshot that such a job froze."""
    row = Calculation.objects.filter(job=job, what=WHAT).first()
    return row.result["digest"] if row and row.result else None
