from annotation.access import campaign_named
from core.commands import ServiceCommand
from core.errors import Refused
from evaluator.models import Judge
from leaderboard.runs.comparison import compare


class Command(ServiceCommand):
    help = (
        "Compare the best checkpoints of several training runs: the likeliest winner and how sure it is. Beside it stands what"
        " validation loss, log probability, BLEU-234, ADEM, the discriminative evaluator and the reference-free metric would"
        " have chosen. A metric that lacks references or people's scores says so. It runs in this process."
    )

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("names", nargs="+", metavar="RUN")

    def run(self, slug, names, **options):
        from evaluator.worker.new_texts import NewTexts

        def metric(run, name):
            judge = Judge(campaign=run.campaign, name=name, kind=Judge.Kind.METRIC, settings={"metric": name})
            return NewTexts(judge, run.criterion, run.snapshot, run.contexts, run.rules["seed"])

        campaign = campaign_named(slug)
        there = set(campaign.runs.values_list("name", flat=True))
        if absent := [name for name in names if name not in there]:
            raise Refused(f"Campaign {slug!r} has no run {absent[0]!r}; it has {', '.join(sorted(there)) or 'none'}.")
        return compare(campaign, names, metric, self.progress)

    def show(self, result):
        self.stdout.write(f"{result['contexts']} contexts, judged by {result['judge']}")
        for one in result["runs"]:
            self.stdout.write(
                f"{one['name']}, step {one['step']:,}: the best with {one['probability']:.0%}, wins {one['win_rate']:.0%} "
                f"({one['low']:.0%} to {one['high']:.0%}), rank {one['rank_low']} to {one['rank_high']}"
            )
        self.stdout.write(f"The best is among: {', '.join(result['not_worse'])}")
        for one in result["others"]:
            values = ", ".join(f"{name} {value:.4g}" for name, value in one["values"].items() if value is not None)
            self.stdout.write(
                f"{one['by']}: {one['choice'] or '-'}{f' ({values})' if values else ''} {one.get('why', '')}".rstrip()
            )
        for said in result["said"]:
            self.stdout.write(said)
