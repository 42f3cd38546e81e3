"""Damaged files of every shape: each is refused in sentences that name file, place and field, nothing of it is stored, and no
answer of the server is an error of the server. MALFORMED=1000 tries a thousand of each shape: with the reader, the API and the
page."""

import os
import re

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.utils.html import escape

from annotation.campaigns.lifecycle import create_campaign
from annotation.data import importer
from annotation.models import Annotator, AuditEvent, Context, Criterion, Output, PairwiseJudgment, System, Upload
from core.errors import ImportRefused, RowError
from tests.annotation.data.malformed import BESIDE_THE_FILE, PAGE_FIELDS, SHAPES, malformed

pytestmark = pytest.mark.django_db
EACH = int(os.environ.get("MALFORMED", 40))
SENT = EACH if "MALFORMED" in os.environ else 4  # of them also through the API and the page
STORED = (Output, Context, System, Annotator, PairwiseJudgment, Criterion, AuditEvent)
# What is said of a file as a whole, which has no line.
OF_THE_WHOLE = re.compile(
    "is empty|is longer|can't be (read|unpacked)|holds (the path|no|[0-9]+ files)|is a file of|is encrypted|is packed"
    "|stands twice|is no column of this file"
    "|has [0-9]+ values|has other row labels|has no sheet|something stands after"
)


def stored() -> list[int]:
    return [model.objects.count() for model in STORED]


def check_said(errors, name: str) -> None:
    assert 0 < len(errors) <= 200
    for error in errors:
        assert error.file == name or error.file.startswith(f"{name}/")
        assert error.line or error.row or OF_THE_WHOLE.search(error.message), str(error)
        for told in (error.message, error.field):
            assert "\n" not in told and "Traceback" not in told and " object at 0x" not in told
        assert len(error.message) < 300
        str(error).encode()


@pytest.mark.parametrize("shape", SHAPES)
def test_none_is_half_stored(shape):
    campaign = create_campaign(slug="talk", pairwise=True)
    kind, name, document, made = SHAPES[shape]
    how = BESIDE_THE_FILE.get(shape, {})
    good = SimpleUploadedFile(name, made(document))
    assert getattr(importer, f"import_{kind}")(campaign, good, name, dry_run=True, **how).rows > 0
    before, refused = stored(), 0
    for number in range(EACH):
        file = SimpleUploadedFile(name, malformed(shape, number))
        savepoint = transaction.savepoint()
        try:
            getattr(importer, f"import_{kind}")(campaign, file, name, **how)
        except ImportRefused as refusal:
            refused += 1
            check_said(refusal.errors, name)
            assert stored() == before
        transaction.savepoint_rollback(savepoint)
    assert refused > EACH / 2  # the others are valid still


@pytest.mark.parametrize("shape", SHAPES)
def test_the_api_stores_all_of_a_file_or_refuses_it(world, shape):
    kind, name, _, _ = SHAPES[shape]
    world.sign_in(world.alice)
    before, refused = stored(), 0
    for number in range(SENT):
        cache.clear()  # of the requests that were counted
        file = SimpleUploadedFile(name, malformed(shape, number))
        savepoint = transaction.savepoint()
        answer = world.client.post(f"/api/campaigns/talk/import/{kind}/", {"file": file, **BESIDE_THE_FILE.get(shape, {})})
        assert answer.status_code in (200, 422), (number, answer.content)
        if answer.status_code == 422:
            refused += 1
            check_said([_of_api(entry, name) for entry in answer.json()["errors"]], name)
            assert stored() == before
        transaction.savepoint_rollback(savepoint)
    assert refused >= SENT / 4


@pytest.mark.parametrize("shape", SHAPES)
def test_the_page_stores_all_of_a_file_or_shows_its_errors(world, settings, tmp_path, shape):
    """Sent, its columns named, and imported, as the buttons do it one after the other."""
    settings.UPLOADS_DIR = tmp_path / "uploads"
    kind, name, _, _ = SHAPES[shape]
    beside = {PAGE_FIELDS[option]: value for option, value in BESIDE_THE_FILE.get(shape, {}).items()}
    world.sign_in(world.alice)
    before, refused = stored(), 0
    for number in range(SENT):
        file = SimpleUploadedFile(name, malformed(shape, number))
        savepoint = transaction.savepoint()
        page = world.post("import/", {"kind": kind, "file": file}, follow=True)
        assert page.status_code == 200
        upload = Upload.objects.latest("created_at")
        guessed = {field: field for field in ("context", "system", "output", "choice")} if number % 4 == 3 else upload.columns
        named = world.post(f"import/{upload.pk}/", guessed | beside)
        assert named.status_code in (302, 422), number
        page = world.post(f"import/{upload.pk}/store/", follow=True)
        assert page.status_code == 200
        upload.refresh_from_db()
        if upload.state != Upload.State.STORED:
            refused += 1
            assert stored() == before
        if upload.state == Upload.State.REFUSED:
            entries = upload.error_entries()
            check_said([_of_api(entry, name) for entry in entries], name)
            assert escape(entries[0]["message"]) in page.content.decode()
        upload.path.unlink(missing_ok=True)
        transaction.savepoint_rollback(savepoint)
    assert refused >= SENT / 4


def _of_api(entry: dict, name: str) -> RowError:
    return RowError(entry.get("file") or name, entry["line"], entry["field"] or "", entry["message"], row=entry.get("row"))
