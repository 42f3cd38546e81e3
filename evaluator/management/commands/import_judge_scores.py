from annotation.data.shapes.shape import JUDGE_PAIRS, JUDGE_SCORES
from annotation.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import the scores or pairwise judgments of judges that ran elsewhere. evaluate_judges then includes these judges."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument(
            "--pairs",
            action="store_true",
            help="judgments of pairs: {context_id or context, system_a, system_b, and a, tie, b or choice}, not scores",
        )
        parser.add_argument("--judge", metavar="NAME", default="", help="the judge of all rows, whatever they say")
        column = {"action": "append", "default": [], "metavar": "COLUMN", "dest": "judges"}
        parser.add_argument("--judge-column", **column, help="this column holds one judge's scores")
        parser.add_argument("--replace", action="store_true", help="replace all earlier answers of these judges")

    def run(self, *args, pairs=False, **options):
        self.kind = JUDGE_PAIRS if pairs else JUDGE_SCORES
        return super().run(*args, **options)
