"""Rude files of every shape in the registry (`rude_files`): what cannot be read is said in a sentence that names the file,
nothing is half stored, what was read is stored, there already or left out, and no answer is an error of the server.
FUZZ_CASES=1000 reads a thousand of each shape, and sends as many through the function that all doors share, a hundred through
each door. What a row of a shape is read as changes from file to file: its outputs, answers, judges' answers."""

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
from annotation.data.importer import import_file, import_outputs
from annotation.data.shapes.registry import SHAPES, shape_of
from annotation.models import Job, Upload
from core.errors import ImportRefused
from tests.annotation.data.doors import COMMANDS
from tests.annotation.data.rude_files import ROWS, good, rude
from tests.annotation.data.stores import check_problem, check_said

FUZZ_CASES = int(os.environ.get("FUZZ_CASES", 0))
READ, SHARED, THROUGH_A_DOOR = FUZZ_CASES or 20, FUZZ_CASES or 4, FUZZ_CASES // 10 or 1
# No texts; the model or the annotator is the file's or the folder's name; a judge's answers; nothing but people.
NOTHING_GOOD = (
    *("Potato", "Potato, table", "Appraise", "Qualtrics", "wide sheet"),
    *("lm-eval", "doccano", "Arena-Hard", "Prolific", "lm-eval results", "AlpacaEval leaderboard", "DeepEval, cases"),
    "batch of chats",
)
kinds_of_files = pytest.mark.parametrize("shape", ROWS)


def kinds_of(shape: str) -> list[str]:
    """All that its rows may be read as."""
    kind, row, _ = ROWS[shape]
    found = shape_of(kind, row)
    return list(dict.fromkeys([kind, *(found.kinds if found else ())]))


def test_every_shape_of_the_registry_has_a_good_file():
    found = {shape_of(kind, row).name for kind, row, _ in ROWS.values() if shape_of(kind, row)}
    assert found >= {shape.name for shape in SHAPES} | {"pairs"}


@kinds_of_files
def test_reading_it_says_what_is_wrong(shape):
    for number in range(READ):
        name, content = rude(shape, number)
        errors, rows = [], []
        kinds = kinds_of(shape)
        reading = Reading(kinds[number % len(kinds)], None, on_error=errors.append)
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


def by_function(world, kind, name, content, folder) -> list[dict] | dict:
    """What every door calls."""
    try:
        return import_file(world.campaign, kind, io.BytesIO(content), name).as_dict()
    except ImportRefused as refused:
        return [asdict(error) for error in refused.errors]


def by_command(world, kind, name, content, folder) -> list[dict] | dict:
    path = folder / name
    path.write_bytes(content)
    out = io.StringIO()
    command, *chosen = COMMANDS.get(kind, (f"import_{kind}",))
    try:
        call_command(command, "talk", str(path), *chosen, "--json", stdout=out)
    except CommandError as error:
        said = str(error)
        assert name.split(".")[0] in said and "Traceback" not in said, said
        return [{"file": name, "field": "", "line": 1, "row": None, "message": said.splitlines()[0]}]
    finally:
        path.unlink()
    return json.loads(out.getvalue())


def work_off() -> None:
    """What a worker does with long files."""
    for job in Job.objects.filter(status=Job.Status.QUEUED):
        tasks.import_file(str(job.pk))


def by_api(world, kind, name, content, folder) -> list[dict] | dict:
    answer = world.client.post(f"/api/campaigns/talk/import/{kind}/", {"file": SimpleUploadedFile(name, content)})
    assert answer.status_code in (200, 202, 422), answer.content
    said = answer.json()
    if answer.status_code == 202:
        work_off()
        said = world.client.get(answer["Location"]).json()["imported"]
    elif answer.status_code == 422:
        check_problem(answer)
    for upload in Upload.objects.all():
        upload.path.unlink(missing_ok=True)
    return said.get("errors") or said


def by_page(world, kind, name, content, folder) -> list[dict] | dict:
    """Sent, looked at, its columns left as they were guessed, and imported."""
    page = world.post("import/", {"kind": kind, "file": SimpleUploadedFile(name, content)}, follow=True)
    assert page.status_code == 200, page.content
    work_off()
    upload = Upload.objects.get()
    if upload.state == Upload.State.NEW:
        assert world.post(f"import/{upload.pk}/", upload.columns).status_code in (302, 422)
        work_off()
    assert world.post(f"import/{upload.pk}/store/", follow=True).status_code == 200
    work_off()
    assert world.get(f"import/{upload.pk}/", follow=True).status_code == 200
    upload.refresh_from_db()
    for one in Upload.objects.all():
        one.path.unlink(missing_ok=True)
    if upload.state == Upload.State.STORED:
        return upload.result
    columns_are_asked = [{"file": name, "field": "", "line": 1, "row": None, "message": "has columns that nobody named"}]
    return upload.error_entries() or columns_are_asked


@pytest.mark.django_db
@pytest.mark.parametrize("door", [by_function, by_command, by_api, by_page], ids=["function", "command", "api", "page"])
@kinds_of_files
def test_it_is_stored_whole_or_not_at_all(world, stores, tmp_path, shape, door):
    kinds, good_one = kinds_of(shape), "\n".join(json.dumps(row) for row in good(shape)).encode()
    if kinds[0] in ("scores", "spans"):
        with suppress(ImportRefused):  # Potato's answers hold no texts
            import_outputs(world.campaign, io.BytesIO(good_one), "good.jsonl")
    before = stores.rows()
    for number in range(-1, SHARED if door is by_function else THROUGH_A_DOOR):
        kind = kinds[max(number, 0) % len(kinds)]
        name, content = rude(shape, number) if number >= 0 else ("good.jsonl", good_one)
        savepoint = transaction.savepoint()
        said = door(world, kind, name, content, tmp_path)
        is_refused = isinstance(said, list)
        if is_refused and SHARED > 100 and number % 50:  # in a long run, what a refused file left is seen by the next count
            check_said(said, name)
            transaction.savepoint_commit(savepoint)
            stores.outcomes["refused"] += 1
            continue
        now = stores.rows()
        if is_refused:
            assert said and now == before, (number, said)
            check_said(said, name)
        else:
            left = sum(said.get("left_out", {}).values())
            assert said["rows"] == said["new"].get(kind, 0) + said.get("repeated", 0) + left, (number, said)
            assert (now == before) == (not said["new"]), (number, said)
        assert number >= 0 or shape in NOTHING_GOOD or not is_refused, said
        transaction.savepoint_rollback(savepoint)
        stores.outcomes["refused" if is_refused else "stored"] += 1
    stores.tell(f"{shape}, {door.__name__}")
