"""What score_outputs and compare_outputs share."""

import sys
import time
from collections.abc import Callable

from tqdm import tqdm

from core.commands import ServiceCommand
from evaluator.card_view import confidence_on_files
from evaluator.management.device import add_device, use_device
from evaluator.registry import serving_or_named


class JudgingCommand(ServiceCommand):
    """FILE --comparator VERSION --out FILE.jsonl"""

    def judging(self) -> Callable[..., int]:
        """The function of `evaluator.worker.judge_files` that the command calls. A command loads torch only when it runs."""
        raise NotImplementedError

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("file")
        parser.add_argument("--comparator", required=True, help="a trained version, or a campaign (its comparator in use)")
        parser.add_argument("--out", required=True, help="JSON lines file to write; it is written completely or not at all")
        add_device(parser)

    def run(self, file, comparator, out, device, **options):
        version = serving_or_named(comparator)
        use_device(device)
        start = time.monotonic()
        with tqdm(unit=" rows", file=sys.stderr, mininterval=0.1 if sys.stderr.isatty() else 10) as bar:
            rows = self.judging()(version, file, out, lambda count: bar.update(count - bar.n))
        seconds = round(time.monotonic() - start, 2)
        return {
            "comparator": version.name,
            "rows": rows,
            "out": str(out),
            "seconds": seconds,
            "simulated": version.is_simulated,
            "confidence": confidence_on_files(version),
        }
