"""The zip of a snapshot's files for who waits for it: made at once where there is little to read, else by a worker, and kept
for a day."""

import hashlib
import json
import time
import zlib
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from annotation import jobs
from annotation.assessment import snapshot_contents
from annotation.models import AuditEvent, Calculation, Job, Snapshot, User
from annotation.snapshots import has_newer_answers
from core.errors import Refused
from core.version import code_version
from leaderboard.boards import queries
from leaderboard.publication.contents import as_zip, contents

TASK, WHAT, TITLE = "publication.write", "published", "Write the files of snapshot"
AT_ONCE = 20_000  # answers: a third of a second
AT_ONCE_BYTES = 10 * 2**20  # of its lines, unpacked
KEPT = timedelta(days=1)


def zip_of(snapshot: Snapshot, user: User | None = None) -> bytes | Path | Job:
    """The zip, the file in which a worker wrote it, or the job that writes it: one for all who ask meanwhile. A new board, a
    decision or a setting makes a new file; so does a day, since the datasheet counts people. Raises Refused."""
    if not _is_long(snapshot):
        return as_zip(contents(snapshot))
    campaign, key = snapshot.campaign, _key(snapshot)
    with transaction.atomic():
        row, _ = Calculation.objects.get_or_create(campaign=campaign, key=key, defaults={"what": WHAT})
        row = Calculation.objects.select_for_update().get(pk=row.pk)
        job, is_old = row.job, row.created_at < timezone.now() - KEPT
        if job and job.status == Job.Status.DONE and not is_old and file_of(job).is_file():
            return file_of(job)
        if job is None or job.status == Job.Status.DONE or (job.is_finished and is_old):
            job = jobs.enqueue(TASK, f"{TITLE} {snapshot.name}", campaign, user)
            row.job, row.settings, row.created_at = job, {"snapshot": snapshot.digest}, timezone.now()
            row.save(update_fields=["job", "settings", "created_at"])
    return job


def write(job_id) -> None:
    """Claim the job and write its file."""
    with jobs.claim(job_id) as claim:
        row = Calculation.objects.filter(job=claim.job).select_related("campaign").first()
        if row is None:
            raise Refused("These files are no longer needed.")
        _forget_old()
        claim.report(0.1, "Reading the answers")
        files = contents(row.campaign.snapshots.get(digest=row.settings["snapshot"]))
        claim.report(0.8, "Packing the files")
        file = file_of(claim.job)
        part = file.with_suffix(f".{claim.job.attempts}.part")
        part.write_bytes(as_zip(files))
        part.replace(file)
        claim.report(1.0, "Ready")


def file_of(job: Job) -> Path:
    """Where a job's zip lies, in the folder that all processes share."""
    return Path(settings.UPLOADS_DIR) / "published" / f"{job.pk}.zip"


def _is_long(snapshot: Snapshot) -> bool:
    return snapshot.scores + snapshot.judgments > AT_ONCE or any(
        len(zlib.decompressobj().decompress(bytes(packed), AT_ONCE_BYTES)) == AT_ONCE_BYTES
        for packed in (snapshot.content, *snapshot_contents.packed(snapshot))
    )


def _key(snapshot: Snapshot) -> str:
    """SHA-256 of what the files follow from, but for the datasheet's counts of people, which never rest in an open campaign."""
    campaign = snapshot.campaign
    said = [
        WHAT,
        snapshot.digest,
        snapshot.accepted_at,
        list(queries.finished(campaign).filter(snapshot=snapshot).values_list("pk", flat=True)),
        list(snapshot.decisions.values_list("pk", "verdict", "overruled_at")),
        snapshot.marks.aggregate(Count("pk")),
        has_newer_answers(snapshot),
        AuditEvent.objects.filter(campaign=campaign).exclude(action="exported").order_by("-pk").values_list("pk").first(),
        [campaign.slug, campaign.title, settings.SITE_URL, code_version()],
    ]
    return hashlib.sha256(json.dumps(said, default=str).encode()).hexdigest()


def _forget_old() -> None:
    Calculation.objects.filter(what=WHAT, job__finished_at__lt=timezone.now() - KEPT).delete()
    folder = Path(settings.UPLOADS_DIR) / "published"
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.stat().st_mtime < time.time() - KEPT.total_seconds():
            file.unlink(missing_ok=True)
