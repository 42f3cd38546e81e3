from annotation.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import people's judgments of pairs from a file: JSON lines, a JSON array, CSV, Excel, or another tool's."
    kind = "judgments"

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--simulated", action="store_true", help="the annotators are simulated, not people")
