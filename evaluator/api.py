"""Comparators and their cards as JSON, for the campaign's researchers."""

from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for_researcher
from evaluator import registry, selectors, shown


class ComparatorsView(APIView):
    """The campaign's comparators, the newest first: name, stage, when it was made, and the address of its card."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        versions = list(selectors.versions(campaign))
        stages = registry.stages(campaign, versions)
        return Response([
            {
                "name": v.name, "stage": stages[v.pk], "created_at": v.created_at,
                "card": reverse("api_card", args=[slug, v.name]),
            }
            for v in versions
        ])  # fmt: skip


class CardView(APIView):
    """One comparator's card: what it learned from, what it is worth and how surely, what fools it, how to get it again."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request, slug, name):
        campaign = campaign_for_researcher(request.user, slug)
        version = get_object_or_404(campaign.comparators.select_related("run"), name=name)
        return Response(shown.card(version, campaign, request.user))
