"""Preference pairs of a snapshot as a file: at once where there is little to read, else by a worker, since all answers are read
before the first pair is known."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from django.urls import reverse

from annotation import long_files
from annotation.assessment import snapshot_contents
from annotation.data.export import PREFERENCES, as_csv, as_jsonl
from annotation.models import Job, Snapshot, User
from core.version import code_version

Made = Iterator[str] | Path | Job
TASK = "annotation.tasks.write_preferences"


def preference_file(snapshot: Snapshot, margin: float | None, format: str, user: User | None = None) -> Made:
    """The lines, the file in which a worker wrote them, or the job that writes it. margin: as `min_margin` of
    `snapshot_contents.preferences`. Raises Refused."""
    if not long_files.is_long(snapshot):
        return _lines(snapshot, margin, format)
    how = {"margin": margin, "format": format}
    depends_on = [margin, format, code_version()]
    title = f"Write the preference pairs of snapshot {snapshot.name}"
    return long_files.ask(snapshot, PREFERENCES, TASK, title, user, depends_on, **how)


def write(job_id) -> None:
    """Claim the job and write its file."""
    long_files.write(job_id, _make)


def address(job: Job) -> str:
    """Of the page that has the job's file."""
    row = getattr(job, "calculation", None)
    if row is None or job.campaign is None:
        return ""
    how = row.settings
    at = reverse("snapshot_export", args=[job.campaign.slug, how["snapshot"][:12], PREFERENCES, how["format"]])
    return at if how["margin"] is None else f"{at}?margin={how['margin']:g}"


def _make(snapshot: Snapshot, how: dict, out: BinaryIO, report: long_files.Report) -> None:
    report(0.1, "Reading the answers")
    for number, text in enumerate(_lines(snapshot, how["margin"], how["format"])):
        if number == 0:
            report(0.8, "Writing the pairs")
        out.write(text.encode())


def _lines(snapshot: Snapshot, margin: float | None, format: str) -> Iterator[str]:
    rows = snapshot_contents.preferences(snapshot, margin)
    return as_csv(rows, PREFERENCES) if format == "csv" else as_jsonl(rows)
