"""Workers from Prolific, all at once: some return the task, some run out of time or vanish, some work in two tabs, some fail.

Sixteen of them in the suite; more, and what became of them, by

    WORKERS=200 SEED=1 .venv/bin/python -m pytest -s tests/annotation/people/test_crowd_of_workers.py

Each worker opens the study's link as Prolific writes it, reads, and answers through the pages; Prolific's webhooks are signed
as its documentation says. At the end every item must have its k answers by k people who stayed, every answer that a page took
must be stored, and every worker must have read the code that fits what they did.
"""

import base64
import hashlib
import hmac
import json
import os
import random
import re
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.annotating import places
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_outputs
from annotation.models import Annotator, Assignment, Criterion, LikertScore, Submission
from annotation.people.invitations import invite

pytestmark = pytest.mark.django_db

SECRET = "a secret of Prolific's"  # noqa: S105
CODES = {
    "completion_code": "DONE01",
    "screened_out_code": "SCREEN02",
    "failed_checks_code": "CHECKS03",
    "timed_out_code": "TIME04",
}
COMPLETION_URL = "https://app.prolific.com/submissions/complete?cc=DONE01"
WAYS = {  # how a worker behaves, and how many of a hundred do
    "works": 45,
    "two tabs": 20,
    "returns": 12,
    "runs out of time": 8,  # Prolific says so
    "vanishes": 5,  # nobody says so: what they hold lapses
    "fails the qualification": 5,
    "fails the checks": 5,
}
RIGHT, WRONG = 5, 1
AT_ONCE = 12


def test_every_item_has_its_answers_none_is_lost_and_every_code_is_right(tmp_path, settings):
    settings.PROLIFIC_SECRET = SECRET
    if workers := int(os.environ.get("WORKERS", "0")):
        found = simulate(tmp_path, workers, contexts=workers // 2, k=3, quota=6, seed=int(os.environ.get("SEED", "1")))
        print(json.dumps(found, indent=1))
    else:
        found = simulate(tmp_path, workers=16, contexts=8, k=2, quota=3, seed=4)
    assert found["wrong"] == [] and found["answers that count"] == found["items"] * (3 if workers else 2)
    assert {"returns", "two tabs", "works"} <= {way.split(":")[0] for way in found["codes"]}


@dataclass
class Worker:
    number: int
    way: str
    stops_after: int
    client: Any
    taken: int = 0  # answers that a page took
    codes: set[str] = field(default_factory=set)  # read on the last page
    page: str = ""
    timed_out: bool = False  # Prolific said so

    @property
    def parameters(self) -> str:
        return f"?PROLIFIC_PID=worker{self.number}&STUDY_ID=study&SESSION_ID=session{self.number}"


def simulate(folder: Path, workers: int, contexts: int, k: int, quota: int, seed: int) -> dict[str, Any]:
    """Counts of what came out; "wrong" lists every broken promise."""

    campaign = _campaign(folder, contexts, k, quota)
    draw = random.Random(seed)
    address = f"/join/{invite(campaign, label='Prolific', cap=workers).token}/"
    ways = draw.choices(list(WAYS), list(WAYS.values()), k=workers)
    waiting = [
        Worker(number, way, draw.randint(1, quota + 2), Client(REMOTE_ADDR=f"10.0.{number // 250}.{number % 250}"))
        for number, way in enumerate(ways)
    ]
    everybody, at_work = list(waiting), []
    while waiting or at_work:
        while waiting and len(at_work) < AT_ONCE:
            worker = waiting.pop(0)
            at_work.append((worker, _steps(worker, address, draw)))
        worker, steps = draw.choice(at_work)
        if next(steps, None) is None:
            at_work.remove((worker, steps))
            if worker.way == "vanishes":
                _let_an_hour_pass(campaign, worker)
    _late_ones(campaign, everybody, address, draw)
    return _outcome(campaign, everybody, k)


def _campaign(folder: Path, contexts: int, k: int, quota: int) -> Any:
    """Two systems, two qualification items to get right, and a known answer among six."""
    campaign = create_campaign(
        slug="crowd",
        title="Crowd",
        criteria=[CriterionSpec("Overall", RIGHT - 4, RIGHT)],
        guidelines="Read first.",
        overlap=k,
        quota=quota,
        pass_mark=50,
        gold_percent=20,
        check_mark=60,
        completion_url=COMPLETION_URL,
        **CODES,
    )
    rows = [_row(f"c{number}", system) for number in range(contexts) for system in ("ant", "bee")]
    known = {"expected": {"scores": {"Overall": [RIGHT]}}}
    rows += [_row(f"q{number}", "ant") | known | {"purpose": "qualification"} for number in range(2)]
    rows += [_row(f"g{number}", "ant") | known | {"purpose": "gold"} for number in range(4)]
    file = folder / "outputs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_outputs(campaign, file)
    campaign.refresh_from_db()
    return campaign


def _row(context: str, system: str) -> dict[str, Any]:
    return {"context_id": context, "context": [f"Question {context}?"], "system": system, "output": f"{system} on {context}"}


def _steps(worker: Worker, address: str, draw: random.Random) -> Iterator[bool]:
    """What one worker does, one request or two at a time, until they stop."""
    _join(worker, address)
    yield True
    page = _look(worker)
    while form := _form(page):
        if worker.taken >= worker.stops_after and worker.way in ("returns", "runs out of time", "vanishes"):
            if worker.way != "vanishes":
                _prolific_says(worker, "RETURNED" if worker.way == "returns" else "TIMED-OUT")
            return
        if worker.way == "two tabs" and draw.random() < 0.5:
            page = _answer_in_two_tabs(worker, form, page, draw)
        else:
            page = _answer(worker, form, page, draw)
        yield True
    worker.page, worker.codes = page, _codes(page)


def _join(worker: Worker, address: str) -> None:
    for _ in range(2 if worker.way == "two tabs" else 1):  # the link opened twice
        answer = worker.client.post(address + worker.parameters)
        assert answer.status_code == 302, answer.content.decode()


def _look(worker: Worker) -> str:
    return worker.client.get("/c/crowd/annotate/?start=1").content.decode()


def _form(page: str) -> dict[str, str]:
    """The hidden fields of the answer's form; empty where the page has none."""
    if "data-answer" not in page:
        return {}
    return dict(re.findall(r'type="hidden" name="(assignment|key|shown)" value="([^"]*)"', page[page.index("data-answer") :]))


def _score(worker: Worker, page: str, draw: random.Random) -> int:
    """Known answers are right, but for who fails them; the rest is anything."""
    if re.search(r"Question q\d", page):
        return WRONG if worker.way == "fails the qualification" else RIGHT
    if re.search(r"Question g\d", page):
        return WRONG if worker.way == "fails the checks" else RIGHT
    return draw.randint(1, 5)


def _send(worker: Worker, form: dict[str, str], score: int) -> str:
    name = f"score_{Criterion.objects.get().pk}"
    answer = worker.client.post("/c/crowd/annotate/", form | {name: str(score)}, follow=True)
    assert answer.status_code == 200, answer.content.decode()
    return answer.content.decode()


def _answer(worker: Worker, form: dict[str, str], page: str, draw: random.Random) -> str:
    page = _send(worker, form, _score(worker, page, draw))
    worker.taken += 1
    return page if _form(page) else _look(worker)


def _answer_in_two_tabs(worker: Worker, form: dict[str, str], page: str, draw: random.Random) -> str:
    """The same page in another tab: sent twice with the same key, and once more with the key of the other tab."""
    again, score = _form(_look(worker)), _score(worker, page, draw)
    _send(worker, form, score)
    _send(worker, form, score)
    _send(worker, form | {"key": again.get("key") or str(uuid.uuid4())}, draw.randint(1, 5))
    worker.taken += 1
    return _look(worker)


def _prolific_says(worker: Worker, status: str) -> None:
    worker.timed_out = status == "TIMED-OUT"
    said = {"event_type": "submission.status.change", "resource_id": f"session{worker.number}"}
    body = json.dumps(said | {"participant_id": f"worker{worker.number}", "status": status}).encode()
    for _ in range(2):  # delivered twice, as hooks may be
        sent = worker.client.post("/hooks/prolific/", body, content_type="application/json", headers=signed(body))
        assert sent.status_code == 204, sent.status_code


def signed(body: bytes, timestamp: str = "", secret: str = SECRET) -> dict[str, str]:
    """The headers that https://docs.prolific.com/api-reference/webhooks/verifying describes. timestamp: now."""
    timestamp = timestamp or str(int(time.time()))
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return {"X-Prolific-Request-Timestamp": timestamp, "X-Prolific-Request-Signature": base64.b64encode(digest).decode()}


def _let_an_hour_pass(campaign: Any, worker: Worker) -> None:
    """For what this worker holds."""

    held = Assignment.objects.filter(annotator__source__PROLIFIC_PID=f"worker{worker.number}", status="open")
    held.update(assigned_at=timezone.now() - places.HOLD - timedelta(minutes=1))
    places.sweep(campaign)


def _late_ones(campaign: Any, everybody: list[Worker], address: str, draw: random.Random) -> None:
    """Others take what is left, with a new link; then those come back who ran out of time or vanished."""

    extra = f"/join/{invite(campaign, label='More').token}/"
    while any(item.taken < item.places for item in campaign.items.filter(purpose="evaluation")):
        worker = Worker(len(everybody), "works", 0, Client(REMOTE_ADDR=f"10.1.0.{len(everybody) % 250}"))
        for _ in _steps(worker, extra, draw):
            pass
        everybody.append(worker)
    for worker in everybody:
        if worker.way in ("returns", "runs out of time", "vanishes") and not worker.codes:
            page = _look(worker)
            while form := _form(page):  # there may be an item with a known answer yet
                page = _answer(worker, form, page, draw)
            worker.page, worker.codes = page, _codes(page)


def _codes(page: str) -> set[str]:
    return {code for code in CODES.values() if code in page}


def _outcome(campaign: Any, everybody: list[Worker], k: int) -> dict[str, Any]:
    wrong, counts = [], Counter()
    annotators = {one.source["PROLIFIC_PID"]: one for one in Annotator.objects.filter(campaign=campaign)}
    scores = LikertScore.objects.counted().filter(submission__assignment__purpose="evaluation")
    of_item: dict[int, list[int]] = {}
    for item, who in scores.values_list("submission__assignment__item", "annotator"):
        of_item.setdefault(item, []).append(who)
    for item in campaign.items.filter(purpose="evaluation"):
        who = of_item.get(item.pk, [])
        if len(who) != k or len(set(who)) != k or item.taken != k:
            wrong.append(f"item {item.pk}: {len(who)} answers by {len(set(who))} people, {item.taken} places taken")
    for worker in everybody:
        annotator = annotators[f"worker{worker.number}"]
        stored = Submission.objects.filter(annotator=annotator, retracted_at=None).count()
        if stored < worker.taken:
            wrong.append(f"worker {worker.number} ({worker.way}): {worker.taken} answers taken, {stored} stored")
        expected = _expected(worker, annotator)
        counts[f"{worker.way}: {expected or 'no code'}"] += 1
        if worker.codes != ({expected} if expected else set()):
            wrong.append(f"worker {worker.number} ({worker.way}): read {sorted(worker.codes)}, not {expected}")
        if expected and expected != CODES["timed_out_code"] and f"complete?cc={expected}" not in worker.page:
            wrong.append(f"worker {worker.number} ({worker.way}): the address does not hold {expected}")
    return {
        "workers": len(everybody),
        "items": campaign.items.filter(purpose="evaluation").count(),
        "answers stored": Submission.objects.count(),
        "answers that count": scores.count(),
        "codes": dict(sorted(counts.items())),
        "wrong": wrong,
    }


def _expected(worker: Worker, annotator: Any) -> str:
    """By what the worker did, seen from outside. None for who returned the task, or never got an item."""
    if annotator.withdrawn_at:
        return ""
    if worker.way == "fails the qualification":
        return CODES["screened_out_code"]
    own = annotator.assignments.exclude(purpose="qualification")
    judged = own.filter(status="done").count()
    if not judged or (worker.timed_out and judged < annotator.campaign.quota):
        return CODES["timed_out_code"] if annotator.assignments.exists() else ""
    missed = worker.way == "fails the checks" and own.filter(purpose="gold").exists()
    return CODES["failed_checks_code"] if missed else CODES["completion_code"]
