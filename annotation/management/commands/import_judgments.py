from annotation.access import campaign_named
from annotation.data.importer import import_judgments
from core.commands import ServiceCommand


class Command(ServiceCommand):
    help = "Import people's judgments from a JSONL or CSV file."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("file")
        parser.add_argument("--simulated", action="store_true", help="the annotators are simulated, not people")
        parser.add_argument("--dry-run", action="store_true", help="check the file and store nothing")

    def run(self, slug, file, simulated, dry_run, **options):
        return import_judgments(campaign_named(slug), file, simulated=simulated, dry_run=dry_run).as_dict()
