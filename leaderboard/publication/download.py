"""The zip of a snapshot's files for who waits for it: made at once where there is little to read, else by a worker, and kept
for a day."""

from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.db.models import Count

from annotation import long_files
from annotation.models import AuditEvent, Job, Snapshot, User
from annotation.snapshots import has_newer_answers
from core.version import code_version
from leaderboard.boards import queries
from leaderboard.publication.contents import as_zip, contents

TASK, WHAT = "publication.write", "published"


def zip_of(snapshot: Snapshot, user: User | None = None) -> bytes | Path | Job:
    """The zip, the file in which a worker wrote it, or the job that writes it. A new board, a decision or a setting makes a new
    file; so does a day, since the datasheet counts people. Raises Refused."""
    if not long_files.is_long(snapshot):
        return as_zip(contents(snapshot))
    title = f"Write the files of snapshot {snapshot.name}"
    return long_files.ask(snapshot, WHAT, TASK, title, user, _depends_on(snapshot))


def write(job_id) -> None:
    """Claim the job and write its file."""
    long_files.write(job_id, _make)


def _make(snapshot: Snapshot, how: dict, out: BinaryIO, report: long_files.Report) -> None:
    report(0.1, "Reading the answers")
    files = contents(snapshot)
    report(0.8, "Packing the files")
    out.write(as_zip(files))


def _depends_on(snapshot: Snapshot) -> list:
    """What the files follow from, but for the datasheet's counts of people, which never rest in an open campaign."""
    campaign = snapshot.campaign
    return [
        snapshot.accepted_at,
        list(queries.finished(campaign).filter(snapshot=snapshot).values_list("pk", flat=True)),
        list(snapshot.decisions.values_list("pk", "verdict", "overruled_at")),
        snapshot.marks.aggregate(Count("pk")),
        has_newer_answers(snapshot),
        AuditEvent.objects.filter(campaign=campaign).exclude(action="exported").order_by("-pk").values_list("pk").first(),
        [campaign.slug, campaign.title, settings.SITE_URL, code_version()],
    ]
