"""Accounts of people who annotate, and their annotators in a campaign."""

import secrets

from django.db import IntegrityError, transaction
from django.utils.translation import gettext

from annotation.models import Annotator, AuditEvent, Campaign, User
from core.errors import Refused


@transaction.atomic
def add_account(campaign: Campaign, email: str, name: str = "", user=None) -> tuple[Annotator, str]:
    """Let somebody judge under an account, which is made where there is none for this address.

    Returns the annotator, and the new account's first password ("" where the account was there before).
    """
    known, password = User.objects.filter(username__iexact=email.strip()).first(), ""
    if known is None:
        known, password = new_account(email, name), secrets.token_urlsafe(9)
        known.set_password(password)
        known.save()
    annotator = add_annotator(campaign, known)
    AuditEvent.objects.create(campaign=campaign, user=user, action="annotator added", subject=known)
    return annotator, password


def new_account(email: str, name: str) -> User:
    """An unsaved user without a password. Raises Refused where the address has an account."""
    email = email.strip().lower()
    if User.objects.filter(username__iexact=email).exists():
        raise Refused(gettext("An account with this address exists. Please sign in with it."))
    return User(username=email, email=email, first_name=name.strip()[:150])


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
