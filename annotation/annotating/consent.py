"""Agreeing to take part, and withdrawing."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotation.annotating import places
from annotation.models import Annotator, AuditEvent, ConsentText, SnapshotMark
from annotation.questions import store
from annotation.snapshots import WITHDREW, holds
from core.errors import Refused


def consent_due(annotator: Annotator) -> ConsentText | None:
    """The text this person has yet to agree to: the newest, unless they did or it is empty."""
    newest = annotator.campaign.consent_texts.last()
    return newest if newest and newest.text.strip() and newest.pk != annotator.consent_id else None


@transaction.atomic
def agree(annotator: Annotator, version: int | None) -> None:
    """Record which version of the consent text the person agreed to, and when. Only the newest can be agreed to."""
    newest = annotator.campaign.consent_texts.last()
    if newest is None or newest.version != version:
        raise Refused(gettext("The text has changed since you opened it. Please read the new version."))
    Annotator.objects.filter(pk=annotator.pk).update(consent=newest, consented_at=timezone.now())


@transaction.atomic
def withdraw_annotator(annotator: Annotator, user=None) -> None:
    """Take all of a person's answers out of what counts from now on. The rows stay, and so do finished snapshots; those
    that hold answers of theirs are marked. Their places are free again. Withdrawing twice changes nothing."""
    if not Annotator.objects.filter(pk=annotator.pk, withdrawn_at=None).update(withdrawn_at=timezone.now()):
        return
    annotator.refresh_from_db(fields=["withdrawn_at"])
    places.free_all_of(annotator)
    marked = _mark_snapshots(annotator)
    detail = {"annotator": annotator.name, **store.live_counts(annotator), "snapshots marked": marked}
    AuditEvent.objects.create(campaign=annotator.campaign, user=user, action="annotator withdrew", detail=detail)


def _mark_snapshots(annotator: Annotator) -> list[str]:
    marked = []
    for snapshot in annotator.campaign.snapshots.all():
        if holds(snapshot, "annotator", [annotator.name]):
            SnapshotMark.objects.get_or_create(snapshot=snapshot, reason=f"{annotator.name} {WITHDREW}")
            marked.append(snapshot.name)
    return marked
