"""Figures that pages need and that may take long: worked out at once for small campaigns, by a worker for large ones, and
kept until the answers change."""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone

from annotation import jobs
from annotation.assessment.agreement_figures import pictures
from annotation.assessment.annotator_review import annotators
from annotation.assessment.assess import accepted_by
from annotation.assessment.dependence import note_figures
from annotation.assessment.disagreement import disagreement_figures
from annotation.assessment.filter_preview import preview
from annotation.assessment.live import people_figures, progress_figures
from annotation.assessment.protocol_study import study
from annotation.campaigns.overview import many_of
from annotation.campaigns.plan import pilot_figures
from annotation.models import AuditEvent, Calculation, Campaign, Job, User
from annotation.questions import store
from annotation.snapshots import difference_figures
from core.errors import Refused

AT_ONCE = 10_000  # answers: about a second on one core
SLOWER = {"pilot": 500}  # a mixed model is fitted
KEPT = 20  # of each kind in a campaign
NOT_READ = Q(action__startswith="snapshot ") | Q(action="exported")  # events that change no figure
FORMAT = 3  # raise it when a figure comes to mean something else: what was kept is then worked out again

FUNCTIONS: dict[str, Callable[..., dict]] = {  # by stored name: each takes (campaign, **settings), returns plain JSON
    "preview": preview,
    "pictures": pictures,
    "annotators": annotators,
    "study": study,
    "dependence": note_figures,
    "difference": difference_figures,
    "acceptance": accepted_by,  # of `acceptance`, which makes its rows
}

FOLLOWED: dict[str, Callable[..., dict]] = {  # those of pages that people open again and again while answers come in
    "progress": progress_figures,
    "people": people_figures,
    "disagreement": disagreement_figures,
    "pilot": pilot_figures,
    "overview": many_of,
}
WITHOUT_WAITING = {"overview"}  # the first is worked out by who asks: a count, which a page or a program can't do without
FRESH = timedelta(minutes=1)  # figures older than that are worked out anew when somebody looks
PAUSE = 10  # but not before so many times as long have passed as that takes


@dataclass(frozen=True)
class Followed:
    """result: None where a worker has still to work it out for the first time. as_of: when its answers were read; None where
    that is now. job: that works it out (again)."""

    result: dict | None
    as_of: datetime | None = None
    job: Job | None = None

    def part(self, name: str) -> dict:
        """One of the figures; empty until there are any."""
        return self.result[name] if self.result else {}


def follow(campaign: Campaign, what: str, title: str, user: User | None = None, **settings) -> Followed:
    """Figures of all answers where those are few, else what a worker made of them last: a page never waits. Looking at old ones
    has them worked out anew. Nothing is added up as answers come, so whatever changes answers is in the next figures."""
    if not store.is_larger(campaign, min(AT_ONCE, SLOWER.get(what, AT_ONCE))):
        return Followed(_plain(FOLLOWED[what](campaign, **settings)))
    key = _followed_key(what, settings)
    row = Calculation.objects.filter(campaign=campaign, key=key).select_related("job").first()
    if row is None and what in WITHOUT_WAITING:
        first = {"what": what, "settings": settings, "result": _plain(FOLLOWED[what](campaign, **settings))}
        row, _ = Calculation.objects.get_or_create(campaign=campaign, key=key, defaults=first)
    return _renewed(row, campaign, what, key, settings, title, user)


def follow_all(campaigns: Iterable[Campaign], what: str, title: str, user: User | None = None) -> dict[int, Followed]:
    """follow, without settings, by the campaigns' ids, where figures are kept: one query. What is due is renewed."""
    key, by_id = _followed_key(what, {}), {campaign.pk: campaign for campaign in campaigns}
    rows = Calculation.objects.filter(campaign__in=list(by_id), key=key).exclude(result=None).select_related("job")
    return {
        row.campaign_id: _renewed(row, by_id[row.campaign_id], what, key, {}, title, user) for row in rows.order_by("campaign")
    }


def _followed_key(what: str, settings: dict) -> str:
    return hashlib.sha256(json.dumps(["followed", FORMAT, what, settings]).encode()).hexdigest()


def _renewed(row: Calculation | None, campaign: Campaign, what: str, key: str, settings: dict, title: str, user) -> Followed:
    if row is None or _is_due(row):
        row = _renew(campaign, what, key, settings, title, user)
    return Followed(row.result, row.created_at, None if row.job is None or row.job.is_finished else row.job)


def _is_due(row: Calculation) -> bool:
    job = row.job
    if job is None and row.result is None:
        return True
    if job and not job.is_finished:
        return False
    took = (job.finished_at - job.started_at) if job and job.finished_at and job.started_at else timedelta(0)
    return timezone.now() - row.created_at > max(FRESH, PAUSE * took)


@transaction.atomic
def _renew(campaign: Campaign, what: str, key: str, settings: dict, title: str, user: User | None) -> Calculation:
    row, _ = Calculation.objects.get_or_create(campaign=campaign, key=key, defaults={"what": what, "settings": settings})
    row = Calculation.objects.select_for_update().get(pk=row.pk)
    if _is_due(row):
        before, row.job = row.job, jobs.enqueue("annotation.tasks.calculate", title, campaign, user)
        row.save(update_fields=["job"])
        if before:
            before.delete()
        _forget_old(campaign, what)
    return row


def look_up(
    campaign: Campaign, what: str, title: str, user: User | None = None, state: list | None = None, **settings
) -> tuple[dict | None, Job | None]:
    """(result, None), or (None, the job that works it out). Raises Refused where there is nothing to work with. state: of the
    campaign (`state_of`), where it is known already."""
    key = _key(campaign, what, settings, state)
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
            _forget_old(campaign, what)
    return row.result, None if row.result is not None else row.job


def run(job_id) -> None:
    """Claim the job and fill its row."""
    with jobs.claim(job_id) as claim:
        row = Calculation.objects.select_related("campaign").filter(job=claim.job).first()
        if row is None:
            raise Refused("This calculation is no longer needed.")
        claim.report(0.1, "Reading the answers")
        began = timezone.now()
        result = _followed(row) if row.what in FOLLOWED else _work_out(row.campaign, row.what, row.settings)
        Calculation.objects.filter(pk=row.pk).update(result=result, created_at=began)
        claim.report(1.0, "Ready")


def _followed(row: Calculation) -> dict:
    """Worked out anew where anything changed since."""
    state = _key(row.campaign, row.what, row.settings)
    if row.result and row.result.get("state") == state:
        return row.result
    return {**_plain(FOLLOWED[row.what](row.campaign, **row.settings)), "state": state}


def _plain(figures: dict) -> dict:
    """As JSON keeps it, so that a page shows the same of kept figures and of new ones."""
    return json.loads(json.dumps(figures, default=lambda number: number.item()))  # NumPy's


def _work_out(campaign: Campaign, what: str, settings: dict) -> dict:
    return FUNCTIONS[what](campaign, **settings)


def _store(campaign: Campaign, what: str, key: str, settings: dict, result: dict) -> dict:
    Calculation.objects.update_or_create(
        campaign=campaign, key=key, defaults={"what": what, "settings": settings, "result": result}
    )
    _forget_old(campaign, what)
    return result


def _forget_old(campaign: Campaign, what: str) -> None:
    old = campaign.calculations.filter(what=what).values_list("pk", flat=True)[KEPT:]
    Calculation.objects.filter(pk__in=list(old)).delete()


def _answers(campaign: Campaign) -> int:
    return sum(store.counts(campaign).values())


def _key(campaign: Campaign, what: str, settings: dict, state: list | None = None) -> str:
    """SHA-256 of everything that the figures depend on."""
    return hashlib.sha256(json.dumps([FORMAT, what, settings, state or state_of(campaign)], default=str).encode()).hexdigest()


def state_of(campaign: Campaign) -> list:
    """What figures depend on, as far as it changes: answers, withdrawals, adjudications, and what the audit trail saw last
    (imports, replaced outputs, changed criteria)."""
    return [
        *store.state(campaign),
        campaign.annotators.aggregate(Count("pk"), Max("withdrawn_at")),
        campaign.adjudications.aggregate(Count("pk"), Max("pk")),
        AuditEvent.objects.filter(campaign=campaign).exclude(NOT_READ).aggregate(Max("pk")),
        campaign.seed,
    ]
