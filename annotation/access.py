"""Who may see a campaign. An outsider gets the same 404 as for a campaign that does not exist."""

from django.db.models import OuterRef, Subquery
from django.http import Http404
from django.shortcuts import get_object_or_404

from annotation.models import Annotator, Campaign, ConsentText, User


def campaigns_researched_by(user: User):
    """Campaigns whose results the user may see: their own memberships; for admins, all."""
    if not user.is_authenticated:
        return Campaign.objects.none()
    there = Campaign.objects.filter(deleted_at=None)
    return there if user.is_admin else there.filter(memberships__user=user)


def campaign_for_researcher(user: User, slug: str) -> Campaign:
    return get_object_or_404(campaigns_researched_by(user), slug=slug)


def annotator_of(user: User, slug: str) -> Annotator:
    """The user's annotator in a campaign, with `newest_consent`, the key of the campaign's newest consent text. Http404
    where they were never invited."""
    newest = ConsentText.objects.filter(campaign=OuterRef("campaign")).order_by("-version").values("pk")[:1]
    mine = Annotator.objects.filter(campaign__slug=slug, campaign__deleted_at=None, user_id=user.pk)
    annotator = mine.select_related("campaign").annotate(newest_consent=Subquery(newest)).first()
    if annotator is None:
        raise Http404
    return annotator
