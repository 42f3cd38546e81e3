"""How far people agree, as figures; nothing is decided here. Long calculations are done by a worker."""

from collections.abc import Callable
from pathlib import Path

from django.http import FileResponse, Http404, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.repeats import HEADER, once
from annotation.api.request_fields import KnownFields
from annotation.api.serializers import RuleSerializer
from annotation.assessment import preference_files, snapshot_contents
from annotation.assessment.adjudication import adjudicate
from annotation.assessment.asked_for import aims, question_named, set_aim
from annotation.assessment.calculations import follow, look_up
from annotation.assessment.dependence import group_by, notes
from annotation.assessment.disagreement import listed, with_texts
from annotation.assessment.report import CONTENT_TYPES as REPORT_TYPES
from annotation.assessment.report import WRITERS, report_of
from annotation.campaigns.study import design_study
from annotation.data.export import CONTENT_TYPES, PREFERENCES, answer_files, as_csv, as_jsonl
from annotation.models import Campaign, Job
from annotation.people.audit import exported
from annotation.questions.registry import all_questions
from annotation.snapshots import latest_snapshot
from core import errors

LATER = inline_serializer("Later", {"job": serializers.UUIDField(help_text="Ask again when it is done.")})
WORKED_OUT = {200: OpenApiTypes.OBJECT, 202: LATER}


DIGEST = "snapshots/(?P<digest>[0-9a-f]{12,64})"


class StudySerializer(KnownFields, serializers.Serializer):
    outputs = serializers.IntegerField(min_value=2, max_value=1000, help_text="Each is scored, and compared with four others.")


class ItemCountSerializer(serializers.Serializer):
    items = serializers.IntegerField()


class DisagreementSerializer(serializers.Serializer):
    """spread: of the kept scores, as a share of the scale; 1 for a pair. options: what may be believed."""

    key = serializers.CharField()
    criterion = serializers.CharField(source="criterion.name", default=None, allow_null=True)
    context = serializers.CharField(source="output.context.key")
    systems = serializers.SerializerMethodField()
    spread = serializers.FloatField()
    answers = serializers.SerializerMethodField()
    options = serializers.SerializerMethodField()

    def get_systems(self, row) -> list[str]:
        return [output.system.name for output in (row.output, row.other) if output]

    def get_answers(self, row) -> dict[str, str]:
        return {annotator: _said(answer) for annotator, answer in row.answers}

    def get_options(self, row) -> list[str]:
        return [_said(option) for option in row.options]


class SettlementSerializer(KnownFields, serializers.Serializer):
    """believed: one of the options; empty lets all answers stand."""

    key = serializers.RegexField(r"^\d{1,9}-\d{1,9}-\d{1,9}$")
    believed = serializers.CharField(max_length=20, allow_blank=True)
    reason = serializers.CharField(max_length=500)


class AimSerializer(KnownFields, serializers.Serializer):
    """question: a criterion, Pairs, or "CRITERION (pairs)"."""

    question = serializers.CharField(max_length=120)
    asks = serializers.ChoiceField(choices=["truth", "taste"])
    reason = serializers.CharField(max_length=500, help_text="Empty where the kind of question says what it asks for.")


class GroupingSerializer(KnownFields, serializers.Serializer):
    by = serializers.CharField(max_length=200, help_text="text, copies, none, or a field of the contexts' metadata.")


class NoteSerializer(serializers.Serializer):
    """What is not independent: copies, text, field (of the metadata) or relative (scores)."""

    kind = serializers.CharField()
    sentence = serializers.CharField()
    field = serializers.CharField()
    contexts = serializers.IntegerField()
    groups = serializers.IntegerField()


class MarginSerializer(KnownFields, serializers.Serializer):
    margin = serializers.FloatField(required=False, min_value=0.001, max_value=1000)


class DifferenceSerializer(serializers.Serializer):
    """From one snapshot to another, rows by kind, and answers gone and new by annotator."""

    rule = serializers.ListField(child=serializers.ListField())
    gone = serializers.DictField(child=serializers.IntegerField())
    come = serializers.DictField(child=serializers.IntegerField())
    people = serializers.DictField(child=serializers.ListField(child=serializers.IntegerField()))
    changed = serializers.ListField(child=serializers.DictField(), help_text="Answers whose value changed, with `before`.")


def _said(answer) -> str:
    return f"{answer:g}" if isinstance(answer, float) else str(answer)


class QualityActions:
    """Actions of the campaigns: 200 with the figures, 202 with the job that works them out, 422 where there are none."""

    get_object: Callable[[], Campaign]  # these are the viewset's
    request: Request
    paginate_queryset: Callable
    get_paginated_response: Callable[..., Response]
    _snapshot: Callable

    @extend_schema(parameters=[RuleSerializer], responses=WORKED_OUT)
    @action(detail=True)
    def quality(self, request, slug):
        """What a rule would make of the answers."""
        rule = RuleSerializer(data=request.query_params.dict())
        rule.is_valid(raise_exception=True)
        return self._worked_out("preview", "Preview of the filter", **rule.validated_data)

    @extend_schema(methods=["get"], responses=AimSerializer(many=True), filters=False)
    @extend_schema(methods=["post"], request=AimSerializer, responses={204: None})
    @action(detail=True, methods=["get", "post"], url_path="quality/asks", url_name="quality_aims", pagination_class=None)
    def quality_aims(self, request, slug):
        """What each question asks for, one truth or taste. POST says otherwise for one, with a reason."""
        campaign = self.get_object()
        if request.method == "POST":
            asked = AimSerializer(data=request.data)
            asked.is_valid(raise_exception=True)
            wanted = asked.validated_data
            set_aim(campaign, question_named(campaign, wanted["question"]), wanted["asks"], request.user, wanted["reason"])
            return Response(status=204)
        found = aims(campaign, all_questions(campaign))
        rows = [{"question": name, "asks": aim.asks, "reason": aim.reason} for name, aim in found.items()]
        return Response(AimSerializer(rows, many=True).data)

    @extend_schema(request=GroupingSerializer, responses={200: NoteSerializer(many=True)})
    @action(detail=True, methods=["post"], url_path="quality/groups", url_name="quality_groups", pagination_class=None)
    def quality_groups(self, request, slug):
        """Group contexts that are not independent, or take such groups back; the answer is what is left to say."""
        campaign, asked = self.get_object(), GroupingSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        group_by(campaign, asked.validated_data["by"], request.user)
        return Response(NoteSerializer([note.as_dict() for note in notes(campaign)], many=True).data)

    @extend_schema(responses=WORKED_OUT)
    @action(detail=True, url_path="quality/annotators", url_name="quality_annotators")
    def quality_annotators(self, request, slug):
        """A card for each annotator, the most suspicious first, and what each does to the ranking."""
        return self._worked_out("annotators", "Comparison of annotators")

    @extend_schema(responses=WORKED_OUT)
    @action(detail=True, url_path="quality/study", url_name="quality_study")
    def quality_study(self, request, slug):
        """Agreement of direct scores and of scores made from comparisons."""
        return self._worked_out("study", "Two ways of asking")

    @extend_schema(request=StudySerializer, responses={201: ItemCountSerializer}, parameters=[HEADER])
    @quality_study.mapping.post
    @once
    def draw_study(self, request, slug):
        """Draw the outputs to ask about in both ways: `items` more wait for annotators then."""
        campaign, asked = self.get_object(), StudySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        return Response({"items": design_study(campaign, request.user, **asked.validated_data)}, status=201)

    @extend_schema(methods=["get"], parameters=[RuleSerializer], responses=DisagreementSerializer(many=True))
    @extend_schema(methods=["post"], request=SettlementSerializer, responses={204: None})
    @action(detail=True, methods=["get", "post"], url_path="quality/disagreement", url_name="quality_disagreement")
    def quality_disagreement(self, request, slug):
        """What people still disagree about after the filter, the 1,000 widest. POST settles one, for snapshots to come."""
        campaign = self.get_object()
        if request.method == "POST":
            asked = SettlementSerializer(data=request.data)
            asked.is_valid(raise_exception=True)
            criterion, output, other = map(int, asked.validated_data["key"].split("-"))
            believed, reason = asked.validated_data["believed"], asked.validated_data["reason"]
            adjudicate(campaign, request.user, criterion or None, output, other or None, believed, reason)
            return Response(status=204)
        rule = RuleSerializer(data=request.query_params.dict())
        rule.is_valid(raise_exception=True)
        asked = rule.validated_data
        settings = {name: asked[name] for name in ("mad", "on_zero_mad")}
        followed = follow(campaign, "disagreement", "Disagreement", request.user, **settings)
        if followed.result is None:
            raise errors.Refused("A worker is reading the answers. Please ask again in a minute.")
        page = self.paginate_queryset(listed(campaign, followed.result))
        return self.get_paginated_response(DisagreementSerializer(with_texts(list(page)), many=True).data)

    @extend_schema(
        responses={(200, kind): OpenApiTypes.STR for kind in sorted(set(REPORT_TYPES.values()))},
        parameters=[OpenApiParameter("kind", enum=list(WRITERS), location="path")],
    )
    @action(detail=True, url_path=rf"quality/report/(?P<kind>{'|'.join(WRITERS)})", url_name="quality_report")
    def quality_report(self, request, slug, kind):
        """The report on the newest snapshot, without the annotators where a worker still works them out."""
        campaign = self.get_object()
        snapshot = latest_snapshot(campaign)
        if snapshot is None:
            raise errors.Refused("There is no snapshot yet; assess the quality first.")
        text = WRITERS[kind](report_of(campaign, snapshot, request.user))
        return HttpResponse(text, content_type=f"{REPORT_TYPES[kind]}; charset=utf-8")

    @extend_schema(
        responses={(200, kind.partition(";")[0]): OpenApiTypes.STR for kind in CONTENT_TYPES.values()} | {202: LATER},
        parameters=[
            OpenApiParameter("what", enum=[*answer_files(), PREFERENCES], location="path"),
            OpenApiParameter("kind", enum=list(CONTENT_TYPES), location="path"),
            OpenApiParameter("margin", float, description="For preferences: also from scores that differ by so many points."),
        ],
    )
    @action(
        detail=True,
        url_path=rf"{DIGEST}/export/(?P<what>[a-z_]+)/(?P<kind>{'|'.join(CONTENT_TYPES)})",
        url_name="snapshot_export",
        pagination_class=None,
    )
    def snapshot_export(self, request, slug, digest, what, kind):
        """A snapshot's answers with what became of them, or preference pairs: the same bytes whenever it is asked for. Where
        answers are many, a worker writes the pairs: 202 with its job, whose address `Location` names; then this address is the
        file."""
        if what not in (*answer_files(), PREFERENCES):
            raise Http404
        snapshot = self._snapshot(digest)
        if what == PREFERENCES:
            margin = MarginSerializer(data=request.query_params.dict())
            margin.is_valid(raise_exception=True)
            at_least = margin.validated_data.get("margin")
            made = preference_files.preference_file(snapshot, at_least, kind, request.user)
            if isinstance(made, Job):
                address = reverse("api_job-detail", args=[made.pk])
                return Response({"job": str(made.pk)}, status=202, headers={"Location": address})
            exported(f"{what} of {snapshot.name} ({kind})", snapshot.campaign, request.user)
            if isinstance(made, Path):
                return FileResponse(made.open("rb"), content_type=CONTENT_TYPES[kind])
            return StreamingHttpResponse(made, content_type=CONTENT_TYPES[kind])
        rows = snapshot_contents.rows(snapshot, what)
        exported(f"{what} of {snapshot.name} ({kind})", snapshot.campaign, request.user)
        lines = as_csv(rows, what) if kind == "csv" else as_jsonl(rows)
        return StreamingHttpResponse(lines, content_type=CONTENT_TYPES[kind])

    @extend_schema(
        responses={200: DifferenceSerializer, 202: LATER}, parameters=[OpenApiParameter("old", str, location="path")]
    )
    @action(detail=True, url_path=rf"{DIGEST}/since/(?P<old>[0-9a-f]{{12,64}})", url_name="snapshot_difference")
    def snapshot_difference(self, request, slug, digest, old):
        """What this snapshot holds that the other does not, and the other way round."""
        before, after = self._snapshot(old), self._snapshot(digest)
        return self._worked_out("difference", "Difference of two snapshots", old=before.digest, new=after.digest)

    def _worked_out(self, what: str, title: str, **settings) -> Response:
        result, job = look_up(self.get_object(), what, title, self.request.user, **settings)
        return Response({"job": str(job.pk)}, status=202) if job is not None else Response(result)
