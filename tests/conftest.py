"""What all tests need of the database."""

from importlib import import_module

import pytest
from django.db import connection

SECURITY = import_module("annotation.migrations.0020_security")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup):
    """A test with transactions of its own empties every table in the end, also the one that refuses to be emptied."""
    operations, vendor = type(connection.ops), connection.vendor  # of every connection: browser tests have one of their own
    flush = operations.sql_flush

    def sql_flush(self, *args, **kwargs):
        statements = flush(self, *args, **kwargs)
        return [*SECURITY.UNGUARD[vendor], *statements, *SECURITY.GUARD[vendor]] if statements else []

    operations.sql_flush = sql_flush
