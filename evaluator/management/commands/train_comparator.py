from annotation import jobs
from annotation.access import campaign_named
from core.commands import ServiceCommand
from core.errors import Refused
from evaluator import tasks
from evaluator.comparator.settings import ARCHITECTURES
from evaluator.management.device import add_device, use_device
from evaluator.management.progress import ProgressBar
from evaluator.services import recipe, start_training


class Command(ServiceCommand):
    help = "Train a comparator on the accepted judgments of one or more campaigns."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug", nargs="+")
        parser.add_argument(
            "--criterion",
            action="append",
            default=[],
            help="whose scores to learn; '' for the judgments of pairs alone; again for others, learnt beside the first",
        )
        parser.add_argument(
            "--beside",
            action="append",
            default=[],
            metavar="SLUG",
            help="a campaign to learn from as well, on which the comparator is not measured; again for others",
        )
        parser.add_argument(
            "--also",
            action="append",
            default=[],
            metavar="CRITERION",
            help="to learn beside what each campaign's default takes, where no --criterion is named; again for others",
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--strong", action="store_true", help="learn also that human-written text beats generated")
        parser.add_argument("--weak", action="store_true", help="learn also that later checkpoints beat earlier ones")
        parser.add_argument("--no-dialogues", action="store_true", help="do not learn from conversations first")
        parser.add_argument("--architecture", choices=ARCHITECTURES, default="utility", help="joint: the paper's")
        parser.add_argument("--encoder", help="a folder, or a name on the Hugging Face hub; default: the one that comes along")
        parser.add_argument("--wait", action="store_true", help="train here and now instead of asking a worker")
        add_device(parser)

    def run(
        self, slug, criterion, also, beside, seed, wait, device, strong, weak, no_dialogues, architecture, encoder, **options
    ):
        if wait:
            use_device(device)
        elif device:
            raise Refused("A worker trains where its own COMPARENA_DEVICE says; --device goes with --wait.")
        chosen = recipe(
            strong=strong, weak=weak, next_utterance=not no_dialogues, architecture=architecture, encoder=encoder or ""
        )
        first, *others = criterion or [None]
        run = start_training(
            [campaign_named(s) for s in slug],
            first,
            seed,
            foreground=wait,
            recipe=chosen,
            others=[*others, *also],
            beside=[campaign_named(s) for s in beside],
        )
        if run.warning:
            self.progress(f"Warning: {run.warning}")
        if not wait:
            return {"task": str(run.job_id), "run": run.pk, "status": "queued", "worker_alive": jobs.worker_alive()}
        try:
            with ProgressBar() as bar:
                version = tasks.run(run.job_id, watch=bar)
        except jobs.Cancelled:
            raise Refused("The training was cancelled.") from None
        metrics = version.metrics
        return {
            "comparator": version.name,
            "snapshots": [digest[:12] for digest in version.snapshots],
            "criterion": version.criterion,
            "heldout_pairwise_accuracy": metrics["heldout_pairwise_accuracy"],
            "heldout_pairwise_interval": metrics["heldout_pairwise_interval"],
            "longer_is_better_accuracy": metrics["longer_is_better_accuracy"],
            **({"criteria": metrics["criteria"]} if len(metrics["criteria"]) > 1 else {}),
            "pairs": metrics["pairs"],
            "seconds": round(metrics["seconds"], 1),
            "device": metrics["device"],
            "seed": version.seed,
            "code": version.code,
            "simulated": version.is_simulated,
            "warning": run.warning,
        }
