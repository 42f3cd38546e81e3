"""Everything that changes a campaign, one function per thing a person does, each in one transaction."""

import uuid
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.text import slugify

from annotation.errors import ImportRefused, Refused
from annotation.models import (
    Annotator,
    Assignment,
    AuditEvent,
    Campaign,
    Criterion,
    Invitation,
    Item,
    LikertScore,
    Membership,
    PairwiseJudgment,
    QualityDecision,
    Submission,
    User,
)
from annotation.outcome import Outcome

__all__ = ["CriterionSpec", "ImportRefused", "Refused", "add_researcher", "create_campaign", "invite", "join",
           "join_as_guest", "overrule", "set_guidelines", "set_status", "submit", "undo_last"]  # fmt: skip


@dataclass(frozen=True)
class CriterionSpec:
    name: str
    low: int = 1
    high: int = 5
    low_label: str = ""
    high_label: str = ""
    description: str = ""


@transaction.atomic
def create_campaign(
    *, slug, title="", criteria=(), likert=True, pairwise=False, overlap=3, guidelines="", seed=0, user=None
) -> Campaign:
    """A new campaign with its criteria. The user who made it becomes its researcher."""
    if not slug or slug != slugify(slug) or len(slug) > 80:
        raise Refused(f"{slug!r} is no address for a campaign: use small letters, digits and hyphens, at most 80.")
    if Campaign.objects.filter(slug=slug).exists():
        raise Refused(f"There is already a campaign {slug!r}.")
    if not likert and not pairwise:
        raise Refused("A campaign asks for scores, for judgments of pairs, or for both; neither was chosen.")
    if not 1 <= overlap <= 1000:
        raise Refused("The overlap is how many people judge each item: from 1 to 1000.")
    names = [spec.name for spec in criteria]
    if len(set(names)) < len(names):
        raise Refused("Two criteria have the same name.")
    for spec in criteria:
        if not spec.name.strip() or len(spec.name) > 100:
            raise Refused("A criterion needs a name of at most 100 characters.")
        if not -1000 <= spec.low < spec.high <= 1000:
            raise Refused(f"The scale of {spec.name!r} must run from a lower to a higher whole number.")
    campaign = Campaign.objects.create(
        slug=slug, title=title or slug, likert=likert, pairwise=pairwise, overlap=overlap,
        guidelines=guidelines, seed=seed, created_by=user,
    )  # fmt: skip
    for position, spec in enumerate(criteria):
        Criterion.objects.create(
            campaign=campaign, position=position, name=spec.name, low=spec.low, high=spec.high,
            low_label=spec.low_label, high_label=spec.high_label, description=spec.description,
        )  # fmt: skip
    if user is not None:
        Membership.objects.create(campaign=campaign, user=user)
    AuditEvent.objects.create(campaign=campaign, user=user, action="campaign created")
    return campaign


def set_status(campaign: Campaign, status: str, user=None) -> None:
    if status not in Campaign.Status.values:
        raise Refused(f"A campaign can be open, paused or closed, not {status!r}.")
    with transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(status=status)
        campaign.status = status
        AuditEvent.objects.create(campaign=campaign, user=user, action=f"campaign {status}")


def set_guidelines(campaign: Campaign, guidelines: str, user=None) -> None:
    with transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(guidelines=guidelines)
        campaign.guidelines = guidelines
        AuditEvent.objects.create(campaign=campaign, user=user, action="guidelines changed")


@transaction.atomic
def add_researcher(campaign: Campaign, username: str, user=None) -> Membership:
    """Let an existing account see the campaign's results and work with them."""
    added = User.objects.filter(username=username, is_active=True).first()
    if added is None or not added.has_usable_password():
        raise Refused(f"There is no account {username!r}; an admin can make one.")
    membership, new = Membership.objects.get_or_create(campaign=campaign, user=added)
    if new:
        AuditEvent.objects.create(
            campaign=campaign, user=user, action="researcher added", detail={"username": added.username}
        )
    return membership


def invite(campaign: Campaign, user=None, cap: int | None = None) -> Invitation:
    return Invitation.objects.create(campaign=campaign, created_by=user, cap=cap)


@transaction.atomic
def join(token: str, user: User) -> Annotator:
    """Admit a signed-in user by an invitation; whoever is in already stays in and uses up no place."""
    invitation = Invitation.objects.select_related("campaign").filter(token=token).first()
    if invitation is None:
        raise Refused("This invitation does not exist. Ask for a new link.")
    campaign = invitation.campaign
    if known := campaign.annotators.filter(user=user).first():
        return known
    if campaign.status == Campaign.Status.CLOSED:
        raise Refused("This campaign is closed; it takes no more annotators.")
    places = Invitation.objects.filter(pk=invitation.pk)
    if invitation.cap is not None:
        places = places.filter(uses__lt=invitation.cap)
    if not places.update(uses=F("uses") + 1):
        raise Refused("This invitation has been used up. Ask for a new link.")
    return add_annotator(campaign, user)


@transaction.atomic
def join_as_guest(token: str, name: str = "") -> tuple[User, Annotator]:
    """Admit somebody without an account: one is made that only this browser's session can use."""
    user = User(username=f"guest-{uuid.uuid4().hex[:12]}", first_name=name.strip()[:150])
    user.set_unusable_password()
    user.save()
    return user, join(token, user)


def add_annotator(campaign: Campaign, user: User) -> Annotator:
    """The user's annotator in the campaign, under the next free pseudonym."""
    known = campaign.annotators.filter(user=user).first()
    if known:
        return known
    number = campaign.annotators.filter(user__isnull=False).count() + 1
    while True:
        try:
            with transaction.atomic():
                return Annotator.objects.create(campaign=campaign, user=user, name=f"annotator-{number}")
        except IntegrityError:
            if known := campaign.annotators.filter(user=user).first():
                return known
            number += 1


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
        item = Item.objects.filter(pk=assignment.item_id, taken__lt=assignment.item.campaign.overlap)
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


@transaction.atomic
def overrule(decision: QualityDecision, user: User | None, reason: str) -> None:
    """Accept a criterion below the line, with a reason that is kept."""
    if not reason.strip():
        raise Refused("Say why: the reason is kept beside the decision.")
    decision.overruled_by, decision.overruled_at, decision.overrule_reason = user, timezone.now(), reason.strip()
    decision.save(update_fields=["overruled_by", "overruled_at", "overrule_reason"])
    AuditEvent.objects.create(
        campaign=decision.snapshot.campaign, user=user, action="quality decision overruled",
        detail={"snapshot": decision.snapshot.name, "criterion": str(decision.criterion or "pairwise"), "reason": reason},
    )  # fmt: skip


