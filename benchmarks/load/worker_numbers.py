"""A file of pairs judged by one worker and by several, one torch thread each, on the same machine in the same run.

The comparator is small (a BERT of hidden size 32, trained for a moment), so that 200,000 pairs take minutes, and most
time goes to texts and tokens; the pairs' texts are synthetic. The results must be identical to the last byte.
"""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from django.db import connection

from annotation import jobs
from annotation.models import WorkerPulse
from benchmarks.load.campaign import WORDS
from benchmarks.load.servers import ROOT, family_cpu_seconds
from core.parent import signalled_at_death_of

START_SECONDS = 90


def trained(folder: Path):
    """A comparator version of a small campaign."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from evaluator.models import ComparatorVersion
    from evaluator.tasks import run
    from evaluator.trainings.services import start_training
    from tests.evaluator.world import World, recipe

    world = World(folder, contexts=12, slug="judging")
    started = start_training([world.campaign], recipe=recipe(max_length=128), foreground=True)
    run(started.job_id)
    return ComparatorVersion.objects.get()


def pairs(path: Path, count: int, seed: int = 0) -> None:
    draw = random.Random(seed)
    sentence = lambda n: " ".join(draw.choices(WORDS, k=n)).capitalize() + "."
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            row = {"context": [sentence(14), sentence(14)], "output_a": sentence(20), "output_b": sentence(20)}
            file.write(json.dumps(row) + "\n")


class Workers:
    """So many, each with one process and one thread."""

    def __init__(self, count: int):
        env = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")}
        env |= {"COMPARENA_DEVICE": "cpu", "TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
        base = [sys.executable, "-m", "celery", "--quiet", "-A", "config.celery", "worker", "--queues=judging"]
        base += ["--concurrency=1", "--loglevel=WARNING", "--without-gossip", "--without-mingle"]
        WorkerPulse.objects.all().delete()
        self.all = [
            subprocess.Popen(
                [*base, f"--hostname=judge{i}@%h"],
                cwd=ROOT,
                env=env,
                start_new_session=True,
                preexec_fn=signalled_at_death_of(os.getpid(), signal.SIGTERM),
            )
            for i in range(count)
        ]
        end = time.monotonic() + START_SECONDS
        while WorkerPulse.objects.count() < count:
            assert time.monotonic() < end, "the workers did not start"
            time.sleep(0.1)

    def cpu_seconds(self) -> list[float]:
        return [family_cpu_seconds(worker.pid) for worker in self.all]

    def stop(self) -> None:
        for worker in self.all:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()


def measure(version, path: Path, count: int, out: Path) -> tuple[float, float, list[float], str]:
    """(seconds of the job, of its preparation before that, CPU seconds of each worker, SHA-256 of the result)"""
    from evaluator.worker import shared_files

    workers = Workers(count)
    try:
        before = workers.cpu_seconds()
        begin = time.perf_counter()
        made = shared_files.start(version, "compare", path)
        queued = time.perf_counter()
        shared_files.wait(made, look_seconds=0.1)
        seconds = time.perf_counter() - queued
        spent = [after - first for after, first in zip(workers.cpu_seconds(), before, strict=True)]
    finally:
        workers.stop()
    shared_files.fetch(made, out)
    return seconds, queued - begin, spent, hashlib.sha256(out.read_bytes()).hexdigest()


async def judging(options, folder: Path) -> int:
    import asyncio

    return await asyncio.to_thread(_judging, options, folder)


def _judging(options, folder: Path) -> int:
    version, path = trained(folder), folder / "pairs.jsonl"
    pairs(path, options.pairs)
    where = connection.vendor
    print(f"{options.pairs:,} pairs, {where}, lease {jobs.LEASE.total_seconds():.0f} s, {options.repeats} rounds", flush=True)
    best: dict[int, float] = {}
    digests = set()
    for turn in range(options.repeats):
        for count in options.workers:
            load = os.getloadavg()[0]
            seconds, prepared, spent, digest = measure(version, path, count, folder / "out.jsonl")
            digests.add(digest)
            best[count] = min(best.get(count, seconds), seconds)
            cpu = " + ".join(f"{one:.1f}" for one in spent)
            print(
                f"  round {turn + 1}, {count} worker(s): {seconds:7.1f} s, prepared in {prepared:.1f} s, CPU {cpu} s, "
                f"load before {load:.1f}, SHA-256 {digest[:12]}",
                flush=True,
            )
    one = best[options.workers[0]]
    for count in options.workers[1:]:
        print(f"  {count} workers took {best[count] / one:.2f} of the time of {options.workers[0]} (best of each)")
    print("  results identical" if len(digests) == 1 else "  RESULTS DIFFER")
    return 0 if len(digests) == 1 else 1
