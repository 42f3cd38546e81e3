"""A run of the small world (12 contexts, Alice researches it), and a judge without weights."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client

from annotation import jobs
from annotation.people.tokens import make_token
from evaluator.models import Promotion
from leaderboard.models import Run
from leaderboard.runs import judgments


class Words:
    """A text is as good as it has words; it reads one text, or two together."""

    def __init__(self, reads_pairs: bool = False):
        self.reads_pairs, self.reading, self.warning, self.record = reads_pairs, None, "", {"name": "words"}
        self.asked: list[str] = []  # every text, or both of a pair

    def utilities(self, written, report):
        self.asked += [one.text.output for one in written]
        return np.array([len(one.text.output.split()) for one in written], dtype=float)

    def outcomes(self, later, earlier, report):
        self.asked += [f"{a.text.output} | {b.text.output}" for a, b in zip(later, earlier)]
        return np.sign([len(a.text.output.split()) - len(b.text.output.split()) for a, b in zip(later, earlier)])


def judge_all(run: Run, judge: Words) -> int:
    """What the worker does with the run's job."""
    run.refresh_from_db()
    with jobs.claim(run.job_id) as claim:
        return judgments.judge_waiting(claim, lambda run: judge)


@pytest.fixture
def used(world, version):
    """The world's comparator, in use."""
    Promotion.objects.create(campaign=world.campaign, version=version)
    return version


@pytest.fixture
def call(world, used):
    client = Client(headers={"Authorization": f"Bearer {make_token(world.alice, 'test')[1]}"}, raise_request_exception=False)

    def call(method: str, path: str, body=None):
        data = body if isinstance(body, bytes) else json.dumps(body)
        return client.generic(method, f"/api/campaigns/talk/{path}", data, content_type="application/json")

    return call


@pytest.fixture
def report(world, call) -> Callable:
    """Send a step of the run "lstm"; text: of each context, or {context: text}."""
    keys = list(world.campaign.contexts.order_by("pk").values_list("key", flat=True))

    def report(step: int, text="a b", keys=keys, **more):
        texts = text if isinstance(text, dict) else dict.fromkeys(keys, text)
        rows = [{"context_id": key, "output": one} for key, one in texts.items()]
        return call("POST", "runs/lstm/checkpoints/", {"step": step, "outputs": rows, **more})

    return report


@pytest.fixture
def run(world, call):
    assert call("POST", "runs/", {"name": "lstm", "total_steps": 1000}).status_code == 201
    return Run.objects.get()
