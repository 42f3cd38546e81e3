"""Django's own, for a database that is not newer than the code."""

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

from core.database_checks import refuse_newer
from core.errors import Refused


class Command(migrate.Command):
    def handle(self, *args, **options):
        try:
            refuse_newer(connections[options["database"]])
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        super().handle(*args, **options)
