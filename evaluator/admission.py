"""A comparator that was trained elsewhere comes in: the web keeps the file, `worker.admit` checks it and enters it."""

import os
import uuid
from pathlib import Path

from django.conf import settings as site
from django.db import transaction

from annotation import jobs
from annotation.models import Campaign, Job
from core.errors import Refused
from evaluator import archive

TASK = "evaluator.tasks.admit"


def waiting_file(job_id) -> Path:
    return site.MODELS_DIR / f".upload-{job_id}.zip"


def receive(campaign: Campaign, chunks, user=None) -> Job:
    """Keep the uploaded file (an iterable of bytes) until a worker has looked at it."""
    site.MODELS_DIR.mkdir(parents=True, exist_ok=True)
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


def forget(job: Job) -> None:
    """Delete the uploaded file, once its job is done."""
    if Job.objects.filter(pk=job.pk, status=Job.Status.DONE).exists():
        waiting_file(job.pk).unlink(missing_ok=True)
