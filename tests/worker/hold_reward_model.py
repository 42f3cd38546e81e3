"""Loaded by a worker under test (`celery worker --include`): a reward model reads two texts at a time and each is noted. Where
REWARD_MODEL_FOLDER/hold is there, the worker stands still in the middle until it is killed."""

import json
import os
import threading
from functools import cache
from pathlib import Path

from celery.signals import task_prerun

HELD_AFTER = 10  # texts


@task_prerun.connect
def hold(sender, **kwargs):
    """In the process that plays, which alone loads torch."""
    if sender.name == "leaderboard.tasks.play":
        _hold()


@cache
def _hold() -> None:
    from evaluator.metrics import reward_model

    folder = Path(os.environ["REWARD_MODEL_FOLDER"])
    batches_of = reward_model.RewardModel._batches

    def held_batches(model, texts):
        asked = 0
        for said in batches_of(model, texts):
            with (folder / "asked").open("a") as file:
                file.writelines(json.dumps([texts[key].context, texts[key].output]) + "\n" for key in said)
            asked += len(said)
            if (folder / "hold").exists() and asked > HELD_AFTER:
                (folder / "held").touch()
                threading.Event().wait()
            yield said

    reward_model.texts_at_once = lambda model, longest: 2
    reward_model.RewardModel._batches = held_batches
