"""How far a training is, told now and then; and whether to stop, asked at every step."""

import math
import time
from collections.abc import Callable
from typing import Any

REPORT_SECONDS = 1.0  # on_progress is called no more often, except with a point of the curve

OnProgress = Callable[[float, str, dict[str, Any] | None], None]  # share done, what is being done, a point of a learning curve
Report = Callable[..., None]  # the same, where the point may be left out


class TrainingCancelled(Exception):
    """`should_stop` said so; the members that were finished remain and are used again."""


class TrainingProgress:
    """Asks whether to stop at every step; tells at most once a second, and always when there is a point."""

    def __init__(self, on_progress: OnProgress | None, should_stop: Callable[[], bool] | None):
        self.on_progress, self.should_stop, self.reported_at = on_progress, should_stop, -math.inf

    def part(self, begin: float, end: float) -> Report:
        """The same for one part of the work, which counts its own from 0 to 1."""
        return lambda done, message, point=None: self(begin + (end - begin) * done, message, point)

    def __call__(self, fraction: float, message: str, point: dict[str, Any] | None = None) -> None:
        if self.should_stop and self.should_stop():
            raise TrainingCancelled("The training was cancelled.")
        now = time.monotonic()
        if self.on_progress and (point or fraction == 1.0 or now - self.reported_at >= REPORT_SECONDS):
            self.reported_at = now
            self.on_progress(fraction, message, point)
