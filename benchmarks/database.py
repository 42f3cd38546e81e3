"""A database of their own for the benchmarks that need one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_database(**environment: str) -> Iterator[None]:
    """Django set up on an empty database in a temporary folder; may be asked for once in a process."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(DATA_DIR=folder, DJANGO_SETTINGS_MODULE="config.settings", LOG_LEVEL="ERROR", **environment)
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        yield
