"""A file of outputs or of pairs judged by all workers together, in parts. What is written does not depend on how many they are.

The file's rows are checked and kept in UPLOADS_DIR, which all workers share; a part is a place in it. The results are rows of
the database until they are merged into one file, which is there as a whole or not at all.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from annotation import jobs, parts
from annotation.models import Job, JobPart
from core.errors import ImportRefused, Refused, RowError
from core.rowfiles import BadField, Row, read_rows
from evaluator.models import ComparatorVersion, JudgedFile
from evaluator.versions.selectors import architecture
from evaluator.worker import judged_files
from evaluator.worker.comparators import CHUNK, load

TASK = "evaluator.tasks.judge_file"
KEPT_SECONDS = 30 * 24 * 3600  # a file that nobody fetched
FIELDS = {JudgedFile.Kind.SCORE: ("output",), JudgedFile.Kind.COMPARE: ("output_a", "output_b")}


def start(version: ComparatorVersion, kind: str, path: Path, user=None) -> JudgedFile:
    """Check the file's rows, keep them, and queue a job that judges them. Raises ImportRefused, Refused."""
    if kind == JudgedFile.Kind.SCORE and architecture(version) == "joint":
        raise Refused("A joint comparator scores outputs against each other, so their file is not judged in parts.")
    folder = _folder()
    for old in folder.iterdir():
        if time.time() - old.stat().st_mtime > KEPT_SECONDS:
            old.unlink(missing_ok=True)
    with transaction.atomic():
        title = f"{'Score' if kind == JudgedFile.Kind.SCORE else 'Compare'} {path.name}"[:200]
        job = jobs.enqueue(TASK, title, user=user)
        made = JudgedFile.objects.create(job=job, version=version, kind=kind, name=path.name[-200:])
        places = list(_kept(made, path))
        parts.lay_out(job, places)
    return made


def _kept(made: JudgedFile, path: Path) -> Iterator[dict]:
    """Write the rows, as JSON lines, where workers read them; gives where each part begins."""
    kept = rows_file(made.job)
    try:
        with kept.open("wb") as file:
            rows = _checked(path, FIELDS[JudgedFile.Kind(made.kind)])
            while chunk := list(islice(rows, CHUNK)):
                yield {"at": file.tell(), "rows": len(chunk)}
                file.writelines(json.dumps([row.line, row.fields], ensure_ascii=True).encode() + b"\n" for row in chunk)
    except BaseException:
        kept.unlink(missing_ok=True)
        raise


def _checked(path: Path, fields: tuple[str, ...]) -> Iterator[Row]:
    row = None
    try:
        for row in read_rows(path):
            for field in fields:
                judged_files.text_of_row(row, field)
            yield row
    except BadField as error:
        raise ImportRefused([RowError(path.name, error.line, error.field, str(error))]) from None


def run(claim: jobs.Claim) -> None:
    """Judge with whoever is free, and merge once."""
    made = JudgedFile.objects.select_related("version", "job").get(job=claim.job)
    if claim.job.merged_at:
        return
    claim.report(0.0, "Loading the comparator")
    results = parts.share(claim, list, part_work(made), "Judging", (0.0, 0.95))
    parts.merge_once(claim, lambda: _merge(made, results))


def part_work(made: JudgedFile) -> parts.Work:
    """What judges one part: {"at": byte, "rows": how many} -> for each row the fields to be added, as JSON text: PostgreSQL
    keeps no order of fields."""
    loaded: list[Any] = []

    def work(part: dict, report: parts.Report) -> list[str]:
        judge = loaded[0] if loaded else load(made.version, of_files=True)
        loaded[:] = [judge]
        report(0.0, "")
        rows = list(_rows(made.job, part["at"], part["rows"]))
        judged = (
            judged_files.compared(judge, rows) if made.kind == JudgedFile.Kind.COMPARE else judged_files.scored(judge, rows)
        )
        return [
            json.dumps({k: v for k, v in record.items() if k not in row.fields or row.fields[k] != v}, ensure_ascii=False)
            for record, row in zip(judged, rows, strict=True)
        ]

    return work


def _merge(made: JudgedFile, results: list[list[str]]) -> None:
    """One file with each row and what was said of it; written anew, it is the same."""
    places = JobPart.objects.filter(job=made.job).order_by("number").values_list("work", flat=True)
    with judged_files.written(result_file(made.job)) as file:
        for place, added in zip(places, results, strict=True):
            for row, fields in zip(_rows(made.job, place["at"], place["rows"]), added, strict=True):
                file.write(json.dumps({**row.fields, **json.loads(fields)}, ensure_ascii=False) + "\n")


def _rows(job: Job, at: int, count: int) -> Iterator[Row]:
    with rows_file(job).open("rb") as file:
        file.seek(at)
        for line in islice(file, count):
            number, fields = json.loads(line)
            yield Row(number, fields)


def fetch(made: JudgedFile, out: Path) -> int:
    """Move the result of a finished job to `out`; returns how many rows it has. The kept rows go."""
    count = 0
    with judged_files.written(out) as target, result_file(made.job).open(encoding="utf-8") as source:
        for line in source:
            target.write(line)
            count += 1
    forget(made)
    return count


def forget(made: JudgedFile) -> None:
    for file in (rows_file(made.job), result_file(made.job)):
        file.unlink(missing_ok=True)


def wait(made: JudgedFile, watch: Callable[[float], None] | None = None, look_seconds: float = 0.5) -> Job:
    """Until the job is finished; whoever interrupts this cancels it. Raises Refused where it did not end well."""
    job = made.job
    try:
        while not job.is_finished:
            time.sleep(look_seconds)
            job.refresh_from_db()
            if watch:
                watch(job.progress)
            if job.status == Job.Status.QUEUED and not jobs.worker_alive(TASK):
                raise Refused("No worker is running (make serve); leave --workers out to judge in this process.")
    except BaseException:
        jobs.cancel(job)
        raise
    if job.status != Job.Status.DONE:
        forget(made)
        raise Refused(job.error or "The job was cancelled.")
    return job


def rows_file(job: Job) -> Path:
    return _folder() / f"{job.pk}.rows.jsonl"


def result_file(job: Job) -> Path:
    return _folder() / f"{job.pk}.jsonl"


def _folder() -> Path:
    folder = settings.UPLOADS_DIR / "judged"
    folder.mkdir(parents=True, exist_ok=True)
    os.chmod(folder, 0o700)
    return folder
