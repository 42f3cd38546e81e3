"""Taking back the latest answer."""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.errors import Refused
from annotation.models import Annotator, Assignment, Item
from annotation.services.answers import live_submissions, may_change, retract


@transaction.atomic
def undo_last(annotator: Annotator, in_hand: int | None = None) -> Assignment | None:
    """Take back the latest answer: its rows are retracted, not deleted, and its item is in the person's hands again.

    in_hand: the assignment that was shown with the button, 0 for none; where another is in their hands now, the click
    came twice and takes back nothing more.
    """
    Annotator.objects.select_for_update().get(pk=annotator.pk)
    held = annotator.assignments.filter(status=Assignment.Status.OPEN)
    if in_hand is not None and (held.values_list("pk", flat=True).first() or 0) != in_hand:
        return None
    last = live_submissions(annotator).select_related("assignment").first()
    if last is None:
        return None
    if not may_change(last.assignment, annotator.campaign):
        raise Refused("This answer can't be changed: its campaign is not open, or you were told what was expected.")
    retract(last)
    _put_back(held.exclude(pk=last.assignment_id))
    assignment = last.assignment
    assignment.status, assignment.assigned_at, assignment.completed_at = Assignment.Status.OPEN, timezone.now(), None
    assignment.save(update_fields=["status", "assigned_at", "completed_at"])
    return assignment


def _put_back(held) -> None:
    """What was shown after the undone item; it comes again."""
    for other in held:
        Item.objects.filter(pk=other.item_id, taken__gt=0).update(taken=F("taken") - 1)
    held.filter(submissions__isnull=False).update(status=Assignment.Status.EXPIRED)  # its undone answer is kept
    held.filter(submissions__isnull=True).delete()
