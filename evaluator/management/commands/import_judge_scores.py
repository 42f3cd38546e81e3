from annotation.access import campaign_named
from core.commands import ServiceCommand
from evaluator.judge_tables.imports import import_pairs_of, import_scores_of


class Command(ServiceCommand):
    help = "Import the scores or pairwise judgments of a judge that ran elsewhere. evaluate_judges then includes this judge."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument(
            "file",
            help="JSON lines, CSV or Excel: {context_id or context, system, [checkpoint], [sample], score}, higher is better",
        )
        parser.add_argument(
            "--pairs",
            action="store_true",
            help="of a judge of pairs: {context_id or context, system_a, system_b, and a, tie, b or choice}",
        )
        parser.add_argument("--judge", required=True, metavar="NAME", help="name of the judge")
        parser.add_argument("--replace", action="store_true", help="replace all earlier scores of this judge")
        parser.add_argument("--dry-run", action="store_true", help="check the file and store nothing")

    def run(self, slug, file, pairs, judge, replace, dry_run, **options):
        import_them = import_pairs_of if pairs else import_scores_of
        return import_them(campaign_named(slug), judge, file, replace=replace, dry_run=dry_run).as_dict()
