"""Damaged zip files of a comparator, sent in and looked at by a worker: each is refused in a sentence, nothing is entered, and
nothing stays on the disk. FUZZ_CASES=600 tries so many, half through the page and half through the API, and tells (with -s)
what became of them."""

import io
import json
import logging
import random
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Job
from core.errors import Refused
from evaluator import tasks
from evaluator.models import ComparatorVersion
from evaluator.trainings.services import start_training
from evaluator.versions import archive
from tests.annotation.data.hostile_files import hostile_archive
from tests.annotation.data.malformed import FUZZ_CASES, damaged, with_odd_values
from tests.annotation.data.stores import Stores, check_sentence
from tests.evaluator.packed import changed
from tests.evaluator.world import recipe

SENT = FUZZ_CASES or 20


@pytest.fixture
def stores(tmp_path, settings, monkeypatch):
    logging.disable(logging.WARNING)  # each refusal is a line of the log, and some a traceback
    yield Stores(tmp_path / "kept", settings, monkeypatch)
    logging.disable(logging.NOTSET)


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


def test_nothing_is_entered_and_nothing_stays(world, packed, models_dir, stores):
    world.client.force_login(world.alice)
    known = {path.name for path in models_dir.iterdir()}
    entered = set(ComparatorVersion.objects.values_list("pk", flat=True))
    for number in range(SENT):
        file, before = SimpleUploadedFile("comparator.zip", malformed(packed, number)), stores.rows()
        address, status = (
            ("/c/talk/comparator/upload/", 302) if number % 2 else ("/api/campaigns/talk/comparators/upload/", 201)
        )
        assert world.client.post(address, {"file": file}).status_code in (status, 400, 422)
        job = Job.objects.filter(task="evaluator.tasks.admit", status=Job.Status.QUEUED).first()
        if job is not None:  # no empty file
            try:
                tasks.admit(str(job.pk))
            except Refused:
                pass
            job.refresh_from_db()
            assert job.is_finished, number
            check_sentence(job.error)
        new = ComparatorVersion.objects.exclude(pk__in=entered)
        for version in new:  # what was damaged did not matter to it
            assert job.status == Job.Status.DONE
            known.add(version.name)
            assert world.client.get(f"/c/talk/comparator/{version.name}/").status_code == 200
        stores.outcomes["entered" if new else "known already" if job and not job.error else "refused"] += 1
        assert stores.rows() == before or (job and not job.error), number
        assert {path.name for path in models_dir.iterdir()} <= known, number
        assert stores.files() == [], number
        assert world.client.get("/c/talk/comparator/").status_code == 200
        entered |= {version.pk for version in new}
    stores.tell("comparators' zips")
    assert stores.outcomes["refused"] > SENT / 2
