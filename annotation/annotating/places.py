"""An item's places: taken when it is handed out, kept by an answer, given back by everything else.

Every change of an assignment's status stands here. `Item.taken` counts the people who hold an item or have answered it,
imported answers too; a place is only ever taken by a filtered update that finds one free. Only evaluation items have
places: everybody gets the training and qualification items, and any number of people the gold ones.
The callers hold the lock on the annotator's row (`select_for_update`) and a transaction.
"""

from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from annotation.annotating.history import forget_tally
from annotation.campaigns.items import close_again
from annotation.models import Annotator, Assignment, Campaign, Item, Purpose, Submission
from annotation.statements import changes, rows_of

HOLD = timedelta(hours=1)
Status = Assignment.Status
# Part of every turn: SQL, as assignment.FREE is.
CLOSE = "UPDATE annotation_assignment SET status = 'done', completed_at = %s WHERE id = %s AND status = 'open'"
STALE = """SELECT 1 FROM annotation_assignment JOIN annotation_item ON annotation_item.id = annotation_assignment.item_id
    WHERE annotation_assignment.status = 'open' AND annotation_assignment.assigned_at < %s AND annotation_item.campaign_id = %s
    LIMIT 1"""
TAKE = "UPDATE annotation_item SET taken = taken + 1, taken_swapped = taken_swapped + %s WHERE id = %s AND taken < places"


def take(item: Item, swapped: bool) -> bool:
    """Take one of the item's places, if one is free."""
    return changes(TAKE, [int(swapped), item.pk]) == 1


def leave(assignment: Assignment) -> None:
    if assignment.purpose == Purpose.EVALUATION:
        Item.objects.filter(pk=assignment.item_id).update(
            taken=F("taken") - 1, taken_swapped=F("taken_swapped") - int(assignment.swapped)
        )
        close_again(assignment.item_id)


def close(assignment: Assignment) -> bool:
    """Close the assignment for an answer, and say when, where it was in hand. False where the answer is surplus: the item was
    answered before, or its place went to another after it lapsed or was skipped."""
    now = timezone.now()
    if changes(CLOSE, [connection.ops.adapt_datetimefield_value(now), assignment.pk]) == 1:
        assignment.completed_at = now
        return True
    assignments = Assignment.objects.filter(pk=assignment.pk)
    if not assignments.filter(status__in=[Status.EXPIRED, Status.SKIPPED]).update(status=Status.DONE, completed_at=now):
        return False
    forget_tally(assignment.annotator_id)
    return assignment.purpose != Purpose.EVALUATION or take(assignment.item, assignment.swapped)


def give_back(assignment: Assignment) -> None:
    """Take an unanswered item out of the person's hands; it may come to them again. Does nothing where it is not open.
    Its row stays, so that an answer from an old page is still kept."""
    if Assignment.objects.filter(pk=assignment.pk, status=Status.OPEN).update(status=Status.EXPIRED):
        leave(assignment)


def skip(assignment: Assignment) -> bool:
    """Give an item back for good: another gets it, this person does not get it again. False where it was not open."""
    skipped = {"status": Status.SKIPPED, "completed_at": timezone.now()}
    if not Assignment.objects.filter(pk=assignment.pk, status=Status.OPEN).update(**skipped):
        return False
    leave(assignment)
    return True


def reopen(assignment: Assignment) -> None:
    """Put an answered item into the person's hands again (its answer is taken back by the caller), instead of the one
    that is there now. It keeps its place."""
    for other in Assignment.objects.filter(annotator=assignment.annotator_id, status=Status.OPEN).exclude(pk=assignment.pk):
        give_back(other)
    assignment.status, assignment.assigned_at, assignment.completed_at = Status.OPEN, timezone.now(), None
    assignment.save(update_fields=["status", "assigned_at", "completed_at"])
    forget_tally(assignment.annotator_id)


def free_all_of(annotator: Annotator) -> int:
    """Free every place this person holds or has answered; returns how many. The rows stay as they are, but for what is in
    hand: that expires. Call it once, when `withdrawn_at` is set."""
    counted = Submission.objects.filter(assignment=OuterRef("pk"), is_surplus=False, retracted_at=None)
    placed = annotator.assignments.filter(purpose=Purpose.EVALUATION)
    leaving = placed.filter(Q(status=Status.OPEN) | Q(Exists(counted), status=Status.DONE))
    left = 0
    for swapped in (False, True):
        items = list(leaving.filter(swapped=swapped).values_list("item", flat=True))
        Item.objects.filter(pk__in=items).update(taken=F("taken") - 1, taken_swapped=F("taken_swapped") - int(swapped))
        close_again(*items)
        left += len(items)
    annotator.assignments.filter(status=Status.OPEN).update(status=Status.EXPIRED)
    return left


def sweep(campaign: Campaign) -> bool:
    """Give back what nobody answered within HOLD; was there anything? In a transaction of its own: nobody who holds one
    lock here waits for another."""
    before = timezone.now() - HOLD
    if not rows_of(STALE, [connection.ops.adapt_datetimefield_value(before), campaign.pk]):
        return False
    stale = Assignment.objects.filter(item__campaign=campaign, status=Status.OPEN, assigned_at__lt=before).order_by("pk")
    with transaction.atomic():
        for assignment in stale.select_for_update(of=("self",), skip_locked=True):
            if Assignment.objects.filter(pk=assignment.pk, status=Status.OPEN).update(status=Status.EXPIRED):
                leave(assignment)
    return True
