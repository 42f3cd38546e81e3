"""What researchers reply to what an annotator said of an item."""

from datetime import datetime

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.models import Annotator, ItemReport, User
from core.errors import Refused

REPLY_LENGTH: int = ItemReport._meta.get_field("reply").max_length or 0


@transaction.atomic
def reply(report: ItemReport, user: User | None, words: str, seen: datetime | None = None) -> None:
    """No other annotator sees it; the report is resolved by it. seen: when the reply was sent that its writer saw there, None
    where they saw none; a reply that they did not see stays. Raises Refused then, without words, where they are too long, and
    where nobody would read them."""
    words = words.replace("\r\n", "\n").strip()  # a form sends two characters for a line's end, and counts one
    if not report.annotator.reads_replies:
        raise Refused("This annotator has no account here any more, or has withdrawn, and would not read it.")
    if not words:
        raise Refused("Write a reply first.")
    if len(words) > REPLY_LENGTH:
        raise Refused(f"The reply is longer than {REPLY_LENGTH:,} characters.")
    now, row = timezone.now(), ItemReport.objects.filter(pk=report.pk)
    is_sent = row.filter(replied_at=seen).update(reply=words, replied_at=now, replied_by=user)
    if is_sent:
        row.filter(resolved_at=None).update(resolved_at=now, resolved_by=user)
        Annotator.objects.filter(pk=report.annotator_id).update(unread_replies=F("unread_replies") + 1)
    report.refresh_from_db()
    if not is_sent and (report.reply, report.replied_by) != (words, user):  # else it was sent twice
        by = f" by {report.replied_by.username}" if report.replied_by else ""
        raise Refused(f"There is a reply{by} that you had not seen, and it stays. Read it first.")


def latest_first(annotator: Annotator) -> QuerySet[ItemReport]:
    """What the annotator said of items; a reply is as late as it was sent, so that a new one is on the first page."""
    return annotator.reports.order_by(Coalesce("replied_at", "created_at").desc(), "-pk")


def mark_read(annotator: Annotator) -> None:
    """The annotator has seen the replies that there are."""
    if annotator.unread_replies:
        Annotator.objects.filter(pk=annotator.pk, unread_replies=annotator.unread_replies).update(unread_replies=0)
