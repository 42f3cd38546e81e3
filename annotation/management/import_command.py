"""The shape of the commands that import a file: the same options as the page and the API, the same account of it."""

from argparse import ArgumentParser
from typing import Any

from annotation.access import campaign_named
from annotation.data import importer
from annotation.data.contradictions import WAYS
from annotation.data.fields import fields_of
from core.commands import ServiceCommand
from core.encodings import ENCODINGS
from core.errors import Refused


class ImportCommand(ServiceCommand):
    """Subclasses name their `kind` and add what only their kind is told."""

    kind: str

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("file")
        parser.add_argument(
            "--column",
            action="append",
            default=[],
            metavar="FIELD=COLUMN",
            help="this column holds the field; empty: none does",
        )
        parser.add_argument("--constant", action="append", default=[], metavar="FIELD=VALUE", help="the same for all rows")
        parser.add_argument("--encoding", choices=ENCODINGS, default="", help="of a text file whose mark does not say it")
        parser.add_argument(
            "--spellings-apart", action="store_true", help="names that differ in case, spaces or dashes are different names"
        )
        parser.add_argument("--dry-run", action="store_true", help="check the file and store nothing")

    def run(
        self, slug: str, file: str, dry_run: bool, column: list[str], constant: list[str], **options: Any
    ) -> dict[str, Any]:
        how = {name: options[name] for name in importer.options_of(self.kind) if options.get(name)}
        if column:
            how["columns"] = self._named(column, "--column")
        if constant:
            how["constants"] = self._named(constant, "--constant")
        return importer.import_file(campaign_named(slug), self.kind, file, dry_run=dry_run, **how).as_dict()

    def _named(self, pairs: list[str], option: str) -> dict[str, str]:
        named = dict(pair.partition("=")[::2] for pair in pairs)
        fields = [field.name for field in fields_of(self.kind)]
        for pair, field in zip(pairs, named):
            if "=" not in pair or field not in fields:
                raise Refused(f"{option} expects FIELD=..., where the field is one of {', '.join(fields)}; found {pair!r}.")
        return named


class AnswersCommand(ImportCommand):
    """Of people's answers."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--simulated", action="store_true", help="the annotators are simulated, not people")
        parser.add_argument(
            "--contradictions",
            choices=[way for way in WAYS if way],
            default="",
            help="where answers of one person contradict each other, leave_out: all of them; latest: all but the latest",
        )
