"""Taking back the latest answer."""

from django.db import transaction
from django.utils.translation import gettext

from annotation.annotating import places
from annotation.annotating.assignment import lock
from annotation.annotating.submissions import live_submissions, may_change, refuse_endless
from annotation.models import Annotator, Assignment
from annotation.questions.store import retract
from core.errors import Refused


@transaction.atomic
def undo_last(annotator: Annotator, in_hand: int | None = None) -> Assignment | None:
    """Take back the latest answer: its rows are retracted, not deleted, and its item is in the person's hands again.

    in_hand: the assignment that was shown with the button, 0 for none; where another is in their hands now, the click
    came twice and takes back nothing more.
    """
    lock(annotator)
    held = annotator.assignments.filter(status=Assignment.Status.OPEN)
    if in_hand is not None and (held.values_list("pk", flat=True).first() or 0) != in_hand:
        return None
    last = live_submissions(annotator).select_related("assignment").first()
    if last is None:
        return None
    if not may_change(last.assignment, annotator.campaign):
        raise Refused(gettext("You cannot change this answer: the campaign is not open, or you have seen the expected answer."))
    refuse_endless(last.assignment)
    retract(last)
    places.reopen(last.assignment)
    return last.assignment
