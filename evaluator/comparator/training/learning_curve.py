"""A member epoch by epoch: after each, how its weights agree with people on its fold. The last epoch's are the member."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from evaluator.comparator import checkpoint
from evaluator.comparator.inference import Tick
from evaluator.comparator.settings import Settings
from evaluator.comparator.training import loop
from evaluator.comparator.training.progress import Report

Measure = Callable[[Any, Tick], tuple[dict, dict]]  # what a model says of its fold, and the held-out part of a point


def after_step(
    fold: int,
    settings: Settings,
    ends: Sequence[int] | np.ndarray,
    average: loop.Average,
    weights: Path,
    measure: Measure,
    progress: Report,
) -> Callable[[int, float, list], None]:
    """What `loop.run` calls after each step: it notes for each epoch the point of the curve and what its weights say, which
    are the mean over the epoch's steps, rounded as they are saved. ends (epochs,) steps done at the end of each; weights:
    the file that those of the last epoch go to."""
    passed: list[float] = []  # losses since the last point

    def after(step: int, loss: float, notes: list) -> None:
        passed.append(loss)
        done, epoch = min(step / int(ends[-1]), 0.999), int(np.searchsorted(ends, step)) + 1
        message = f"Member {fold + 1} of {settings.folds}, epoch {epoch} of {settings.epochs}"
        progress(done, message)
        if step not in ends:
            return
        model: nn.Module = average.taken()
        checkpoint.round_to_fp16(model)  # what is measured is what is saved
        answers, agreement = measure(model, lambda _: progress(done, message))
        point = {"fold": fold, "epoch": epoch, "step": step, "train_loss": float(np.mean(passed)), **agreement}
        sha256 = checkpoint.save_weights(model, weights) if epoch == settings.epochs else None
        notes.append({"point": point, "sha256": sha256, **answers})
        passed.clear()
        average.clear()
        progress(done, f"{message} finished", point)

    return after
