"""The REST API, read-only so far: the campaigns whose results the user may see."""

from rest_framework import serializers, viewsets

from annotation.access import campaigns_researched_by
from annotation.models import Campaign, Criterion
from annotation.selectors import overview


class CriterionSerializer(serializers.ModelSerializer):
    class Meta:
        model = Criterion
        fields = ["name", "description", "low", "high", "low_label", "high_label"]


class CampaignSerializer(serializers.ModelSerializer):
    criteria = CriterionSerializer(many=True)

    class Meta:
        model = Campaign
        fields = ["slug", "title", "likert", "pairwise", "overlap", "status", "is_simulated", "created_at", "criteria"]


class CampaignDetailSerializer(CampaignSerializer):
    numbers = serializers.SerializerMethodField()

    class Meta(CampaignSerializer.Meta):
        fields = [*CampaignSerializer.Meta.fields, "guidelines", "numbers"]

    def get_numbers(self, campaign) -> dict:
        return overview(campaign)


class CampaignViewSet(viewsets.ReadOnlyModelViewSet):
    lookup_field = "slug"

    def get_queryset(self):
        return campaigns_researched_by(self.request.user).prefetch_related("criteria")

    def get_serializer_class(self):
        return CampaignDetailSerializer if self.action == "retrieve" else CampaignSerializer
