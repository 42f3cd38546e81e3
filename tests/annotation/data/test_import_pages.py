"""A file is imported in the browser: sent, looked at, its columns named, every error seen, then stored."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation import tasks
from annotation.data import uploads
from annotation.data.fields import fields_of, guess, kinds_of_files, missing
from annotation.jobs import pulse
from annotation.models import Job, LikertScore, Output, Upload
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path / "uploads"


def row(system="x", context="new", text="Good day to you", **more):
    return {"context_id": context, "context": "Good day", "system": system, "output": text, **more}


def send(world, name, *rows, raw=None, kind="outputs"):
    """Send a file; returns the page that follows."""
    body = raw if raw is not None else "".join(json.dumps(r) + "\n" for r in rows).encode()
    file = SimpleUploadedFile(name, body)
    return world.sign_in(world.alice).post("import/", {"file": file, "kind": kind}, follow=True)


def store(world):
    return world.post(f"import/{Upload.objects.get().pk}/store/", follow=True)


class TestOldFiles:
    def test_a_file_that_nobody_imported_goes_after_thirty_days(self, world):
        send(world, "wrong.jsonl", row(system=""))
        wrong = Upload.objects.get()
        assert wrong.state == "refused" and wrong.path.exists()
        send(world, "more.jsonl", row())
        assert wrong.path.exists()
        Upload.objects.filter(pk=wrong.pk).update(created_at=timezone.now() - timedelta(days=31))
        send(world, "more.jsonl", row())
        assert not wrong.path.exists() and set(Upload.objects.values_list("name", flat=True)) == {"more.jsonl"}


class TestAFileInOrder:
    def test_it_is_checked_at_once_and_stored_by_a_second_click(self, world):
        before = Output.objects.count()
        page = text(send(world, "more.jsonl", row("x"), row("y")))
        assert "nothing is stored yet" in page and "2 rows read" in page and "Good day to you" in page
        assert Output.objects.count() == before
        assert "Imported." in text(store(world)) and Output.objects.count() == before + 2
        upload = Upload.objects.get()
        assert upload.state == "stored" and not upload.path.exists()
        assert "imported already" in text(store(world)) and Output.objects.count() == before + 2

    def test_human_systems_are_named_before(self, world):
        send(world, "more.jsonl", row("x"), row("y"))
        fields = {name: name for name in ("context_id", "context", "system", "output")}
        world.post(f"import/{Upload.objects.get().pk}/", fields | {"human_systems": "y"})
        store(world)
        assert list(world.campaign.systems.filter(name__in="xy").values_list("name", "is_human")) == [("x", False), ("y", True)]

    def test_answers_of_a_program_are_marked(self, world):
        score = {"context_id": "c0", "system": "Hydra-system", "aspect": "Overall", "annotator": "p", "score": 3}
        send(world, "scores.jsonl", score, kind="scores")
        world.post(f"import/{Upload.objects.get().pk}/", {name: name for name in score} | {"all_simulated": "on"})
        store(world)
        assert LikertScore.objects.get().annotator.is_simulated


class TestColumns:
    RAW = b"id,prompt,model,reply\n1,Hi,parrot,Hello\n"

    def test_other_names_are_recognised(self, world):
        page = text(send(world, "own.csv", raw=self.RAW))
        assert "nothing is stored yet" in page
        store(world)
        assert Output.objects.get(system__name="parrot").text == "Hello"

    def test_what_is_not_recognised_is_chosen(self, world):
        page = text(send(world, "own.csv", raw=self.RAW.replace(b"reply", b"was er sagt")))
        assert "not checked yet" in page and '<option value="was er sagt">' in page
        chosen = {"context_id": "id", "context": "prompt", "system": "model", "output": "was er sagt"}
        address = f"import/{Upload.objects.get().pk}/"
        assert "Say which column holds: output" in text(world.post(address, chosen | {"output": ""}))
        assert "is chosen twice" in text(world.post(address, chosen | {"output": "model"}))
        assert "nothing is stored yet" in text(world.post(address, chosen, follow=True))

    @pytest.mark.parametrize(
        "columns, expected",
        [
            (
                ["ID", "Source", "Model", "Response"],
                {"context_id": "ID", "context": "Source", "system": "Model", "output": "Response"},
            ),
            (["context_id", "text", "output"], {"context_id": "context_id", "output": "output"}),
            (  # WMT
                ["system", "seg_id", "source", "target"],
                {"system": "system", "context_id": "seg_id", "context": "source", "output": "target"},
            ),
            (["input", "target", "prediction"], {"context": "input", "references": "target", "output": "prediction"}),
            (["src", "mt", "ref"], {"context": "src", "output": "mt", "references": "ref"}),
            (["article", "summary", "model"], {"context": "article", "output": "summary", "system": "model"}),
        ],
    )
    def test_guessing(self, columns, expected):
        assert guess("outputs", columns) == expected

    def test_a_column_of_groups_is_recognised_or_chosen(self, world):
        raw = b"id,prompt,model,reply,cluster,topic\n1,Hi,parrot,Hello,a,b\n"
        page = text(send(world, "own.csv", raw=raw))
        assert '<option value="cluster" selected>' in page and "a topic or source document" in page
        chosen = {"context_id": "id", "context": "prompt", "system": "model", "output": "reply", "group": "topic"}
        world.post(f"import/{Upload.objects.get().pk}/", chosen)
        store(world)
        assert world.campaign.contexts.get(key="1").group == "b"

    def test_rows_of_known_answers_need_no_annotator(self):
        columns = {name: name for name in ("context_id", "context", "system_a", "output_a", "system_b", "output_b")}
        assert missing("judgments", columns) == ["annotator", "choice"]
        assert missing("judgments", columns | {"purpose": "purpose"}) == []


class TestErrors:
    def test_every_one_is_listed_page_by_page_and_nothing_is_stored(self, world):
        before = Output.objects.count()
        bad = [{"context_id": f"c{n}x", "context": "c", "system": "x"} for n in range(70)]
        page = text(send(world, "bad.jsonl", row(), *bad))
        assert "This file has 70 errors" in page and "1 to 50 of 70" in page and Output.objects.count() == before
        assert "<td>bad.jsonl</td>" in page and '<td class="num">2</td>' in page and "<code>output</code>" in page
        rest = text(world.get(f"import/{Upload.objects.get().pk}/?errors=2"))
        assert "51 to 70 of 70" in rest and '<td class="num">71</td>' in rest
        assert "check it first" in text(store(world)) and Output.objects.count() == before

    @pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe\xff", b"[]\n"])
    def test_a_file_that_is_none_is_refused_in_words(self, world, body):
        answer = send(world, "odd.jsonl", raw=body)
        assert answer.status_code == 200 and "<td>odd.jsonl</td>" in text(answer)

    def test_without_a_file_the_form_says_so(self, world):
        answer = world.sign_in(world.alice).post("import/", {"kind": "scores"})
        assert answer.status_code == 422 and "required" in text(answer)

    def test_a_refused_file_is_thrown_away(self, world):
        send(world, "bad.jsonl", {"context_id": "m"}, row())
        upload = Upload.objects.get()
        assert upload.path.exists()
        world.post(f"import/{upload.pk}/discard/")
        assert not upload.path.exists() and not Upload.objects.exists()


class TestALongFile:
    """Longer than the web process reads itself."""

    @pytest.fixture(autouse=True)
    def everything_is_long(self, monkeypatch):
        monkeypatch.setattr(uploads, "SMALL", 0)

    def test_a_worker_checks_and_stores_it(self, world):
        before = Output.objects.count()
        page = text(send(world, "long.jsonl", row("x"), row("y")))
        assert "being checked" in page and "No worker is running" in page and "data-job-url" in page
        assert "being read" in text(store(world))
        tasks.import_file(str(Job.objects.get().pk))
        page = text(world.get(f"import/{Upload.objects.get().pk}/"))
        assert "nothing is stored yet" in page and Job.objects.get().status == "done"
        pulse("worker@here")
        assert "data-job-no-worker hidden" in text(store(world)) and Output.objects.count() == before
        tasks.import_file(str(Job.objects.exclude(status="done").get().pk))
        assert Upload.objects.get().state == "stored" and Output.objects.count() == before + 2

    def test_its_errors_are_the_files_and_not_the_jobs(self, world):
        send(world, "long.jsonl", row("x"), row(7))
        tasks.import_file(str(Job.objects.get().pk))
        assert Job.objects.get().status == "done" and Upload.objects.get().state == "fine"  # a number is a name too
        world.post(f"import/{Upload.objects.get().pk}/", {name: name for name in ("context_id", "context", "system")})
        send(world, "worse.jsonl", row("x"), row("y", text=7))
        tasks.import_file(str(Job.objects.filter(status="queued").get().pk))
        worse = Upload.objects.get(name="worse.jsonl")
        assert worse.state == "refused" and worse.errors == [
            [2, "output", "expected text, found a number", None, "worse.jsonl"]
        ]

    def test_a_worker_that_died_is_followed_by_another_and_nothing_is_doubled(self, world):
        before = Output.objects.count()
        send(world, "long.jsonl", row("x"))
        job = Job.objects.get()
        uploads.work(Upload.objects.get())  # did its work, and died before it could say so
        tasks.import_file(str(job.pk))
        assert Upload.objects.get().state == "fine" and Output.objects.count() == before


class TestWhoMay:
    def test_researchers_of_the_campaign_only(self, world):
        send(world, "more.jsonl", row())
        upload = Upload.objects.get()
        for user in (world.bob, world.charlie):
            world.sign_in(user)
            assert world.get(f"import/{upload.pk}/").status_code == 404
            for path in ("", "store/", "discard/"):
                assert world.post(f"import/{upload.pk}/{path}").status_code == 404
        assert Upload.objects.get().state == "fine"

    def test_the_list_of_files_makes_a_fixed_number_of_queries(self, world, django_assert_num_queries):
        send(world, "more.jsonl", row())
        for number in (1, 8):
            with django_assert_num_queries(18 + 8):  # two ask how large the campaign is; with what comes next
                assert world.get("import/").status_code == 200
            for n in range(number):
                Upload.objects.create(campaign=world.campaign, user=world.bob, name=f"{number}-{n}", size=1, kind="scores")


def test_the_guide_names_every_field():
    guide = (Path(__file__).parents[3] / "docs/campaigns/import.md").read_text(encoding="utf-8")
    for kind, fields in ((kind, fields_of(kind)) for kind in kinds_of_files()):
        [row] = [line for line in guide.splitlines() if line.startswith(f"| {kind} |")]
        assert [field.name for field in fields if f"`{field.name}`" not in row] == []
