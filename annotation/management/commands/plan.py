from annotation.access import campaign_named
from annotation.campaigns.plan import search_campaign
from core.commands import ServiceCommand
from core.errors import Refused


class Command(ServiceCommand):
    help = "Say how many contexts, people and judgments find a given difference between two systems with 80% power."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument(
            "--difference",
            type=float,
            required=True,
            help="points of the scale; for pairs, how far the win rate is above one half (0.1 is 60%%)",
        )
        parser.add_argument("--question", default="", help="a criterion, or Pairs; default: the first")
        parser.add_argument("--contexts", type=int, help="as many as planned; default: those of the campaign")
        parser.add_argument("--annotators", type=int, help="expected; default: as few as it takes")
        parser.add_argument("--pilot", help="a campaign whose answers say how much they vary; default: this one")
        parser.add_argument("--judge-correlation", type=float, help="of a judge with people, over the outputs of one system")
        parser.add_argument("--judge-contexts", type=int, help="that the judge answers; default: ten times people's")

        parser.add_argument("--system", default="", help="that is ahead: counts how much people divide over it in the pilot")
        parser.add_argument(
            "--divides", type=float, help="how many times as much people's opinions of it vary as of the others"
        )

        parser.add_argument(
            "--share", type=float, help="of the outputs, asked a question with a condition; default: as in the pilot"
        )

    def run(self, slug, difference, question, contexts, annotators, pilot, judge_correlation, judge_contexts, **options):
        if options["divides"] is not None and not 0 <= options["divides"] <= 1000:
            raise Refused("--divides must lie between 0 and 1000.")
        if options["share"] is not None and not 0.01 <= options["share"] <= 1:
            raise Refused("--share must lie between 0.01 and 1.")
        found = search_campaign(
            campaign_named(slug),
            difference,
            question,
            contexts,
            annotators,
            campaign_named(pilot) if pilot else None,
            judge_correlation,
            judge_contexts,
            options["system"],
            options["divides"],
            share=options["share"],
        )
        return {"searches": [search.as_dict() for search in found]}

    def show(self, result):
        for search in result["searches"]:
            self.stdout.write(f"{search['question']}, {search['difference']:g} {search['unit']} ({search['variance_from']}):")
            if not search["ways"]:
                self.stdout.write("  No realistic campaign finds it.")
            for way in search["ways"]:
                mark = "  <- fewest judgments" if way == search["cheapest"] else ""
                self.stdout.write(f"  {_way(way)}{mark}")
            self.stdout.write(f"The plan's {search['budget']:,} judgments, shared out otherwise:")
            for way in search["at_budget"]:
                self.stdout.write(f"  {_way(way)}: found in {way['power']:.0%}")


def _way(way: dict) -> str:
    return (
        f"{way['contexts']:,} contexts, {way['per_item']} per item, {way['annotators']:,} annotators,"
        f" {way['judgments']:,} judgments"
    )
