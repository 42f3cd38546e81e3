"""A file is imported in the browser."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Output
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db


class TestImport:
    def send(self, world, name, body, **data):
        file = SimpleUploadedFile(name, body if isinstance(body, bytes) else body.encode())
        return world.sign_in(world.alice).post("import/", {"file": file, "kind": "outputs"} | data)

    def test_outputs_come_in(self, world):
        rows = [{"context_id": "new", "context": "Good day", "system": s, "output": s * 3} for s in "xy"]
        answer = self.send(world, "more.jsonl", "".join(json.dumps(r) + "\n" for r in rows), human_systems="y")
        assert answer.status_code == 200 and "2 rows read" in text(answer)
        assert world.campaign.systems.get(name="y").is_human and not world.campaign.systems.get(name="x").is_human

    def test_errors_stand_in_a_table_and_nothing_is_stored(self, world):
        before = Output.objects.count()
        rows = '{"context_id": "n", "context": "c", "system": "x", "output": "fine"}\n{"context_id": "m"}\n'
        answer = self.send(world, "bad.jsonl", rows)
        page = text(answer)
        assert answer.status_code == 422 and "Nothing was imported" in page
        assert "<td>bad.jsonl</td>" in page and '<td class="num">2</td>' in page and "<code>" in page
        assert Output.objects.count() == before

    @pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe\xff", b"[]\n"])
    def test_a_file_that_is_none_is_refused_in_words(self, world, body):
        answer = self.send(world, "odd.jsonl", body)
        assert answer.status_code == 422 and "<td>odd.jsonl</td>" in text(answer)

    def test_checking_stores_nothing(self, world):
        before = Output.objects.count()
        row = {"context_id": "new", "context": "Good day", "system": "x", "output": "!"}
        answer = self.send(world, "more.jsonl", json.dumps(row), dry_run="on")
        assert "nothing was stored" in text(answer) and Output.objects.count() == before

    def test_without_a_file_the_form_says_so(self, world):
        answer = world.sign_in(world.alice).post("import/", {"kind": "scores"})
        assert answer.status_code == 422 and "required" in text(answer)
