"""The Human Evaluation Datasheet: what the campaign says, and what its researchers write."""

from collections.abc import Callable

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.request_fields import KnownFields, ShortList
from annotation.assessment.datasheet.own_words import Written, write
from annotation.assessment.datasheet.questions import MOST_CHARACTERS
from annotation.assessment.datasheet.sheet import SheetAnswer, counts, datasheet
from annotation.models import Campaign
from annotation.snapshots import latest_snapshot
from core import errors

MOST_ANSWERS = 5000


class SheetAnswerSerializer(KnownFields, serializers.Serializer):
    """number: as HEDS 3.0 has it; criterion: of a question on one, null for pairs on the whole; chosen: places of options,
    from 1; chosen and text: what researchers wrote, empty takes it back. fact: what the campaign says; nobody can change it."""

    number = serializers.CharField(max_length=10, source="question.number")
    criterion = serializers.CharField(max_length=100, source="criterion.name", default=None, allow_null=True)
    chosen = ShortList(child=serializers.IntegerField(), source="own.chosen", default=list, max_length=100)
    text = serializers.CharField(source="own.text", default="", allow_blank=True, max_length=MOST_CHARACTERS)
    question = serializers.CharField(source="question.words", read_only=True)
    options = serializers.ListField(child=serializers.CharField(), source="question.options", read_only=True)
    several = serializers.BooleanField(source="question.several", read_only=True)
    is_asked = serializers.BooleanField(read_only=True, help_text="Does it want the researchers' words?")
    fact = serializers.SerializerMethodField()

    def get_fact(self, answer: SheetAnswer) -> str | None:
        return SheetAnswer(answer.question, answer.fact).answer if answer.fact else None


class SheetSerializer(KnownFields, serializers.Serializer):
    answers = SheetAnswerSerializer(many=True, max_length=MOST_ANSWERS)
    answered = serializers.IntegerField(read_only=True)
    asked = serializers.IntegerField(read_only=True)


class DatasheetActions:
    """Actions of the campaigns."""

    get_object: Callable[[], Campaign]  # these are the viewset's
    request: Request

    @extend_schema(methods=["get"], responses=SheetSerializer)
    @extend_schema(methods=["patch"], request=SheetSerializer, responses=SheetSerializer)
    @action(detail=True, methods=["get", "patch"], url_path="quality/datasheet", url_name="datasheet")
    def datasheet(self, request, slug):
        """HEDS 3.0. PATCH writes the answers that are sent, and leaves all others as they are."""
        campaign = self.get_object()
        if request.method == "PATCH":
            asked = SheetSerializer(data=request.data)
            asked.is_valid(raise_exception=True)
            write(campaign, request.user, [_written(campaign, row) for row in asked.validated_data["answers"]])
        sheet = datasheet(campaign, latest_snapshot(campaign))
        answered, asked_count = counts(sheet)
        return Response(SheetSerializer({"answers": sheet, "answered": answered, "asked": asked_count}).data)


def _written(campaign: Campaign, row: dict) -> Written:
    """As the serializer nests it."""
    name, own = (row.get("criterion") or {}).get("name"), row.get("own", {})
    criterion = campaign.criteria.filter(name=name).first() if name else None
    if name and criterion is None:
        raise errors.Refused(f"There is no criterion {errors.quoted(name)}.")
    return Written(row["question"]["number"], criterion, tuple(own.get("chosen", ())), own.get("text", ""))
