from annotation.access import campaign_named
from core.commands import ServiceCommand
from evaluator.trainings.dialogues import import_dialogues


class Command(ServiceCommand):
    help = "Import conversations between people, without judgments, for a comparator's self-supervision."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument(
            "file", help="rows of {dialogue_id, turns, [references]}, JSON lines or CSV; or chitchat-dataset's JSON"
        )
        parser.add_argument("--dry-run", action="store_true", help="check the file and store nothing")

    def run(self, slug, file, dry_run, **options):
        return import_dialogues(campaign_named(slug), file, dry_run=dry_run).as_dict()
