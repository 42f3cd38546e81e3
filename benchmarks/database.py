"""A database of their own for the benchmarks that need one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import django


@contextmanager
def own_database(**environment: str) -> Iterator[None]:
    """Django set up on an empty database in a temporary folder; may be asked for once in a process."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(DATA_DIR=folder, LOG_LEVEL="ERROR", **environment)
        prepared()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        yield


def prepared() -> None:
    """Django set up; no database is opened."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
