"""Damaged files of every shape: each is refused in sentences that name file, place and field, nothing of it is stored, and no
answer of the server is an error of the server. MALFORMED=1000 tries a thousand of each shape."""

import os
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction

from annotation.campaigns.lifecycle import create_campaign
from annotation.data import importer
from annotation.models import Annotator, AuditEvent, Context, Criterion, Output, PairwiseJudgment, System, Upload
from core.errors import ImportRefused
from tests.annotation.data.malformed import SHAPES, malformed

pytestmark = pytest.mark.django_db
EACH = int(os.environ.get("MALFORMED", 40))
SENT = max(2, EACH // 50)  # of them also through the page and the API
STORED = (Output, Context, System, Annotator, PairwiseJudgment, Criterion, AuditEvent)
# What is said of a file as a whole, which has no line.
OF_THE_WHOLE = re.compile(
    "is empty|is longer|can't be (read|unpacked)|holds (the path|no|[0-9]+ files)|is a file of|is encrypted|is packed"
    "|stands twice"
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
    good = SimpleUploadedFile(name, made(document))
    assert getattr(importer, f"import_{kind}")(campaign, good, name, dry_run=True).rows > 0
    before, refused = stored(), 0
    for number in range(EACH):
        file = SimpleUploadedFile(name, malformed(shape, number))
        savepoint = transaction.savepoint()
        try:
            getattr(importer, f"import_{kind}")(campaign, file, name)
        except ImportRefused as refusal:
            refused += 1
            check_said(refusal.errors, name)
            assert stored() == before
        transaction.savepoint_rollback(savepoint)
    assert refused > EACH / 2  # the others are valid still


@pytest.mark.parametrize("shape", SHAPES)
def test_no_answer_is_an_error_of_the_server(world, settings, tmp_path, shape):
    settings.UPLOADS_DIR = tmp_path / "uploads"
    kind, name, _, _ = SHAPES[shape]
    world.sign_in(world.alice)
    for number in range(SENT):
        raw = malformed(shape, number)
        answer = world.client.post(
            f"/api/campaigns/talk/import/{kind}/", {"file": SimpleUploadedFile(name, raw), "dry_run": "true"}
        )
        assert answer.status_code in (200, 422) and answer.json()
        page = world.post("import/", {"kind": kind, "file": SimpleUploadedFile(name, raw)}, follow=True)
        assert page.status_code == 200
        columns = {field: field for field in ("context", "system", "output", "choice")}
        assert world.post(f"import/{Upload.objects.latest('created_at').pk}/", columns).status_code in (200, 302, 422)
