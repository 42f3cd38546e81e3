"""What all tests need of the database."""

from importlib import import_module

import pytest
from django.db import connection

SECURITY = import_module("annotation.migrations.0020_security")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup):
    """A test with transactions of its own empties every table in the end, also the one that refuses to be emptied."""
    operations, vendor = type(connection.ops), connection.vendor  # of all connections: a browser's tests have another one
    flush = operations.sql_flush

    def sql_flush(*args, **kwargs):
        statements = flush(*args, **kwargs)
        return [*SECURITY.UNGUARD[vendor], *statements, *SECURITY.GUARD[vendor]] if statements else []

    operations.sql_flush = sql_flush
