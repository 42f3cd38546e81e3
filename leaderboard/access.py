"""Who may see a board: its campaign's researchers, and everybody where the campaign's boards are public.

Texts and single judgments stay with researchers. An outsider gets the same 404 as for what does not exist.
"""

from django.shortcuts import get_object_or_404

from annotation.access import campaigns_researched_by
from annotation.models import Campaign, User
from leaderboard.models import Tournament


def campaigns_with_boards_for(user: User):
    """Campaigns whose boards the user may see."""
    public = Campaign.objects.filter(deleted_at=None, board_is_public=True)
    return (public | campaigns_researched_by(user)).distinct() if user.is_authenticated else public


def campaign_with_boards(user: User, slug: str) -> Campaign:
    return get_object_or_404(campaigns_with_boards_for(user), slug=slug)


def tournament_for(user: User, pk: int) -> Tournament:
    found = Tournament.objects.select_related("campaign", "job", "judge__version__run", "snapshot", "extends")
    return get_object_or_404(found.defer("snapshot__content"), pk=pk, campaign__in=campaigns_with_boards_for(user).values("pk"))


def is_member(user: User, campaign: Campaign) -> bool:
    return campaigns_researched_by(user).filter(pk=campaign.pk).exists()
