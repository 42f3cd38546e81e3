from annotation.access import campaign_named
from core.commands import ServiceCommand
from core.errors import Refused
from core.version import code_version
from evaluator.judge_tables import tables, transfer_exports
from evaluator.judge_tables.cautions import as_of_now
from evaluator.management import judge_options
from evaluator.management.device import add_device, use_device
from evaluator.management.table_files import write_tables
from evaluator.metrics.registry import METRICS, TUNED


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
        parser.add_argument("--csv", metavar="FILE")
        parser.add_argument("--latex", metavar="FILE")
        parser.add_argument("--page", action="store_true", help="show the figures on the campaigns' pages of judges")
        judge_options.add_model_arguments(parser)
        add_device(parser)

    def run(self, slug, judge, labels, seed, csv, latex, page, device, **options):
        from evaluator.worker.judge_tables import transfer
        from evaluator.worker.judge_tables.material import material

        use_device(device)
        models = judge_options.models_of(options)
        names = judge or [name for name in METRICS if name not in TUNED]
        if unknown := [name for name in names if name not in METRICS]:
            raise Refused(f"There is no metric {unknown[0]!r}; there are: {', '.join(METRICS)}.")
        campaigns = [material(campaign_named(one)) for one in dict.fromkeys(slug)]
        if page:
            tables.refuse_without_table([known.campaign for known in campaigns])
        metrics = transfer.with_models(names, models)
        found = transfer.matrix(metrics, campaigns, seed)
        if labels:
            able = [(name, model) for name, model in metrics if "scores" in METRICS[name].needs]
            found["labels"] = [
                {"campaign": known.campaign.slug, **row}
                for known in campaigns
                for name, model in able
                for row in transfer.fewer_labels(name, known, seed, model)
            ]
        about = [
            {
                "campaign": one.campaign.slug,
                "snapshot": one.snapshot.name,
                "criterion": one.basis.criterion,
                "simulated": one.snapshot.is_simulated,
                "warning": one.basis.warning,
                "units": len(set(one.people.units.tolist())),
            }
            for one in campaigns
        ]
        record = {"campaigns": about, "judges": judge or [], "seed": seed, "code": code_version(), **found}
        record |= {"options": judge_options.model_words(options)} if models else {}
        if page:
            tables.add_transfer([known.campaign for known in campaigns], record)
        record = as_of_now(record)
        write_tables(record, {csv: transfer_exports.as_csv, latex: transfer_exports.as_latex})
        return record

    def show(self, result):
        self.stdout.write(transfer_exports.as_text(result))
