"""Accounts: made, closed, their rights and passwords; and the annotators that people are in a campaign."""

import secrets

from django.db import IntegrityError, transaction
from django.utils.translation import gettext

from annotation.models import Annotator, AuditEvent, Campaign, User
from annotation.people import audit
from core.errors import Refused


@transaction.atomic
def add_account(campaign: Campaign, email: str, name: str = "", user=None) -> tuple[Annotator, str]:
    """Let somebody judge under an account, which is made where there is none for this address.

    Returns the annotator, and the new account's first password ("" where the account was there before).
    """
    known, password = User.objects.filter(username__iexact=email.strip()).first(), ""
    if known is None:
        known = new_account(email, name)
        password = give_password(known)
    annotator = add_annotator(campaign, known)
    AuditEvent.objects.create(campaign=campaign, user=user, action="annotator added", subject=known)
    return annotator, password


def new_account(email: str, name: str) -> User:
    """An unsaved user without a password. Raises Refused where the address has an account."""
    email = email.strip().lower()
    if User.objects.filter(username__iexact=email).exists():
        raise Refused(gettext("An account with this address exists. Please sign in with it."))
    return User(username=email, email=email, first_name=name.strip()[:150])


def make_account(email: str, name: str = "", may_create_campaigns: bool = False) -> tuple[User, str]:
    """An account in no campaign, with its first password. Raises Refused where the address has one."""
    made = new_account(email, name)
    made.may_create_campaigns = may_create_campaigns
    password = give_password(made)
    audit.about(made, "account made")
    return made, password


def give_password(user: User) -> str:
    """A new password, which is kept nowhere else: it is to be shown once. The old one, its sessions and tokens end."""
    password = secrets.token_urlsafe(9)
    user.set_password(password)
    user.save()
    return password


def change_rights(user: User, by: User, *, is_admin: bool, oidc_subject: str | None = None, **rights: bool) -> None:
    """rights: `may_create_campaigns`, `is_active`. An admin has every right. Raises Refused where it would lock out who asks:
    so one admin stays."""
    if user == by and not (is_admin and rights["is_active"]):
        raise Refused("You cannot take your own rights. Another admin can.")
    if is_admin != user.is_staff:
        user.is_staff = user.is_superuser = is_admin
    if oidc_subject is not None:
        user.oidc_subject = oidc_subject or None
    for name, value in rights.items():
        setattr(user, name, value)
    user.save()


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
