"""Who may see a campaign. An outsider gets the same 404 as for a campaign that does not exist."""

import json
from functools import wraps

from django.contrib.auth.decorators import login_required
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import JSONField
from django.db.models.expressions import RawSQL
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache

from annotation.models import Annotator, Campaign, Criterion, User
from annotation.statements import Statement
from core.errors import Refused

# Part of every annotator's request, where building a Subquery took longer than asking it.
NEWEST_CONSENT = RawSQL("SELECT MAX(id) FROM annotation_consenttext WHERE campaign_id = annotation_annotator.campaign_id", ())
OF_CRITERION = Criterion._meta.concrete_fields
NAMES_OF_CRITERION = [field.attname for field in OF_CRITERION]
# The campaign's criteria, as a JSON list of lists: a read less for every answer.
CRITERIA = {
    "postgresql": "SELECT json_agg(json_build_array({}))::text FROM annotation_criterion {}",
    "sqlite": "SELECT json_group_array(json_array({})) FROM annotation_criterion {}",
}
ANNOTATOR = Statement(
    lambda user, slug: (
        Annotator.objects.filter(campaign__slug=slug, campaign__deleted_at=None, user_id=user)
        .select_related("campaign", "user")
        .annotate(newest_consent=NEWEST_CONSENT, criteria=_criteria())
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


def find_annotator(user_id: int, slug: str) -> Annotator | None:
    """A user's annotator in a campaign, with the user, the campaign, its criteria (`Campaign.asked`) and `newest_consent`, the
    key of its newest consent text."""
    annotator = ANNOTATOR.first(user_id, slug)
    if annotator:
        rows = json.loads(annotator.criteria or "[]")  # annotated
        annotator.campaign.ask([Criterion.from_db(DEFAULT_DB_ALIAS, NAMES_OF_CRITERION, _values(row)) for row in rows])
    return annotator


def annotator_of(user: User, slug: str) -> Annotator:
    """The same; Http404 where they were never invited."""
    annotator = find_annotator(user.pk, slug)
    if annotator is None:
        raise Http404
    return annotator


def _criteria() -> RawSQL:
    is_sqlite = connection.vendor == "sqlite"  # which keeps JSON as text
    columns = [f"json({f.column})" if is_sqlite and isinstance(f, JSONField) else str(f.column) for f in OF_CRITERION]
    where = "WHERE annotation_criterion.campaign_id = annotation_annotator.campaign_id"
    return RawSQL(CRITERIA[connection.vendor].format(", ".join(columns), where), ())


def _values(row: list) -> list:
    return [field.to_python(value) for field, value in zip(OF_CRITERION, row, strict=True)]


def campaign_named(slug: str) -> Campaign:
    """The campaign that a command names. Raises Refused where there is none."""
    try:
        return Campaign.objects.get(slug=slug)
    except Campaign.DoesNotExist:
        raise Refused(f"There is no campaign {slug!r}; create_campaign makes one.") from None
