"""Who may see a campaign. An outsider gets the same 404 as for a campaign that does not exist."""

from functools import wraps

from django.contrib.auth.decorators import login_required
from django.db.models.expressions import RawSQL
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache

from annotation.models import Annotator, Campaign, User
from annotation.statements import Statement
from core.errors import Refused

# Part of every annotator's request, where building a Subquery took longer than asking it.
NEWEST_CONSENT = RawSQL("SELECT MAX(id) FROM annotation_consenttext WHERE campaign_id = annotation_annotator.campaign_id", ())
ANNOTATOR = Statement(
    lambda user, slug: (
        Annotator.objects.filter(campaign__slug=slug, campaign__deleted_at=None, user_id=user)
        .select_related("campaign")
        .annotate(newest_consent=NEWEST_CONSENT)
    ),
    arguments=2,
    texts=(1,),
)


def for_admins(view):
    """A page of the admins': for others there is none. No browser keeps it."""

    @never_cache
    @login_required
    @wraps(view)
    def wrapped(request, *args, **kwargs):
        if not request.user.is_admin:
            raise Http404
        return view(request, *args, **kwargs)

    return wrapped


def campaigns_researched_by(user: User):
    """Campaigns whose results the user may see: their own memberships; for admins, all."""
    if not user.is_authenticated:
        return Campaign.objects.none()
    campaigns = Campaign.objects.filter(deleted_at=None)
    return campaigns if user.is_admin else campaigns.filter(memberships__user=user)


def campaign_for_researcher(user: User, slug: str) -> Campaign:
    return get_object_or_404(campaigns_researched_by(user), slug=slug)


def annotator_of(user: User, slug: str) -> Annotator:
    """The user's annotator in a campaign, with `newest_consent`, the key of the campaign's newest consent text. Http404
    where they were never invited."""
    annotator = ANNOTATOR.first(user.pk, slug)
    if annotator is None:
        raise Http404
    return annotator


def campaign_named(slug: str) -> Campaign:
    """The campaign that a command names. Raises Refused where there is none."""
    try:
        return Campaign.objects.get(slug=slug)
    except Campaign.DoesNotExist:
        raise Refused(f"There is no campaign {slug!r}; create_campaign makes one.") from None
