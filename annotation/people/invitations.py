"""Invitations, and joining by one: with an account, as a guest, or from a crowd platform."""

import uuid

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext

from annotation.models import Annotator, AuditEvent, Campaign, Invitation, User
from annotation.people.accounts import add_annotator, new_account
from core.errors import Refused
from core.sealed import digest

# What Prolific and MTurk append to a study's address, and which of it says who somebody is.
CROWD_FIELDS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "workerId", "assignmentId", "hitId", "turkSubmitTo")
CROWD_IDENTITIES = ("PROLIFIC_PID", "workerId")
MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"  # MTurk's assignmentId while a worker looks before accepting
TIMED_OUT = "timed_out"  # in an annotator's source: the platform says that the time of this submission was up


@transaction.atomic
def invite(campaign: Campaign, user=None, cap: int | None = None, label: str = "") -> Invitation:
    invitation = Invitation.objects.create(campaign=campaign, created_by=user, cap=cap, label=label.strip())
    AuditEvent.objects.create(
        campaign=campaign, user=user, action="invitation made", detail={"label": invitation.label, "cap": cap}
    )
    return invitation


@transaction.atomic
def revoke_invitation(invitation: Invitation, user=None) -> None:
    """From now on the link admits nobody new; who came in by it stays in."""
    if Invitation.objects.filter(pk=invitation.pk, revoked_at=None).update(revoked_at=timezone.now()):
        detail = {"label": invitation.label}
        AuditEvent.objects.create(campaign=invitation.campaign, user=user, action="invitation revoked", detail=detail)


def crowd_source(parameters) -> dict[str, str]:
    """What a crowd platform sent with the link, as sent (each at most 500 characters)."""
    return {name: parameters[name][:500] for name in CROWD_FIELDS if parameters.get(name)}


def is_worker(source: dict | None) -> bool:
    return any(name in (source or {}) for name in CROWD_IDENTITIES)


def known_by_source(campaign: Campaign, source: dict) -> Annotator | None:
    """The annotator that the same platform's same worker already is in this campaign."""
    for name in CROWD_IDENTITIES:
        if source.get(name):
            annotator = campaign.annotators.select_related("user").filter(**{f"source__{name}": source[name]}).first()
            if annotator:
                return annotator
    return None


def _locked(token: str) -> Invitation | None:
    locked = Invitation.objects.select_for_update(of=("self",)).select_related("campaign")
    return locked.filter(digest=digest(token)).first()


@transaction.atomic
def join(token: str, user: User, source: dict | None = None) -> Annotator:
    """Admit a signed-in user by an invitation; whoever is in already stays in and uses up no place."""
    invitation = _locked(token)
    if invitation is None or invitation.campaign.deleted_at:
        raise Refused(gettext("This invitation does not exist. Please ask for a new link."))
    campaign = invitation.campaign
    if known := campaign.annotators.filter(user=user).first():
        _come_back(known, source)
        return known
    if invitation.revoked_at:
        raise Refused(gettext("This invitation was withdrawn. Please ask for a new link."))
    if campaign.status == Campaign.Status.CLOSED:
        raise Refused(gettext("This campaign is closed. It does not accept new annotators."))
    places = Invitation.objects.filter(pk=invitation.pk)
    if invitation.cap is not None:
        places = places.filter(uses__lt=invitation.cap)
    if not places.update(uses=F("uses") + 1):
        raise Refused(gettext("This invitation has reached its limit of people. Please ask for a new link."))
    annotator = add_annotator(campaign, user)
    annotator.invitation, annotator.source = invitation, source or {}
    annotator.save(update_fields=["invitation", "source"])
    return annotator


@transaction.atomic
def join_as_guest(
    token: str, name: str = "", source: dict | None = None, browser: str = "", user: User | None = None
) -> tuple[User, Annotator]:
    """Admit somebody without an account: one is made that only this browser's session can use.

    The same worker of a crowd platform gets their own annotator again in the browser where they began, or while they are
    signed in (user): whoever knows a worker's identity may write it into an address. Elsewhere Refused, until a researcher
    releases the worker.
    """
    invitation = _locked(token)
    known = known_by_source(invitation.campaign, source or {}) if invitation else None
    if known and known.user and known.user.has_usable_password():
        raise Refused(gettext("This worker has an account here. Please sign in with it."))
    if known and known.user:
        if known.browser not in ("", browser) and user != known.user:
            raise Refused(
                gettext("This worker started in another browser. Continue there, or ask the researchers to admit this browser.")
            )
        return known.user, _bind(join(token, known.user, source), browser)
    user = User(username=f"guest-{uuid.uuid4().hex[:12]}", first_name=name.strip()[:150])
    user.set_unusable_password()
    user.save()
    return user, _bind(join(token, user, source), browser if is_worker(source) else "")


@transaction.atomic
def release_worker(annotator: Annotator, user=None) -> None:
    """Let a crowd platform's worker go on in another browser: the next that brings their identity."""
    if Annotator.objects.filter(pk=annotator.pk).exclude(browser="").update(browser=""):
        detail = {"annotator": annotator.name}
        AuditEvent.objects.create(campaign=annotator.campaign, user=user, action="worker released", detail=detail)


def _bind(annotator: Annotator, browser: str) -> Annotator:
    if browser and annotator.browser != browser:
        annotator.browser = browser
        annotator.save(update_fields=["browser"])
    return annotator


def _come_back(annotator: Annotator, source: dict | None) -> None:
    """A new session's parameters stand first, the earlier ones are kept behind them, with whether their time was up."""
    before = {name: value for name, value in annotator.source.items() if name != "earlier"}
    sent = {name: value for name, value in before.items() if name != TIMED_OUT}
    if source and source != sent:
        earlier = annotator.source.get("earlier", []) + ([before] if before else [])
        annotator.source = source | ({"earlier": earlier} if earlier else {})
        annotator.save(update_fields=["source"])


@transaction.atomic
def join_with_account(token: str, email: str, password: str, name: str = "", source: dict | None = None) -> User:
    """Make an account of the invited person's own choosing, and admit it. The address is its log-in name."""
    user = new_account(email, name)
    user.set_password(password)
    user.save()
    join(token, user, source)
    return user
