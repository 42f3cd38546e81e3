"""How long what remains will take one person, from how long their latest answers took."""

import math
from statistics import median

from annotation.history import History

FEWEST = 3


def minutes_left(history: History, items: int) -> int | None:
    """Whole minutes for `items` more, rounded up; None before FEWEST answers. Idle time is left out where it is known."""
    times = [handed.seconds for handed in history.recent if handed.seconds is not None]
    return math.ceil(median(times) * items / 60) if len(times) >= FEWEST else None
