"""How long what remains will take one person, from how long their latest answers took."""

import math
from statistics import median

from annotation.services.answers import live_submissions

LATEST = 20  # answers: enough to be steady, few enough to follow somebody who gets quicker
FEWEST = 3


def minutes_left(annotator, items: int) -> int | None:
    """Whole minutes for `items` more, rounded up; None before FEWEST answers. Idle time is left out where it is known."""
    times = live_submissions(annotator).values_list("active_seconds", "seconds")[:LATEST]
    times = [active if active is not None else seconds for active, seconds in times]
    times = [time for time in times if time is not None]
    return math.ceil(median(times) * items / 60) if len(times) >= FEWEST else None
