"""Items whose answer is known, marked by researchers; and reports about items, seen to."""

from itertools import combinations
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.campaigns.items import KnownAnswer, mirrored, recount, set_known_answers
from annotation.models import AuditEvent, Campaign, Item, ItemReport, Purpose, User
from annotation.questions import registry
from annotation.questions.store import answered_units
from core.errors import Refused, quoted

KNOWN = (Purpose.GOLD, Purpose.TRAINING, Purpose.QUALIFICATION)
LONGEST_FEEDBACK = 1000
NOT_OF_A_RANKING = "A ranking has no known answer. Import a pair with its known answer: it is asked among the rankings."


def check_expected(expected, criteria: dict, is_pair: bool) -> dict:
    """The known answer of an item in the one shape that is stored; raises Refused with what is wrong.

    expected: {"scores": {criterion: value or [values]}} for an output; {"choice": "A" | "tie" | "B"} or
    {"choices": {criterion: ...}} for a pair; "feedback": text, if there is any. criteria: the campaign's, by name;
    those of another kind than a scale have a part of their own, like "scores".
    """
    parts = {kind.part for kind in registry.kinds()}
    if not isinstance(expected, dict) or not set(expected) <= parts | {"choice", "feedback"}:
        raise Refused("A known answer has scores or a choice, and optionally feedback.")
    known: dict[str, Any] = {}
    feedback = expected.get("feedback") or ""
    if not isinstance(feedback, str) or len(feedback) > LONGEST_FEEDBACK:
        raise Refused(f"The feedback must be a text of at most {LONGEST_FEEDBACK} characters.")
    if is_pair and expected.get("choice"):
        known["choice"] = registry.PAIR.known(None, expected["choice"])
    for part in sorted({kind.part for kind in registry.kinds() if (kind.sides == 2) == is_pair}):
        if by_criterion := _mapping(expected.get(part), part):
            known[part] = {name: _accepted(part, name, answer, criteria) for name, answer in by_criterion.items()}
    if not known:
        raise Refused("Give the right choice." if is_pair else "Give the right score on at least one criterion.")
    return known | ({"feedback": feedback} if feedback else {})


def _mapping(value, what: str) -> dict:
    if value is not None and not isinstance(value, dict):
        raise Refused(f"Give the {what} of a known answer by criterion: {{criterion: answer}}.")
    return value or {}


def _accepted(part: str, name: str, answer, criteria: dict):
    """What counts as right on a criterion."""
    if name not in criteria:
        raise Refused(f"{quoted(name)} is not a criterion of this campaign.")
    criterion = criteria[name]
    kind = registry.PAIR if part == registry.PAIR.part else registry.kind_named(criterion.kind)
    if kind.part != part:
        raise Refused(f"{quoted(name)} is asked as {kind.title}: its known answer stands in {quoted(kind.part)}.")
    return kind.known(criterion, answer)


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
    answered = answered_units(campaign)
    items = campaign.items.filter(purpose=Purpose.EVALUATION, assignments__isnull=False).order_by()
    held = {
        frozenset(pair)
        for output, other, further in items.values_list("output", "other", "further").distinct()
        for pair in combinations((output, other, *further), 2)
    }
    for answer in answers:
        pair = frozenset((answer.output.pk, _pk(answer.other)))
        if pair in held or pair in answered:
            where = f"{answer.output.context.key}, {answer.output.system.name}"
            raise Refused(f"{where}: somebody has answered this item or is answering it now, so it stays in the evaluation.")


@transaction.atomic
def mark_known(item: Item, purpose: str, expected: dict, user: User | None = None) -> None:
    """Turn an item that nobody has answered into a gold, training or qualification item."""
    campaign = item.campaign
    criteria = {criterion.name: criterion for criterion in campaign.criteria.all()}
    if purpose not in KNOWN:
        raise Refused("The purpose of an item with a known answer is gold, training or qualification.")
    if item.size > 2:
        raise Refused(NOT_OF_A_RANKING)
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
