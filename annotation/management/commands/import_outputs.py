from annotation.access import campaign_named
from annotation.data.importer import import_outputs
from core.commands import ServiceCommand


class Command(ServiceCommand):
    help = "Import systems, contexts and outputs from a JSONL or CSV file."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("file")
        parser.add_argument("--human-system", action="append", default=[], metavar="NAME", help="this system is human-written")
        parser.add_argument("--dry-run", action="store_true", help="check the file and store nothing")

    def run(self, slug, file, human_system, dry_run, **options):
        return import_outputs(campaign_named(slug), file, human_systems=human_system, dry_run=dry_run).as_dict()
