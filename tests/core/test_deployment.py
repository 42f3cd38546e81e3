"""What an installation keeps to itself: files, links, pages, passwords."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils.module_loading import import_string

from annotation.forms import OwnAccountForm
from annotation.models import User
from annotation.people.tokens import make_token

ROOT = Path(__file__).parents[2]


def manage(folder: Path, *words: str, **environment) -> subprocess.CompletedProcess:
    env = {**os.environ, "DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings", **environment}
    env.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)  # tests/browser sets it for its own process
    return subprocess.run([sys.executable, *words], cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)


def test_nobody_else_on_the_machine_reads_what_is_kept(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    code = "import django; django.setup(); from django.db import connection; connection.cursor().execute('CREATE TABLE t (x)')"
    previous = os.umask(0o022)
    try:
        done = manage(folder, "-c", code, DATABASE_URL="")
    finally:
        os.umask(previous)
    assert done.returncode == 0, done.stderr
    made = {path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*"))}
    assert {"comparena.sqlite3", "broker", "static"} < set(made)
    assert {name: oct(mode) for name, mode in made.items() if mode & 0o077} == {}


def test_behind_tls_nothing_is_left_to_warn_of(tmp_path):
    environment = {"HTTPS": "1", "SECRET_KEY": "x7" * 40 + "abcdefghijklm", "DATABASE_URL": ""}
    done = manage(tmp_path, "manage.py", "check", "--deploy", "--fail-level", "WARNING", **environment)
    assert done.returncode == 0, done.stderr


def test_the_log_does_not_tell_links_that_let_people_in(client, db, caplog):
    client.get("/join/secret-of-an-invitation/")
    client.get("/api/join/secret-of-an-invitation/")
    client.get("/resume/secret-of-a-guest/")
    line = dict(settings.LOGGING["formatters"]["line"])
    formatter = import_string(line.pop("()", "logging.Formatter"))(line["format"])
    lines = [formatter.format(record) for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(lines) == 3 and not any("secret" in line for line in lines)
    assert "/join/[...]/" in lines[0]


class TestPasswords:
    @pytest.mark.parametrize("password", ["annotator", "Annotator1!", "comparena-demo", "1234567890123"])
    def test_words_of_this_place_are_refused(self, password):
        with pytest.raises(ValidationError):
            validate_password(password)

    def test_a_sentence_is_fine(self):
        validate_password("the annotator eats plums")

    def test_the_own_name_is_refused(self, db):
        form = OwnAccountForm({"email": "zebedee@example.org", "password": "zebedee.example"})
        assert not form.is_valid() and "too similar" in str(form.errors["password"])


class TestPages:
    def test_what_is_seen_signed_in_is_kept_nowhere(self, client, db):
        user = User.objects.create_user("bob")
        assert "no-store" not in client.get("/").get("Cache-Control", "")
        headers = {"Authorization": f"Bearer {make_token(user, 'test')[1]}"}
        assert "no-store" in client.get("/api/tasks/", headers=headers)["Cache-Control"]
        client.force_login(user)
        for path in ("/", "/password/", "/nowhere/", "/api/tasks/"):
            assert "no-store" in client.get(path)["Cache-Control"]

    def test_no_page_may_use_the_camera(self, client, db):
        assert "camera=()" in client.get("/")["Permissions-Policy"]
