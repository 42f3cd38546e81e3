"""Items whose answer is known, marked by researchers; and reports about items, seen to."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.campaigns.items import KnownAnswer, mirrored, recount, set_known_answers
from annotation.models import AuditEvent, Campaign, Item, ItemReport, LikertScore, PairwiseJudgment, Purpose, User
from annotation.outcome import Outcome
from core.errors import Refused, quoted, shortened

KNOWN = (Purpose.GOLD, Purpose.TRAINING, Purpose.QUALIFICATION)
EXPECTED_PARTS = {"scores", "choice", "choices", "feedback"}
LONGEST_FEEDBACK = 1000


def check_expected(expected, criteria: dict, is_pair: bool) -> dict:
    """The known answer of an item in the one shape that is stored; raises Refused with what is wrong.

    expected: {"scores": {criterion: value or [values]}} for an output; {"choice": "A" | "tie" | "B"} or
    {"choices": {criterion: ...}} for a pair; "feedback": text, if there is any. criteria: the campaign's, by name.
    """
    if not isinstance(expected, dict) or not set(expected) <= EXPECTED_PARTS:
        raise Refused("A known answer has scores or a choice, and optionally feedback.")
    known: dict[str, Any] = {}
    feedback = expected.get("feedback") or ""
    if not isinstance(feedback, str) or len(feedback) > LONGEST_FEEDBACK:
        raise Refused(f"The feedback must be a text of at most {LONGEST_FEEDBACK} characters.")
    if is_pair:
        if expected.get("choice"):
            known["choice"] = _choice(expected["choice"])
        by_criterion = _mapping(expected.get("choices"), "choices")
        if by_criterion:
            known["choices"] = {_known(name, criteria).name: _choice(choice) for name, choice in by_criterion.items()}
    elif scores := _mapping(expected.get("scores"), "scores"):
        known["scores"] = {name: _values(_known(name, criteria), value) for name, value in scores.items()}
    if not known:
        raise Refused("Give the right choice." if is_pair else "Give the right score on at least one criterion.")
    return known | ({"feedback": feedback} if feedback else {})


def _mapping(value, what: str) -> dict:
    if value is not None and not isinstance(value, dict):
        raise Refused(f"Give the {what} of a known answer by criterion: {{criterion: answer}}.")
    return value or {}


def _known(name: str, criteria: dict):
    if name not in criteria:
        raise Refused(f"{quoted(name)} is not a criterion of this campaign.")
    return criteria[name]


def _choice(value) -> str:
    for outcome in Outcome:
        if isinstance(value, str) and value.strip().lower() == outcome.value.lower():
            return outcome.value
    raise Refused(f"The right choice is A, tie or B, not {quoted(str(value))}.")


def _values(criterion, answer) -> list[int]:
    values = answer if isinstance(answer, list) else [answer]
    for value in values:
        if isinstance(value, bool) or value not in criterion.points:
            scale = f"{criterion.low} to {criterion.high}"
            raise Refused(f"{criterion.name}: {shortened(str(value))} is not a point of its scale ({scale}).")
    if not values:
        raise Refused(f"{criterion.name}: at least one right score was expected.")
    return sorted({int(value) for value in values})


@transaction.atomic
def store_known(campaign: Campaign, rows: list[tuple[str, KnownAnswer]]) -> int:
    """Make these outputs and pairs items with known answers; returns how many are new or changed.

    Raises Refused where one was already answered as part of the evaluation, or is in somebody's hands.
    """
    known = {(item.output_id, item.other_id): item for item in campaign.items.exclude(purpose=Purpose.EVALUATION)}
    new = [row for row in rows if not _is_there(known, *row)]
    if not new:
        return 0
    _refuse_answered(campaign, [answer for _, answer in new if (answer.output.pk, _pk(answer.other)) not in known])
    for purpose in KNOWN:
        set_known_answers(campaign, purpose, [answer for stage, answer in new if stage == purpose])
    return len(new)


def _is_there(known: dict, purpose: str, answer: KnownAnswer) -> bool:
    one, other = answer.output.pk, _pk(answer.other)
    for key, expected in (((one, other), answer.expected), ((other, one), mirrored(answer.expected))):
        if key in known and (known[key].purpose, known[key].expected) == (purpose, expected):
            return True
    return False


def _pk(output) -> int | None:
    return output and output.pk


def _refuse_answered(campaign: Campaign, answers: list[KnownAnswer]) -> None:
    scored = LikertScore.objects.filter(criterion__campaign=campaign).order_by()
    scored_outputs = set(scored.values_list("output", flat=True).distinct())
    judged = PairwiseJudgment.objects.filter(annotator__campaign=campaign).order_by()
    judged_pairs = {frozenset(pair) for pair in judged.values_list("output_a", "output_b").distinct()}
    items = campaign.items.filter(purpose=Purpose.EVALUATION, assignments__isnull=False).order_by()
    held = {frozenset(pair) for pair in items.values_list("output", "other").distinct()}
    for answer in answers:
        pair = frozenset((answer.output.pk, _pk(answer.other)))
        if pair in held or pair in judged_pairs or (answer.other is None and answer.output.pk in scored_outputs):
            where = f"{answer.output.context.key}, {answer.output.system.name}"
            raise Refused(f"{where}: somebody has answered this item or is answering it now, so it stays in the evaluation.")


@transaction.atomic
def mark_known(item: Item, purpose: str, expected: dict, user: User | None = None) -> None:
    """Turn an item that nobody has answered into a gold, training or qualification item."""
    campaign = item.campaign
    criteria = {criterion.name: criterion for criterion in campaign.criteria.all()}
    if purpose not in KNOWN:
        raise Refused("The purpose of an item with a known answer is gold, training or qualification.")
    expected = check_expected(expected, criteria, item.is_pair)
    store_known(campaign, [(purpose, KnownAnswer(item.output, expected, item.other))])
    detail = {"item": item.pk, "purpose": str(purpose), "expected": expected}
    AuditEvent.objects.create(campaign=campaign, user=user, action="known answer set", detail=detail)


@transaction.atomic
def unmark_known(item: Item, user: User | None = None) -> None:
    """Put an item back into the evaluation, where nobody has met it as a check yet."""
    item = Item.objects.select_for_update().get(pk=item.pk)
    if item.assignments.exists():
        raise Refused("Somebody has already seen this item as a check, so it stays one.")
    item.purpose, item.expected = Purpose.EVALUATION, None
    item.save(update_fields=["purpose", "expected"])
    recount(item.campaign)
    AuditEvent.objects.create(campaign=item.campaign, user=user, action="known answer removed", detail={"item": item.pk})


def resolve(report: ItemReport, user: User | None = None) -> None:
    """Somebody has seen to it."""
    ItemReport.objects.filter(pk=report.pk, resolved_at=None).update(resolved_at=timezone.now(), resolved_by=user)
