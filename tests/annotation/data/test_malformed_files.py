"""Damaged and hostile files of every shape: each is refused in sentences that name file, place and field, or stored whole.
Nothing is half stored, nothing stays on the disk, and no answer is an error of the server. FUZZ_CASES=200 sends two hundred of
each shape to the API and fifty to the page, and tells (with -s) what became of them."""

import random

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils.html import escape

from annotation import tasks
from annotation.models import (
    Annotator,
    Context,
    Criterion,
    Job,
    LikertScore,
    Output,
    PairwiseJudgment,
    Reference,
    System,
    Upload,
)
from tests.annotation.data.hostile_files import odd_name
from tests.annotation.data.malformed import BESIDE_THE_FILE, FUZZ_CASES, PAGE_FIELDS, SHAPES, damaged, malformed
from tests.annotation.data.stores import check_problem, check_said

pytestmark = pytest.mark.django_db
BY_API, BY_PAGE, OF_BODIES = FUZZ_CASES or 3, FUZZ_CASES // 4 or 1, FUZZ_CASES or 6
SAID = {  # what an import says is new, and where that is kept
    "contexts": Context,
    "references": Reference,
    "systems": System,
    "outputs": Output,
    "annotators": Annotator,
    "criteria": Criterion,
    "scores": LikertScore,
    "judgments": PairwiseJudgment,
}


@pytest.fixture
def world(receiving):
    return receiving(pairwise=True)


def check_kept(stores, before: dict, new: dict | None) -> str:
    """Nothing more than before, or all that was said to be new. Returns which."""
    now = stores.rows()
    if not new:
        assert now == before
        return "refused" if new is None else "nothing new"
    for what, count in new.items():
        model = SAID.get(what)
        assert model is None or now[model.__name__] - before[model.__name__] == count, (what, new)
    assert now["AuditEvent"] == before["AuditEvent"] + 1
    return "stored"


def work_off() -> None:
    for job in Job.objects.filter(status=Job.Status.QUEUED):
        tasks.import_file(str(job.pk))
        job.refresh_from_db()
        assert job.status == Job.Status.DONE and not job.error, job.error


@pytest.mark.parametrize("shape", SHAPES)
def test_the_api_stores_all_of_a_file_or_refuses_it(world, stores, shape):
    kind, name, document, made = SHAPES[shape]
    beside, before = BESIDE_THE_FILE.get(shape, {}), stores.rows()
    for number in range(-1, BY_API):  # first the good one
        file = SimpleUploadedFile(name, malformed(shape, number) if number >= 0 else made(document))
        stores.sweep()
        savepoint = transaction.savepoint()
        answer = world.client.post(f"/api/campaigns/talk/import/{kind}/", {"file": file, **beside})
        assert answer.status_code in (200, 202, 422), (number, answer.content)
        said = answer.json()
        if answer.status_code == 202:  # a long one
            work_off()
            said = world.client.get(answer["Location"]).json()["imported"]
        elif answer.status_code == 422:
            check_problem(answer)
        if errors := said.get("errors"):
            check_said(errors, name)
        outcome = check_kept(stores, before, None if errors else said["new"])
        assert outcome == "stored" or number >= 0, said
        stores.check_files()
        for upload in Upload.objects.exclude(state=Upload.State.STORED):
            upload.path.unlink()
        transaction.savepoint_rollback(savepoint)
        stores.outcomes[outcome] += 1
    assert stores.outcomes["refused"] >= BY_API // 4
    stores.tell(f"{shape}, API")


@pytest.mark.parametrize("shape", SHAPES)
def test_the_page_stores_all_of_a_file_or_shows_its_errors(world, stores, shape):
    """Sent, its columns named, and imported, as the buttons do it one after the other; every fifth beside a good file."""
    kind, name, document, made = SHAPES[shape]
    beside, before = BESIDE_THE_FILE.get(shape, {}), stores.rows()
    beside = {PAGE_FIELDS[option]: value for option, value in beside.items()}
    for number in range(-1, BY_PAGE):
        rng = random.Random(number)
        files = [SimpleUploadedFile(name, malformed(shape, number) if number >= 0 else made(document))]
        if number > 0 and number % 5 == 4:
            files.append(SimpleUploadedFile(odd_name(rng, name), made(document)))
        stores.sweep()
        savepoint = transaction.savepoint()
        page = world.post("import/", {"kind": kind, "file": files}, follow=True)
        assert page.status_code == 200, number
        upload = Upload.objects.get()
        guessed = {field: field for field in ("context", "system", "output", "choice")}
        chosen = guessed if number > 0 and number % 4 == 3 else upload.columns
        named = world.post(f"import/{upload.pk}/", chosen | beside)
        assert named.status_code in (302, 422), number
        work_off()
        page = world.post(f"import/{upload.pk}/store/", follow=True)
        assert page.status_code == 200, number
        work_off()
        upload.refresh_from_db()
        if upload.state == Upload.State.REFUSED:
            entries = upload.error_entries()
            check_said(entries, upload.name)
            assert escape(entries[0]["message"]) in world.get(f"import/{upload.pk}/").content.decode()
        is_stored = upload.state == Upload.State.STORED
        outcome = check_kept(stores, before, upload.result["new"] if is_stored else None)
        assert outcome == "stored" or number >= 0, upload.errors
        stores.check_files()
        if not is_stored:
            world.post(f"import/{upload.pk}/discard/")
            assert not Upload.objects.exists() and stores.rows() == before
        stores.check_files()
        transaction.savepoint_rollback(savepoint)
        stores.outcomes[outcome] += 1
    stores.tell(f"{shape}, page")


@pytest.mark.parametrize("address", ["/api/campaigns/talk/import/outputs/", "/c/talk/import/"])
def test_a_damaged_request_or_an_odd_name_is_no_error_of_the_server(world, stores, address):
    _, name, document, made = SHAPES["JSON array"]
    before = stores.rows()
    for number in range(OF_BODIES):
        rng = random.Random(number)
        sent = SimpleUploadedFile(odd_name(rng, name) if number % 2 else name, made(document))
        body = encode_multipart(BOUNDARY, {"kind": "outputs", "file": sent})
        savepoint = transaction.savepoint()
        answer = world.client.generic("POST", address, body if number % 2 else damaged(rng, body), MULTIPART_CONTENT)
        assert answer.status_code in (200, 202, 302, 400, 422), (number, answer.content)
        if answer.status_code in (400, 422):
            assert stores.rows() == before
            if address.startswith("/api/"):
                check_problem(answer)
        stores.check_files()
        for upload in Upload.objects.all():
            upload.path.unlink(missing_ok=True)
        transaction.savepoint_rollback(savepoint)
        stores.outcomes[answer.status_code] += 1
    stores.tell(f"bodies to {address}")
