"""A worker of a crowd platform who gives the task back, or runs out of time there: their places are free at once."""

from django.db import transaction
from django.db.models import F

from annotation.annotating import places
from annotation.annotating.assignment import lock
from annotation.annotating.consent import withdraw_annotator
from annotation.models import Annotator, Assignment, AuditEvent, Invitation
from annotation.people import invitations

RETURNED, TIMED_OUT = "RETURNED", "TIMED-OUT"  # states of a submission at Prolific


def submission_changed(worker: str, submission: str, status: str) -> int:
    """What Prolific says of one submission; returns how many annotators it is about. The same twice changes nothing more."""
    theirs = {"source__PROLIFIC_PID": worker, "source__SESSION_ID": submission}
    annotators = Annotator.objects.filter(**theirs, campaign__deleted_at=None).select_related("campaign")
    change = {RETURNED: return_worker, TIMED_OUT: let_go}.get(status)
    if change is None or not worker or not submission:
        return 0
    for annotator in annotators:
        change(annotator)
    return len(annotators)


@transaction.atomic
def return_worker(annotator: Annotator, user=None) -> None:
    """The worker takes part no more, as if they had withdrawn: no answer of theirs counts, others get their items, and the
    link admits one more."""
    lock(annotator)
    if annotator.withdrawn_at:
        return
    withdraw_annotator(annotator, user)
    Invitation.objects.filter(annotators=annotator, uses__gt=0).update(uses=F("uses") - 1)
    AuditEvent.objects.create(
        campaign=annotator.campaign, user=user, action="worker returned", detail={"annotator": annotator.name}
    )


@transaction.atomic
def let_go(annotator: Annotator) -> None:
    """What the worker holds goes to others; what they answered stays. If nothing is left when they come back, they get the
    code for it."""
    lock(annotator)
    annotator.refresh_from_db(fields=["source"])
    annotator.source |= {invitations.TIMED_OUT: True}
    annotator.save(update_fields=["source"])
    for assignment in annotator.assignments.filter(status=Assignment.Status.OPEN).select_related("item"):
        places.give_back(assignment)
