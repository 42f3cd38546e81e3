"""A backup of one place, restored into an empty one by a process of its own, shows the same."""

import json
import os
import sqlite3
import subprocess
import sys
import uuid
import zipfile
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.models import LikertScore, Output, User
from core import backups
from core.errors import Refused
from tests.access.bodies import bodies, paths_of
from tests.access.people import People
from tests.annotation.pages import World
from tests.evaluator import world as researched
from tests.leaderboard.played import a_version

ROOT = Path(__file__).parents[2]
LOOK = """
import json, django; django.setup()
from django.apps import apps
from django.test import Client
from django.test.utils import setup_test_environment
from annotation.models import User
setup_test_environment()  # keeps what pages are made of
rows = {m._meta.label: m.objects.count() for m in apps.get_models() if m._meta.managed}
client = Client(HTTP_HOST="localhost")
client.force_login(User.objects.get(username="alice"))
page = client.get("/c/talk/")
print(json.dumps([rows, client.get("/api/campaigns/talk/").json(), page.context["numbers"]], default=str))
"""

FOLDERS = ("models", "uploads", "images", "replies")


@pytest.fixture
def files(settings, tmp_path):
    """A comparator's file, one of a training under way, and a file sent for import."""
    for name in FOLDERS:
        setattr(settings, f"{name.upper()}_DIR", tmp_path / "from" / name)
    contents = {"models/talk-1/card.json": "{}", "models/.run-2/part": "unfinished", "uploads/3": "rows"}
    contents |= {"images/1/king.png": "a picture", "replies/talk.jsonl": "a reply"}
    for name, text in contents.items():
        path = tmp_path / "from" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return contents


@pytest.fixture
def world(db, tmp_path, client, files):
    world = World(tmp_path, client, contexts=3)
    for output in Output.objects.all():
        LikertScore.objects.create(annotator=world.annotator, output=output, criterion=world.campaign.criteria.first(), value=4)
    return world


@pytest.fixture
def elsewhere(tmp_path, transactional_db):
    """elsewhere(*words, check=True): a process of Python in another, empty place."""
    environment = {name: value for name, value in os.environ.items() if name not in ("SECRET_KEY", "DATABASE_URL")}
    environment |= {"DATA_DIR": str(tmp_path / "to"), "DJANGO_SETTINGS_MODULE": "config.settings"}
    name = f"restored_{uuid.uuid4().hex[:8]}"
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}"')
        own = connection.settings_dict
        environment["DATABASE_URL"] = f"postgres://{own['USER']}:{own['PASSWORD']}@{own['HOST']}:{own['PORT']}/{name}"

    def run(*words, check=True, told=None):
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=ROOT, env=environment, input=told, capture_output=True, text=True, timeout=200)
        assert not check or done.returncode == 0, done.stderr
        return done

    yield run
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{name}"')


def test_a_restored_place_has_the_same_rows_and_shows_the_same_numbers(world, elsewhere, tmp_path):
    file = tmp_path / "talk.backup"
    manifest = backups.back_up(file)
    restored = elsewhere("manage.py", "restore", str(file), "--json")
    assert json.loads(restored.stdout)["files"] == len(manifest["files"]) == 6
    rows, campaign, numbers = json.loads(elsewhere("-c", LOOK).stdout)
    here = {model._meta.label: model.objects.count() for model in apps.get_models() if model._meta.managed}
    assert rows == here and rows["annotation.LikertScore"] == 9
    alice = Client(HTTP_HOST="localhost")
    alice.force_login(User.objects.get(username="alice"))
    assert campaign == alice.get("/api/campaigns/talk/").json()
    assert numbers == json.loads(json.dumps(alice.get("/c/talk/").context["numbers"], default=str))
    assert (tmp_path / "to/models/talk-1/card.json").read_text() == "{}" and (tmp_path / "to/uploads/3").read_text() == "rows"
    assert not (tmp_path / "to/models/.run-2").exists()
    assert (tmp_path / "to/secret_key").read_text() == "tests only"

    again = elsewhere("manage.py", "restore", str(file), check=False)
    assert again.returncode == 1 and "The database is not empty" in again.stderr
    assert json.loads(elsewhere("-c", LOOK).stdout)[1] == campaign


@pytest.fixture
def people(files, tmp_path, client, transactional_db):
    """A campaign with one of everything: a snapshot, a comparator's row, a tournament, answers, reports, an upload."""
    world = researched.World(tmp_path, client, contexts=4)
    return People(world, a_version(world))


def test_all_pages_of_a_restored_place_show_the_same(people, elsewhere, tmp_path):
    """What a researcher may read, by tests/access/table.py, pages and API."""
    backups.back_up(tmp_path / "talk.backup")
    elsewhere("manage.py", "restore", str(tmp_path / "talk.backup"))
    now, paths = timezone.now(), paths_of(people.campaign)
    asked = json.dumps({"user": people.alice.username, "now": now.isoformat(), "paths": paths})
    elsewhere("-m", "tests.access.bodies", str(tmp_path / "bodies"), told=asked)
    there, here = json.loads((tmp_path / "bodies").read_text()), bodies(people.alice, paths, now)
    assert [path for path in paths if here[path] != there[path]] == []
    assert len(paths) > 100 and sum(body.startswith("200") for body in here.values()) > 80
    assert not [path for path, body in here.items() if body.startswith("5")]


class TestRefusals:
    @pytest.fixture
    def empty(self, monkeypatch, settings, tmp_path):
        """A place that holds nothing, in which nothing may be written."""
        monkeypatch.setattr(backups, "_tables", list)
        monkeypatch.setattr(backups, "_bring_in", None)
        for name in FOLDERS:
            setattr(settings, f"{name.upper()}_DIR", tmp_path / "to" / name)

    @pytest.fixture
    def file(self, files, transactional_db, tmp_path):
        backups.back_up(tmp_path / "a.backup")
        return tmp_path / "a.backup"

    def change(self, file, name, content):
        """The same archive with another content of one file."""
        changed = file.with_name("changed.backup")
        with zipfile.ZipFile(file) as old, zipfile.ZipFile(changed, "w") as new:
            for member in {*old.namelist(), name}:
                new.writestr(member, content if member == name else old.read(member))
        return changed

    def test_a_damaged_file_brings_nothing_in(self, file, empty):
        with pytest.raises(Refused, match="damaged: uploads/3 has not the SHA-256"):
            backups.restore(self.change(file, "uploads/3", "other rows"))

    @pytest.mark.parametrize("name", ["../outside", "models/../../outside", "elsewhere/x"])
    def test_no_file_leaves_its_folder(self, file, empty, name):
        manifest = json.loads(zipfile.ZipFile(file).read("manifest.json"))
        manifest["files"][name] = {"sha256": "", "bytes": 0}
        outside = self.change(self.change(file, "manifest.json", json.dumps(manifest)).rename(file), name, "x")
        with pytest.raises(Refused, match="no part of a backup"):
            backups.restore(outside)

    def test_one_of_a_newer_version_or_another_database_is_refused(self, file, empty):
        manifest = json.loads(zipfile.ZipFile(file).read("manifest.json"))
        newer = manifest | {"migrations": [*manifest["migrations"], "annotation.9999_later"]}
        with pytest.raises(Refused, match="newer version, which has the migration annotation.9999_later"):
            backups.restore(self.change(file, "manifest.json", json.dumps(newer)))
        with pytest.raises(Refused, match="holds a oracle database"):
            backups.restore(self.change(file, "manifest.json", json.dumps(manifest | {"database": "oracle"})))

    def test_what_is_no_backup_is_refused(self, empty, db, tmp_path):
        (tmp_path / "x").write_text("x")
        with pytest.raises(Refused, match="can't be restored: File is not a zip file"):
            backups.restore(tmp_path / "x")

    def test_a_place_with_models_is_not_overwritten(self, file, empty, settings):
        settings.MODELS_DIR.mkdir(parents=True)
        (settings.MODELS_DIR / "mine").mkdir()
        with pytest.raises(Refused, match="folder models is not empty"):
            backups.restore(file)

    def test_a_file_that_is_there_is_not_overwritten(self, file):
        with pytest.raises(Refused, match="is there already"):
            backups.back_up(file)


def test_sqlite_is_copied_as_it_was_after_the_last_commit(tmp_path):
    path = tmp_path / "live.sqlite3"
    with sqlite3.connect(path, isolation_level=None) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE answer (value)")
        writer.execute("INSERT INTO answer VALUES (1)")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO answer VALUES (2)")
        reader = sqlite3.connect(path)
        backups.copy_sqlite(reader, tmp_path / "copy.sqlite3")
        writer.execute("COMMIT")  # nobody was kept from writing
    copy = sqlite3.connect(tmp_path / "copy.sqlite3")
    assert copy.execute("SELECT value FROM answer").fetchall() == [(1,)]
    for opened in (writer, reader, copy):
        opened.close()
