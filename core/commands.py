"""The shape of every command: call one service, print what it returns, fail with one clear sentence."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from core.errors import Refused


class ServiceCommand(BaseCommand):
    """Subclasses implement `run(**options) -> dict`. With --json the dict is one JSON object on stdout."""

    refusals: tuple[type[Exception], ...] = (Refused,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")

    def run(self, **options: Any) -> dict[str, Any]:
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = self.run(**options)
        except self.refusals as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            if not _is_migrated():
                raise CommandError("The database is not made yet, or not up to date: run manage.py migrate first.") from error
            raise
        if options["json"]:
            self.stdout.write(json.dumps(result, ensure_ascii=False, default=str))
        else:
            self.show(result)

    def show(self, result: dict[str, Any]) -> None:
        for key, value in result.items():
            text = json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (dict, list)) else value
            self.stdout.write(f"{key}: {text}")

    def progress(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def _is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())
