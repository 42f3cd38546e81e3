"""A real worker in its own process, killed in the middle of a training.

Runs on the embedded default, or on PostgreSQL and Redis where DATABASE_URL and BROKER_URL name them.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.evaluator.world import tiny_encoder

ROOT = Path(__file__).parents[2]
GOOD, BAD = "yes , gladly , thank you", "no idea"


@pytest.fixture
def shell(tmp_path, environment):
    """Runs manage.py in an installation of its own; shell.worker() starts a worker there."""
    made = Installation(tmp_path, environment)
    yield made
    made.stop()


class Installation:
    def __init__(self, folder: Path, environment: dict[str, str]):
        self.folder, self.workers, self.held_file = folder, [], folder / "held"
        self.env = environment | {"JOB_LEASE_SECONDS": "4", "OMP_NUM_THREADS": "1", "HELD_FILE": str(self.held_file)}
        self.prompt = None

    def manage(self, *words: str) -> None:
        self.python(f"call_command(*{words!r}, stdout=io.StringIO()); print('null')")

    def python(self, code: str):
        """What code prints, read as JSON. It runs with Django ready, in the process that ran what was asked for before."""
        if self.prompt is None:
            command, pipe = [sys.executable, "-m", "tests.worker.prompt"], subprocess.PIPE
            self.prompt = subprocess.Popen(command, cwd=ROOT, env=self.env, stdin=pipe, stdout=pipe, text=True)
        self.prompt.stdin.write(json.dumps(code) + "\n")
        self.prompt.stdin.flush()
        said, error = json.loads(self.prompt.stdout.readline())
        assert not error, error
        return json.loads(said)

    def job(self) -> dict:
        fields = "'status', 'progress', 'attempts', 'error'"
        first = "Job.objects.filter(task='evaluator.tasks.train')"
        return self.python(f"print(json.dumps({first}.values({fields}).latest('created_at')))")

    def wait_for(self, condition, seconds=600) -> dict:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            job = self.job()
            if condition(job):
                return job
            time.sleep(0.1)
        raise AssertionError(f"still {job} after {seconds} seconds")

    def worker(self, *options: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "celery", "-A", "config.celery", "worker", "--concurrency=1", "--loglevel=WARNING"]
        command += options
        log = open(self.folder / "worker.log", "ab")
        self.workers.append(subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=log, stderr=log, start_new_session=True))
        return self.workers[-1]

    def wait_until_held(self, worker: subprocess.Popen, seconds=600) -> None:
        """Until a worker that includes `hold_training` stands still in the middle of a training."""
        end = time.monotonic() + seconds
        while not self.held_file.exists():
            assert worker.poll() is None and time.monotonic() < end, (self.folder / "worker.log").read_text()
            time.sleep(0.1)

    def kill(self, worker: subprocess.Popen) -> None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def stop(self) -> None:
        if self.prompt:
            self.prompt.communicate()
        for worker in self.workers:
            if worker.poll() is None:
                self.kill(worker)


def corpus(shell: Installation, contexts: int = 12) -> None:
    outputs = [
        {"context_id": f"c{c}", "context": [f"would you like tea number {c} ?"], "system": s, "output": f"{text} {c}"}
        for c in range(contexts)
        for s, text in (("good", GOOD), ("bad", BAD), ("good too", GOOD + " !"))
    ]
    scores = [
        {
            "context_id": row["context_id"],
            "system": row["system"],
            "aspect": "Overall",
            "scale": [1, 5],
            "annotator": annotator,
            "score": 5 if "good" in row["system"] else 1,
        }
        for row in outputs
        for annotator in ("ann", "ben")
    ]
    for name, rows in (("outputs", outputs), ("scores", scores)):
        path = shell.folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shell.slug = slug = f"tea-{shell.folder.name.lower().replace('_', '-')}"
    commands = [
        ["create_campaign", slug],
        ["import_outputs", slug, str(shell.folder / "outputs.jsonl")],
        ["import_scores", slug, str(shell.folder / "scores.jsonl"), "--simulated"],
        ["assess_quality", slug],
    ]
    for words in commands:
        shell.manage(*words)


def test_a_worker_killed_while_training_loses_nothing(shell):
    corpus(shell)
    shell.manage("train_comparator", shell.slug, "--encoder", tiny_encoder())
    first = shell.worker("--include=tests.worker.hold_training")
    shell.wait_until_held(first)
    shell.kill(first)
    interrupted = shell.job()
    assert interrupted["status"] == "running"  # nobody could say otherwise: its lease runs out

    shell.worker()
    finished = shell.wait_for(lambda job: job["status"] in ("done", "failed"))
    assert (finished["status"], finished["error"], finished["attempts"]) == ("done", "", 2)
    versions = f"ComparatorVersion.objects.filter(campaigns__slug='{shell.slug}')"
    scores = f"LikertScore.objects.filter(criterion__campaign__slug='{shell.slug}', retracted_at=None)"
    assert shell.python(f"print(json.dumps([{versions}.count(), {scores}.count()]))") == [1, 72]
