"""What an annotator says about an item itself: that they pass it by, that something is wrong with it, or a question."""

from django.db import transaction
from django.utils.translation import gettext

from annotation.annotating import places
from annotation.annotating.assignment import lock
from annotation.models import Annotator, Assignment, ItemReport, Purpose
from core.errors import Refused

MOST_OPEN = 50  # questions of one person in a campaign
REASON_LENGTH: int = ItemReport._meta.get_field("reason").max_length or 0


@transaction.atomic
def skip(annotator: Annotator, assignment_id: int, reason: str) -> None:
    """Pass an item by, saying why; its place is free for somebody else. An item no longer in hand stays as it is."""
    reason = _checked(reason)
    lock(annotator)
    assignment = _own(annotator, assignment_id)
    if assignment.purpose in (Purpose.TRAINING, Purpose.QUALIFICATION):
        raise Refused(gettext("You cannot skip practice and qualification items. If this item is broken, report it."))
    if places.skip(assignment):
        ItemReport.objects.create(item_id=assignment.item_id, annotator=annotator, kind=ItemReport.Kind.SKIP, reason=reason)


@transaction.atomic
def flag(annotator: Annotator, assignment_id: int, reason: str) -> None:
    """Report an item as broken; it stays in hand. A second report by one person replaces the first, while that is open."""
    reason = _checked(reason)
    lock(annotator)
    ItemReport.objects.update_or_create(
        item_id=_own(annotator, assignment_id).item_id,
        annotator=annotator,
        kind=ItemReport.Kind.FLAG,
        resolved_at=None,
        defaults={"reason": reason},
    )


@transaction.atomic
def ask(annotator: Annotator, assignment_id: int, question: str) -> None:
    """Ask the researchers about an item; it stays in hand. The same question sent twice is one, while that is open."""
    question = _checked(question)
    lock(annotator)
    item, still_open = (
        _own(annotator, assignment_id).item_id,
        annotator.reports.filter(kind=ItemReport.Kind.ASK, resolved_at=None),
    )
    if still_open.filter(item=item, reason=question).exists():
        return
    if still_open.count() >= MOST_OPEN:
        said = gettext("You have %(count)d open questions. Please wait for the researchers before you ask more.")
        raise Refused(said % {"count": MOST_OPEN})
    ItemReport.objects.create(item_id=item, annotator=annotator, kind=ItemReport.Kind.ASK, reason=question)


def _checked(reason: str) -> str:
    reason = reason.strip()
    if not reason:
        raise Refused(gettext("Please say why in a few words."))
    if len(reason) > REASON_LENGTH:
        raise Refused(gettext("The reason is longer than %(count)s characters.") % {"count": REASON_LENGTH})
    return reason


def _own(annotator: Annotator, assignment_id: int) -> Assignment:
    assignment = annotator.assignments.filter(pk=assignment_id).first()
    if assignment is None or annotator.withdrawn_at:
        raise Refused(gettext("This item is not assigned to you. Please reload the page."))
    return assignment
