"""The shape of every command: call one service, print what it returns, fail with one clear sentence."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from core.database_checks import sentence_of
from core.errors import ImportRefused, Refused


class ServiceCommand(BaseCommand):
    """Subclasses implement `run(**options) -> dict`. With --json the dict is one JSON object on stdout."""

    requires_system_checks = ()  # `check`, `migrate` and `serve` ask: they load every page, which takes as long as all else
    refusals: tuple[type[Exception], ...] = (Refused,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")

    run: Callable[..., Any]  # what it does with its options

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = self.run(**options)
        except self.refusals as error:
            self._tell_all(error)
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            if sentence := sentence_of(error):
                raise CommandError(sentence) from error
            if not _is_migrated():
                raise CommandError("The database is not made yet, or not up to date: run manage.py migrate first.") from error
            raise
        if options["json"]:
            self.stdout.write(json.dumps(result, ensure_ascii=False, default=str))
        else:
            self.show(result)

    def _tell_all(self, error: Exception) -> None:
        """Of a file with several errors: each of those that were kept, and how many there are of each kind."""
        if isinstance(error, ImportRefused) and error.total > 1:
            for one in error.errors:
                self.stderr.write(str(one))
            for kind, count in sorted(error.kinds.items(), key=lambda both: -both[1]):
                self.stderr.write(f"{count:,} in all: {kind}")

    def show(self, result: dict[str, Any]) -> None:
        for key, value in result.items():
            text = json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (dict, list)) else value
            self.stdout.write(f"{key}: {text}")

    def progress(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def _is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())
