"""A comparator that was trained elsewhere, looked at by a worker and entered in the registry."""

import logging
import os
import shutil
from pathlib import Path

from django.conf import settings
from django.db import transaction

from annotation.jobs import Cancelled
from annotation.models import AuditEvent, Campaign, Job
from core.errors import Refused
from evaluator.comparator.storage import Manifest, identity
from evaluator.encoders.pretrained import parameters_named
from evaluator.models import ComparatorVersion
from evaluator.versions import archive
from evaluator.versions.admission import waiting_file
from evaluator.worker.comparators import check
from evaluator.worker.registration import free_name, same_files

log = logging.getLogger(__name__)


def enter_uploaded(job: Job, report) -> ComparatorVersion:
    """Unpack, load every member once, and enter it in the registry of the job's campaign. Raises Refused. The uploaded file
    stays until `forget`, so that a second attempt finds it, and the version that the first one entered."""
    file, work = waiting_file(job.pk), settings.MODELS_DIR / f".run-{job.pk}"
    if not file.is_file():
        raise Refused("The uploaded file is not here: it was refused before, or workers and site do not share MODELS_DIR.")
    shutil.rmtree(work, ignore_errors=True)  # of an attempt that died
    work.mkdir(parents=True)
    try:
        card = archive.unpack(file, work, lambda done: report(0.8 * done, "Unpacking"))
        _check_size(work)
        report(0.8, "Loading each member")
        version = _enter(job, card, _checked(work), work)
    except Cancelled:
        raise
    except Exception:  # whatever is wrong with it, it will be the second time; only a worker's death leaves the file
        file.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return version


def _checked(work: Path) -> Manifest:
    """Every member is loaded once. Raises Refused."""
    try:
        return check(work)
    except (Refused, OSError, MemoryError):  # the latter two are the machine's
        raise
    except Exception as error:  # transformers, tokenizers and torch raise whatever they like for files of another shape
        log.warning("an uploaded comparator cannot be loaded", exc_info=True)
        raise Refused("The comparator in this zip cannot be loaded; the log of the worker says why.") from error


def _check_size(work: Path) -> None:
    """The configuration must not ask for more memory than the weights that came with it fill. Raises Refused."""
    try:
        named = parameters_named(str(work / "encoder"))
    except Exception as error:  # transformers raises whatever it likes for a configuration of another shape
        raise Refused("The encoder's configuration cannot be read.") from error
    held = (work / "member-0.safetensors").stat().st_size // 2  # fp16
    if named > 2 * held + 1_000_000:  # a few megabytes are not worth a refusal
        raise Refused(f"The encoder's configuration names {named:,} numbers, but its weights hold {held:,}.")


@transaction.atomic
def _enter(job: Job, card: archive.Card, manifest: Manifest, work: Path) -> ComparatorVersion:
    """A new row, or the one of the same comparator, which then is this campaign's too."""
    fingerprint, architecture = manifest.fingerprint, manifest.settings.architecture
    if card.settings.get("architecture", architecture) != architecture:
        raise Refused(f"Its card names another architecture than comparator.json, which says {architecture}.")
    campaign = Campaign.objects.select_for_update().get(pk=job.campaign_id or 0)
    files = identity(work)
    version = same_files(fingerprint, files)
    if version is None:
        version = ComparatorVersion.objects.create(
            name=free_name(f"{campaign.slug[:24].strip('-')}-upload-{files[:8]}"),
            run=None,
            criterion=card.criterion[:100],
            settings=card.settings | {"architecture": architecture, "uploaded": card.name[:100], "sources": {}},
            seed=card.seed,
            snapshots=card.snapshots,
            code=card.code[:60],
            metrics=card.metrics | {"fingerprint": fingerprint},
            is_simulated=card.is_simulated,
            warning=card.warning,
        )
        os.rename(work, settings.MODELS_DIR / version.name)
    version.campaigns.add(campaign)
    detail = {"trained as": card.name[:100], "comparator": version.name, "job": str(job.pk)}
    recorded = AuditEvent.objects.filter(campaign=campaign, action="comparator uploaded", detail__job=str(job.pk))
    if not recorded.exists():  # by an attempt that died afterwards
        AuditEvent.objects.create(campaign=campaign, user=job.created_by, action="comparator uploaded", detail=detail)
    return version
