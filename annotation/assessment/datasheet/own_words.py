"""What researchers write to the datasheet's questions: stored with who and when, logged without the words."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.assessment.datasheet.questions import BY_NUMBER, MOST_CHARACTERS, HedsQuestion
from annotation.assessment.datasheet.sheet import SheetAnswer, datasheet, left_over
from annotation.models import AuditEvent, Campaign, Criterion, DatasheetAnswer, User
from annotation.snapshots import latest_snapshot
from core.errors import Refused, quoted


@dataclass(frozen=True)
class Written:
    """Without options and words: taken back. criterion: None for pairs on the whole, and where none is asked about."""

    number: str
    criterion: Criterion | None = None
    chosen: tuple[int, ...] = ()
    text: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.chosen and not self.text


@transaction.atomic
def write(campaign: Campaign, user: User | None, written: Sequence[Written], discarded: Sequence[int] = ()) -> list[str]:
    """Store what differs from what is stored; returns the numbers of these questions, with the criterion's name. discarded:
    rows that are left over, by their ids. Raises Refused, with nothing stored, for what a question does not take."""
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    sheet = {
        (one.question.number, one.criterion and one.criterion.pk): one for one in datasheet(campaign, latest_snapshot(campaign))
    }
    changed = [name for one in written if (name := _write(campaign, user, one, sheet))]
    for row in left_over(campaign).filter(pk__in=discarded):
        changed.append(f"{row} discarded")
        row.delete()
    if changed:
        AuditEvent.objects.create(campaign=campaign, user=user, action="datasheet changed", detail={"changed": changed})
    return changed


def _write(campaign: Campaign, user: User | None, written: Written, sheet: dict) -> str:
    """The name of what changed, empty where nothing did."""
    question, name = BY_NUMBER.get(written.number), written.number
    if question is None:
        raise Refused(f"The datasheet has no question {quoted(written.number)}.")
    present: SheetAnswer | None = sheet.get((question.number, written.criterion and written.criterion.pk))
    if present is None:
        raise Refused(f"{question.number} is not asked {'on this criterion' if written.criterion else 'without a criterion'}.")
    if not present.is_asked and present.own is None:
        if written.is_empty:
            return ""
        raise Refused(f"{question.number}: the campaign answers this itself.")
    check(question, written.chosen, written.text)
    chosen, about = sorted(set(written.chosen)), written.criterion.name if written.criterion else ""
    key = {"campaign": campaign, "number": question.number, "criterion": written.criterion}
    row = DatasheetAnswer.objects.filter(**key, **({} if written.criterion else {"about": ""})).first()
    if written.is_empty:
        if row is None:
            return ""
        row.delete()
    elif row and (row.chosen, row.text, row.about) == (chosen, written.text, about):
        return ""
    else:
        row = row or DatasheetAnswer(**key)
        row.chosen, row.text, row.about, row.written_by = chosen, written.text, about, user
        row.save()
    return f"{name} {about}".strip()


def check(question: HedsQuestion, chosen: Sequence[int], text: str) -> None:
    """Raises Refused."""
    if len(text) > MOST_CHARACTERS:
        raise Refused(f"{question.number}: {len(text):,} characters; an answer has at most {MOST_CHARACTERS:,}.")
    if text and question.options and not question.explained:
        raise Refused(f"{question.number}: choose an option; it takes no words.")
    if any(
        isinstance(place, bool) or not isinstance(place, int) or not 1 <= place <= len(question.options) for place in chosen
    ):
        raise Refused(f"{question.number}: an option is named by its place, from 1 to {len(question.options)}.")
    if len(set(chosen)) > 1 and not question.several:
        raise Refused(f"{question.number}: choose one option.")
