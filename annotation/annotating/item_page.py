"""What an annotator's page shows of one item, and what its form sends back. Nothing here names a system."""

import time
import uuid
from dataclasses import dataclass

from django.core import signing
from django.utils.translation import gettext_lazy

from annotation.models import Assignment, Campaign, Criterion, Item, PairwiseJudgment

SHOWN = "annotation.shown"  # salt of the signed time at which a page was shown
ONE_LINE, BUTTONS = 11, 21  # points that fit beside each other on a phone; that are buttons and not a number field
REASON_LENGTH = PairwiseJudgment._meta.get_field("reason").max_length
# In reading order: "left" is the first, which a page from right to left shows on the right.
SIDE_LABELS = (("left", gettext_lazy("A is better")), ("tie", gettext_lazy("Tie")), ("right", gettext_lazy("B is better")))


@dataclass(frozen=True)
class Scale:
    """One criterion as its fieldset shows it. value: what was answered; points: (point, what it means, is it chosen)."""

    criterion: Criterion
    value: int | None
    is_missing: bool

    @property
    def shape(self) -> str:
        """anchored: a text beside each point; line, many: buttons in one line or several; number: a field to type in."""
        count = len(self.criterion.points)
        if count > BUTTONS:
            return "number"
        if any(self.criterion.anchors.values()):
            return "anchored"
        return "many" if count > ONE_LINE else "line"

    @property
    def field(self) -> str:
        return f"score_{self.criterion.pk}"

    @property
    def points(self) -> list[tuple[str, str, bool]]:
        criterion = self.criterion
        ends = {criterion.low: criterion.low_label, criterion.high: criterion.high_label}
        return [(str(p), criterion.anchors.get(str(p)) or ends.get(p, ""), p == self.value) for p in criterion.points]


@dataclass(frozen=True)
class Choice:
    """A / tie / B about the whole (no criterion) or on one criterion."""

    criterion: Criterion | None
    value: str | None
    is_missing: bool

    @property
    def sides(self) -> list[tuple[str, str, bool]]:
        return [(side, str(words), side == self.value) for side, words in SIDE_LABELS]


def item_context(campaign: Campaign, item: Item, swapped=False, answer=None, refused=None) -> dict:
    """What the item's templates need. answer: as answer_of gives it, to be shown filled in; refused: why it was not
    stored, so that what is missing is marked."""
    answer = answer or {}
    left, right = (item.other, item.output) if swapped else (item.output, item.other)
    return {
        "campaign": campaign,
        "item": item,
        "context": item.output.context,
        "output": item.output,
        "left": left,
        "right": right,
        "questions": _choices(campaign, answer, refused) if item.is_pair else _scales(campaign, answer, refused),
        "reason": answer.get("reason", ""),
        "reason_length": REASON_LENGTH,
        "refused": refused,
    }


def _scales(campaign, answer, refused) -> list[Scale]:
    scores = answer.get("scores", {})
    return [
        Scale(criterion, value := scores.get(criterion.pk), bool(refused) and value not in criterion.points)
        for criterion in campaign.asked
    ]


def _choices(campaign, answer, refused) -> list[Choice]:
    if not campaign.pairwise_by_criterion:
        return [Choice(None, value := answer.get("choice"), bool(refused) and value is None)]
    sides = answer.get("choices", {})
    return [
        Choice(criterion, value := sides.get(criterion.pk), bool(refused) and value is None) for criterion in campaign.asked
    ]


def answer_of(posted) -> dict:
    """{"scores": {criterion id: score}}, {"choices": {criterion id: side}} or {"choice": side} of what was filled in,
    with the reason if one was given; the service says what is missing."""
    scores = _by_criterion(posted, "score_", number)
    choices = _by_criterion(posted, "choice_", str)
    answer = {"scores": scores} if scores else {"choices": choices} if choices else {}
    if "choice" in posted:
        answer = {"choice": posted["choice"]}
    if posted.get("reason", "").strip():
        answer["reason"] = posted["reason"].strip()
    return answer


def _by_criterion(posted, prefix: str, read) -> dict:
    named = {number(name.removeprefix(prefix)): read(value) for name, value in posted.items() if name.startswith(prefix)}
    return {pk: value for pk, value in named.items() if pk is not None and value is not None}


def answer_again(payload: dict) -> dict:
    """A stored submission's payload, to be shown in the form once more."""
    return {k: {int(pk): v for pk, v in a.items()} if isinstance(a, dict) else a for k, a in payload.items()}


def hidden_fields(assignment: Assignment, posted=None) -> dict:
    """The key that makes an answer count once, and when its item was shown; both stay where a form comes back."""
    return {
        "assignment": assignment,
        "key": (posted and key_of(posted)) or uuid.uuid4(),
        "shown": (posted and posted.get("shown")) or signing.dumps([assignment.pk, time.time()], salt=SHOWN),
    }


def times_of(posted, assignment_id: int | None) -> dict:
    """seconds from showing the page to now, None where the signed time is missing or of another item; active_seconds as
    the page measured them, never more than that."""
    try:
        shown_assignment, shown_at = signing.loads(posted.get("shown", ""), salt=SHOWN)
    except signing.BadSignature:
        return {"seconds": None, "active_seconds": None}
    if shown_assignment != assignment_id:
        return {"seconds": None, "active_seconds": None}
    seconds = max(0.0, time.time() - shown_at)
    active = number(posted.get("active"))
    return {"seconds": seconds, "active_seconds": None if active is None else min(max(0, active) / 1000, seconds)}


def key_of(posted) -> uuid.UUID | None:
    try:
        return uuid.UUID(posted.get("key", ""))
    except ValueError:
        return None


def number(text: str | None) -> int | None:
    """A whole number that a database may be asked for; None where the text is none."""
    try:
        asked = int(text or "")
    except ValueError:
        return None
    return asked if abs(asked) < 2**63 else None
