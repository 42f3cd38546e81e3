"""Boards as JSON, for whoever may see them, and systems, for the campaign's researchers."""

import io
import json

from django.db import transaction
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for_researcher
from annotation.api.parsers import OutputsJSON
from annotation.api.repeats import HEADER, once
from annotation.api.request_fields import KnownFields, refuse_unknown
from annotation.campaigns.costs import give_cost
from annotation.data.uploads import read_at_once
from annotation.models import System
from leaderboard import systems
from leaderboard.access import campaign_with_boards, tournament_for
from leaderboard.asked import asked_of
from leaderboard.board_serializers import BoardSerializer
from leaderboard.boards import overviews, queries
from leaderboard.boards.exports import as_json
from leaderboard.models import Tournament

BASIS = OpenApiParameter("basis", enum=Tournament.Basis.values, description="Default: the board that the page opens on.")
JUDGE = OpenApiParameter("judge", description="By name; default, unless the basis is people: any comparator.")
CRITERION = OpenApiParameter("criterion")
ROWS_OR_FILE = [OutputsJSON, MultiPartParser]


class LeaderboardView(APIView):
    """The newest board; ?basis=people|judge|corrected, by default the one that the page opens on, ?judge=NAME,
    ?criterion=NAME."""

    permission_classes = [AllowAny]  # what may be seen is decided by campaign_with_boards

    @extend_schema(responses=BoardSerializer, parameters=[BASIS, JUDGE, CRITERION])
    def get(self, request, slug):
        campaign = campaign_with_boards(request.user, slug)
        asked = request.query_params
        tournament = queries.asked_board(campaign, asked_of(asked), asked.get("criterion"))
        if tournament is None:
            raise Http404
        people = queries.latest(campaign, Tournament.Basis.PEOPLE, tournament.criterion)
        chosen = queries.chosen_by_default(tournament, asked.get("criterion"))
        return Response(({"chosen": chosen} if chosen else {}) | as_json(queries.board(tournament, people, live=True)))


class TournamentView(APIView):
    """One finished tournament; it never changes."""

    permission_classes = [AllowAny]

    @extend_schema(responses=BoardSerializer)
    def get(self, request, pk):
        tournament = tournament_for(request.user, pk)
        if tournament.finished_at is None:
            raise Http404
        return Response(as_json(queries.board(tournament)))


class SystemSerializer(serializers.ModelSerializer):
    """name is only checked against others by the service, which also knows former names."""

    class Meta:
        model = System
        fields = ["id", "name", "description", "link", "cost", "cost_unit", "is_human", "retired_at"]
        read_only_fields = ["retired_at"]


class ChangeSerializer(KnownFields, SystemSerializer):
    retired = serializers.BooleanField(required=False)

    class Meta(SystemSerializer.Meta):
        fields = [*SystemSerializer.Meta.fields, "retired"]
        read_only_fields = ["retired_at", "is_human"]


class OutputsSerializer(serializers.Serializer):
    """One of the two."""

    outputs = serializers.ListField(child=serializers.DictField(), required=False, help_text="Rows: {context_id, output, ...}.")
    file = serializers.FileField(required=False, help_text="The rows as JSON lines or CSV; send a form then.")


class NewSystemSerializer(OutputsSerializer, SystemSerializer):
    class Meta(SystemSerializer.Meta):
        fields = [*SystemSerializer.Meta.fields, "outputs", "file"]


class SystemsView(APIView):
    """GET lists; POST registers: name, description, link, is_human, cost and cost_unit, and `outputs` (rows) or `file`."""

    parser_classes = ROWS_OR_FILE

    @extend_schema(responses=SystemSerializer(many=True))
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        return Response(SystemSerializer(overviews.systems(campaign, queries.opened(campaign)), many=True).data)

    @extend_schema(request=NewSystemSerializer, responses={201: SystemSerializer}, parameters=[HEADER])
    @once
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        refuse_unknown(NewSystemSerializer, request.data)
        asked = SystemSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        source, name = _outputs(request)
        said = {**asked.validated_data, "source": source, "file": name, "user": request.user}
        return Response(SystemSerializer(systems.register(campaign, **said)).data, status=201)


class SystemView(APIView):
    """PATCH renames, describes, says what it costs, or retires (`retired`: true or false)."""

    @extend_schema(responses=SystemSerializer)
    def get(self, request, slug, pk):
        return Response(SystemSerializer(_own(request, slug, pk)).data)

    @extend_schema(request=ChangeSerializer, responses=SystemSerializer)
    def patch(self, request, slug, pk):
        system = _own(request, slug, pk)
        asked = ChangeSerializer(system, data=request.data, partial=True)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        said = {field: data.get(field, getattr(system, field)) for field in ("name", "description", "link")}
        with transaction.atomic():
            if "cost" in data or "cost_unit" in data:
                give_cost(system, data.get("cost", system.cost), data.get("cost_unit", system.cost_unit))
            systems.describe(system, **said, user=request.user)
            if "retired" in data:
                systems.set_retired(system, data["retired"], request.user)
        return Response(SystemSerializer(system).data)


class OutputsView(APIView):
    """PUT replaces a system's outputs: `outputs` (a list of rows) or `file`."""

    parser_classes = ROWS_OR_FILE

    @extend_schema(request=OutputsSerializer, responses=SystemSerializer)
    def put(self, request, slug, pk):
        refuse_unknown(OutputsSerializer, request.data)
        system, (source, name) = _own(request, slug, pk), _outputs(request)
        systems.replace_outputs(system, source, name, request.user)
        return Response(SystemSerializer(system).data)


def _own(request, slug, pk) -> System:
    campaign = campaign_for_researcher(request.user, slug)
    return get_object_or_404(System.objects.select_related("campaign"), pk=pk, campaign=campaign)


def _outputs(request) -> tuple:
    """(a file of JSON lines or CSV, its name) from an upload or from rows in the request."""
    if file := request.FILES.get("file"):
        return read_at_once(file)
    rows = request.data.get("outputs") if isinstance(request.data, dict) else None
    if not isinstance(rows, list):
        raise serializers.ValidationError({"outputs": ["Send a list of rows, or a file."]})
    lines = "".join(json.dumps(row) + "\n" for row in rows)  # in ASCII: half a surrogate pair is refused with its line
    return io.BytesIO(lines.encode("ascii")), "outputs.jsonl"
