from argparse import BooleanOptionalAction

from annotation import jobs
from annotation.access import campaign_named
from core.commands import ServiceCommand
from core.errors import Refused
from evaluator import tasks
from evaluator.comparator.settings import ARCHITECTURES, RECIPES, SWITCHES, Settings, fields_of
from evaluator.management.device import add_device, use_device
from evaluator.management.progress import ProgressBar
from evaluator.trainings.services import start_training
from evaluator.versions.limits import limits
from evaluator.versions.selectors import by_default

HELP = {
    "strong": "learn that human-written text beats generated",
    "weak": "learn that later checkpoints beat earlier ones",
    "next_utterance": "learn from conversations first",
    "two_stages": "two stages: first learn what needs no judgments, then people's judgments",
    "ties": "allow the answer that two outputs tie",
    "references": "use the similarity to people's replies in similar contexts",
    "guards": "lower the scores of blank, copied or repeated outputs",
    "from_scratch": "start from random weights instead of a pretrained encoder",
}


class Command(ServiceCommand):
    help = "Train a comparator on the accepted judgments of one or more campaigns."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug", nargs="+")
        parser.add_argument(
            "--criterion",
            action="append",
            default=[],
            help="criterion to learn; '' for judgments of pairs only. Repeat for auxiliary criteria",
        )
        parser.add_argument(
            "--beside",
            action="append",
            default=[],
            metavar="SLUG",
            help="also learn from this campaign, without measuring the comparator on it. Repeat for more",
        )
        parser.add_argument(
            "--also",
            action="append",
            default=[],
            metavar="CRITERION",
            help="auxiliary criterion to learn in addition to the default one, without --criterion. Repeat for more",
        )
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--recipe", choices=RECIPES, default="", help="paper: as in Zhou & Xu (2020); the options below override it"
        )
        parser.add_argument("--human", action=BooleanOptionalAction, help="learn from people's judgments (default: yes)")
        for field, name in SWITCHES.items():
            default = "yes" if getattr(Settings(), field) else "no"
            told = f"{HELP[field]} (default: {default})"
            parser.add_argument(f"--{name}", dest=field, action=BooleanOptionalAction, help=told)
        parser.add_argument("--base", metavar="NAME", help="start from this base (see train_base); none: without a base")
        parser.add_argument("--architecture", choices=ARCHITECTURES, help="utility (default), or joint: the paper's")
        parser.add_argument("--encoder", help="a folder, or a name on the Hugging Face hub; default: the bundled encoder")
        parser.add_argument(
            "--teacher",
            help="a larger encoder to imitate, which learns the conversations first: a folder, or a name on the hub",
        )
        parser.add_argument("--wait", action="store_true", help="train in this process instead of in a worker")
        add_device(parser)

    def run(self, slug, criterion, also, beside, seed, wait, device, recipe, human, architecture, base, **options):
        if wait:
            use_device(device)
        elif device:
            raise Refused("--device works only with --wait. A worker takes its device from COMPARENA_DEVICE.")
        switches = {field: options[field] for field in SWITCHES}
        encoders = {field: options[field] for field in ("encoder", "teacher")}
        chosen = fields_of(recipe, human, **switches, **encoders, architecture=architecture)
        first, *others = criterion or [None]
        run = start_training(
            [campaign_named(s) for s in slug],
            first,
            seed,
            foreground=wait,
            recipe=chosen,
            others=[*others, *also],
            beside=[campaign_named(s) for s in beside],
            base=base,
        )
        snapshot = run.snapshots.first()
        if chosen := by_default(snapshot, run.criterion) if first is None else "":
            self.progress(chosen)
        if run.warning:
            self.progress(f"Warning: {run.warning}")
        if not wait:
            return {**({"chosen": chosen} if chosen else {}), "run": run.pk, **jobs.queued(run.job)}
        try:
            with ProgressBar() as bar:
                version = tasks.run(run.job_id, watch=bar)
        except jobs.Cancelled:
            raise Refused("The training was cancelled.") from None
        metrics = version.metrics
        return {
            **({"chosen": chosen} if chosen else {}),
            "comparator": version.name,
            "snapshots": [digest[:12] for digest in version.snapshots],
            "criterion": version.criterion,
            "heldout_pairwise_accuracy": metrics["heldout_pairwise_accuracy"],
            "heldout_pairwise_interval": metrics["heldout_pairwise_interval"],
            "longer_is_better_accuracy": metrics["longer_is_better_accuracy"],
            **({"supervision": metrics["supervision"]} if metrics["supervision"] else {}),
            **({"criteria": metrics["criteria"]} if len(metrics["criteria"]) > 1 else {}),
            "pairs": metrics["pairs"],
            **({"base": metrics["base"]} if metrics["base"] else {}),
            "seconds": round(metrics["seconds"], 1),
            "device": metrics["device"],
            "seed": version.seed,
            "code": version.code,
            "simulated": version.is_simulated,
            "warning": run.warning,
            "limits": limits(metrics),
        }
