"""How long a calculation that a page asks for waits, and takes, while a training runs under `manage.py serve` on the embedded
default (SQLite, the message folder, two workers)."""

import asyncio
import os
import time
from pathlib import Path

from annotation import jobs
from annotation.models import Calculation, Job
from benchmarks.load import servers

START_SECONDS = 300


async def waits(options, folder: Path) -> int:
    return await asyncio.to_thread(_waits, options, folder)


def _waits(options, folder: Path) -> int:
    os.environ["HF_HUB_OFFLINE"] = "1"
    from evaluator.trainings.services import start_training
    from tests.evaluator.world import World, recipe

    world = World(folder, contexts=200, slug="waits")
    with servers.comparena():
        training = start_training([world.campaign], recipe=recipe(epochs=100_000, max_length=128)).job
        _until(training, lambda job: job.status == Job.Status.RUNNING and job.progress > 0, START_SECONDS)
        print(f"  a training runs; load {os.getloadavg()[0]:.1f}", flush=True)
        waited = []
        for turn in range(options.repeats):
            asked = time.perf_counter()
            job = _calculation(world.campaign, turn)
            _until(job, lambda job: job.status != Job.Status.QUEUED, 60)
            begun = time.perf_counter() - asked
            _until(job, lambda job: job.is_finished, 60)
            waited.append(begun)
            took = time.perf_counter() - asked
            print(f"  calculation {turn + 1}: began after {begun:.2f} s, {job.status} after {took:.2f} s", flush=True)
            assert job.status == Job.Status.DONE, job.error
            time.sleep(options.pause)
        training.refresh_from_db()
        assert training.status == Job.Status.RUNNING, "the training ended before the last calculation"
        jobs.cancel(training)
    print(f"  longest wait {max(waited):.2f} s, mean {sum(waited) / len(waited):.2f} s")
    return 0 if max(waited) < 3 else 1


def _calculation(campaign, turn: int) -> Job:
    """What `calculations.look_up` queues for a large campaign."""
    row = Calculation.objects.create(campaign=campaign, key=f"wait {turn}", what="annotators", settings={})
    row.job = jobs.enqueue("annotation.tasks.calculate", "Look at the annotators", campaign)
    row.save(update_fields=["job"])
    return row.job


def _until(job: Job, condition, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition(job):
        assert time.monotonic() < end and job.status != Job.Status.FAILED, (job.status, job.error)
        time.sleep(0.02)
        job.refresh_from_db()
