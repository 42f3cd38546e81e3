"""A campaign's judges: setting one up, setting all beside people, and the table. No request brings an address or a key."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for_researcher
from annotation.api.campaigns import valid
from annotation.api.request_fields import KnownFields, ShortList
from annotation.api.serializers import JobSerializer
from annotation.snapshots import latest_snapshot
from evaluator import model_settings, prompts
from evaluator.judge_tables import anchors, exports, tables
from evaluator.judge_tables.cautions import as_of_now
from evaluator.judges.jury import WAYS
from evaluator.metaevaluation.alternative_annotator import EPSILON
from evaluator.models import AnchorAsking, Judge
from evaluator.offers import Offer, offers, set_up_model
from evaluator.roster import LONGEST_NAME, MOST_JURORS, set_up_jury

TABLE_FILES = {"csv": ("text/csv", exports.as_csv), "tex": ("application/x-tex", exports.as_latex)}
LONGEST_PROMPT = 100_000  # characters
MOST_SHOWN = 100  # times that judges were asked again


class EvaluateSerializer(KnownFields, serializers.Serializer):
    criterion = serializers.CharField(max_length=100, required=False, allow_blank=True)
    annotators = serializers.ChoiceField(choices=list(EPSILON), default="crowd")
    judges = ShortList(
        child=serializers.CharField(max_length=LONGEST_NAME),
        required=False,
        max_length=50,
        help_text="Judges that are set up and are asked too, within their budgets.",
    )


class JudgesSerializer(serializers.Serializer):
    """table: as its page shows it, with `cautions`, what must be said with it; null while there is none.
    jobs: those under way, and the latest where it failed."""

    table = serializers.DictField(allow_null=True)
    snapshot = serializers.CharField(allow_null=True)
    jobs = JobSerializer(many=True)


class NamedSerializer(KnownFields, serializers.Serializer):
    name = serializers.CharField(max_length=LONGEST_NAME, required=False, help_text="What pages and the API call it.")


class ModelSerializer(NamedSerializer):
    endpoint = serializers.CharField(max_length=LONGEST_NAME, help_text="By its name in COMPARENA_ENDPOINTS.")
    model = serializers.CharField(max_length=LONGEST_NAME)
    prompt = serializers.CharField(max_length=LONGEST_NAME, required=False, help_text="By its name; pairwise if not given.")
    text = serializers.CharField(
        max_length=LONGEST_PROMPT, required=False, help_text="Of a new prompt, which is kept under its name."
    )
    examples = serializers.IntegerField(min_value=0, max_value=prompts.MOST_EXAMPLES, default=0)
    references = serializers.BooleanField(default=False)
    calls = serializers.IntegerField(min_value=1, max_value=10**7, help_text="Most requests, ever.")
    money = serializers.FloatField(min_value=0, required=False, allow_null=True, help_text="Most cost, ever; null: no limit.")


class JurySerializer(NamedSerializer):
    judges = ShortList(child=serializers.CharField(max_length=LONGEST_NAME), min_length=2, max_length=MOST_JURORS)
    by = serializers.ChoiceField(choices=WAYS, default=WAYS[0])


class AskAgainSerializer(KnownFields, serializers.Serializer):
    judge = serializers.CharField(max_length=LONGEST_NAME, help_text="A language model that is set up.")
    pairs = serializers.IntegerField(
        min_value=1, max_value=anchors.MOST_PAIRS, required=False, help_text="How many are drawn, the first time."
    )
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0, help_text="Of the draw, the first time.")


class ScheduleSerializer(KnownFields, serializers.Serializer):
    judge = serializers.CharField(max_length=LONGEST_NAME, help_text="A language model that was asked a first time.")
    every_days = serializers.IntegerField(
        min_value=1, max_value=anchors.MOST_DAYS, allow_null=True, help_text="After the last time; null: never."
    )


class AskedAgainSerializer(serializers.Serializer):
    """One time that a language model was asked about its anchor set. drift: against the first time; null before it ends, and of
    the first."""

    judge = serializers.CharField(source="anchor_set.judge.name")
    every_days = serializers.IntegerField(
        source="anchor_set.every_days",
        allow_null=True,
        help_text="It is asked again by itself so many days after the last time.",
    )
    asked_at = serializers.DateTimeField(source="created_at")
    drift = serializers.DictField(allow_null=True)
    used = serializers.DictField(help_text="calls, tokens, cost, prices and models that answered.")
    job = JobSerializer()


class OfferSerializer(serializers.Serializer):
    """A judge that is set up. Of a language model also what it is asked, and what a table costs if nothing is kept."""

    name = serializers.CharField()
    kind = serializers.CharField()
    prompt = serializers.CharField()
    forecast = serializers.DictField(allow_null=True, help_text="calls, prompt_tokens, completion_tokens, cost and seconds.")
    left = serializers.IntegerField(allow_null=True, help_text="Requests of its budget that are left.")
    why = serializers.CharField(help_text="What stands in the way of a forecast.")


class SettingsSerializer(serializers.Serializer):
    """What can be chosen, and what is set up."""

    endpoints = serializers.ListField(child=serializers.CharField())
    prompts = serializers.ListField(child=serializers.CharField())
    judges = OfferSerializer(many=True)


class JudgesView(APIView):
    """Which judge agrees with these people. POST has a worker set all judges beside them, once for the same inputs."""

    @extend_schema(responses=JudgesSerializer)
    def get(self, request, slug):
        table, jobs = tables.shown(campaign_for_researcher(request.user, slug))
        record, snapshot = (as_of_now(table.record), table.snapshot.name) if table else (None, None)
        return Response({"table": record, "snapshot": snapshot, "jobs": JobSerializer(jobs, many=True).data})

    @extend_schema(request=EvaluateSerializer, responses={200: JobSerializer, 201: JobSerializer})
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        table, started = tables.start(campaign, **valid(EvaluateSerializer(data=request.data)), user=request.user)
        return Response(JobSerializer(table.job).data, status=201 if started else 200)


class JudgesFileView(APIView):
    """The judges' table as CSV or LaTeX."""

    @extend_schema(
        responses={(200, kind): OpenApiTypes.STR for kind, _ in TABLE_FILES.values()},
        parameters=[OpenApiParameter("kind", enum=list(TABLE_FILES), location="path")],
    )
    def get(self, request, slug, kind):
        campaign = campaign_for_researcher(request.user, slug)
        table, _ = tables.shown(campaign)
        table = get_object_or_404(campaign.judges_tables, pk=table and table.pk)
        content_type, text = TABLE_FILES[kind]
        return HttpResponse(text(as_of_now(table.record)), content_type=f"{content_type}; charset=utf-8")


class ModelsView(APIView):
    """A language model as a judge, at an endpoint that was configured on the server. Nothing is asked yet."""

    @extend_schema(responses=SettingsSerializer)
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        offered = offers(campaign, latest_snapshot(campaign))
        chosen = {"endpoints": list(model_settings.configured()), "prompts": prompts.names(campaign)}
        return Response(chosen | {"judges": [_shown(one) for one in offered]})

    @extend_schema(request=ModelSerializer, responses={201: OfferSerializer})
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        return _made(set_up_model(campaign, user=request.user, **valid(ModelSerializer(data=request.data))))


class AskAgainView(APIView):
    """Has a language model changed? POST asks it again about its anchor set; PUT sets after how many
    days that happens by itself; GET lists each time, the newest first."""

    @extend_schema(responses=AskedAgainSerializer(many=True))
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        asked = AnchorAsking.objects.filter(anchor_set__judge__campaign=campaign).select_related("anchor_set__judge", "job")
        return Response(AskedAgainSerializer(asked.order_by("-created_at", "-id")[:MOST_SHOWN], many=True).data)

    @extend_schema(request=AskAgainSerializer, responses={201: JobSerializer})
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        asked = valid(AskAgainSerializer(data=request.data))
        asking = anchors.start(campaign, asked["judge"], asked.get("pairs"), asked["seed"], user=request.user)
        return Response(JobSerializer(asking.job).data, status=201)

    @extend_schema(request=ScheduleSerializer, responses=ScheduleSerializer)
    def put(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        chosen = valid(ScheduleSerializer(data=request.data))
        anchors.set_schedule(campaign, chosen["judge"], chosen["every_days"], user=request.user)
        return Response(chosen)


class JuriesView(APIView):
    """Several judges of the campaign that answer together, by the mean of their probabilities or by vote."""

    @extend_schema(request=JurySerializer, responses={201: OfferSerializer})
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        return _made(set_up_jury(campaign, user=request.user, **valid(JurySerializer(data=request.data))))


def _made(row: Judge) -> Response:
    (offer,) = [one for one in offers(row.campaign, latest_snapshot(row.campaign)) if one.name == row.name]
    return Response(_shown(offer), status=201)


def _shown(offer: Offer) -> dict:
    return dict(OfferSerializer({**vars(offer), "forecast": offer.forecast and vars(offer.forecast)}).data)
