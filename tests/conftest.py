"""What all tests need of the database, and which of them run on PostgreSQL too."""

import gc
import os
import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path
from unittest import mock

import pytest
from django.core import management
from django.db import connection

from tests.migrated import migrated

SECURITY = import_module("annotation.migrations.0020_security")
WORKER = Path(__file__).parent / "worker"
DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items):
    """Marks what another database or broker can change: tests that use the database, and those that start real workers. The
    latter take long and run first, so that the processes end together. Tests without the rows that their module shares run
    before those with them."""
    for item in items:
        uses = item.get_closest_marker("django_db") or not DATABASE_FIXTURES.isdisjoint(item.fixturenames)
        if (uses or item.path.parent == WORKER) and not item.get_closest_marker("one_database"):
            item.add_marker("database")
    modules = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: (item.path.parent != WORKER, modules[item.path], "made_world" in item.fixturenames))


def pytest_collection_finish():
    """What is imported by now stays. A collection of garbage that looks at it takes a quarter of a second, and statsmodels asks
    for one in each correction of p-values."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, django_db_use_migrations, django_db_blocker):
    """The tests' database is a copy of one that was migrated."""
    if not django_db_use_migrations:
        yield
        return
    server = os.environ.get("DATABASE_URL")
    if server:
        connection.settings_dict["TEST"]["TEMPLATE"] = migrated(server)
    call = management.call_command

    def call_command(name, *args, **options):
        if name != "migrate":
            call(name, *args, **options)
        elif not server:
            with closing(sqlite3.connect(migrated(None))) as kept:
                connection.ensure_connection()
                kept.backup(connection.connection)

    with mock.patch.object(management, "call_command", call_command):
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup):
    """A test with transactions of its own empties every table in the end, also the one that refuses to be emptied."""
    operations, vendor = type(connection.ops), connection.vendor  # of all connections: a browser's tests have another one
    flush = operations.sql_flush

    def sql_flush(*args, **kwargs):
        statements = flush(*args, **kwargs)
        return [*SECURITY.UNGUARD[vendor], *statements, *SECURITY.GUARD[vendor]] if statements else []

    operations.sql_flush = sql_flush
