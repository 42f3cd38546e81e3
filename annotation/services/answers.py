"""What annotators send: stored once, kept for ever, taken back without being lost."""

import uuid

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.errors import Refused
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Item,
    LikertScore,
    PairwiseJudgment,
    Submission,
)
from annotation.outcome import Outcome


@transaction.atomic
def submit(annotator: Annotator, assignment_id: int, key: uuid.UUID, answer: dict, seconds=None) -> Submission:
    """Store one answer: {"scores": {criterion_id: value}} or {"choice": "left" | "tie" | "right"}.

    The key was made with the page: the same key again returns the first submission and stores nothing. An answer to
    an item that this person already answered, or whose place went to another meanwhile, is kept as surplus.
    Raises Refused where the answer is incomplete or off the scale, or the assignment is not this person's.
    """
    Annotator.objects.select_for_update().get(pk=annotator.pk)
    if known := Submission.objects.filter(pk=key).first():
        if known.annotator_id != annotator.pk:
            raise Refused("This answer's key belongs to somebody else's answer; load the page again.")
        return known
    assignment = annotator.assignments.select_related("item__campaign").filter(pk=assignment_id).first()
    if assignment is None:
        raise Refused("This item is not in your hands; load the page again.")
    item = assignment.item
    rows = _judgment_rows(annotator, assignment, answer) if item.is_pair else _score_rows(annotator, item, answer)
    surplus = not _take(assignment)
    submission = Submission.objects.create(
        key=key, annotator=annotator, assignment=assignment, seconds=seconds, is_surplus=surplus,
        payload={k: {str(c): v for c, v in a.items()} if isinstance(a, dict) else a for k, a in answer.items()},
    )  # fmt: skip
    if not surplus:
        for row in rows:
            row.submission = submission
        type(rows[0]).objects.bulk_create(rows)
    return submission


def _take(assignment: Assignment) -> bool:
    """Close the assignment for this answer. False where it was answered before or its place is gone."""
    mine, now = Assignment.objects.filter(pk=assignment.pk), timezone.now()
    done = {"status": Assignment.Status.DONE, "completed_at": now}
    if mine.filter(status=Assignment.Status.OPEN).update(**done):
        return True
    if mine.filter(status=Assignment.Status.EXPIRED).exists():
        item = Item.objects.filter(pk=assignment.item_id, taken__lt=F("places"))
        if item.update(taken=F("taken") + 1):
            return bool(mine.update(**done))
        mine.update(**done)  # late, after its place went to another: kept as surplus, and not asked for again
    return False


def _score_rows(annotator: Annotator, item: Item, answer: dict) -> list[LikertScore]:
    given = answer.get("scores") or {}
    rows, missing = [], []
    for criterion in item.campaign.criteria.all():
        value = given.get(criterion.pk, given.get(str(criterion.pk)))
        if value is None or value == "":
            missing.append(criterion.name)
            continue
        try:
            value = int(value)
        except (TypeError, ValueError):
            raise Refused(f"{criterion.name}: choose one of the points of its scale.") from None
        if value not in criterion.points:
            raise Refused(f"{criterion.name}: choose a point from {criterion.low} to {criterion.high}.")
        rows.append(LikertScore(annotator=annotator, output_id=item.output_id, criterion=criterion, value=value))
    if missing:
        raise Refused(f"Still to score: {', '.join(missing)}.")
    if not rows:
        raise Refused("This campaign has no criteria yet.")
    return rows


def _judgment_rows(annotator: Annotator, assignment: Assignment, answer: dict) -> list[PairwiseJudgment]:
    sides = {"left": Outcome.A, "tie": Outcome.TIE, "right": Outcome.B}
    shown = sides.get(answer.get("choice"))
    if shown is None:
        raise Refused("Choose the better output, or say that they are equally good.")
    choice = shown.swap() if assignment.swapped else shown
    item = assignment.item
    return [
        PairwiseJudgment(
            annotator=annotator, output_a_id=item.output_id, output_b_id=item.other_id,
            choice=choice.value, shown_swapped=assignment.swapped,
        )
    ]  # fmt: skip


@transaction.atomic
def undo_last(annotator: Annotator, done: int | None = None) -> Assignment | None:
    """Take back the latest answer: its rows are retracted, not deleted, and its item is in the person's hands again.

    done: how many items the person had answered when the button was shown; where that is no longer so, the click came
    twice and takes back nothing more.
    """
    Annotator.objects.select_for_update().get(pk=annotator.pk)
    if annotator.campaign.status != Campaign.Status.OPEN:
        raise Refused("The campaign is not open now; answers can't be changed.")
    if done is not None and annotator.assignments.filter(status=Assignment.Status.DONE).count() != done:
        return None
    last = annotator.submissions.filter(retracted_at=None, is_surplus=False).order_by("-created_at").first()
    if last is None:
        return None
    now = timezone.now()
    for model in (LikertScore, PairwiseJudgment):
        model.objects.filter(submission=last).update(retracted_at=now)
    Submission.objects.filter(pk=last.pk).update(retracted_at=now)
    held = annotator.assignments.filter(status=Assignment.Status.OPEN).exclude(pk=last.assignment_id)
    for other in held:  # put back what was shown after it; it comes again
        Item.objects.filter(pk=other.item_id).update(taken=F("taken") - 1)
    held.filter(submissions__isnull=False).update(status=Assignment.Status.EXPIRED)  # its undone answer is kept
    held.filter(submissions__isnull=True).delete()
    assignment = last.assignment
    assignment.status, assignment.assigned_at, assignment.completed_at = Assignment.Status.OPEN, now, None
    assignment.save(update_fields=["status", "assigned_at", "completed_at"])
    return assignment
