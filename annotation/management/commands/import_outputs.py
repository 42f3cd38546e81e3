from annotation.access import campaign_named
from annotation.data.importer import import_outputs
from core.commands import ServiceCommand


class Command(ServiceCommand):
    help = "Import systems, contexts and outputs from a file: JSON lines, a JSON array, CSV or Excel."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("file")
        parser.add_argument("--human-system", action="append", default=[], metavar="NAME", help="this system is human-written")
        parser.add_argument("--system", metavar="NAME", help="the system of all rows, if no column names it")
        parser.add_argument(
            "--system-column", action="append", default=[], metavar="COLUMN", help="this column holds a system's outputs"
        )
        parser.add_argument("--keep-columns", action="store_true", help="store unknown columns as metadata")
        parser.add_argument("--dry-run", action="store_true", help="check the file and store nothing")

    def run(self, slug, file, human_system, system, system_column, keep_columns, dry_run, **options):
        how = {"system": system, "systems": system_column, "keep_columns": keep_columns, "dry_run": dry_run}
        return import_outputs(campaign_named(slug), file, human_systems=human_system, **how).as_dict()
