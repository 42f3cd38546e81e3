"""A folder of trained members becomes a version of the registry: its name, its row, and which version has the same files."""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from annotation.models import Campaign
from core.version import code_version
from evaluator.comparator import storage
from evaluator.comparator.settings import Settings
from evaluator.encoders import pretrained
from evaluator.models import ComparatorVersion, TrainingRun
from evaluator.versions.selectors import folder


def register(run: TrainingRun, work: Path, recipe: Settings, result, measured: dict) -> ComparatorVersion:
    """The folder gets its name and the registry its row, both or neither."""
    metrics = {k: v for k, v in asdict(result).items() if k not in ("curve", "utilities")} | measured
    frozen = list(run.snapshots.order_by("digest"))
    chosen = {**asdict(recipe), **{k: v for k, v in run.settings.items() if k != "recipe"}}
    with transaction.atomic():
        run = TrainingRun.objects.select_for_update().select_related("job").get(pk=run.pk)
        if known := ComparatorVersion.objects.filter(run=run).first():
            return known
        run.curve = [json_ready(point) for point in result.curve]
        run.save(update_fields=["curve"])
        version = ComparatorVersion.objects.create(
            name=_name_of_contents(run, frozen, chosen),
            run=run,
            criterion=run.criterion,
            settings=chosen,
            seed=run.seed,
            snapshots=[s.digest for s in frozen],
            code=code_version(),
            metrics=json_ready(metrics),
            is_simulated=any(s.is_simulated for s in frozen),
            warning=run.warning,
        )
        version.campaigns.set(measured_on(run))
        os.rename(work, folder(version))
    return version


def measured_on(run: TrainingRun) -> QuerySet[Campaign]:
    """The campaigns that the version is for; not those that only lent their judgments."""
    return run.campaigns.exclude(slug__in=run.settings.get("beside", []))


def _name_of_contents(run: TrainingRun, frozen, chosen: dict) -> str:
    """campaign-criterion-hash, where the hash is of what went in; the same again gets a number."""
    what = [[s.digest for s in frozen], chosen, run.seed]
    digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:8]
    campaign = measured_on(run).order_by("pk").first()
    learnt = slugify(run.criterion)[:20].strip("-") or ("pairs" if frozen else "self-supervised")
    return free_name(f"{campaign.slug[:24].strip('-')}-{learnt}-{digest}")


def free_name(name: str) -> str:
    """The name, with a number where a version or a folder has it."""
    number, free = 1, name
    while ComparatorVersion.objects.filter(name=free).exists() or (settings.MODELS_DIR / free).exists():
        number += 1
        free = f"{name}-{number}"
    return free


def same_files(fingerprint: str, identity: str) -> ComparatorVersion | None:
    """The version that judges by exactly these files (`storage.identity`); a fingerprint alone is what a file says of
    itself."""
    for version in ComparatorVersion.objects.filter(metrics__fingerprint=fingerprint):
        try:
            if storage.identity(folder(version)) == identity:
                return version
        except pretrained.BadCheckpoint:
            continue  # its own files are gone
    return None


def json_ready(value):
    """JSON that every database takes: NaN is none."""
    if isinstance(value, dict):
        return {k: json_ready(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(v) for v in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value
