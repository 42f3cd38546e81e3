from annotation.management.import_command import AnswersCommand


class Command(AnswersCommand):
    help = "Import people's scores from a file: JSON lines, a JSON array, CSV, Excel, or another tool's."
    kind = "scores"

    def add_arguments(self, parser):
        super().add_arguments(parser)
        column = {"action": "append", "default": [], "metavar": "COLUMN"}
        parser.add_argument("--criterion-column", **column, dest="aspects", help="this column holds one criterion's scores")
        parser.add_argument("--annotator-column", **column, dest="raters", help="this column holds one annotator's scores")
