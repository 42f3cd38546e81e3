"""Has a person finished their part of a campaign?"""

from annotation.annotating.assignment import Phase, Progress, progress
from annotation.models import Annotator


def is_finished(annotator: Annotator, done: Progress | None = None) -> bool:
    """Is this person's work done? They judged something, and nothing is left for them: their quota is full, or no item
    is free. Who withdrew or did not qualify has not finished. The completion code is shown on this alone.

    done: their progress, where the caller has it.
    """
    if annotator.withdrawn_at or annotator.has_qualified is False:
        return False
    done = done or progress(annotator)
    return done.done > 0 and done.phase == Phase.FINISHED
