from annotation.access import campaign_named
from core.commands import ServiceCommand
from evaluator import tasks
from evaluator.judge_tables import anchors


class Command(ServiceCommand):
    help = (
        "Ask a language model again about pairs that people judged, drawn once, and say whether it has changed since the first"
        " time: agreement with people, answers that differ, model and price. It spends of the judge's budget."
    )

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("--judge", required=True, metavar="NAME", help="a language model that is set up")
        parser.add_argument("--pairs", type=int, help=f"how many pairs are drawn the first time; default: {anchors.PAIRS}")
        parser.add_argument("--seed", type=int, default=0, help="of the draw, the first time")
        parser.add_argument(
            "--every", type=int, metavar="DAYS", help="ask it again by itself so many days after the last time; 0: no more"
        )
        parser.add_argument("--wait", action="store_true", help="ask in this process instead of in a worker")

    def run(self, slug, judge, pairs, seed, every, wait, **options):
        campaign = campaign_named(slug)
        asking = anchors.start(campaign, judge, pairs, seed, foreground=wait)
        if every is not None:
            anchors.set_schedule(campaign, judge, every or None)
        if not wait:
            return {"job": str(asking.job_id), "judge": judge}
        asking = tasks.ask_again(asking.job_id)
        return {"pairs": len(asking.choices), "drift": asking.drift, "used": asking.used}
