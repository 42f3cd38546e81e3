"""A member epoch by epoch: after each, how its weights agree with people on its fold. The last epoch's are the member."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from torch import nn

from evaluator.comparator import checkpoint
from evaluator.comparator.inference import Tick
from evaluator.comparator.training.dataset import Run
from evaluator.comparator.training.progress import Report

Measure = Callable[[Any, Tick], tuple[dict[str, Any], dict[str, Any]]]  # what a model says of its fold; its part of a point


def after_step(
    run: Run, model: nn.Module, fold: int, ends: np.ndarray, measure: Measure, progress: Report
) -> Callable[[int, float, list[dict[str, Any]]], None]:
    """What `loop.run` calls after each step: it notes for each epoch the point of the curve and what the weights say, rounded
    as they are saved; the last epoch's go to the member's file. ends (epochs,) steps done at the end of each."""
    passed: list[float] = []  # losses since the last point

    def after(step: int, loss: float, notes: list[dict[str, Any]]) -> None:
        passed.append(loss)
        done, epoch = min(step / int(ends[-1]), 0.999), int(np.searchsorted(ends, step)) + 1
        message = f"Member {fold + 1} of {run.settings.folds}, epoch {epoch} of {run.settings.epochs}"
        progress(done, message)
        if step in ends:
            kept = copy.deepcopy(model)
            checkpoint.round_to_fp16(kept)  # what is measured is what is saved
            answers, agreement = measure(kept, lambda _: progress(done, message))
            point = {"fold": fold, "epoch": epoch, "step": step, "train_loss": float(np.mean(passed)), **agreement}
            passed.clear()
            weights = run.directory / f"member-{fold}.safetensors"
            sha256 = checkpoint.save_weights(kept, weights) if epoch == run.settings.epochs else None
            notes.append({"point": point, "sha256": sha256, **answers})
            progress(done, f"{message} finished", point)

    return after
