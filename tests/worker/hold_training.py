"""Loaded by a worker under test (`celery worker --include`): it stops in the middle of a training until it is killed, so that
no machine is too fast or too busy to be seen there."""

import os
import threading
from pathlib import Path

from celery.signals import task_prerun

AFTER = 0.05  # of the training


@task_prerun.connect
def hold(sender, **kwargs):
    """In the process that trains, which alone loads torch."""
    if sender.name != "evaluator.tasks.train":
        return
    from evaluator.worker import train

    watch_of = train._watch

    def held_watch(run, report):
        watch = watch_of(run, report)

        def watch_and_hold(fraction, *told):
            watch(fraction, *told)
            if fraction > AFTER:
                Path(os.environ["HELD_FILE"]).touch()
                threading.Event().wait()

        return watch_and_hold

    train._watch = held_watch
