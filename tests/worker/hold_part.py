"""Loaded by a worker under test (`celery worker --include`): a job in parts, whose third part is held where HOLD_PART says so
until the worker is killed. What is merged is added to a file, so that nothing is merged twice unseen."""

import os
import threading
from pathlib import Path

from celery import shared_task

from annotation import jobs, parts


def square(work, report):
    if work["n"] == 2 and os.environ.get("HOLD_PART"):
        Path(os.environ["HELD_FILE"]).touch()
        threading.Event().wait()
    return work["n"] ** 2


@shared_task(name="tests.squares")
@parts.task_body(lambda job: square)
def squares(job_id):
    with jobs.claim(job_id) as claim:
        results = parts.share(claim, lambda: [{"n": n} for n in range(6)], square, "Squares")

        def merge():
            with Path(os.environ["MERGED_FILE"]).open("a") as file:
                file.write(f"{results}\n")

        parts.merge_once(claim, merge)
