from annotation.access import campaign_named
from core.commands import ServiceCommand
from core.errors import Refused
from evaluator.management.device import add_device, use_device
from evaluator.metrics.registry import METRICS


class Command(ServiceCommand):
    help = (
        "Measure how well metrics transfer: fit each metric and its ties on one campaign, then test it on the others. With one"
        " campaign, test it there, out of fold."
    )

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug", nargs="+")
        parser.add_argument("--judge", action="append", metavar="NAME", help="test only this metric; repeat for more")
        parser.add_argument("--labels", action="store_true", help="also test with fewer scores by people")
        parser.add_argument("--seed", type=int, default=0)
        add_device(parser)

    def run(self, slug, judge, labels, seed, device, **options):
        from evaluator.worker import judge_transfer
        from evaluator.worker.judge_evaluation import material

        use_device(device)
        names = judge or list(METRICS)
        if unknown := [name for name in names if name not in METRICS]:
            raise Refused(f"There is no metric {unknown[0]!r}; there are: {', '.join(METRICS)}.")
        campaigns = [material(campaign_named(one)) for one in dict.fromkeys(slug)]
        found = judge_transfer.matrix(names, campaigns)
        if labels:
            able = [name for name in names if "scores" in METRICS[name].needs]
            found["labels"] = [
                {"campaign": known.campaign.slug, **row}
                for known in campaigns
                for name in able
                for row in judge_transfer.fewer_labels(name, known, seed)
            ]
        about = [
            {"campaign": one.campaign.slug, "snapshot": one.snapshot.name, "criterion": one.basis.criterion}
            for one in campaigns
        ]
        return {"campaigns": about, "seed": seed, **found}

    def show(self, result):
        head = ("judge", "learnt on", "tested on", "outputs", "Pearson", "Spearman", "pairs", "with ties")
        keys = ("judge", "train", "test", "outputs", "pearson", "spearman", "accuracy", "with_ties")
        self._table(head, [[row[key] for key in keys] for row in result["rows"]])
        if labels := result.get("labels"):
            keys = ("judge", "campaign", "labels", "pearson", "spearman")
            self._table(("judge", "campaign", "labels", "Pearson", "Spearman"), [[row[key] for key in keys] for row in labels])
        for one in result["without"]:
            self.stdout.write(f"{one['judge']}: not judged, {one['why']}.")

    def _table(self, head, rows) -> None:
        for row in [head, *rows]:
            cells = ["–" if cell is None else f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row]
            self.stdout.write("  ".join([f"{cells[0]:<24}", *(f"{cell:>12}" for cell in cells[1:])]))
