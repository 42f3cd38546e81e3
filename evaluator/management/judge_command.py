"""What score_outputs and compare_outputs share."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from core.commands import ServiceCommand
from evaluator.management.device import add_device, use_device
from evaluator.models import ComparatorVersion
from evaluator.versions.card_view import confidence_on_files
from evaluator.versions.registry import serving_or_named, warnings_of


class JudgingCommand(ServiceCommand):
    """FILE --comparator VERSION --out FILE.jsonl"""

    kind: str  # of JudgedFile.Kind

    def judging(self) -> Callable[..., int]:
        """The function of `evaluator.worker.judged_files` that the command calls. A command loads torch only when it runs."""
        raise NotImplementedError

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("file")
        parser.add_argument("--comparator", required=True, help="a trained version, or a campaign (its comparator in use)")
        parser.add_argument("--out", required=True, help="JSON lines file to write; it is written completely or not at all")
        parser.add_argument("--workers", action="store_true", help="divide the work among the running workers")
        add_device(parser)

    def run(self, file, comparator, out, device, workers, **options):
        version = serving_or_named(comparator)
        use_device(device)
        start = time.monotonic()
        if workers:
            return self._said(version, self._by_workers(version, Path(file), Path(out)), out, start)
        with tqdm(unit=" rows", file=sys.stderr, mininterval=0.1 if sys.stderr.isatty() else 10) as bar:
            rows = self.judging()(version, file, out, lambda count: bar.update(count - bar.n))
        return self._said(version, rows, out, start)

    def _by_workers(self, version: ComparatorVersion, file: Path, out: Path) -> int:
        from evaluator.worker import shared_files

        made = shared_files.start(version, self.kind, file)
        with tqdm(total=100, unit="%", file=sys.stderr, mininterval=0.1 if sys.stderr.isatty() else 10) as bar:
            shared_files.wait(made, lambda done: bar.update(round(100 * done) - bar.n))
        return shared_files.fetch(made, out)

    def _said(self, version: ComparatorVersion, rows: int, out, start: float) -> dict:
        return {
            "comparator": version.name,
            "rows": rows,
            "out": str(out),
            "seconds": round(time.monotonic() - start, 2),
            "simulated": version.is_simulated,
            "warnings": warnings_of(version),
            "confidence": confidence_on_files(version),
        }
