"""A comparator that was trained elsewhere comes in: the web keeps the file, `worker.admit` checks it and enters it."""

import os
import time
import uuid
from pathlib import Path

from django.conf import settings as site
from django.db import transaction

from annotation import jobs
from annotation.models import Campaign, Job
from core.errors import Refused
from evaluator.versions import archive

TASK = "evaluator.tasks.admit"
KEPT_SECONDS = 24 * 3600  # what a job that failed or was cancelled left: so long it can be started again


def waiting_file(job_id) -> Path:
    return site.MODELS_DIR / f".upload-{job_id}.zip"


def receive(campaign: Campaign, chunks, user=None) -> Job:
    """Keep the uploaded file (an iterable of bytes) until a worker has looked at it."""
    site.MODELS_DIR.mkdir(parents=True, exist_ok=True)
    _forget_old()
    part = site.MODELS_DIR / f".upload-{uuid.uuid4().hex}.part"
    try:
        with part.open("xb") as out:
            size = 0
            for chunk in chunks:
                size += len(chunk)
                if size > archive.MAX_BYTES:
                    raise Refused(f"The file is larger than {archive.MAX_BYTES // 2**30} GB.")
                out.write(chunk)
        with transaction.atomic():
            job = jobs.enqueue(TASK, "Check an uploaded comparator", campaign=campaign, user=user)
            os.rename(part, waiting_file(job.pk))
    finally:
        part.unlink(missing_ok=True)
    return job


def _forget_old() -> None:
    """Delete what deaths and cancellations left: uploaded files older than a day whose job is not to be run any more."""
    for path in site.MODELS_DIR.glob(".upload-*"):
        if time.time() - path.stat().st_mtime > KEPT_SECONDS:
            waiting = Job.objects.filter(status__in=[Job.Status.QUEUED, Job.Status.RUNNING], task=TASK)
            if path not in {waiting_file(job.pk) for job in waiting}:
                path.unlink(missing_ok=True)


def forget(job: Job) -> None:
    """Delete the uploaded file, once its job is done."""
    if Job.objects.filter(pk=job.pk, status=Job.Status.DONE).exists():
        waiting_file(job.pk).unlink(missing_ok=True)
