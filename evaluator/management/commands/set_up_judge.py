from annotation.access import campaign_named
from core.commands import ServiceCommand
from core.errors import Refused
from evaluator.management import judge_options


class Command(ServiceCommand):
    help = (
        "Set up a program, a reward model, a language model, or metrics that read with another model, as judges of a campaign."
        " Its researchers can then let them play by name, from the page and the API. The same options with another budget"
        " change the budget."
    )

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("--name", default="", help="what pages, commands and the API call it; default: the model's name")
        parser.add_argument(
            "--metric",
            action="append",
            default=[],
            metavar="NAME",
            help="a metric that reads with --encoder, --masked or --causal; repeat for more; default: all that do",
        )
        judge_options.add_arguments(parser)
        judge_options.add_model_arguments(parser)

    def run(self, slug, name, metric, **options):
        if options["forecast"]:
            raise Refused("A forecast is made by run_tournament and evaluate_judges.")
        metrics = judge_options.metrics_of(options, metric)
        rows = judge_options.set_up_judges(options, campaign_named(slug), name, metrics)
        if not rows:
            raise Refused("Name a judge: a program, a reward model, a language model, or a metric's model.")
        return {"judges": [{"name": row.name, "kind": row.kind, "calls": row.calls} for row in rows]}
