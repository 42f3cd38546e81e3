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
from whitenoise.middleware import WhiteNoiseMiddleware

from tests.migrated import migrated
from tests.statements import Statements, covering, not_repeated, note_collected, noted

gc.disable()  # until all is imported: it took a seventh of the time in which the tests are collected
SENT = pytest.StashKey[Statements]()
NOT_REPEATED = pytest.StashKey[set[Path]]()
SECURITY = import_module("annotation.migrations.0020_security")
WORKER = Path(__file__).parent / "worker"
LONG = {Path(__file__).parent / name for name in ("test_readme.py", "test_upgrade.py")}
DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}
SHARED_ROWS = ("made_world", "made_comparator")  # each stands on the one before
TRANSACTIONS = {"transactional_db", "live_server"}
STATEMENTS = os.environ.get("STATEMENTS")  # "note" what each test sends to the database, or "repeat" each statement once


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(config, items):
    """Marks what another database or broker can change: tests that use the database, and those that start real workers. Tests
    without the rows that their module shares run before those with them."""
    for item in items:
        uses = item.get_closest_marker("django_db") or not DATABASE_FIXTURES.isdisjoint(item.fixturenames)
        if (uses or item.path.parent == WORKER) and not item.get_closest_marker("one_database"):
            item.add_marker("database")
    modules = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: (modules[item.path], *(made in item.fixturenames for made in SHARED_ROWS)))

    if STATEMENTS == "repeat" and (rows := noted()):
        marked = [item for item in items if item.get_closest_marker("database")]
        repeated = covering(rows, {item.nodeid for item in marked}, {item.nodeid for item in marked if _always(item)})
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in repeated])
        items[:] = [item for item in items if item.nodeid in repeated]


@pytest.fixture(autouse=True, scope="session")
def no_heartbeats():
    """Of jobs in a test's own process: a beat's connection does not see a job of the test's open transaction, and takes it for
    lost, or finds the table locked."""
    from annotation import jobs

    with mock.patch.object(jobs, "BEAT_SECONDS", 3600):
        yield


@pytest.fixture(autouse=True, scope="session")
def static_files_found_once():
    """Each client of a test makes the middleware anew; whitenoise's then looks for every static file, which takes as long as an
    answer."""
    look, found = WhiteNoiseMiddleware.add_files_from_finders, {}

    def once(middleware):
        if not found:
            look(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    with mock.patch.object(WhiteNoiseMiddleware, "add_files_from_finders", once):
        yield


class LongFirst:
    """Files of half a minute, and those that start real workers, begin first, so that the processes end together. pytest-django
    puts tests without a database last, so its order comes before this one."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: item.path not in LONG and item.path.parent != WORKER)


def _always(item) -> bool:
    """Whether it shows more than statements: how transactions meet, or how real processes do."""
    mark = item.get_closest_marker("django_db")
    return bool(item.path.parent == WORKER or mark and mark.kwargs.get("transaction") or TRANSACTIONS & set(item.fixturenames))


def pytest_configure(config):
    config.pluginmanager.register(LongFirst())
    if STATEMENTS == "note":
        config.stash[SENT] = Statements(os.environ.get("PYTEST_XDIST_WORKER", "main"))
    config.stash[NOT_REPEATED] = not_repeated() if STATEMENTS == "repeat" else set()


def pytest_ignore_collect(collection_path, config):
    return True if collection_path in config.stash[NOT_REPEATED] else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    if STATEMENTS == "note":
        item.config.stash[SENT].begin()
    result = yield
    if STATEMENTS == "note":
        item.config.stash[SENT].end(item.nodeid)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if STATEMENTS == "note" and not report.passed:
        item.config.stash[SENT].passed = False
    return report


def pytest_collection_finish(session):
    """What is imported by now stays. A collection of garbage that looks at it takes a quarter of a second, and statsmodels asks
    for one in each correction of p-values. Others come as seldom as in a web process (config/wsgi.py)."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
    if STATEMENTS == "note" and os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        note_collected(
            [(item.nodeid, item.get_closest_marker("database") is not None, _always(item)) for item in session.items]
        )


def copied(name, *args, call=management.call_command, **options):
    """In place of `migrate`, when the tests' database is made: it is a copy of one that was migrated."""
    if name != "migrate":
        call(name, *args, **options)
    elif not os.environ.get("DATABASE_URL"):  # PostgreSQL copied it already
        with closing(sqlite3.connect(migrated(None))) as kept:
            connection.ensure_connection()
            kept.backup(connection.connection)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, django_db_use_migrations, django_db_blocker):
    """Ends when the database is made, in `django_db_setup`."""
    making = mock.patch.object(management, "call_command", copied)
    if django_db_use_migrations:
        if server := os.environ.get("DATABASE_URL"):
            connection.settings_dict["TEST"]["TEMPLATE"] = migrated(server)
        making.start()
    return making


@pytest.fixture(scope="session")
def django_db_setup(django_db_modify_db_settings, django_db_setup):
    """A test with transactions of its own empties every table in the end, also the one that refuses to be emptied."""
    if management.call_command is copied:
        django_db_modify_db_settings.stop()
    operations, vendor = type(connection.ops), connection.vendor  # of all connections: a browser's tests have another one
    flush = operations.sql_flush

    def sql_flush(*args, **kwargs):
        statements = flush(*args, **kwargs)
        return [*SECURITY.UNGUARD[vendor], *statements, *SECURITY.GUARD[vendor]] if statements else []

    operations.sql_flush = sql_flush
