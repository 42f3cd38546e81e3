"""The only bridge between Django and torch. Imported inside task bodies and commands, never by a web process."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np
from django.conf import settings as site
from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import slugify
from transformers.utils.logging import disable_progress_bar

from annotation.jobs import Cancelled
from annotation.models import Campaign, Output
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator import sources
from evaluator.comparator import architectures, checkpoint
from evaluator.comparator.examples import Text
from evaluator.comparator.joint_model import JointComparator
from evaluator.comparator.predict import Comparator
from evaluator.comparator.settings import Settings
from evaluator.comparator.training import progress
from evaluator.comparator.training import train as training
from evaluator.models import ComparatorVersion, TrainingRun, Utility
from evaluator.selectors import architecture, folder, learned_from
from evaluator.services import code_version
from evaluator.worker import card as cards
from evaluator.worker.verdicts import JointVerdicts, Verdicts, read_together, text_of

TRAINED = 0.85  # of a training's progress bar; the rest measures what its card says
CHUNK = 1024  # rows of a file, or outputs of a campaign, that are judged together
OWNER = "run.json"  # in a comparator's folder: the job that made it

Report = Callable[[float, str], None]

disable_progress_bar()  # of reading weights; stderr belongs to our own


# --- training


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
        watch = _watch(run, cards.part(report, 0.0, TRAINED))
        result = training.fit(
            shown.texts,
            shown.pairs,
            recipe,
            run.seed,
            work,
            watch,
            should_stop=stopped,
            scores=shown.scores,
            exchanges=shown.exchanges,
            criteria=shown.criteria,
            beside=shown.beside.tolist(),
        )
    except progress.Cancelled:
        raise Cancelled from None
    except (ValueError, checkpoint.BadCheckpoint) as error:
        raise Refused(f"The comparator could not be trained. {error}") from error
    measuring = cards.part(report, TRAINED, 0.99)
    card = cards.card(architectures.load(work), list(run.campaigns.all()), shown, result.utilities, run.seed, measuring)
    report(0.99, "Entering it in the registry")
    return _register(run, work, recipe, result, shown.told | card)


def _watch(run: TrainingRun, report: Report):
    """Writes the points of the learning curve as they come; a member that is trained again replaces its points."""
    points = {(p["fold"], p["epoch"]): p for p in run.curve}

    def watch(fraction: float, message: str, point: dict | None) -> None:
        if point and "fold" in point:  # the base's own points come with its result
            points[point["fold"], point["epoch"]] = _plain(point)
            TrainingRun.objects.filter(pk=run.pk).update(curve=[points[k] for k in sorted(points)])
        report(fraction, message)

    return watch


def _register(run: TrainingRun, work: Path, recipe: Settings, result, measured: dict) -> ComparatorVersion:
    """The folder gets its name and the registry its row, both or neither."""
    metrics = {k: v for k, v in asdict(result).items() if k not in ("curve", "utilities")} | measured
    frozen = list(run.snapshots.order_by("digest"))
    settings = {**asdict(recipe), **{k: v for k, v in run.settings.items() if k != "recipe"}}
    with transaction.atomic():
        run = TrainingRun.objects.select_for_update().select_related("job").get(pk=run.pk)
        if known := ComparatorVersion.objects.filter(run=run).first():
            return known
        run.curve = [_plain(point) for point in result.curve]
        run.save(update_fields=["curve"])
        version = ComparatorVersion.objects.create(
            name=_free_name(run, frozen, settings),
            run=run,
            criterion=run.criterion,
            settings=settings,
            seed=run.seed,
            snapshots=[s.digest for s in frozen],
            code=code_version(),
            metrics=_plain(metrics),
            is_simulated=any(s.is_simulated for s in frozen),
            warning=run.warning,
        )
        version.campaigns.set(_measured_on(run))
        os.rename(work, folder(version))
    return version


def _measured_on(run: TrainingRun) -> QuerySet[Campaign]:
    """The campaigns that the version is for; not those that only lent their judgments."""
    return run.campaigns.exclude(slug__in=run.settings.get("beside", []))


def _free_name(run: TrainingRun, frozen, settings: dict) -> str:
    """campaign-criterion-hash, where the hash is of what went in; the same again gets a number."""
    what = [[s.digest for s in frozen], settings, run.seed]
    digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:8]
    campaign = _measured_on(run).order_by("pk").first()
    return free_name(f"{campaign.slug[:24].strip('-')}-{slugify(run.criterion)[:20].strip('-') or 'pairs'}-{digest}")


def free_name(name: str) -> str:
    """The name, with a number where a version or a folder has it."""
    number, free = 1, name
    while ComparatorVersion.objects.filter(name=free).exists() or (site.MODELS_DIR / free).exists():
        number += 1
        free = f"{name}-{number}"
    return free


def _work_folder(run: TrainingRun) -> Path:
    """Where the run works. A folder that was named just before the worker died, without its row, is taken back."""
    work = site.MODELS_DIR / f".run-{run.job_id}"
    if not work.exists():
        for owner in site.MODELS_DIR.glob(f"[!.]*/{OWNER}"):
            mine = _job_that_made(owner) == str(run.job_id)
            if mine and not ComparatorVersion.objects.filter(name=owner.parent.name).exists():
                os.rename(owner.parent, work)
                break
    work.mkdir(parents=True, exist_ok=True)
    checkpoint.write_json({"job": str(run.job_id)}, work / OWNER)
    return work


def _job_that_made(owner: Path) -> str | None:
    """The job that an OWNER file names; None where it cannot be read, which is no other training's trouble."""
    try:
        return checkpoint.read_json(owner).get("job")
    except checkpoint.BadCheckpoint:
        return None


def _plain(value):
    """JSON that every database takes: NaN is none."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value


# --- judging


def load(version: ComparatorVersion) -> Comparator | JointComparator:
    try:
        return architectures.load(folder(version))
    except checkpoint.BadCheckpoint as error:
        raise Refused(f"Comparator {version.name} cannot be used. {error}") from error


def learnt_beside(version: ComparatorVersion) -> set[str]:
    """Keys of the contexts that every member learned from (`checkpoint.Manifest`); none where its file cannot be read."""
    try:
        return set(checkpoint.load_manifest(folder(version)).beside)
    except checkpoint.BadCheckpoint:
        return set()


def check(folder: Path) -> checkpoint.Manifest:
    """Load every member of a comparator in a folder and let it judge two texts; returns its manifest. Raises Refused."""
    texts = [Text(("How are you?",), answer) for answer in ("Fine, thank you.", "On the table.")]
    try:
        comparator = architectures.load(folder)
        scores = comparator.score(texts)
    except checkpoint.BadCheckpoint as error:
        raise Refused(str(error).replace(f"{folder}/", "")) from error
    if not np.isfinite(scores).all():
        raise Refused("It does not give a finite number for a simple text.")
    return comparator.manifest


def same_files(fingerprint: str, identity: str) -> ComparatorVersion | None:
    """The version that judges by exactly these files (`checkpoint.identity`); a fingerprint alone is what a file says of
    itself."""
    for version in ComparatorVersion.objects.filter(metrics__fingerprint=fingerprint):
        try:
            if checkpoint.identity(folder(version)) == identity:
                return version
        except checkpoint.BadCheckpoint:
            continue  # its own files are gone
    return None


def measure_here(version: ComparatorVersion, campaign: Campaign) -> None:
    """Note how far the version is to be trusted on a campaign that it judges, where it did not learn from that one; not
    again before the campaign has a newer snapshot."""
    if learned_from(version, campaign):
        return
    snapshot = latest_snapshot(campaign)
    known, newest = version.measured_here.get(campaign.slug, {}), snapshot.name if snapshot else ""
    if known.get("newest") != newest:
        found = cards.where_it_did_not_learn(load(version), campaign, version.seed) | {"newest": newest}
        version.measured_here[campaign.slug] = _plain(found)
        version.save(update_fields=["measured_here"])


def verdicts(version: ComparatorVersion, outputs: Iterable[Output], report: Report | None = None) -> Verdicts | JointVerdicts:
    """What the version says of the outputs (their contexts selected with them)."""
    if architecture(version) == "joint":
        return read_together(cast(JointComparator, load(version)), outputs, report)
    try:
        head = checkpoint.load_manifest(folder(version)).head
    except checkpoint.BadCheckpoint as error:
        raise Refused(f"Comparator {version.name} cannot be used. {error}") from error
    return Verdicts(utilities(version, outputs, report), head)


def disagreement(
    version: ComparatorVersion, outputs_a: Sequence[Output], outputs_b: Sequence[Output], report: Report | None = None
) -> np.ndarray:
    """(n,) how far the version's members differ on each pair of outputs of a context (their contexts selected with them)."""
    comparator = load(version)
    if len(comparator.models) < 2:
        raise Refused(f"Comparator {version.name} has one member only, so that none differ.")
    watch = None if report is None else lambda done, message, _: report(done, message)
    texts_a, texts_b = ([text_of(output) for output in side] for side in (outputs_a, outputs_b))
    return comparator.disagreement(texts_a, texts_b, watch)


def utilities(version: ComparatorVersion, outputs: Iterable[Output], report: Report | None = None) -> dict[int, float]:
    """{output id: utility}; each output is judged once by a version, and remembered. Of a joint version the scores, which
    depend on what is judged together and so are not."""
    outputs = {output.pk: output for output in outputs}
    if architecture(version) == "joint":
        scores = load(version).score([text_of(output) for output in outputs.values()])
        return dict(zip(outputs, scores.tolist(), strict=True))
    found = {
        pk: value
        for pks in chunks(outputs, 500)
        for pk, value in Utility.objects.filter(version=version, output__in=pks).values_list("output_id", "value")
    }
    missing = [output for pk, output in outputs.items() if pk not in found]
    missing.sort(key=lambda output: -sum(map(len, output.context.turns)))  # like lengths together: less padding
    if not missing:
        return found
    comparator = cast(Comparator, load(version))
    for start in range(0, len(missing), CHUNK):
        part = missing[start : start + CHUNK]

        def watch(fraction, message, _, start=start, part=part):
            if report:
                report((start + fraction * len(part)) / len(missing), f"Judging {len(missing)} outputs")

        u = comparator.utilities([text_of(output) for output in part], on_progress=watch)
        found |= {output.pk: float(value) for output, value in zip(part, u, strict=True)}
        rows = [Utility(version=version, output=output, value=found[output.pk]) for output in part]
        Utility.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
    return found


def chunks(items: Iterable, size: int) -> Iterator[list]:
    items = iter(items)
    while chunk := list(islice(items, size)):
        yield chunk
