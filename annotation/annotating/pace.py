"""How long what remains will take one person, from how long their latest answers took."""

import math
from statistics import median

from annotation.annotating.history import History
from annotation.models import Assignment

FEWEST = 3


def minutes_left(history: History, items: int) -> int | None:
    """Whole minutes for `items` more, rounded up; None before FEWEST answers. The median leaves a long pause aside."""
    answered = [handed for handed in history.recent if handed.status == Assignment.Status.DONE]
    seconds = [(handed.until - handed.at).total_seconds() for handed in answered if handed.until]
    return math.ceil(median(seconds) * items / 60) if len(seconds) >= FEWEST else None
