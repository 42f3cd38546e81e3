"""Make a campaign, open and close it, write its guidelines, let researchers in."""

from dataclasses import dataclass

from django.db import transaction
from django.utils.text import slugify

from annotation.errors import Refused
from annotation.models import (
    AuditEvent,
    Campaign,
    Criterion,
    Membership,
    User,
)


@dataclass(frozen=True)
class CriterionSpec:
    name: str
    low: int = 1
    high: int = 5
    low_label: str = ""
    high_label: str = ""
    description: str = ""


@transaction.atomic
def create_campaign(
    *, slug, title="", criteria=(), likert=True, pairwise=False, overlap=3, guidelines="", seed=0, user=None
) -> Campaign:
    """A new campaign with its criteria. The user who made it becomes its researcher."""
    if not slug or slug != slugify(slug) or len(slug) > 80:
        raise Refused(f"{slug!r} is no address for a campaign: use small letters, digits and hyphens, at most 80.")
    if Campaign.objects.filter(slug=slug).exists():
        raise Refused(f"There is already a campaign {slug!r}.")
    if not likert and not pairwise:
        raise Refused("A campaign asks for scores, for judgments of pairs, or for both; neither was chosen.")
    if not 1 <= overlap <= 1000:
        raise Refused("The overlap is how many people judge each item: from 1 to 1000.")
    names = [spec.name for spec in criteria]
    if len(set(names)) < len(names):
        raise Refused("Two criteria have the same name.")
    for spec in criteria:
        if not spec.name.strip() or len(spec.name) > 100:
            raise Refused("A criterion needs a name of at most 100 characters.")
        if not -1000 <= spec.low < spec.high <= 1000:
            raise Refused(f"The scale of {spec.name!r} must run from a lower to a higher whole number.")
    campaign = Campaign.objects.create(
        slug=slug, title=title or slug, likert=likert, pairwise=pairwise, overlap=overlap,
        guidelines=guidelines, seed=seed, created_by=user,
    )  # fmt: skip
    for position, spec in enumerate(criteria):
        Criterion.objects.create(
            campaign=campaign, position=position, name=spec.name, low=spec.low, high=spec.high,
            low_label=spec.low_label, high_label=spec.high_label, description=spec.description,
        )  # fmt: skip
    if user is not None:
        Membership.objects.create(campaign=campaign, user=user)
    AuditEvent.objects.create(campaign=campaign, user=user, action="campaign created")
    return campaign


def set_status(campaign: Campaign, status: str, user=None) -> None:
    if status not in Campaign.Status.values:
        raise Refused(f"A campaign can be open, paused or closed, not {status!r}.")
    with transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(status=status)
        campaign.status = status
        AuditEvent.objects.create(campaign=campaign, user=user, action=f"campaign {status}")


def set_guidelines(campaign: Campaign, guidelines: str, user=None) -> None:
    with transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(guidelines=guidelines)
        campaign.guidelines = guidelines
        AuditEvent.objects.create(campaign=campaign, user=user, action="guidelines changed")


@transaction.atomic
def add_researcher(campaign: Campaign, username: str, user=None) -> Membership:
    """Let an existing account see the campaign's results and work with them."""
    added = User.objects.filter(username=username, is_active=True).first()
    if added is None or not added.has_usable_password():
        raise Refused(f"There is no account {username!r}; an admin can make one.")
    membership, new = Membership.objects.get_or_create(campaign=campaign, user=added)
    if new:
        AuditEvent.objects.create(campaign=campaign, user=user, action="researcher added", detail={"username": added.username})
    return membership
