"""The whole campaign by page, API and command: one file, and one sentence for what is none."""

import io
import json
import random
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError

from annotation.models import Campaign, Job
from core.errors import ImportRefused, Refused
from leaderboard.archive import exchange
from leaderboard.archive.admission import admit
from leaderboard.archive.export import write_archive
from tests.annotation.pages import text
from tests.evaluator.world import command
from tests.leaderboard.played import by_people

pytestmark = pytest.mark.django_db


@pytest.fixture
def archive(world, stores) -> bytes:
    out = io.BytesIO()
    write_archive(world.campaign, out)
    Campaign.objects.filter(pk=world.campaign.pk).update(slug="before")
    return out.getvalue()


def changed(archive: bytes, **files) -> bytes:
    """The archive with other files, whose digests its manifest knows; None: without the file."""
    import hashlib

    source = zipfile.ZipFile(io.BytesIO(archive))
    contents = {name: source.read(name) for name in source.namelist()}
    for name, content in files.items():
        contents = {k: v for k, v in contents.items() if k != name} | ({name: content} if content is not None else {})
    manifest = json.loads(contents.pop("manifest.json"))
    manifest["files"] = {n: {"sha256": hashlib.sha256(c).hexdigest(), "bytes": len(c)} for n, c in contents.items()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, content in (contents | {"manifest.json": json.dumps(manifest).encode()}).items():
            made.writestr(name, content)
    return out.getvalue()


def edited(archive: bytes, table: str, **cells) -> bytes:
    """With other values in the table's last row."""
    name = f"tables/{table}.jsonl"
    *lines, last = zipfile.ZipFile(io.BytesIO(archive)).read(name).splitlines()
    return changed(archive, **{name: b"\n".join([*lines, json.dumps(json.loads(last) | cells).encode()]) + b"\n"})


def upload(content: bytes):
    return SimpleUploadedFile("talk.zip", content)


class TestDoors:
    def test_page_api_and_command_give_the_same_file(self, world, stores, tmp_path):
        by_people(world.campaign, criterion="Overall")
        world.client.force_login(world.alice)
        page = text(world.client.get("/c/talk/export/"))
        assert "Write the file" in page and "What stays behind" in page
        world.client.post("/c/talk/export/archive/")
        by_page = b"".join(world.client.get("/c/talk/export/archive/file/").streaming_content)
        assert "Write it anew" in text(world.client.get("/c/talk/export/"))
        job = world.client.post("/api/campaigns/talk/archive/").json()
        assert job["status"] == "done" and len(list((stores.folder / "UPLOADS_DIR/archives").iterdir())) == 1
        by_api = b"".join(world.client.get("/api/campaigns/talk/archive/").streaming_content)
        said = command("export_campaign", "talk", str(tmp_path / "out.zip"))
        assert by_page == by_api == (tmp_path / "out.zip").read_bytes()
        assert len(said["boards"]) == 1 and said["not_carried"] and said["simulated"] is False

    def test_all_of_them_bring_it_back(self, world, archive, tmp_path):
        world.alice.may_create_campaigns = True
        world.alice.save()
        world.client.force_login(world.alice)
        checked = world.client.post("/new/archive/", {"file": upload(archive), "check": "1"})
        assert "Nothing is stored yet" in text(checked) and not Campaign.objects.filter(slug="talk").exists()
        assert world.client.post("/new/archive/", {"file": upload(archive)}).url == "/c/talk/"
        assert "equal hashes" in text(world.client.get("/c/talk/"))
        again = world.client.post("/new/archive/", {"file": upload(archive)})
        assert again.status_code == 422 and "There is already a campaign" in text(again)
        made = world.client.post("/api/archives/", {"file": upload(archive), "slug": "by-api"})
        assert made.status_code == 201 and made.json()["campaign"] == "by-api"
        (tmp_path / "talk.zip").write_bytes(archive)
        said = command("import_campaign", str(tmp_path / "talk.zip"), "--slug", "by-command", "--user", world.alice.username)
        assert said["rows"] == made.json()["rows"]
        digests = Campaign.objects.values_list("snapshots__digest", flat=True)
        assert len(digests) == 4 and len(set(digests)) == 1
        assert set(Campaign.objects.values_list("memberships__user", flat=True)) == {world.alice.pk}

    def test_a_large_one_is_a_workers(self, world, archive, stores, monkeypatch, sent):
        monkeypatch.setattr(exchange, "SMALL_BYTES", 10)
        monkeypatch.setattr(exchange, "SMALL_ROWS", 10)
        world.client.force_login(world.dora)
        job = Job.objects.get(pk=world.client.post("/api/campaigns/before/archive/").json()["id"])
        assert job.status == Job.Status.QUEUED and world.client.get("/api/campaigns/before/archive/").status_code == 422
        assert "waiting for a worker" in text(world.client.get("/c/before/export/"))
        exchange.write(job.pk)
        assert world.client.get("/api/campaigns/before/archive/").status_code == 200
        answer = world.client.post("/api/archives/", {"file": upload(archive)})
        assert answer.status_code == 202 and answer["Location"].endswith(answer.json()["id"] + "/")
        assert Campaign.objects.get(slug="talk").snapshots.count() == 0
        exchange.read(answer.json()["id"])
        assert Campaign.objects.get(slug="talk").snapshots.count() == 1
        exchange.ask(Campaign.objects.get(slug="before"))
        assert [f for f in stores.files() if "archives" in f] == []

    def test_who_may_not_create_campaigns_brings_none_back(self, world, archive):
        world.client.force_login(world.charlie)
        assert world.client.post("/new/archive/", {"file": upload(archive)}).status_code == 403
        assert world.client.post("/api/archives/", {"file": upload(archive)}).status_code == 403
        assert world.client.get("/c/before/export/").status_code == 404

    def test_commands_name_what_is_missing(self, world, tmp_path):
        with pytest.raises(CommandError, match="can't be opened"):
            command("import_campaign", str(tmp_path / "nothing.zip"))
        (tmp_path / "there.zip").write_bytes(b"")
        with pytest.raises(CommandError, match="is there already"):
            command("export_campaign", "talk", str(tmp_path / "there.zip"))
        with pytest.raises(CommandError, match="no user"):
            command("import_campaign", str(tmp_path / "there.zip"), "--user", "nobody")


WRONG = [
    (dict(table="scores", value=float("nan")), "scores.jsonl, line 96: is no line of JSON"),
    (dict(table="scores", value="5"), "line 96, field 'value': expected a number"),
    (dict(table="scores", output=10**9), "field 'output': names row 1000000000 of 48"),
    (dict(table="scores", annotator=True), "field 'annotator': names row"),
    (dict(table="scores", created_at="2026-01-01"), "field 'created_at': expected a time with its zone"),
    (dict(table="scores", purpose="fun"), "field 'purpose'.*is none of"),
    (dict(table="scores", extra=1), "field 'extra': is no field of this table"),
    (dict(table="scores", cannot_say=None), "field 'cannot_say': is missing"),
    (dict(table="scores", cannot_say=True), "contradict each other"),
    (dict(table="contexts", turns={"a": 1}), "field 'turns': expected a JSON list"),
    (dict(table="contexts", key="x" * 201), "field 'key'.*200"),
    (dict(table="contexts", key="\ud800"), "is no line of JSON"),
    (dict(table="contexts", key="a\0b"), "NUL"),
    (dict(table="criteria", low=9), "contradict each other|lower to a higher"),
    (dict(table="criteria", kind="riddle"), "no kind of question 'riddle'"),
    (dict(table="campaign", overlap=0), "overlap"),
    (dict(table="snapshots", digest="0" * 64), "no file of this name"),
]


class TestMalformed:
    @pytest.mark.parametrize("cells, said", WRONG, ids=[f"{c['table']}-{n}" for n, (c, _) in enumerate(WRONG)])
    def test_the_file_the_line_and_the_field_are_named(self, archive, stores, cells, said):
        self.is_refused(edited(archive, **cells), said, stores)

    def is_refused(self, content: bytes, said: str, stores) -> None:
        before = stores.rows()
        with pytest.raises(Refused, match=said) as refused:
            admit(io.BytesIO(content), "talk.zip")
        assert "\n" not in str(refused.value) and stores.rows() == before

    def test_a_file_that_is_no_archive(self, archive, stores):
        self.is_refused(b"PK no", "can't be read as a zip archive", stores)
        self.is_refused(archive[:-500], "can't be read|damaged", stores)
        self.is_refused(changed(archive, **{"tables/scores.jsonl": None}), "is missing from the archive", stores)
        self.is_refused(changed(archive, **{"../x": b""}), "is no file of an archive", stores)
        digest = zipfile.ZipFile(io.BytesIO(archive)).namelist()
        name = next(n for n in digest if n.startswith("snapshots/") and "answers" not in n)
        self.is_refused(changed(archive, **{name: b"{}\n"}), "is not that of the snapshot's file", stores)

    def test_a_changed_byte_is_found(self, archive, stores):
        source = zipfile.ZipFile(io.BytesIO(archive))
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as made:
            for name in source.namelist():
                content = source.read(name)
                made.writestr(name, content.replace(b"5.0", b"4.0", 1) if name == "tables/scores.jsonl" else content)
        self.is_refused(out.getvalue(), "scores.jsonl: is not what the manifest says", stores)

    def test_random_damage_ends_in_one_sentence(self, archive, stores):
        """Values of any kind anywhere in any table: refused with a sentence, or a campaign."""
        rng, before = random.Random(4), stores.rows()
        source = zipfile.ZipFile(io.BytesIO(archive))
        tables = [n for n in source.namelist() if n.startswith("tables/") and source.read(n)]
        for _ in range(60):
            name = rng.choice(tables)
            lines = source.read(name).splitlines()
            n = rng.randrange(len(lines))
            row = json.loads(lines[n])
            row[rng.choice(list(row))] = rng.choice([None, -1, 2**70, 1.5, "", "x", [], {}, [[]], {"a": 1}, True, "1e9", 1e308])
            lines[n] = json.dumps(row).encode()
            try:
                admit(io.BytesIO(changed(archive, **{name: b"\n".join(lines)})), "talk.zip", dry_run=True)
            except ImportRefused as refused:
                assert "\n" not in str(refused) and "Error" not in str(refused)
        assert stores.rows() == before
