"""Rude files of every shape in the registry (`rude_files`): what cannot be read is said in a sentence that names the file,
nothing is half stored, what was read is stored, there already or left out, and no answer is an error of the server.
FUZZ_CASES=1000 reads a thousand of each shape and sends a hundred of each through each door."""

import io
import json
import os
from contextlib import suppress
from dataclasses import asdict

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import transaction

from annotation import tasks
from annotation.data.files import Reading
from annotation.data.importer import import_outputs
from annotation.data.shapes.registry import SHAPES, shape_of
from annotation.models import Job, Upload
from core.errors import ImportRefused
from tests.annotation.data.rude_files import ROWS, good, rude
from tests.annotation.data.stores import check_problem, check_said

FUZZ_CASES = int(os.environ.get("FUZZ_CASES", 0))
READ, THROUGH_A_DOOR = FUZZ_CASES or 60, FUZZ_CASES // 10 or 3
# No texts; the model or the annotator is the file's or the folder's name; a judge's answers; nothing but people.
NOTHING_GOOD = (
    *("Potato", "Potato, table", "Appraise", "Qualtrics", "wide sheet"),
    *("lm-eval", "doccano", "Arena-Hard", "Prolific"),
)
kinds_of_files = pytest.mark.parametrize("shape", ROWS)


def test_every_shape_of_the_registry_has_a_good_file():
    found = {shape_of(kind, row).name for kind, row, _ in ROWS.values() if shape_of(kind, row)}
    assert found >= {shape.name for shape in SHAPES} | {"pairs"}


@kinds_of_files
def test_reading_it_says_what_is_wrong(shape):
    for number in range(READ):
        name, content = rude(shape, number)
        errors, rows = [], []
        reading = Reading(ROWS[shape][0], None, on_error=errors.append)
        try:
            rows = list(reading.rows(io.BytesIO(content), name))
        except ImportRefused as refused:
            errors += refused.errors
        assert rows or errors or reading.account.left_out, number
        if errors:
            check_said([asdict(error) for error in errors[:200]], name)


@pytest.fixture
def world(receiving):
    return receiving(pairwise=True)


def by_command(world, kind, name, content, folder) -> list[dict] | dict:
    path = folder / name
    path.write_bytes(content)
    out = io.StringIO()
    try:
        call_command(f"import_{kind}", "talk", str(path), "--json", stdout=out)
    except CommandError as error:
        said = str(error)
        assert name.split(".")[0] in said and "Traceback" not in said, said
        return [{"file": name, "field": "", "line": 1, "row": None, "message": said.splitlines()[0]}]
    finally:
        path.unlink()
    return json.loads(out.getvalue())


def by_api(world, kind, name, content, folder) -> list[dict] | dict:
    answer = world.client.post(f"/api/campaigns/talk/import/{kind}/", {"file": SimpleUploadedFile(name, content)})
    assert answer.status_code in (200, 202, 422), answer.content
    said = answer.json()
    if answer.status_code == 202:  # a long one
        for job in Job.objects.filter(status=Job.Status.QUEUED):
            tasks.import_file(str(job.pk))
        said = world.client.get(answer["Location"]).json()["imported"]
    elif answer.status_code == 422:
        check_problem(answer)
    for upload in Upload.objects.all():
        upload.path.unlink(missing_ok=True)
    return said.get("errors") or said


@pytest.mark.django_db
@pytest.mark.parametrize("door", [by_command, by_api], ids=["command", "api"])
@kinds_of_files
def test_it_is_stored_whole_or_not_at_all(world, stores, tmp_path, shape, door):
    kind, good_one = ROWS[shape][0], "\n".join(json.dumps(row) for row in good(shape)).encode()
    if kind == "scores":
        with suppress(ImportRefused):  # Potato's answers hold no texts
            import_outputs(world.campaign, io.BytesIO(good_one), "good.jsonl")
    before = stores.rows()
    for number in range(-1, THROUGH_A_DOOR):
        name, content = rude(shape, number) if number >= 0 else ("good.jsonl", good_one)
        savepoint = transaction.savepoint()
        said = door(world, kind, name, content, tmp_path)
        now = stores.rows()
        if isinstance(said, list):
            assert said and now == before, (number, said)
            check_said(said, name)
        else:
            left = sum(said.get("left_out", {}).values())
            assert said["rows"] == said["new"].get(kind, 0) + said.get("repeated", 0) + left, (number, said)
            assert (now == before) == (not said["new"]), (number, said)
        assert number >= 0 or shape in NOTHING_GOOD or isinstance(said, dict), said
        transaction.savepoint_rollback(savepoint)
