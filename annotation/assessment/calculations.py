"""Figures that pages need and that may take long: worked out at once for small campaigns, by a worker for large ones, and
kept until the answers change."""

import hashlib
import json
from collections.abc import Callable

from django.db import transaction
from django.db.models import Count, Max, Q

from annotation import jobs
from annotation.assessment.agreement_figures import pictures
from annotation.assessment.annotator_review import annotators
from annotation.assessment.filter_preview import preview
from annotation.assessment.protocol_study import study
from annotation.models import AuditEvent, Calculation, Campaign, Job, User
from annotation.questions import store
from core.errors import Refused

AT_ONCE = 10_000  # answers: about a second on one core
KEPT = 20  # of each kind in a campaign
NOT_READ = Q(action__startswith="snapshot ") | Q(action="exported")  # events that change no figure
FORMAT = 3  # raise it when a figure comes to mean something else: what was kept is then worked out again

FUNCTIONS: dict[str, Callable[..., dict]] = {  # by stored name: each takes (campaign, **settings), returns plain JSON
    "preview": preview,
    "pictures": pictures,
    "annotators": annotators,
    "study": study,
}


def look_up(campaign: Campaign, what: str, title: str, user: User | None = None, **settings) -> tuple[dict | None, Job | None]:
    """(result, None), or (None, the job that works it out). Raises Refused where there is nothing to work with."""
    key = _key(campaign, what, settings)
    row = Calculation.objects.filter(campaign=campaign, key=key).select_related("job").first()
    if row and row.result is not None:
        return row.result, None
    if row and row.job:
        return None, row.job
    if _answers(campaign) <= AT_ONCE:
        return _store(campaign, what, key, settings, _work_out(campaign, what, settings)), None
    with transaction.atomic():
        row, _ = Calculation.objects.get_or_create(campaign=campaign, key=key, defaults={"what": what, "settings": settings})
        row = Calculation.objects.select_for_update().get(pk=row.pk)
        if row.job is None:  # two who ask at once wait for the same job
            row.job = jobs.enqueue("annotation.tasks.calculate", title, campaign, user)
            row.save(update_fields=["job"])
    return row.result, None if row.result is not None else row.job


def run(job_id) -> None:
    """Claim the job and fill its row."""
    with jobs.claim(job_id) as claim:
        row = Calculation.objects.select_related("campaign").filter(job=claim.job).first()
        if row is None:
            raise Refused("This calculation is no longer needed.")
        claim.report(0.1, "Reading the answers")
        result = _work_out(row.campaign, row.what, row.settings)
        Calculation.objects.filter(pk=row.pk).update(result=result)
        claim.report(1.0, "Ready")


def _work_out(campaign: Campaign, what: str, settings: dict) -> dict:
    return FUNCTIONS[what](campaign, **settings)


def _store(campaign: Campaign, what: str, key: str, settings: dict, result: dict) -> dict:
    Calculation.objects.update_or_create(
        campaign=campaign, key=key, defaults={"what": what, "settings": settings, "result": result}
    )
    old = campaign.calculations.filter(what=what).values_list("pk", flat=True)[KEPT:]
    Calculation.objects.filter(pk__in=list(old)).delete()
    return result


def _answers(campaign: Campaign) -> int:
    return sum(store.counts(campaign).values())


def _key(campaign: Campaign, what: str, settings: dict) -> str:
    """SHA-256 of everything that the figures depend on, as far as it changes: answers, withdrawals, adjudications, and
    what the audit trail saw last (imports, replaced outputs, changed criteria)."""
    state = [
        *store.state(campaign),
        campaign.annotators.aggregate(Count("pk"), Max("withdrawn_at")),
        campaign.adjudications.aggregate(Count("pk"), Max("pk")),
        AuditEvent.objects.filter(campaign=campaign).exclude(NOT_READ).aggregate(Max("pk")),
        campaign.seed,
    ]
    return hashlib.sha256(json.dumps([FORMAT, what, settings, state], default=str).encode()).hexdigest()
