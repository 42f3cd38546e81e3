"""Where a test's processes keep what they store: nothing of it is another test's."""

import os
import shutil
import uuid
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
import redis

from tests.migrated import execute, migrated, named


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
        (folder / "data").mkdir(parents=True)
        shutil.copy(migrated(None), folder / "data" / "comparena.sqlite3")
    yield env
    if server:
        execute(server, f'DROP DATABASE "{name}" WITH (FORCE)')
