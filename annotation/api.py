"""The REST API, read-only so far: the campaigns whose results the user may see, and their quality."""

from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from annotation.access import campaigns_researched_by
from annotation.assessment import as_dict
from annotation.calculating import look_up
from annotation.errors import Refused
from annotation.forms import AssessForm
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

    @action(detail=True)
    def quality(self, request, slug):
        """What a rule would make of the answers; ?mad=1.0&level=ordinal&on_zero_mad=drop. Nothing is decided."""
        form = AssessForm({"mad": 1.0, "level": "ordinal", "on_zero_mad": "drop"} | request.query_params.dict())
        if not form.is_valid():
            return Response(form.errors, status=400)
        return _worked_out(self.get_object(), "preview", "What the filter would do", request.user, **form.cleaned_data)

    @action(detail=True)
    def annotators(self, request, slug):
        """A card for each annotator, the most suspicious first, and what each does to the ranking."""
        return _worked_out(self.get_object(), "annotators", "Annotators beside each other", request.user)

    @action(detail=True)
    def study(self, request, slug):
        """Agreement of direct scores and of scores made from comparisons."""
        return _worked_out(self.get_object(), "study", "Two ways of asking", request.user)

    @action(detail=True)
    def snapshots(self, request, slug):
        """What was accepted, the newest first."""
        return Response([as_dict(snapshot) for snapshot in self.get_object().snapshots.defer("content")])


def _worked_out(campaign, what: str, title: str, user, **settings) -> Response:
    """200 with the figures; 202 with the job that works them out; 422 with the sentence why there are none."""
    try:
        found, job = look_up(campaign, what, title, user, **settings)
    except Refused as refused:
        return Response({"detail": str(refused)}, status=422)
    return Response(found) if found is not None else Response({"job": str(job.pk)}, status=202)
