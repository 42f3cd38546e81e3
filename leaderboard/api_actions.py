"""What researchers set going on the leaderboard, and boards as files."""

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for_researcher
from annotation.api.repeats import HEADER, once
from annotation.api.request_fields import KnownFields
from annotation.api.serializers import JobSerializer
from evaluator.comparator.settings import MAX_SEED
from evaluator.roster import LONGEST_NAME, judge_named
from evaluator.versions.selectors import by_default
from leaderboard.access import tournament_for
from leaderboard.asked import asked_of
from leaderboard.boards import exports, queries
from leaderboard.models import Tournament
from leaderboard.tournaments import active_selection, start

FILES = {"csv": ("text/csv", exports.as_csv), "tex": ("text/x-tex", exports.as_latex), "svg": ("image/svg+xml", exports.as_svg)}


class PlaySerializer(KnownFields, serializers.Serializer):
    basis = serializers.CharField(required=False, allow_blank=True, help_text="people, judge, or corrected: people by a judge.")
    judge = serializers.CharField(
        required=False, allow_blank=True, max_length=LONGEST_NAME, help_text="By name; default: the comparator in use."
    )
    comparator = serializers.CharField(required=False, allow_null=True, allow_blank=True, help_text="As before 0.2; use judge.")
    named = serializers.CharField(required=False, allow_blank=True, help_text="As before 0.2; use judge.")
    criterion = serializers.CharField(
        max_length=100, required=False, allow_null=True, allow_blank=True,
        help_text="Empty: judgments of pairs; null: the campaign's first criterion with scores.",
    )  # fmt: skip
    rating = serializers.ChoiceField(choices=["", "bradley-terry", "paper"], default="", help_text="Empty: Glicko-2.")
    level = serializers.ChoiceField(Tournament.Level.choices, default=Tournament.Level.SYSTEM)
    only_kept = serializers.BooleanField(default=False, help_text="Of people's answers, only those that the filter kept.")
    seed = serializers.IntegerField(min_value=0, max_value=MAX_SEED, default=0)
    games = serializers.IntegerField(min_value=1, max_value=start.MAX_GAMES, required=False, allow_null=True)


class TournamentRowSerializer(serializers.ModelSerializer):
    """The board is at /api/tournaments/ID/ once it is finished."""

    judge = serializers.CharField(source="judge.name", default=None, allow_null=True)
    kind = serializers.CharField(source="judge.kind", default=None, allow_null=True)
    comparator = serializers.CharField(source="judge.version.name", default=None, allow_null=True)
    job = JobSerializer()
    chosen = serializers.CharField(
        required=False, help_text="Of a POST where nobody chose what the board is about: what was taken."
    )

    class Meta:
        model = Tournament
        fields = ["chosen", "id", "basis", "judge", "kind", "comparator", "criterion", "level", "seed", "finished_at", "job"]


class AskSerializer(KnownFields, serializers.Serializer):
    goal = serializers.ChoiceField(
        choices=["systems", "comparator"], default="systems", help_text="What the next pairs are to tell most about."
    )


class TournamentsView(APIView):
    """The campaign's tournaments, the newest 100 first. POST queues one. Where the same waits or runs already,
    that one is the answer, with status 200."""

    @extend_schema(responses=TournamentRowSerializer(many=True))
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        newest = (
            campaign.tournaments.select_related("job", "judge__version")
            .defer("replicates", "head_to_head", "board")
            .order_by("-pk")[:100]
        )
        return Response(TournamentRowSerializer(newest, many=True).data)

    @extend_schema(request=PlaySerializer, responses=dict.fromkeys((200, 201), TournamentRowSerializer), parameters=[HEADER])
    @once
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        asked = PlaySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = dict(asked.validated_data)
        asked_for = asked_of({name: data.pop(name, None) for name in ("basis", "judge", "comparator", "named")})
        judge = judge_named(campaign, asked_for.judge) if asked_for.judge else None
        rules = start.rules_named(data.pop("rating"))
        made = start.start_tournament(campaign, asked_for.basis, judge, rules=rules, user=request.user, **data)
        chosen = by_default(made.snapshot, made.criterion) if data.get("criterion") is None else ""
        row = ({"chosen": chosen} if chosen else {}) | TournamentRowSerializer(made).data
        return Response(row, status=200 if made.was_waiting else 201)


class AskView(APIView):
    """Have a worker put the open pairs in order, the most informative ones first."""

    @extend_schema(request=AskSerializer, responses={201: JobSerializer}, parameters=[HEADER])
    @once
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        asked = AskSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        job = active_selection.start(campaign, request.user, goal=asked.validated_data["goal"])
        return Response(JobSerializer(job).data, status=201)


class TournamentFileView(APIView):
    """A finished board as CSV, as a LaTeX table or as an SVG, for whoever may see it."""

    permission_classes = [AllowAny]

    @extend_schema(
        responses={(200, kind): OpenApiTypes.STR for kind, _ in FILES.values()},
        parameters=[OpenApiParameter("kind", enum=list(FILES), location="path")],
    )
    def get(self, request, pk, kind):
        tournament = tournament_for(request.user, pk)
        if tournament.finished_at is None:
            raise Http404
        content_type, text = FILES[kind]
        return HttpResponse(text(queries.board(tournament)), content_type=f"{content_type}; charset=utf-8")
