"""Where a test's processes keep what they store: nothing of it is another test's."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis


@pytest.fixture
def environment(tmp_path):
    with installed(tmp_path) as env:
        yield env


@contextmanager
def installed(folder):
    """The environment of an installation of the test's own: a folder, and a database of the PostgreSQL and one of the Redis
    that DATABASE_URL and BROKER_URL name."""
    env = {
        **os.environ,
        "DATA_DIR": str(folder / "data"),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SECRET_KEY": "tests only",
    }
    if broker := env.get("BROKER_URL"):  # tests that run side by side have another number each
        number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        env["BROKER_URL"] = urlsplit(broker)._replace(path=f"/{number + 1}").geturl()
        with redis.Redis.from_url(env["BROKER_URL"]) as client:
            client.flushdb()
    server, name = env.get("DATABASE_URL"), f"test_{uuid.uuid4().hex}"
    if server:
        env["DATABASE_URL"] = named(server, name)
        execute(server, f'CREATE DATABASE "{name}" TEMPLATE "{migrated(server)}"')
    else:
        (folder / "data").mkdir()
        shutil.copy(migrated(None), folder / "data" / "comparena.sqlite3")
    yield env
    if server:
        execute(server, f'DROP DATABASE "{name}" WITH (FORCE)')


@cache
def migrated(server: str | None) -> str:
    """A database that is migrated once, and copied for each test: its name on the server, or its file."""
    folder, name = Path(tempfile.mkdtemp()), f"migrated_{uuid.uuid4().hex}"
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    env = {**os.environ, "DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings", "SECRET_KEY": "tests only"}
    if server:
        execute(server, f'CREATE DATABASE "{name}"')
        atexit.register(execute, server, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        env["DATABASE_URL"] = named(server, name)
    command = [sys.executable, "manage.py", "migrate", "-v", "0"]
    subprocess.run(command, cwd=Path(__file__).parents[2], env=env, check=True)
    return name if server else str(folder / "comparena.sqlite3")


def named(server: str, database: str) -> str:
    return urlsplit(server)._replace(path=f"/{database}").geturl()


def execute(server: str, statement: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement)
