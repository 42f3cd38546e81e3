"""What is written to people by e-mail, where the operator has set it up (core.mail)."""

from django.conf import settings

from annotation.models import Invitation, Job
from core import mail

INVITATION = """You are invited to judge texts in “{title}”: read each one and say how good it is, or which of two is better.

Open this link to begin; an account is not needed:
{link}

You may stop at any time. If this is not for you, forget this letter: nothing happens before the link's button is pressed.
"""


def invitation(made: Invitation, to: str, link: str) -> bool:
    """Was the link sent?"""
    title = made.campaign.title
    return mail.send(to, f"Invitation to judge texts: {title}", INVITATION.format(title=title, link=link))


def finished(job: Job, path: str) -> bool:
    """Tell who asked for a job that it is done or has failed. path: where its result is seen."""
    if job.created_by is None or job.status not in (Job.Status.DONE, Job.Status.FAILED):
        return False
    what = "is done" if job.status == Job.Status.DONE else "has failed"
    lines = [f"{job.title} {what}.", job.error, f"{settings.SITE_URL}{path}" if settings.SITE_URL and path else ""]
    return mail.send(job.created_by.email, f"{job.title} {what}", "\n\n".join(filter(None, lines)) + "\n")
