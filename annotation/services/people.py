"""Invitations, and who comes in by them."""

import uuid

from django.db import IntegrityError, transaction
from django.db.models import F

from annotation.errors import Refused
from annotation.models import (
    Annotator,
    Campaign,
    Invitation,
    User,
)


def invite(campaign: Campaign, user=None, cap: int | None = None) -> Invitation:
    return Invitation.objects.create(campaign=campaign, created_by=user, cap=cap)


@transaction.atomic
def join(token: str, user: User) -> Annotator:
    """Admit a signed-in user by an invitation; whoever is in already stays in and uses up no place."""
    invitation = Invitation.objects.select_related("campaign").filter(token=token).first()
    if invitation is None:
        raise Refused("This invitation does not exist. Ask for a new link.")
    campaign = invitation.campaign
    if known := campaign.annotators.filter(user=user).first():
        return known
    if campaign.status == Campaign.Status.CLOSED:
        raise Refused("This campaign is closed; it takes no more annotators.")
    places = Invitation.objects.filter(pk=invitation.pk)
    if invitation.cap is not None:
        places = places.filter(uses__lt=invitation.cap)
    if not places.update(uses=F("uses") + 1):
        raise Refused("This invitation has been used up. Ask for a new link.")
    return add_annotator(campaign, user)


@transaction.atomic
def join_as_guest(token: str, name: str = "") -> tuple[User, Annotator]:
    """Admit somebody without an account: one is made that only this browser's session can use."""
    user = User(username=f"guest-{uuid.uuid4().hex[:12]}", first_name=name.strip()[:150])
    user.set_unusable_password()
    user.save()
    return user, join(token, user)


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
