"""Several graphics cards train several members at once: one each, in a process of its own, since random draws and the choice
of deterministic sums belong to a process. What they leave is found by the caller (`storage.made_once`), as after a run that
was cut; a member that failed is missing then, and fails again where its error is seen."""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from evaluator.comparator.training.dataset import Run
from evaluator.comparator.training.progress import Report, TrainingProgress
from evaluator.encoders import devices

POLL = 0.2  # seconds between two looks at the processes
Train = Callable[[Run, int, Report], Any]  # a function of a module: trains one member


def train_members(train: Train, run: Run, places: Sequence[str], progress: Report) -> None:
    """Every member of the run, on the devices `places`. Stops them all where progress raises."""
    told = run.directory / "members.state"  # our own, for as long as they run
    told.write_bytes(pickle.dumps((train, run, torch.get_num_threads())))
    folds = [range(i, run.settings.folds, len(places)) for i in range(min(len(places), run.settings.folds))]
    begin = [sys.executable, "-m", __spec__.name, str(told)]
    path = os.pathsep.join(filter(None, sys.path))  # they find what this process finds, wherever it was started
    at_work: list[subprocess.Popen[bytes]] = []
    try:
        for place, mine in zip(places, folds):
            words = [*begin, str(os.getpid()), *map(str, mine)]
            at_work.append(subprocess.Popen(words, env=os.environ | {devices.SETTING: place, "PYTHONPATH": path}))
        while any(one.poll() is None for one in at_work):
            done = sum((run.directory / f"member-{fold}.json").is_file() for fold in range(run.settings.folds))
            progress(done / run.settings.folds, f"Training {run.settings.folds} members on {len(at_work)} devices")
            time.sleep(POLL)
    finally:
        for one in at_work:
            one.kill()
            one.wait()
        told.unlink(missing_ok=True)


def main(told: str, parent: str, *folds: str) -> None:
    """One process: trains its members one after the other, and ends with whoever started it."""
    train, run, threads = pickle.loads(Path(told).read_bytes())  # noqa: S301 (written by the process that waits for this one)
    torch.set_num_threads(threads)  # sums on a CPU depend on it
    progress = TrainingProgress(None, lambda: os.getppid() != int(parent))
    for fold in folds:
        train(run, int(fold), progress.part(0.0, 1.0))


if __name__ == "__main__":
    main(*sys.argv[1:])
