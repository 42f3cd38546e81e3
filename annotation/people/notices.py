"""What is written to people by e-mail, where the operator has set it up (core.mail)."""

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.urls import reverse

from annotation import jobs
from annotation.models import Annotator, Assignment, AuditEvent, Campaign, Invitation, Job, Purpose, User
from core import mail
from core.throttling import FAILED_FOR_ACCOUNT_ANYWHERE, MAILED_BY_CAMPAIGN

FINISHED, COMPLETE = "annotator finished", "all items answered"  # in the audit
TASK = "annotation.tasks.tell_finished"

INVITATION = """You are invited to judge texts in “{title}”: read each one and say how good it is, or which of two is better.

Open this link to begin; an account is not needed:
{link}

You may stop at any time. If this is not for you, forget this letter: nothing happens before the link's button is pressed.
"""


def invitation(made: Invitation, to: str, link: str) -> bool:
    """Was the link sent?"""
    title = made.campaign.title
    return mail.send(to, f"Invitation to judge texts: {title}", INVITATION.format(title=title, link=link))


def finished(job: Job, path: str, said: Iterable[str] = ()) -> bool:
    """Tell who asked for a job that it is done or has failed. path: where its result is seen; said: what must be said with
    it."""
    if job.created_by is None or job.status not in (Job.Status.DONE, Job.Status.FAILED):
        return False
    what = "is done" if job.status == Job.Status.DONE else "has failed"
    lines = [f"{job.title} {what}.", job.error, *said, f"{settings.SITE_URL}{path}" if settings.SITE_URL and path else ""]
    return mail.send(job.created_by.email, f"{job.title} {what}", "\n\n".join(filter(None, lines)) + "\n")


def note_finished(annotator: Annotator) -> None:
    """Queue a letter to the campaign's researchers that this annotator has finished. A second call does nothing."""
    if not mail.is_on():
        return
    with transaction.atomic():
        Annotator.objects.select_for_update().get(pk=annotator.pk)  # two requests write one letter
        told = annotator.campaign.audit_events.filter(action=FINISHED, detail__annotator=annotator.pk)
        if told.exists():
            return
        AuditEvent.objects.create(campaign=annotator.campaign, action=FINISHED, detail={"annotator": annotator.pk})
        jobs.enqueue(TASK, f"Tell researchers that {annotator.name} has finished", annotator.campaign)


def tell_finished(job: Job, closed: int) -> int:
    """Write to the researchers of the job's campaign who has finished; the last letter says that all items have their answers.
    Beyond `MAILED_BY_CAMPAIGN` only that one is written. closed: how many items are about what plays no more. Returns the
    number of letters sent."""
    campaign = job.campaign
    assert campaign  # TASK is of one
    finished = campaign.audit_events.filter(action=FINISHED, created_at__lte=job.created_at)
    last, complete, detail = finished.first(), _is_complete(campaign), {"items": campaign.items.count()}
    if last is None or campaign.audit_events.filter(action=COMPLETE, detail__items=detail["items"]).exists():
        return 0
    if complete:
        AuditEvent.objects.create(campaign=campaign, action=COMPLETE, detail=detail)
    elif MAILED_BY_CAMPAIGN.is_reached(campaign.slug):
        return 0
    MAILED_BY_CAMPAIGN.count_one(campaign.slug)
    name, title = Annotator.objects.get(pk=last.detail["annotator"]).name, campaign.title
    subject = f"{title}: all items have their answers" if complete else f"{title}: {name} has finished"
    who = [event.detail["annotator"] for event in finished]
    count = campaign.annotators.filter(pk__in=who, withdrawn_at=None).count()
    lines = [
        f"{name} has finished the work on “{title}”. So far, {count} annotator{' has' if count == 1 else 's have'} finished.",
        _all_answered(closed) if complete else "",
        f"{settings.SITE_URL}{reverse('quality' if complete else 'live', args=[campaign.slug])}" if settings.SITE_URL else "",
    ]
    text = "\n\n".join(filter(None, lines)) + "\n"
    researchers = User.objects.filter(memberships__campaign=campaign, is_active=True).exclude(email="").distinct()
    return sum(mail.send(user.email, subject, text) for user in researchers)


def _all_answered(closed: int) -> str:
    these, were, have, are = (
        ("1 item was", "it", "has", "is") if closed == 1 else (f"{closed:,} items were", "they", "have", "are")
    )
    early = f" {these} closed with the answers that {were} {have}, since what {were} {are} about takes part no more."
    which = "All items that are still asked" if closed else "All items"
    return f"{which} have as many answers as planned.{early if closed else ''} You can now assess the quality of the answers."


def _is_complete(campaign: Campaign) -> bool:
    items = campaign.items.filter(purpose=Purpose.EVALUATION)
    held = Assignment.objects.filter(item__in=items, status=Assignment.Status.OPEN)
    return items.exists() and not items.filter(taken__lt=F("places")).exists() and not held.exists()


def tell_of_guesses(username: str) -> None:
    """A letter to the owner of an account whose password somebody guesses, at most one in the hour that the limit lasts."""
    user = User.objects.filter(username__iexact=username, is_active=True).first()
    if user is not None:
        mail.send(
            user.email,
            "Somebody tries passwords for your account",
            f"There were over {FAILED_FOR_ACCOUNT_ANYWHERE.count} wrong passwords for the account {user.username} within "
            "an hour. New browsers can't sign in to it for up to an hour. A browser in which you signed in before can, and so "
            "can one in which you choose a new password by e-mail.",
        )
