"""Archives asked for and brought in, by page, command and API: at once where they are small, else as a job with progress."""

import shutil
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, cast

from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.utils import timezone

from annotation import jobs
from annotation.assessment.numbers import numbers
from annotation.models import Campaign, Job
from annotation.people.audit import exported
from annotation.questions import store
from core import archives
from leaderboard.archive.admission import Admitted, Opened, admit, fill, new_campaign
from leaderboard.archive.export import Report, write_archive
from leaderboard.models import Game

EXPORT, IMPORT = "archives.export", "archives.admit"
SMALL_ROWS = 20_000  # answers and games that are written within a request: about two seconds
SMALL_BYTES = 2 * 2**20  # unpacked, that are read within a request
KEPT = timedelta(days=30)


def file_of(job: Job) -> Path:
    """Where a job's archive lies, in the folder that all processes share."""
    return Path(settings.UPLOADS_DIR) / "archives" / f"{job.pk}.zip"


def ask(campaign: Campaign, user=None) -> Job:
    """A job that writes the campaign's archive; done already where the campaign is small. Those of before go."""
    _forget(campaign)
    rows = sum(store.stored(campaign).values()) + Game.objects.filter(tournament__campaign=campaign).count()
    small = rows <= SMALL_ROWS
    exported("the whole campaign", campaign, user)
    job = _enqueue(EXPORT, f"Archive of {campaign.slug}", campaign, user, small)
    if small:
        write(job.pk)
        job.refresh_from_db()
    return job


def write(job_id) -> None:
    """Claim the job and write its file."""
    with jobs.claim(job_id) as claim:
        _write(claim.job, claim.report)


def _write(job: Job, report: Report) -> None:
    file = file_of(job)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    try:
        with part.open("wb") as out:
            assert job.campaign is not None
            write_archive(job.campaign, out, report)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def latest(campaign: Campaign) -> Job | None:
    """The newest job that writes, or wrote, the campaign's archive, where its file is there or to come."""
    job = Job.objects.filter(campaign=campaign, task=EXPORT).order_by("-created_at").first()
    return None if job is None or job.status == Job.Status.DONE and not file_of(job).is_file() else job


def receive(
    file: File, slug: str = "", user=None, dry_run: bool = False
) -> tuple[Campaign | None, Admitted | None, Job | None]:
    """(the new campaign, what is in it, None), or, where the archive is large, (the campaign, still empty, None, the job that
    fills it). dry_run: (None, what would be in it, None). The file is checked against its manifest before anything is made."""
    name, content = (file.name or "archive.zip")[-200:], cast(BinaryIO, file.file)
    if dry_run or not archives.is_longer(content, name, SMALL_BYTES):
        admitted = admit(content, name, slug, user, dry_run)
        return (None if dry_run else admitted.campaign), admitted, None
    with Opened(content, name) as archive, transaction.atomic():
        campaign = new_campaign(archive, slug, user)
        job = _enqueue(IMPORT, f"Read the archive {name}"[:200], campaign, user, False)
        file_of(job).parent.mkdir(parents=True, exist_ok=True)
        content.seek(0)
        with file_of(job).open("wb") as kept:  # before the job's message goes out
            shutil.copyfileobj(content, kept)
    return campaign, None, job


def read(job_id) -> None:
    """Claim the job and fill its campaign."""
    with jobs.claim(job_id) as claim:
        job, path = claim.job, file_of(claim.job)
        assert job.campaign is not None
        with path.open("rb") as file:
            _read(file, job, claim.report)
        numbers(job.campaign)  # a large campaign is counted here, before a page asks
        path.unlink(missing_ok=True)


def _read(file: BinaryIO, job: Job, report: Report) -> None:
    """In one transaction: progress is of the check before it, and of its end."""
    assert job.campaign is not None
    report(0.0, "Checking the archive")
    with Opened(file, job.title.removeprefix("Read the archive ")) as archive:
        fill(job.campaign, archive, job.created_by)
    report(1.0, "Everything is there")


def _enqueue(task: str, title: str, campaign: Campaign, user, foreground: bool) -> Job:
    return jobs.enqueue(task, title, campaign=campaign, user=user, foreground=foreground)


def _forget(campaign: Campaign) -> None:
    """Earlier archives of the campaign, and old ones of any."""
    old = Job.objects.filter(task__in=[EXPORT, IMPORT], created_at__lt=timezone.now() - KEPT)
    for job in [*old, *Job.objects.filter(task=EXPORT, campaign=campaign)]:
        file_of(job).unlink(missing_ok=True)
