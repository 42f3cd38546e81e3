"""Damaged zip files of a comparator, sent in and looked at by a worker: each is refused in a sentence, nothing is entered, and
nothing stays on the disk. FUZZ_CASES=600 tries so many, half through the page and half through the API."""

import io
import json
import random
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Job
from core.errors import Refused
from evaluator import archive, tasks
from evaluator.models import ComparatorVersion
from evaluator.services import start_training
from tests.annotation.data.hostile_files import hostile_archive
from tests.annotation.data.malformed import FUZZ_CASES, damaged, with_odd_values
from tests.annotation.data.stores import check_sentence
from tests.evaluator.packed import changed
from tests.evaluator.world import recipe

SENT = FUZZ_CASES or 20


@pytest.fixture
def packed(world, models_dir) -> bytes:
    version = tasks.run(start_training([world.campaign], foreground=True, recipe=recipe(epochs=1)).job_id)
    return archive.pack(version, models_dir / version.name, version.metrics).read()


def malformed(packed: bytes, number: int) -> bytes:
    """The same for the same number: the zip itself damaged, or one file in it damaged, odd, gone, strange or too many."""
    rng = random.Random(number)
    if rng.random() < 0.2:
        return damaged(rng, packed)
    with zipfile.ZipFile(io.BytesIO(packed)) as files:
        contents = {name: files.read(name) for name in sorted(files.namelist())}
    if rng.random() < 0.2:
        return hostile_archive(rng, contents)
    name = rng.choice([name for name in contents if rng.random() < 0.5 or name.endswith(".json")] or sorted(contents))
    content = contents[name]
    ways = [lambda: damaged(rng, content), lambda: b"", lambda: None, lambda: content[: len(content) // 2]]
    if name.endswith(".json"):
        ways += [lambda: json.dumps(with_odd_values(rng, json.loads(content))).encode()] * 4
        ways.append(lambda: b"[" * 10 ** rng.randint(1, 6))
    if rng.random() < 0.1:
        path = rng.choice(
            [
                "../up",
                "/etc/up",
                "a/../../up",
                "member-0.pt",
                "x" * 300,
                "encoder/",
                "encoder/a.py",
                f"encoder/{'x' * 300}.json",
            ]
        )
        return changed(packed, **{path: rng.choice(list(contents.values()))})
    return changed(packed, **{name: rng.choice(ways)()})


def test_nothing_is_entered_and_nothing_stays(world, packed, models_dir):
    world.client.force_login(world.alice)
    known = {path.name for path in models_dir.iterdir()}
    own = ComparatorVersion.objects.get().pk
    refused = 0
    for number in range(SENT):
        file = SimpleUploadedFile("comparator.zip", malformed(packed, number))
        address, status = (
            ("/c/talk/comparator/upload/", 302) if number % 2 else ("/api/campaigns/talk/comparators/upload/", 201)
        )
        assert world.client.post(address, {"file": file}).status_code in (status, 400, 422)
        job = Job.objects.filter(task="evaluator.tasks.admit", status=Job.Status.QUEUED).first()
        if job is None:  # an empty file
            refused += 1
            continue
        try:
            tasks.admit(str(job.pk))
        except Refused:
            refused += 1
        job.refresh_from_db()
        assert job.is_finished, number
        check_sentence(job.error)
        came = ComparatorVersion.objects.exclude(pk=own)
        for version in came:  # what was damaged did not matter to it
            known.add(version.name)
        assert {path.name for path in models_dir.iterdir()} <= known, number
        assert job.status == Job.Status.DONE or not came.filter(created_at__gte=job.started_at).exists()
        assert world.client.get("/c/talk/comparator/").status_code == 200
        assert all(world.client.get(f"/c/talk/comparator/{version.name}/").status_code == 200 for version in came)
    assert refused > SENT / 2
