"""Whether a database is whole: its own check of every page, and how many rows each table has."""

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.db import DatabaseError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader

from core.errors import Refused

DAMAGED = "The database is damaged ({error}). Nothing was changed. Restore the last backup that `backup --verify` accepts."
AWAY = "The database cannot be reached ({error})."
CORRUPTED = ("XX001", "XX002")  # PostgreSQL's data_corrupted and index_corrupted
OURS = ("annotation", "evaluator", "leaderboard")


@contextmanager
def told() -> Iterator[None]:
    """What a database says that is damaged or away, in a sentence."""
    try:
        yield
    except (sqlite3.DatabaseError, DatabaseError) as error:
        if sentence := sentence_of(error):
            raise Refused(sentence) from error
        raise


def sentence_of(error: sqlite3.Error | DatabaseError) -> str | None:
    """Of a damaged database or one that is away; None for any other error."""
    cause = error if isinstance(error, sqlite3.Error) else error.__cause__
    code, state = getattr(cause, "sqlite_errorcode", 0) & 0xFF, getattr(cause, "sqlstate", "")
    said = " ".join(str(error).split())
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or state in CORRUPTED:
        return DAMAGED.format(error=said)
    return AWAY.format(error=said) if state is None and isinstance(error, OperationalError) else None


def rows_of_sqlite(path: Path) -> dict[str, int]:
    """{table: rows} of a file that is whole. Raises Refused for one that is not."""
    with told(), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as copy:
        flaws = [line for (line,) in copy.execute("PRAGMA integrity_check(3)")]
        if flaws != ["ok"]:
            raise Refused(DAMAGED.format(error=" ".join(flaws[0].split())))
        names = [name for (name,) in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {name: copy.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}


@contextmanager
def snapshot(connection: BaseDatabaseWrapper) -> Iterator[tuple[str, dict[str, int]]]:
    """(the name of PostgreSQL's state at this moment, which pg_dump takes, {table: rows} in it)"""
    own: Any = connection.copy()
    try:
        own.set_autocommit(False)
        with own.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            name = cursor.fetchone()[0]
            yield name, _counted(cursor)
        own.rollback()
    finally:
        own.close()


@contextmanager
def empty_database(connection: BaseDatabaseWrapper) -> Iterator[str]:
    """The name of a new one on the same server, which is gone afterwards."""
    name = f"comparena_verify_{uuid.uuid4().hex[:12]}"
    own: Any = connection.copy()
    try:
        with own.cursor() as cursor:
            try:
                cursor.execute(f'CREATE DATABASE "{name}"')
            except DatabaseError as error:
                raise Refused(f"No empty database can be made on this server to restore into: {error}") from error
            try:
                yield name
            finally:
                cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    finally:
        own.close()


def rows_of_postgres(connection: BaseDatabaseWrapper, name: str) -> dict[str, int]:
    """{table: rows} of another database on the same server."""
    other: Any = connection.copy()
    other.settings_dict = {**connection.settings_dict, "NAME": name}
    try:
        with other.cursor() as cursor:
            return _counted(cursor)
    finally:
        other.close()


def _counted(cursor: Any) -> dict[str, int]:
    cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
    counts = {}
    for (name,) in cursor.fetchall():
        cursor.execute(f'SELECT count(*) FROM "{name}"')
        counts[name] = cursor.fetchone()[0]
    return counts


def refuse_newer(connection: BaseDatabaseWrapper) -> None:
    """Raises Refused where the database has been updated by a newer version than this code, or is damaged."""
    with told():
        loader = MigrationLoader(connection)
        known = {*loader.disk_migrations, *loader.replacements}
        unknown = sorted(key for key in loader.applied_migrations if key[0] in OURS and key not in known)
    if unknown:
        name = ".".join(unknown[-1])
        raise Refused(
            f"The database is of a newer version, which has the migration {name}. Update the code; nothing was changed."
        )
