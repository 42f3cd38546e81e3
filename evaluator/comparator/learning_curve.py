"""A member's learning curve: a point after every epoch. The last epoch's is measured on the rounded weights, by who trains."""

from collections.abc import Callable

import numpy as np

from evaluator.comparator.base import Report
from evaluator.comparator.settings import Settings


def epoch_points(
    fold: int, settings: Settings, ends: np.ndarray, measure: Callable[[Callable[[float], None]], dict], progress: Report
) -> Callable[[int, float, list], None]:
    """What `loop.run` calls after each step. ends (epochs,) steps done at the end of each; measure(tick) -> the held-out
    part of a point."""
    passed: list[float] = []  # losses since the last point

    def after(step: int, loss: float, notes: list) -> None:
        passed.append(loss)
        done, epoch = step / int(ends[-1]), int(np.searchsorted(ends, step)) + 1
        said = f"Member {fold + 1} of {settings.folds}, epoch {epoch} of {settings.epochs}"
        progress(min(done, 0.999), said)
        if step in ends:
            point = {"fold": fold, "epoch": epoch, "step": step, "train_loss": float(np.mean(passed))}
            passed.clear()
            if step < ends[-1]:
                point |= measure(lambda _: progress(min(done, 0.999), said))
                progress(done, f"{said} finished", point)
            notes.append(point)

    return after
