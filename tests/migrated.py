"""A database that is migrated once for all processes of a run, and copied for each of them: the tests' own, and those of the
installations that they start."""

import fcntl
import hashlib
import os
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".pytest_cache" / "migrated"  # on SQLite also from run to run
CODE = ("*/migrations/*.py", "*/models/*.py", "*/models.py", "config/settings*.py")


@cache
def migrated(server: str | None) -> str:
    """Its name on the PostgreSQL at this address, or its file where there is none."""
    name = f"migrated_{_digest()}"
    file = KEPT / f"{name}.sqlite3"
    with _locked(name):
        if server is None and not file.exists():
            for older in KEPT.glob("migrated_*"):
                if older.suffix != ".lock":
                    older.unlink()
            unfinished = KEPT / "unfinished"
            unfinished.mkdir(exist_ok=True)
            (unfinished / "comparena.sqlite3").unlink(missing_ok=True)
            _migrate(DATA_DIR=str(unfinished))
            (unfinished / "comparena.sqlite3").rename(file)
        if server is not None and not _is_there(server, name):
            execute(server, 'DROP DATABASE IF EXISTS "unfinished"')
            execute(server, 'CREATE DATABASE "unfinished"')
            _migrate(DATABASE_URL=named(server, "unfinished"))
            execute(server, f'ALTER DATABASE "unfinished" RENAME TO "{name}"')
    return name if server else str(file)


def named(server: str, database: str) -> str:
    return urlsplit(server)._replace(path=f"/{database}").geturl()


def execute(server: str, statement: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement)


def _digest() -> str:
    """Of all that decides what a migration makes."""
    files = sorted({file for pattern in CODE for file in ROOT.glob(pattern)})
    code = hashlib.sha256(version("django").encode())
    for file in files:
        code.update(file.read_bytes())
    return code.hexdigest()[:16]


@contextmanager
def _locked(name: str):
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_there(server: str, name: str) -> bool:
    with psycopg.connect(server) as connection:
        return connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is not None


def _migrate(**where: str) -> None:
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "SECRET_KEY": "tests only", **where}
    subprocess.run([sys.executable, "manage.py", "migrate", "-v", "0"], cwd=ROOT, env=env, check=True)
