"""A damaged database, one of a newer version, and one that can only be read are said, and no backup hides them."""

import json
import re
import sqlite3
import zipfile

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, InternalError, OperationalError, connection, transaction

from annotation import health
from annotation.models import ApiToken, AuditEvent, Heartbeat, User
from annotation.people.tokens import make_token, token_of
from config.errors import BUSY, DAMAGED, outage
from core import backups, database_checks
from core.database_checks import sentence_of, told
from core.errors import Refused


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.sqlite3"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE words (word TEXT)")
        made.execute("CREATE INDEX by_word ON words (word)")
        made.executemany("INSERT INTO words VALUES (?)", [(f"word {number}" * 20,) for number in range(2000)])
    made.close()
    return path


def overwrite(path, at: int, size: int) -> None:
    with path.open("r+b") as damaged:
        damaged.seek(at)
        damaged.write(b"\xa5" * size)


class TestDamage:
    def test_a_whole_file_is_counted(self, file):
        assert database_checks.rows_of_sqlite(file) == {"words": 2000}

    @pytest.mark.parametrize("at", [0, 4096 * 5, 4096 * 20], ids=["the header", "a page", "another page"])
    def test_a_page_that_was_overwritten_is_found(self, file, at):
        overwrite(file, at, 4096)
        with pytest.raises(Refused, match="damaged"):
            database_checks.rows_of_sqlite(file)

    def test_pages_say_it(self, file):
        overwrite(file, 0, 100)
        with pytest.raises(sqlite3.DatabaseError) as error:
            sqlite3.connect(file).execute("SELECT * FROM words")
        assert outage(error.value) == DAMAGED


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("raised", "cause", "said"),
    [
        (InternalError, psycopg.errors.DataCorrupted, "is damaged"),
        (InternalError, psycopg.errors.IndexCorrupted, "is damaged"),
        (OperationalError, psycopg.OperationalError, "cannot be reached"),
        (OperationalError, psycopg.errors.DiskFull, None),
    ],
)
def test_postgresql_s_damage_is_a_sentence_for_commands(raised, cause, said):
    error = raised("invalid page in block 0\n  of relation base/1/2")
    error.__cause__ = cause()
    sentence = sentence_of(error)
    assert sentence is None if said is None else said in sentence and "block 0 of relation base/1/2" in sentence
    with pytest.raises(Refused if said else OperationalError), told():
        raise error from cause()


@pytest.mark.one_database
def test_two_who_wait_for_each_other_are_told_to_come_again():
    error = OperationalError("deadlock detected")
    error.__cause__ = psycopg.errors.DeadlockDetected()
    assert outage(error) == BUSY


@pytest.mark.django_db(transaction=True)
class TestBackups:
    @pytest.fixture
    def made(self, tmp_path, settings):
        for name in ("models", "uploads", "images", "replies"):
            setattr(settings, f"{name.upper()}_DIR", tmp_path / name)
        User.objects.create_user("alice")
        backups.back_up(tmp_path / "backup.zip")
        return tmp_path / "backup.zip"

    def test_one_that_restores_is_verified_and_one_that_lost_a_row_is_refused(self, made, tmp_path):
        manifest = backups.verify(made)
        assert manifest["rows"]["annotation_user"] == User.objects.count() > 0
        other = tmp_path / "other.zip"
        with zipfile.ZipFile(made) as archive, zipfile.ZipFile(other, "w") as changed:
            for name in archive.namelist():
                content = archive.read(name)
                if name == backups.MANIFEST:
                    manifest["rows"]["annotation_user"] += 1
                    content = json.dumps(manifest).encode()
                changed.writestr(name, content)
        with pytest.raises(Refused, match="annotation_user"):
            backups.verify(other)

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's file")
    def test_a_damaged_database_is_not_backed_up(self, file, tmp_path, monkeypatch):
        overwrite(file, 4096 * 5, 4096)
        monkeypatch.setattr(backups, "copy_sqlite", lambda source, path: path.write_bytes(file.read_bytes()))
        with pytest.raises(Refused, match="damaged"):
            backups.back_up(tmp_path / "new.zip")
        assert not (tmp_path / "new.zip").exists()


@pytest.mark.django_db
class TestNewerDatabase:
    def test_migrate_refuses_it(self):
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO django_migrations (app, name, applied) VALUES ('annotation', '9999_later', '2030-01-01 00:00:00')"
            )
        with pytest.raises(CommandError, match="newer version.*9999_later"):
            call_command("migrate", verbosity=0)


@pytest.mark.django_db
class TestReadOnly:
    @pytest.fixture
    def read_only(self):
        """Every write fails, as on a standby of PostgreSQL."""

        def refuse(execute, sql, params, many, context):
            if sql.split()[0] in ("INSERT", "UPDATE", "DELETE"):
                raise OperationalError("cannot execute UPDATE in a read-only transaction")
            return execute(sql, params, many, context)

        return lambda: connection.execute_wrapper(refuse)

    def test_a_token_reads(self, read_only):
        key = make_token(User.objects.create_user("alice"), "test")[1]
        with read_only():
            assert token_of(key).user.username == "alice"
        assert ApiToken.objects.get().used_at is None
        token_of(key)
        assert ApiToken.objects.get().used_at is not None

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="whose disk is its own")
    def test_the_probe_of_readiness_takes_room_on_the_disk(self):
        def full(execute, sql, params, many, context):
            if "ORDER BY r" in sql:
                raise OperationalError("could not write to file: No space left on device")
            return execute(sql, params, many, context)

        with connection.execute_wrapper(full):
            assert health._storing() == "nothing can be stored"
        with connection.cursor() as cursor:
            cursor.execute("SET work_mem = '64kB'")
            cursor.execute(f"EXPLAIN ANALYZE {health.ON_DISK}")
            assert "external merge  Disk:" in str(cursor.fetchall())
            cursor.execute("RESET work_mem")

    def test_the_probe_of_readiness_tells(self, read_only):
        with read_only():
            assert health._storing() == "nothing can be stored"
        assert health._storing() == health.WELL and Heartbeat.objects.count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite knows no roles")
@pytest.mark.django_db
def test_the_server_s_role_works_and_changes_no_table():
    """By the SQL that docs/operate/deploy.md has."""
    page = (settings.BASE_DIR / "docs/operate/deploy.md").read_text()
    sql = re.findall(r"(?m)^    ((?:CREATE ROLE|GRANT|ALTER DEFAULT) .*;)$", page)
    with connection.cursor() as cursor:
        for statement in sql:
            cursor.execute(statement.replace("%", "%%"))
        cursor.execute("SET LOCAL ROLE comparena_app")
        user = User.objects.create_user("alice")
        AuditEvent.objects.create(user=user, action="signed in")
        assert health._storing() == health.WELL
        for forbidden in (
            "DROP TRIGGER audit_rows ON annotation_auditevent",
            "ALTER TABLE annotation_auditevent DISABLE TRIGGER ALL",
            "TRUNCATE annotation_auditevent",
            "CREATE TABLE other (id int)",
            "CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        ):
            with pytest.raises(DatabaseError, match="must be owner|permission denied"), transaction.atomic():
                cursor.execute(forbidden)
        with pytest.raises(DatabaseError, match="audit"), transaction.atomic():
            AuditEvent.objects.update(action="nothing")
