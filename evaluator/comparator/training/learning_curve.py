"""The learning curve of a member: its mean training loss, epoch by epoch."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evaluator.comparator.training.dataset import Run
from evaluator.comparator.training.progress import Report


def after_step(
    run: Run, fold: int, epochs: Sequence[tuple[str, Sequence[np.ndarray]]], progress: Report
) -> Callable[[int, float, list[dict[str, Any]]], None]:
    """What `loop.run` calls after each step: it notes the point of the curve at the end of each epoch. epochs: the stage and
    the batches of each."""
    ends = np.cumsum([len(batches) for _, batches in epochs])  # (epochs,) steps done at the end of each
    passed: list[float] = []  # losses since the last point

    def after(step: int, loss: float, notes: list[dict[str, Any]]) -> None:
        passed.append(loss)
        done, epoch = step / int(ends[-1]), int(np.searchsorted(ends, step)) + 1
        message = f"Member {fold + 1} of {run.settings.folds}, epoch {epoch} of {len(epochs)}"
        progress(done, message)
        if step in ends:
            notes.append({"fold": fold, "epoch": epoch, "step": step, "train_loss": float(np.mean(passed))})
            passed.clear()
            progress(done, f"{message} finished", notes[-1])

    return after
