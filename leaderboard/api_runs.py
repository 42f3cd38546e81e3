"""Trainings that are watched, for the campaign's researchers: what to answer, runs, their checkpoints, what is said of them."""

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.generics import GenericAPIView
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for_researcher
from annotation.api.parsers import TooLarge
from annotation.api.repeats import HEADER, once
from annotation.api.request_fields import MOST, unknown_in
from core.errors import shortened
from leaderboard.models import Run
from leaderboard.run_serializers import (
    RULES,
    ChooseSerializer,
    ChosenSerializer,
    ComparedSerializer,
    ContextRowSerializer,
    JudgeCostSerializer,
    NewRunSerializer,
    OutputSerializer,
    ReceivedSerializer,
    RunReportSerializer,
    RunRowSerializer,
    RunSerializer,
)
from leaderboard.runs import choice, comparison, costs, overview, registry, reports


class Taken(APIException):
    status_code = 409


class BoundedView(APIView):
    """What is larger than a form may be is not read."""

    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        if int(request.META.get("CONTENT_LENGTH") or 0) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise TooLarge


NAMES = OpenApiParameter("name", many=True, required=True, description="A run's; once for each run.")
RUN = OpenApiParameter("run", description="A run's name: its contexts, in its order.")


class ContextsView(GenericAPIView):
    """What outputs answer: the campaign's contexts, or those of a run, in the order in which its reports are judged."""

    @extend_schema(responses=ContextRowSerializer(many=True), parameters=[RUN])
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        contexts = campaign.contexts.order_by("pk")
        if name := request.query_params.get("run"):
            contexts = contexts.filter(pk__in=overview.run_named(campaign, name).contexts)
        page = self.paginate_queryset(contexts.only("campaign", "key", "turns", "group"))
        return self.get_paginated_response(ContextRowSerializer(page, many=True).data)


class JudgeCostsView(APIView):
    """The judges that a run may have, and what 1,000 outputs of a checkpoint take with each: here, or where it was measured."""

    @extend_schema(responses=JudgeCostSerializer(many=True))
    def get(self, request, slug):
        found = costs.choices(campaign_for_researcher(request.user, slug))
        return Response(JudgeCostSerializer(found, many=True).data)


class RunsView(BoundedView, GenericAPIView):
    """The campaign's runs, the newest first. POST opens one; a name that is there is taken up again, with status 200."""

    @extend_schema(responses=RunRowSerializer(many=True))
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        page = self.paginate_queryset(overview.of_campaign(campaign))
        return self.get_paginated_response(RunRowSerializer(map(overview.row, page), many=True).data)

    @extend_schema(request=NewRunSerializer, responses=dict.fromkeys((200, 201), RunSerializer), parameters=[HEADER])
    @once
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        data = _asked(NewRunSerializer, request)
        rules = {name: data[name] for name in RULES if name in data}
        opened = registry.open_run(
            campaign,
            data["name"],
            judge=data.get("judge") or "",
            contexts=data.get("contexts"),
            total_steps=data.get("total_steps"),
            settings=data.get("settings"),
            rules=rules,
            user=request.user,
        )
        whole = overview.of_run(overview.run_named(campaign, opened.run.name))
        return Response(RunSerializer(whole | {"left_out": opened.left_out}).data, status=201 if opened.is_new else 200)


class RunView(APIView):
    """One run: its verdict, a point for each judged checkpoint, and what is in the way."""

    @extend_schema(responses=RunSerializer)
    def get(self, request, slug, name):
        return Response(RunSerializer(overview.of_run(_run(request, slug, name))).data)


class RunFileView(APIView):
    """Its points as CSV; in each row who judged and what must be said."""

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR})
    def get(self, request, slug, name):
        return HttpResponse(overview.as_csv(_run(request, slug, name)), content_type="text/csv; charset=utf-8")


class CompareView(APIView):
    """The best checkpoints of several runs against each other: which settings win, and how surely."""

    @extend_schema(responses=ComparedSerializer, parameters=[NAMES])
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        return Response(ComparedSerializer(comparison.compare(campaign, request.query_params.getlist("name"))).data)


class CheckpointsView(BoundedView):
    """A report of one step. 202: something was stored, and is judged once it is whole; 200: all of it was there; 409: the step
    has another text, or the run is closed."""

    @extend_schema(request=RunReportSerializer, responses=dict.fromkeys((200, 202), ReceivedSerializer), parameters=[HEADER])
    @once
    def post(self, request, slug, name):
        run, data = _run(request, slug, name), _asked(RunReportSerializer, request)
        outputs = {row["context_id"]: row["output"] for row in data["outputs"]}
        if len(outputs) < len(data["outputs"]):
            raise serializers.ValidationError({"outputs": "A context stands here twice."})
        logprobs = {row["context_id"]: row["logprob"] for row in data["outputs"] if row.get("logprob") is not None}
        report = reports.Report(
            step=data["step"],
            outputs=outputs,
            log_probabilities=logprobs,
            validation_loss=data.get("validation_loss"),
            total_steps=data.get("total_steps"),
            parts=data.get("parts"),
        )
        try:
            received = reports.receive(run, report, request.user)
        except reports.Conflict as conflict:
            raise Taken(str(conflict)) from None
        left_out = [*_unknown(request.data), *received.left_out]
        said = {
            "step": report.step,
            "complete": received.complete,
            "stored": received.stored,
            "missing": received.missing,
            "job": received.job,
            "left_out": left_out,
        }
        return Response(ReceivedSerializer(said).data, status=202 if received.is_new else 200)


class ChooseView(BoundedView):
    """What of a run people judge, or what plays on the board. Until then it makes no item and no output of the campaign."""

    @extend_schema(request=ChooseSerializer, responses=ChosenSerializer, parameters=[HEADER])
    @once
    def post(self, request, slug, name):
        run, data = _run(request, slug, name), _asked(ChooseSerializer, request)
        if data["purpose"] == "people":
            chosen = choice.for_people(run, data["step"], data["beside"], request.user)
        else:
            chosen = choice.for_board(run, data["step"], request.user)
        return Response(ChosenSerializer(chosen).data)


class CloseView(BoundedView):
    """It takes no more checkpoints. What it has stays."""

    @extend_schema(request=None, responses=RunSerializer)
    def post(self, request, slug, name):
        run = registry.close(_run(request, slug, name), request.user)
        return Response(RunSerializer(overview.of_run(run)).data)


def _run(request, slug: str, name: str) -> Run:
    return overview.run_named(campaign_for_researcher(request.user, slug), name)


def _asked(shape, request) -> dict[str, Any]:
    asked = shape(data=request.data)
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)


def _unknown(report) -> list[str]:
    """Fields of a checkpoint's report that nobody knows, a sentence each; of many the first. The report counts without them, so
    that no training loses a checkpoint by them."""
    unknown, known = unknown_in(report, RunReportSerializer().fields), list(OutputSerializer().fields)
    of_outputs = {name: None for row in report["outputs"] for name in unknown_in(row, known)}
    return [
        *(f"{shortened(name)!r} is no field of this request." for name in unknown),
        *(f"{shortened(name)!r} is no field of an output." for name in list(of_outputs)[:MOST]),
    ]
