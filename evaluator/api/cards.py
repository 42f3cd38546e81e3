"""Comparators and their cards as JSON, for the campaign's researchers."""

from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for_researcher
from evaluator.versions import card_view, registry, selectors


class ComparatorSerializer(serializers.Serializer):
    name = serializers.CharField()
    stage = serializers.ChoiceField(["candidate", "in_use", "retired"])
    created_at = serializers.DateTimeField()
    simulated = serializers.BooleanField()
    warning = serializers.CharField(help_text="What it learned from was not accepted.")
    gate_doubt = serializers.CharField(
        help_text="Why it is not to be relied upon alone here; empty where its gate passed, on folds that kept groups."
    )
    card = serializers.CharField(help_text="The address of its card.")


class CardSerializer(serializers.Serializer):
    """A comparator's card (`card_view.card`) as JSON."""

    name = serializers.CharField()
    campaign = serializers.CharField()
    stage = serializers.ChoiceField(["candidate", "in_use", "retired"])
    created_at = serializers.DateTimeField()
    uploaded = serializers.BooleanField(help_text="Trained elsewhere; its metrics are as its file gave them.")
    simulated = serializers.BooleanField()
    warning = serializers.CharField()
    limits = serializers.CharField(help_text="What its own figures say that it does not know, and why they may be too high.")
    criterion = serializers.CharField()
    campaigns = serializers.ListField(child=serializers.CharField(), help_text="The titles of those that it is for.")
    snapshots = serializers.ListField(child=serializers.CharField())
    settings = serializers.DictField()
    seed = serializers.IntegerField()
    code = serializers.CharField()
    gate = serializers.ListField(child=serializers.DictField(), help_text="[{question, passed, answer}]")
    gate_doubt = serializers.CharField(
        help_text="Why it is not to be relied upon alone here; empty where its gate passed, on folds that kept groups."
    )
    confidence = serializers.DictField(help_text="How far its stated probabilities may be trusted here: kind, said, figures.")
    attacks_here = serializers.ListField(child=serializers.DictField(), help_text="Where it did not learn from the campaign.")
    curve = serializers.ListField(child=serializers.DictField())
    metrics = serializers.DictField(help_text="docs/comparator/card.md says what they are.")
    again = serializers.CharField(help_text="The command that trains it again; empty where it was uploaded.")


class ComparatorsView(APIView):
    """The campaign's comparators, the newest first."""

    @extend_schema(responses=ComparatorSerializer(many=True))
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        versions = list(selectors.versions(campaign))
        stages = registry.stages(campaign, versions)
        rows = [
            {
                "name": v.name,
                "stage": stages[v.pk],
                "created_at": v.created_at,
                "simulated": v.is_simulated,
                "warning": v.warning,
                "gate_doubt": registry.gate_doubt(v, campaign),
                "card": reverse("api_card", args=[slug, v.name]),
            }
            for v in versions
        ]
        return Response(ComparatorSerializer(rows, many=True).data)


class CardView(APIView):
    """One comparator's card: what it learned from, what it is worth and how surely, what fools it, how to get it again."""

    @extend_schema(responses=CardSerializer)
    def get(self, request, slug, name):
        campaign = campaign_for_researcher(request.user, slug)
        version = get_object_or_404(campaign.comparators.select_related("run"), name=name)
        return Response(CardSerializer(card_view.card(version, campaign, request.user)).data)
