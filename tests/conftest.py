"""What all tests need of the database, and which of them run on PostgreSQL too."""

from importlib import import_module
from pathlib import Path

import pytest
from django.db import connection

SECURITY = import_module("annotation.migrations.0020_security")
ROOT = Path(__file__).parent
DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items):
    """Marks what another database or broker can change: tests that use the database, and those that start real workers.
    Tests without the rows that a module shares run before those with them."""
    for item in items:
        uses = item.get_closest_marker("django_db") or not DATABASE_FIXTURES.isdisjoint(item.fixturenames)
        if uses or "worker" in item.path.relative_to(ROOT).parts:
            item.add_marker("database")
    modules = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: (modules[item.path], "made_world" in item.fixturenames))  # its rows stay until the module's end


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup):
    """A test with transactions of its own empties every table in the end, also the one that refuses to be emptied."""
    operations, vendor = type(connection.ops), connection.vendor  # of all connections: a browser's tests have another one
    flush = operations.sql_flush

    def sql_flush(*args, **kwargs):
        statements = flush(*args, **kwargs)
        return [*SECURITY.UNGUARD[vendor], *statements, *SECURITY.GUARD[vendor]] if statements else []

    operations.sql_flush = sql_flush
