"""A member epoch by epoch: its weights after each on disk, what they say of its fold, and after which one it is best."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from torch import nn

from evaluator.comparator import checkpoint
from evaluator.comparator.inference import Tick
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision.pretraining import Report
from evaluator.comparator.training import loop

Measure = Callable[[nn.Module, Tick], tuple[dict, dict]]  # what a model says of its fold, and the held-out part of a point


def after_step(
    fold: int, settings: Settings, ends: Sequence[int], average: loop.Average, out_dir: Path, measure: Measure, progress: Report
) -> Callable[[int, float, list], None]:
    """What `loop.run` calls after each step: it notes for each epoch the point of the curve, the SHA-256 of its weights and
    what they say. The weights are the mean over the epoch's steps, rounded as they are saved. ends (epochs,) steps done at
    the end of each."""
    passed: list[float] = []  # losses since the last point

    def after(step: int, loss: float, notes: list) -> None:
        passed.append(loss)
        done, epoch = step / int(ends[-1]), int(np.searchsorted(ends, step)) + 1
        said = f"Member {fold + 1} of {settings.folds}, epoch {epoch} of {settings.epochs}"
        progress(min(done, 0.999), said)
        if step in ends:
            point = {"fold": fold, "epoch": epoch, "step": step, "train_loss": float(np.mean(passed))}
            passed.clear()
            model = average.taken()
            average.clear()
            checkpoint.round_to_fp16(model)  # what is measured is what is saved
            found, agreement = measure(model, lambda _: progress(min(done, 0.999), said))
            sha256 = checkpoint.save_weights(model, _file(out_dir, fold, epoch))
            notes.append({"point": point | agreement, "sha256": sha256, **found})
            if epoch < settings.epochs:  # the last one is told by who trains, with the record safe on disk
                progress(done, f"{said} finished", point | agreement)

    return after


def best_epoch(records: Sequence[dict], fold: int) -> int:
    """Early stopping: after how many epochs, from 0, the other members agree best, on average, with the people whom they have
    not seen; the last, unless the best is better by more than a standard error (Breiman et al. 1984, section 3.4.3), for
    members that stop apart are of different sizes. A member's own fold has no say, for the member is measured on it. The last,
    where there is nobody to ask."""
    others = [[epoch["point"]["heldout_loss"] for epoch in record["epochs"]] for i, record in enumerate(records) if i != fold]
    known = np.array([losses for losses in others if None not in losses], dtype=float)  # (members, epochs)
    last = len(others[0]) - 1
    if not len(known):
        return last
    best = int(known.mean(0).argmin())
    worse = known[:, last] - known[:, best]  # (members,)
    error = worse.std(ddof=1) / np.sqrt(len(worse)) if len(worse) > 1 else 0.0
    return best if worse.mean() > error else last


def settle(record: dict, fold: int, epoch: int, out_dir: Path) -> dict:
    """What the member is after an epoch, from 0: its weights get the member's name, and those of the other epochs go."""
    chosen = record["epochs"][epoch]
    weights = _settled(out_dir, fold)
    if not weights.is_file() or checkpoint.file_sha256(weights) != chosen["sha256"]:
        os.replace(_file(out_dir, fold, epoch + 1), weights)
    for i in range(len(record["epochs"])):
        _file(out_dir, fold, i + 1).unlink(missing_ok=True)
    curve = [other["point"] | {"chosen": i == epoch} for i, other in enumerate(record["epochs"])]
    return record | chosen | {"curve": curve}


def is_there(record: dict, fold: int, out_dir: Path) -> bool:
    """Whether the member's weights are on disk: those of every epoch, or, once it has settled, of one."""
    known = [epoch["sha256"] for epoch in record["epochs"]]
    if _settled(out_dir, fold).is_file() and checkpoint.file_sha256(_settled(out_dir, fold)) in known:
        return True
    files = [_file(out_dir, fold, i + 1) for i in range(len(known))]
    return all(file.is_file() and checkpoint.file_sha256(file) == sha256 for file, sha256 in zip(files, known, strict=True))


def _file(out_dir: Path, fold: int, epoch: int) -> Path:
    return out_dir / f"member-{fold}-epoch-{epoch}.safetensors"


def _settled(out_dir: Path, fold: int) -> Path:
    return out_dir / f"member-{fold}.safetensors"
