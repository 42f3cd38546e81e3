"""What researchers set going with comparators and judges, each call one service."""

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for_researcher
from annotation.api.campaigns import valid
from annotation.api.repeats import HEADER, once
from annotation.api.request_fields import KnownFields, ShortList
from annotation.api.serializers import ImportedSerializer, JobSerializer
from annotation.data.uploads import read_at_once
from core.errors import Refused
from evaluator.api.cards import ComparatorSerializer
from evaluator.comparator.settings import ARCHITECTURES, MAX_SEED, RECIPES, SWITCHES, fields_of
from evaluator.judge_tables.imports import import_scores_of
from evaluator.models import RetrainingRule
from evaluator.roster import LONGEST_NAME
from evaluator.trainings import dialogues, services
from evaluator.versions import admission, archive, card_view, registry, selectors


class TrainingSerializer(KnownFields, serializers.Serializer):
    """What is not sent is as the recipe has it (docs/comparator/options.md)."""

    criterion = serializers.CharField(
        max_length=100, required=False, allow_null=True, allow_blank=True,
        help_text="Whose scores; empty: judgments of pairs alone; null: the campaign's first criterion with scores.",
    )  # fmt: skip
    others = ShortList(child=serializers.CharField(max_length=100), required=False, max_length=50)
    beside = ShortList(child=serializers.SlugField(), required=False, max_length=50, help_text="Campaigns to learn from too.")
    recipe = serializers.ChoiceField(choices=["", *RECIPES], required=False)
    human = serializers.BooleanField(required=False, allow_null=True, help_text="Whether people's judgments are learnt from.")
    architecture = serializers.ChoiceField(choices=ARCHITECTURES, required=False)
    base = serializers.CharField(max_length=100, required=False, help_text="A base's name, or none.")
    seed = serializers.IntegerField(min_value=0, max_value=MAX_SEED, default=0)

    def get_fields(self):
        switches = {name: serializers.BooleanField(required=False, allow_null=True) for name in SWITCHES}
        return super().get_fields() | switches


class RetrainingSerializer(KnownFields, serializers.Serializer):
    """When the comparator in use is trained again by itself; null: not by this. Both null: never."""

    returned = ("user", "refused")
    after_days = serializers.IntegerField(
        min_value=1, max_value=3650, allow_null=True, help_text="Days since the last training."
    )
    after_judgments = serializers.IntegerField(
        min_value=1, max_value=1_000_000_000, allow_null=True, help_text="Accepted answers that the last training did not have."
    )


class RetrainingRuleSerializer(RetrainingSerializer):
    user = serializers.CharField(allow_null=True, read_only=True, help_text="In whose name it is trained.")
    refused = serializers.CharField(read_only=True, help_text="Why the last attempt started nothing.")


class PromoteSerializer(KnownFields, serializers.Serializer):
    reason = serializers.CharField(
        max_length=1000, required=False, allow_blank=True, help_text="Needed where it did not pass its gate."
    )


class ComparatorFileSerializer(KnownFields, serializers.Serializer):
    file = serializers.FileField(help_text="The zip file that a download gave.")


class DialoguesSerializer(KnownFields, serializers.Serializer):
    file = serializers.FileField(allow_empty_file=True)
    dry_run = serializers.BooleanField(default=False)


class JudgeScoresSerializer(DialoguesSerializer):
    judge = serializers.CharField(max_length=LONGEST_NAME)
    replace = serializers.BooleanField(default=False, help_text="In the place of all that this judge said before.")


class TrainingsView(APIView):
    """Trainings of comparators on the campaign's newest snapshot. POST queues one, and answers with its job; with
    status 200 where the same waits or runs already."""

    @extend_schema(responses=JobSerializer(many=True))
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        runs = campaign.training_runs.select_related("job").order_by("-pk")[:100]
        return Response(JobSerializer([run.job for run in runs], many=True).data)

    @extend_schema(request=TrainingSerializer, responses={200: JobSerializer, 201: JobSerializer}, parameters=[HEADER])
    @once
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        data = valid(TrainingSerializer(data=request.data))
        lenders = {lender.campaign.slug: lender.campaign for lender in selectors.lenders(campaign, request.user)}
        for name in data.get("beside", []):
            if name not in lenders:
                raise Refused(f"You research no other campaign {name!r} with accepted judgments.")
        chosen = {name: data.get(name) for name in (*SWITCHES, "architecture")}
        run = services.start_training(
            [campaign],
            data.get("criterion"),
            data["seed"],
            request.user,
            recipe=fields_of(data.get("recipe", ""), data.get("human"), **chosen),
            others=data.get("others", []),
            beside=[lenders[name] for name in data.get("beside", [])],
            base=data.get("base"),
        )
        return Response(JobSerializer(run.job).data, status=200 if run.was_waiting else 201)


class RetrainingView(APIView):
    """When the campaign's comparator is trained again by itself. Off until somebody sets it; PUT sets both fields."""

    @extend_schema(responses=RetrainingRuleSerializer)
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        rule = RetrainingRule.objects.filter(campaign=campaign).first() or RetrainingRule(campaign=campaign)
        return Response(RetrainingRuleSerializer(rule).data)

    @extend_schema(request=RetrainingSerializer, responses=RetrainingRuleSerializer)
    def put(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        data = valid(RetrainingSerializer(data=request.data))
        rule = services.set_retraining(campaign, **data, user=request.user)
        return Response(RetrainingRuleSerializer(rule).data)


class _OfComparator(APIView):
    def _version(self, slug, name):
        campaign = campaign_for_researcher(self.request.user, slug)
        return campaign, get_object_or_404(campaign.comparators.select_related("run"), name=name)

    def _answer(self, campaign, version) -> Response:
        stage = registry.stages(campaign, [version])[version.pk]
        card = f"/api/campaigns/{campaign.slug}/comparators/{version.name}/"
        row = {
            "name": version.name,
            "stage": stage,
            "created_at": version.created_at,
            "simulated": version.is_simulated,
            "warning": version.warning,
            "gate_doubt": registry.gate_doubt(version, campaign),
            "card": card,
        }
        return Response(ComparatorSerializer(row).data)


class PromoteView(_OfComparator):
    """It is in use in this campaign from now on."""

    @extend_schema(request=PromoteSerializer, responses=ComparatorSerializer)
    def post(self, request, slug, name):
        campaign, version = self._version(slug, name)
        data = valid(PromoteSerializer(data=request.data))
        registry.promote(campaign, version, request.user, data.get("reason", ""))
        return self._answer(campaign, version)


class RetireView(_OfComparator):
    """It is in use no more. What it judged stays."""

    @extend_schema(request=None, responses=ComparatorSerializer)
    def post(self, request, slug, name):
        campaign, version = self._version(slug, name)
        registry.retire(campaign, version, request.user)
        version.refresh_from_db()
        return self._answer(campaign, version)


class ComparatorFileView(_OfComparator):
    """The comparator as a zip file, which another campaign or server takes."""

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request, slug, name):
        _, version = self._version(slug, name)
        version.settings = card_view.settings(version, request.user)  # for the file; never saved
        packed = archive.pack(version, selectors.folder(version), card_view.figures(version, request.user))
        return FileResponse(packed, as_attachment=True, filename=f"{version.name}.zip", content_type="application/zip")


class ComparatorUploadView(APIView):
    """A comparator trained elsewhere. A worker checks the file before it is entered; the answer is its job."""

    parser_classes = [MultiPartParser]

    @extend_schema(
        request={"multipart/form-data": ComparatorFileSerializer}, responses={201: JobSerializer}, parameters=[HEADER]
    )
    @once
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        data = valid(ComparatorFileSerializer(data=request.data))
        job = admission.receive(campaign, data["file"].chunks(), request.user)
        return Response(JobSerializer(job).data, status=201)


class DialoguesView(APIView):
    """Conversations, which comparators learn from before they learn from judgments. All rows or none; twice changes nothing."""

    parser_classes = [MultiPartParser]

    @extend_schema(request={"multipart/form-data": DialoguesSerializer}, responses=ImportedSerializer)
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        data = valid(DialoguesSerializer(data=request.data))
        result = dialogues.import_dialogues(campaign, *read_at_once(data["file"]), data["dry_run"], request.user)
        return Response(ImportedSerializer(result).data)


class JudgeScoresView(APIView):
    """Scores that a judge gave elsewhere: rows {context_id or context, system, [checkpoint], [sample], score}."""

    parser_classes = [MultiPartParser]

    @extend_schema(request={"multipart/form-data": JudgeScoresSerializer}, responses=ImportedSerializer)
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        data = valid(JudgeScoresSerializer(data=request.data))
        file = read_at_once(data.pop("file"))
        result = import_scores_of(campaign, data.pop("judge"), *file, **data, user=request.user)
        return Response(ImportedSerializer(result).data)
