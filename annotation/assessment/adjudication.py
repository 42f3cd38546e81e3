"""A researcher settles what people disagree about."""

from django.db import transaction

from annotation.models import Adjudication, AuditEvent, Campaign, Output, User
from annotation.questions import store
from core.errors import Refused

LET_STAND = ""


@transaction.atomic
def adjudicate(
    campaign: Campaign,
    user: User | None,
    criterion_id: int | None,
    output_id: int,
    other_id: int | None,
    believed: str,
    reason: str,
) -> Adjudication:
    """Say which of the answers given to an output on a criterion, or to a pair, to believe; LET_STAND: all of them.

    Snapshots to come keep exactly the answers that are believed. The answers themselves stay as they are.
    """
    if not reason.strip():
        raise Refused("Give a reason. It is stored with your decision.")
    if other_id is None:
        answers = store.about_outputs(campaign).counted().filter(criterion=criterion_id, output=output_id)
        values = {f"{value:g}": value for value in answers.values_list("value", flat=True)}
    else:
        answers = store.about_pairs(campaign).counted().filter(criterion=criterion_id)
        answers = answers.filter(output_a=output_id, output_b=other_id)
        values = {choice: choice for choice in answers.values_list("choice", flat=True)}
    if not values:
        raise Refused("Nobody has answered this item, so there is nothing to decide.")
    if believed != LET_STAND and believed not in values:
        raise Refused(f"Choose one of the answers that were given: {', '.join(sorted(values))}.")
    value = values.get(believed)
    decided = {
        "campaign": campaign,
        "value": value if other_id is None else None,
        "choice": value or "" if other_id is not None else "",
        "reason": reason.strip()[:500],
        "decided_by": user,
    }
    adjudication, _ = Adjudication.objects.update_or_create(  # type: ignore[misc]  # no criterion: the whole
        criterion_id=criterion_id, output_id=output_id, other_id=other_id, defaults=decided
    )
    output = Output.objects.select_related("system", "context").get(pk=output_id)
    detail = {"criterion": str(adjudication.criterion or "pair"), "output": str(output), "believed": believed, "reason": reason}
    AuditEvent.objects.create(campaign=campaign, user=user, action="disagreement settled", detail=detail)
    return adjudication
