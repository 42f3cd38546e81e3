"""What all tests need of the database, and which of them run on PostgreSQL too."""

import gc
from importlib import import_module
from pathlib import Path

import pytest
from django.db import connection

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
def django_db_setup(django_db_setup):
    """A test with transactions of its own empties every table in the end, also the one that refuses to be emptied."""
    operations, vendor = type(connection.ops), connection.vendor  # of all connections: a browser's tests have another one
    flush = operations.sql_flush

    def sql_flush(*args, **kwargs):
        statements = flush(*args, **kwargs)
        return [*SECURITY.UNGUARD[vendor], *statements, *SECURITY.GUARD[vendor]] if statements else []

    operations.sql_flush = sql_flush
