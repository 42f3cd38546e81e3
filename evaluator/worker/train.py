"""Training a run's comparator, member by member, from its judgments to the registry. Imported inside task bodies only."""

import os
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from annotation.jobs import Cancelled
from core.errors import Refused
from evaluator.comparator import architectures, storage
from evaluator.comparator.examples import Examples
from evaluator.comparator.settings import Settings
from evaluator.comparator.training import progress
from evaluator.comparator.training.train import fit
from evaluator.encoders import pretrained
from evaluator.models import ComparatorVersion, TrainingRun
from evaluator.trainings import sources
from evaluator.versions.selectors import base_folder
from evaluator.worker.card import card, part
from evaluator.worker.registration import json_ready, register

TRAINED = 0.85  # of a training's progress bar; the rest measures what its card says
OWNER = "run.json"  # in a comparator's folder: the job that made it

Report = Callable[[float, str], None]


def train(run: TrainingRun, report: Report, stopped: Callable[[], bool]) -> ComparatorVersion:
    """Train the run's comparator and enter it in the registry; a run that already has its version returns that.

    The work lies in MODELS_DIR/.run-<job>, member by member, so that a job that was killed goes on where it was.
    """
    if known := ComparatorVersion.objects.filter(run=run).first():
        return known
    report(0.0, "Reading the judgments")
    work = _work_folder(run)
    try:
        recipe = Settings(**run.settings.get("recipe", {}))
        shown = sources.examples(run, recipe)
        watch = _watch(run, part(report, 0.0, TRAINED))
        examples = Examples(shown.texts, shown.pairs, shown.scores, shown.criteria, shown.beside, shown.exchanges)
        base = base_folder(recipe.base) if recipe.base else None
        result = fit(examples, recipe, run.seed, work, watch, should_stop=stopped, base_dir=base)
    except progress.TrainingCancelled:
        raise Cancelled from None
    except (ValueError, pretrained.BadCheckpoint) as error:
        raise Refused(f"The comparator could not be trained. {error}") from error
    measuring = part(report, TRAINED, 0.99)
    comparator, campaigns = architectures.load(work), list(run.campaigns.all())
    measured = card(comparator, campaigns, shown, result.utilities, run.seed, measuring)
    report(0.99, "Entering it in the registry")
    return register(run, work, recipe, result, shown.provenance | measured)


def _watch(run: TrainingRun, report: Report):
    """Writes the points of the learning curve as they come; a member that is trained again replaces its points."""
    points = {(p["fold"], p["epoch"]): p for p in run.curve}

    def watch(fraction: float, message: str, point: dict | None) -> None:
        if point:
            points[point["fold"], point["epoch"]] = json_ready(point)
            TrainingRun.objects.filter(pk=run.pk).update(curve=[points[k] for k in sorted(points)])
        report(fraction, message)

    return watch


def _work_folder(run: TrainingRun) -> Path:
    """Where the run works. A folder that was named just before the worker died, without its row, is taken back."""
    work = settings.MODELS_DIR / f".run-{run.job_id}"
    if not work.exists():
        for owner in settings.MODELS_DIR.glob(f"[!.]*/{OWNER}"):
            made_it = _job_that_made(owner) == str(run.job_id)
            if made_it and not ComparatorVersion.objects.filter(name=owner.parent.name).exists():
                os.rename(owner.parent, work)
                break
    work.mkdir(parents=True, exist_ok=True)
    storage.write_json({"job": str(run.job_id)}, work / OWNER)
    return work


def _job_that_made(owner: Path) -> str | None:
    """The job that an OWNER file names; None where it cannot be read, which is no other training's trouble."""
    try:
        return storage.read_json(owner).get("job")
    except pretrained.BadCheckpoint:
        return None
