"""Items one by one: their texts, their known answers, the reports about them; and the pictures that texts show."""

from collections.abc import Callable

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.request_fields import KnownFields, ShortList
from annotation.api.serializers import ItemSerializer
from annotation.campaigns import images, item_reports, known_answers
from annotation.campaigns.item_list import item_with_texts, reports
from annotation.models import Campaign, Item, ItemReport

PK = OpenApiParameter("pk", int, location="path")


class ItemDetailSerializer(ItemSerializer):
    """turns: the context; outputs: one text to score, two of a pair, more to rank; expected: the known answer, if any."""

    turns = serializers.ListField(source="output.context.turns", child=serializers.CharField())
    outputs = serializers.SerializerMethodField()
    expected = serializers.DictField(allow_null=True)

    class Meta(ItemSerializer.Meta):
        fields = [*ItemSerializer.Meta.fields, "turns", "outputs", "expected"]

    def get_outputs(self, item) -> list[str]:
        return [output.text for output in item.texts]


class KnownAnswerSerializer(KnownFields, serializers.Serializer):
    purpose = serializers.ChoiceField(choices=["gold", "training", "qualification"])
    expected = serializers.DictField(
        help_text='{"scores": {criterion: [values]}, "feedback": text}; for pairs {"choice": "A", "feedback": text}'
    )


class ProblemReportSerializer(serializers.ModelSerializer):
    item = serializers.IntegerField(source="item_id")
    annotator = serializers.CharField(source="annotator.name")

    class Meta:
        model = ItemReport
        fields = ["id", "item", "annotator", "kind", "reason", "created_at", "resolved_at", "reply", "replied_at"]


class ReplySerializer(KnownFields, serializers.Serializer):
    reply = serializers.CharField(max_length=item_reports.REPLY_LENGTH)
    replied_at = serializers.DateTimeField(
        default=None,
        allow_null=True,
        help_text="Of the reply whose place this one takes, as you read it. A reply that is not named so stays.",
    )


class ImagesSerializer(KnownFields, serializers.Serializer):
    images = ShortList(child=serializers.FileField(), max_length=100, help_text="PNG, JPEG, GIF or WebP, 5 MB each.")


class ImageNamesSerializer(serializers.Serializer):
    names = serializers.ListField(child=serializers.CharField())


class ItemActions:
    """Actions of the campaigns."""

    get_object: Callable[[], Campaign]  # these are the viewset's
    request: Request
    _page: Callable[..., Response]

    @extend_schema(responses=ItemDetailSerializer, parameters=[PK])
    @action(detail=True, url_path=r"items/(?P<pk>\d{1,9})", url_name="item")
    def item(self, request, slug, pk):
        return Response(ItemDetailSerializer(self._item(pk)).data)

    @extend_schema(methods=["put"], request=KnownAnswerSerializer, responses=ItemDetailSerializer, parameters=[PK])
    @extend_schema(methods=["delete"], responses={200: ItemDetailSerializer}, parameters=[PK])
    @action(detail=True, methods=["put", "delete"], url_path=r"items/(?P<pk>\d{1,9})/known", url_name="item_known")
    def known(self, request, slug, pk):
        """PUT makes an item that nobody has answered one with a known answer; DELETE puts it back into the evaluation."""
        item = self._item(pk)
        if request.method == "DELETE":
            known_answers.unmark_known(item, request.user)
        else:
            asked = KnownAnswerSerializer(data=request.data)
            asked.is_valid(raise_exception=True)
            known_answers.mark_known(item, **asked.validated_data, user=request.user)
        return Response(ItemDetailSerializer(self._item(pk)).data)

    @extend_schema(responses=ProblemReportSerializer(many=True))
    @action(detail=True)
    def reports(self, request, slug):
        """What annotators skipped, flagged or asked about, the open ones first."""
        return self._page(ProblemReportSerializer, reports(self.get_object()))

    @extend_schema(request=None, responses=ProblemReportSerializer, parameters=[PK])
    @action(detail=True, methods=["post"], url_path=r"reports/(?P<pk>\d{1,9})/resolve", url_name="resolve")
    def resolve(self, request, slug, pk):
        report = get_object_or_404(ItemReport.objects.filter(item__campaign=self.get_object()), pk=pk)
        known_answers.resolve(report, request.user)
        report.refresh_from_db()
        return Response(ProblemReportSerializer(report).data)

    @extend_schema(request=ReplySerializer, responses=ProblemReportSerializer, parameters=[PK])
    @action(detail=True, methods=["post"], url_path=r"reports/(?P<pk>\d{1,9})/reply", url_name="reply")
    def reply(self, request, slug, pk):
        """What the annotator who wrote the report will read; nobody else among the annotators does."""
        report = get_object_or_404(ItemReport.objects.filter(item__campaign=self.get_object()), pk=pk)
        asked = ReplySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        item_reports.reply(report, request.user, asked.validated_data["reply"], seen=asked.validated_data["replied_at"])
        return Response(ProblemReportSerializer(report).data)

    @extend_schema(methods=["get"], responses=ImageNamesSerializer)
    @extend_schema(methods=["post"], request={"multipart/form-data": ImagesSerializer}, responses={201: ImageNamesSerializer})
    @action(detail=True, methods=["get", "post"], parser_classes=[MultiPartParser])
    def images(self, request, slug):
        """The pictures that texts in Markdown show by their names. POST keeps all that are sent, or none."""
        campaign = self.get_object()
        if request.method == "POST":
            asked = ImagesSerializer(data=request.data)
            asked.is_valid(raise_exception=True)
            images.store_images(campaign, asked.validated_data["images"], request.user)
        status = 201 if request.method == "POST" else 200
        return Response({"names": images.image_names(campaign)}, status=status)

    def _item(self, pk) -> Item:
        item = item_with_texts(self.get_object(), pk)
        if item is None:
            raise Http404
        return item
