"""How far people agree, as figures; nothing is decided here. Long calculations are done by a worker."""

from collections.abc import Callable

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.serializers import RuleSerializer
from annotation.assessment.calculations import look_up
from annotation.models import Campaign

WORKED_OUT = {
    200: OpenApiTypes.OBJECT,
    202: inline_serializer("Later", {"job": serializers.UUIDField(help_text="Ask again when it is done.")}),
}


class QualityActions:
    """Actions of the campaigns: 200 with the figures, 202 with the job that works them out, 422 where there are none."""

    get_object: Callable[[], Campaign]  # this and the request are the viewset's
    request: Request

    @extend_schema(parameters=[RuleSerializer], responses=WORKED_OUT)
    @action(detail=True)
    def quality(self, request, slug):
        """What a rule would make of the answers."""
        rule = RuleSerializer(data=request.query_params)
        rule.is_valid(raise_exception=True)
        return self._worked_out("preview", "Preview of the filter", **rule.validated_data)

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

    def _worked_out(self, what: str, title: str, **settings) -> Response:
        result, job = look_up(self.get_object(), what, title, self.request.user, **settings)
        return Response({"job": str(job.pk)}, status=202) if job is not None else Response(result)
