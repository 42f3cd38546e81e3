"""Files that take long to make: a worker writes them into the folder that all processes share, and they are kept for a day."""

import hashlib
import json
import time
import zlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation import jobs
from annotation.models import Calculation, FrozenAnswers, Job, Snapshot, User
from core.errors import Refused

AT_ONCE = 20_000  # answers: a third of a second
AT_ONCE_BYTES = 10 * 2**20  # of a snapshot's lines, unpacked
KEPT = timedelta(days=1)
MOST = 20  # of each kind in a campaign: an address may ask for any margin
WHATS = ("published", "preferences")  # of the calculations whose result is a file
Report = Callable[[float, str], None]


def is_long(snapshot: Snapshot) -> bool:
    """Is there more to read than a request takes time for: many answers, or long texts?"""
    if snapshot.scores + snapshot.judgments > AT_ONCE:
        return True
    frozen = FrozenAnswers.objects.filter(snapshot=snapshot).values_list("lines", flat=True)
    packed = (bytes(lines) for lines in (snapshot.content, *frozen))
    return any(len(zlib.decompressobj().decompress(lines, AT_ONCE_BYTES)) == AT_ONCE_BYTES for lines in packed)


def ask(snapshot: Snapshot, what: str, task: str, title: str, user: User | None, depends_on: list, **how) -> Path | Job:
    """The file that a worker wrote, or the job that writes it: one for all who ask meanwhile. depends_on: all that the file
    follows from; how: kept in the calculation's settings, for who writes it."""
    key = hashlib.sha256(json.dumps([what, snapshot.digest, *depends_on], default=str).encode()).hexdigest()
    with transaction.atomic():
        row, _ = Calculation.objects.get_or_create(campaign=snapshot.campaign, key=key, defaults={"what": what})
        row = Calculation.objects.select_for_update().get(pk=row.pk)
        job, is_old = row.job, row.created_at < timezone.now() - KEPT
        if job and job.status == Job.Status.DONE and not is_old and file_of(job).is_file():
            return file_of(job)
        if job is None or job.status == Job.Status.DONE or (job.is_finished and is_old):
            job = jobs.enqueue(task, title, snapshot.campaign, user)
            row.job, row.settings, row.created_at = job, {"snapshot": snapshot.digest, **how}, timezone.now()
            row.save(update_fields=["job", "settings", "created_at"])
            for old in row.campaign.calculations.filter(what=what).select_related("job")[MOST:]:
                if old.job:
                    file_of(old.job).unlink(missing_ok=True)
                old.delete()
    return job


def write(job_id, make: Callable[[Snapshot, dict, BinaryIO, Report], None]) -> None:
    """Claim the job and write its file. make: takes the snapshot, the calculation's settings, the file and the report."""
    with jobs.claim(job_id) as claim:
        row = Calculation.objects.filter(job=claim.job).select_related("campaign").first()
        if row is None:
            raise Refused("These files are no longer needed.")
        _forget_old()
        file = file_of(claim.job)
        part = file.with_suffix(f".{claim.job.attempts}.part")
        with part.open("wb") as out:
            make(row.campaign.snapshots.get(digest=row.settings["snapshot"]), row.settings, out, claim.report)
        part.replace(file)
        claim.report(1.0, "Ready")


def file_of(job: Job) -> Path:
    """Where a job's file lies, in the folder that all processes share."""
    return Path(settings.UPLOADS_DIR) / "published" / str(job.pk)


def _forget_old() -> None:
    Calculation.objects.filter(what__in=WHATS, job__finished_at__lt=timezone.now() - KEPT).delete()
    folder = Path(settings.UPLOADS_DIR) / "published"
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.stat().st_mtime < time.time() - KEPT.total_seconds():
            file.unlink(missing_ok=True)
