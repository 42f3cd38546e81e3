"""What researchers do, each call one service. An outsider gets the same 404 as for a campaign that does not exist."""

from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from annotation import jobs, snapshots
from annotation.access import campaigns_researched_by
from annotation.api import serializers
from annotation.api.assessment import LATER, QualityActions
from annotation.api.datasheet import DatasheetActions
from annotation.api.items import ItemActions
from annotation.api.members import MemberActions
from annotation.api.repeats import HEADER, once
from annotation.assessment import decisions
from annotation.assessment.acceptance import accept
from annotation.assessment.assess import as_dict
from annotation.assessment.calculations import follow
from annotation.campaigns import lifecycle, protocol
from annotation.campaigns.overview import ByAnswers
from annotation.campaigns.plan import search_campaign, system_of
from annotation.campaigns.templates import settings_of, template_named
from annotation.data import importer, uploads
from annotation.data.export import CONTENT_TYPES, as_csv, as_jsonl, exported_rows, files
from annotation.data.fields import kinds_of_files
from annotation.models import Job
from annotation.people.audit import exported
from annotation.people.invitations import invite, revoke_invitation
from core import archives, errors

FILES = {(200, kind.partition(";")[0]): OpenApiTypes.STR for kind in CONTENT_TYPES.values()}


class CampaignViewSet(
    QualityActions,
    DatasheetActions,
    ItemActions,
    MemberActions,
    viewsets.GenericViewSet,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
):
    lookup_field = "slug"
    lookup_value_regex = "[-a-zA-Z0-9_]+"
    serializer_class = serializers.CampaignSerializer

    def get_queryset(self):
        return campaigns_researched_by(self.request.user).prefetch_related("criteria")

    def get_serializer_class(self):
        return serializers.CampaignDetailSerializer if self.action == "retrieve" else super().get_serializer_class()

    @extend_schema(
        request=serializers.NewCampaignSerializer, responses={201: serializers.CampaignSerializer}, parameters=[HEADER]
    )
    @once
    def create(self, request):
        """`template` fills in what is not sent: guidelines, criteria, and whether scores, pairs or both are asked."""
        _may_create(request.user)
        data = valid(serializers.NewCampaignSerializer(data=request.data))
        template = data.pop("template", None)
        if "criteria" in data:
            data["criteria"] = [serializers.CriterionSerializer.spec(row) for row in data["criteria"]]
        asked = (settings_of(template_named(template)) if template else {}) | data
        campaign = lifecycle.create_campaign(**asked, user=request.user)
        return Response(serializers.CampaignSerializer(campaign).data, status=201)

    @extend_schema(request=serializers.CampaignWriteSerializer, responses=serializers.CampaignDetailSerializer)
    def partial_update(self, request, slug):
        """Only what is sent changes; criteria are sent as the whole list. What answers hold in place is refused."""
        campaign = self.get_object()
        data = valid(serializers.CampaignWriteSerializer(campaign, data=request.data, partial=True))
        criteria, consent = data.pop("criteria", None), data.pop("consent", None)
        if criteria is not None:
            criteria = [serializers.CriterionSerializer.spec(row) for row in criteria]
        protocol.change_campaign(campaign, request.user, criteria, consent, **data)
        return Response(serializers.CampaignDetailSerializer(self.get_object()).data)

    @extend_schema(responses={204: None})
    def destroy(self, request, slug):
        """Put the campaign away. Nothing in it is lost; an admin brings it back."""
        lifecycle.delete_campaign(self.get_object(), request.user)
        return Response(status=204)

    @extend_schema(request=serializers.StatusSerializer, responses=serializers.StatusSerializer)
    @action(detail=True, methods=["put"])
    def status(self, request, slug):
        """Open, pause or close it."""
        campaign = self.get_object()
        lifecycle.set_status(campaign, valid(serializers.StatusSerializer(data=request.data))["status"], request.user)
        return Response({"status": campaign.status})

    @extend_schema(request=serializers.CopySerializer, responses={201: serializers.CampaignSerializer}, parameters=[HEADER])
    @action(detail=True, methods=["post"])
    @once
    def duplicate(self, request, slug):
        """The same questions again, without any answer."""
        _may_create(request.user)
        data = valid(serializers.CopySerializer(data=request.data))
        copy = lifecycle.duplicate_campaign(self.get_object(), **data, user=request.user)
        return Response(serializers.CampaignSerializer(copy).data, status=201)

    @extend_schema(
        request={"multipart/form-data": serializers.ImportSerializer},
        responses={200: serializers.ImportedSerializer, 202: serializers.JobSerializer},
        parameters=[OpenApiParameter("what", enum=kinds_of_files(), location="path")],
    )
    @action(
        detail=True,
        methods=["post"],
        url_path="import/(?P<what>(?!dialogues/)[a-z_]+)",  # conversations are no answers: evaluator imports them
        url_name="import",
        parser_classes=[MultiPartParser],
    )
    def import_file(self, request, slug, what):
        """All rows or none: an answer 422 has one entry for each wrong row, with its line. Repeating it changes nothing.

        A file over 200 KB, unpacked, is a worker's: the answer is 202 with the job, whose address `Location` names; `imported`
        there says in the end what became of the file."""
        if what not in kinds_of_files():
            raise Http404
        campaign = self.get_object()
        data = valid(serializers.ImportSerializer(data=request.data))
        how = {"dry_run": data["dry_run"], "user": request.user, **_about_file(what, data)}
        if archives.is_longer(data["file"], data["file"].name, uploads.SMALL):
            job = uploads.import_later(campaign, data["file"], what, **how).job
            address = reverse("api_job-detail", args=[job.pk])
            return Response(serializers.JobSerializer(job).data, status=202, headers={"Location": address})
        done = importer.import_file(campaign, what, data["file"], data["file"].name, **how)
        return Response(serializers.ImportedSerializer(done).data)

    @extend_schema(
        responses=FILES,
        parameters=[
            OpenApiParameter("what", enum=files(), location="path"),
            OpenApiParameter("kind", enum=list(CONTENT_TYPES), location="path"),
        ],
    )
    @action(detail=True, url_path=r"export/(?P<what>[a-z_]+)/(?P<kind>jsonl|csv)", url_name="export", pagination_class=None)
    def export(self, request, slug, what, kind):
        """Outputs, judges' scores, and the answers that count now, under pseudonyms, as the importers read them back."""
        if what not in files():
            raise Http404
        campaign = self.get_object()
        rows = exported_rows(campaign, what)
        exported(f"{what} ({kind})", campaign, request.user)
        lines = as_csv(rows, what) if kind == "csv" else as_jsonl(rows)
        return StreamingHttpResponse(lines, content_type=CONTENT_TYPES[kind])

    @extend_schema(responses=serializers.ItemSerializer(many=True))
    @action(detail=True)
    def items(self, request, slug):
        """What is judged, in the drawn order, with how far each is."""
        rows = self.get_object().items.select_related("output__context", "output__system", "other__system")
        return self._page(serializers.ItemSerializer, rows.order_by("position", "pk"))

    @extend_schema(responses=serializers.AnnotatorSerializer(many=True))
    @action(detail=True)
    def annotators(self, request, slug):
        """The busiest first. Where there are many answers, they are counted in the background, so the newest may be missing."""
        campaign = self.get_object()
        counts = follow(campaign, "people", "Answers by person", request.user)
        return self._page(serializers.AnnotatorSerializer, ByAnswers(campaign.annotators.all(), counts.part("counts")))

    @extend_schema(responses=serializers.JobSerializer(many=True))
    @action(detail=True)
    def jobs(self, request, slug):
        return self._page(serializers.JobSerializer, self.get_object().jobs.all())

    @extend_schema(methods=["get"], responses=serializers.InvitationSerializer(many=True))
    @extend_schema(
        methods=["post"],
        request=serializers.InvitationSerializer,
        responses={201: serializers.InvitationSerializer},
        parameters=[HEADER],
    )
    @action(detail=True, methods=["get", "post"])
    @once
    def invitations(self, request, slug):
        """Links that let people in; `token` is the last part of the link /join/TOKEN/."""
        campaign = self.get_object()
        if request.method == "GET":
            return self._page(serializers.InvitationSerializer, campaign.invitations.order_by("-created_at", "-pk"))
        data = valid(serializers.InvitationSerializer(data=request.data))
        return Response(serializers.InvitationSerializer(invite(campaign, request.user, **data)).data, status=201)

    @extend_schema(parameters=[serializers.SearchSerializer], responses=serializers.FoundSearchSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def plan(self, request, slug):
        """How many contexts, people and judgments find a given difference of two systems with 80% power."""
        campaign = self.get_object()
        asked = valid(serializers.SearchSerializer(data=request.query_params.dict()))
        slug_of_pilot = asked.pop("pilot", "")
        pilot = get_object_or_404(self.get_queryset(), slug=slug_of_pilot) if slug_of_pilot else campaign
        ahead = system_of(pilot, asked.get("system", ""))
        figures = follow(pilot, "pilot", "Variances of answers", request.user, ahead=ahead).result
        if figures is None:
            raise errors.Refused("A worker is reading the pilot's answers. Please ask again in a minute.")
        found = search_campaign(campaign, **asked, pilot=pilot, figures=figures)
        return Response([search.as_dict() for search in found])

    @extend_schema(responses={204: None}, parameters=[OpenApiParameter("pk", int, location="path")])
    @action(detail=True, methods=["delete"], url_path=r"invitations/(?P<pk>\d{1,9})", url_name="invitation")
    def revoke(self, request, slug, pk):
        """From now on the link admits nobody new; who came in by it stays in."""
        revoke_invitation(get_object_or_404(self.get_object().invitations, pk=pk), request.user)
        return Response(status=204)

    @extend_schema(methods=["get"], responses=serializers.SnapshotSerializer(many=True))
    @extend_schema(
        methods=["post"], request=serializers.RuleSerializer, responses={201: serializers.AssessmentSerializer, 202: LATER}
    )
    @action(detail=True, methods=["get", "post"])
    def snapshots(self, request, slug):
        """POST assesses the answers and freezes what is accepted; the same answers under the same rule give the same one. Where
        answers are many, a worker does so: 202 with its job, which has the snapshot's digest when it is done."""
        campaign = self.get_object()
        if request.method == "GET":
            return self._page(serializers.SnapshotSerializer, campaign.snapshots.defer("content"))
        made = accept(campaign, request.user, **valid(serializers.RuleSerializer(data=request.data)))
        return Response({"job": str(made.pk)}, status=202) if isinstance(made, Job) else Response(as_dict(made), status=201)

    @extend_schema(responses=serializers.AssessmentSerializer)
    @action(detail=True, url_path="snapshots/(?P<digest>[0-9a-f]{12,64})", url_name="snapshot")
    def snapshot(self, request, slug, digest):
        return Response(as_dict(self._snapshot(digest)))

    @extend_schema(responses={(200, "application/x-ndjson"): OpenApiTypes.STR})
    @action(detail=True, url_path="snapshots/(?P<digest>[0-9a-f]{12,64})/content", url_name="snapshot_content")
    def content(self, request, slug, digest):
        """The snapshot's canonical JSON lines: their SHA-256 is its digest."""
        snapshot = self._snapshot(digest)
        exported(f"snapshot {snapshot.name}", snapshot.campaign, request.user)
        length, parts = snapshots.parts(snapshot)
        return StreamingHttpResponse(parts, content_type="application/x-ndjson", headers={"Content-Length": str(length)})

    @extend_schema(request=serializers.ReasonSerializer, responses=serializers.AssessmentSerializer)
    @action(detail=True, methods=["post"], url_path="snapshots/(?P<digest>[0-9a-f]{12,64})/overrule", url_name="overrule")
    def overrule(self, request, slug, digest):
        """Let a criterion below the line be used, with a reason that is kept."""
        snapshot = self._snapshot(digest)
        data = valid(serializers.ReasonSerializer(data=request.data))
        about = {"criterion__name": data["criterion"]} if data["criterion"] else {"criterion": None}
        decisions.overrule(get_object_or_404(snapshot.decisions, **about), request.user, data["reason"])
        return Response(as_dict(snapshot))

    def _snapshot(self, digest: str):
        snapshot = self.get_object().snapshots.defer("content").filter(digest__startswith=digest).first()
        if snapshot is None:
            raise Http404
        return snapshot

    def _page(self, serializer, rows):
        return self.get_paginated_response(serializer(self.paginate_queryset(rows), many=True).data)


class JobViewSet(viewsets.GenericViewSet, mixins.RetrieveModelMixin):
    """Long work: where it stands, and its ends."""

    queryset = Job.objects.none()
    serializer_class = serializers.JobSerializer
    lookup_value_regex = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

    def get_serializer_class(self):
        return serializers.JobDetailSerializer if self.action == "retrieve" else super().get_serializer_class()

    def get_queryset(self):
        if self.request.user.is_admin:
            return Job.objects.all()
        return Job.objects.filter(campaign__in=campaigns_researched_by(self.request.user))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def cancel(self, request, pk):
        jobs.cancel(self.get_object())
        return Response(serializers.JobSerializer(self.get_object()).data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def retry(self, request, pk):
        if not jobs.retry(self.get_object()):
            raise errors.Refused("Only a job that failed or was cancelled can be started again.")
        return Response(serializers.JobSerializer(self.get_object()).data)


def _about_file(what: str, data: dict) -> dict:
    """What the importer of this kind is told beside the file."""
    return {name: data[name] for name in importer.options_of(what) if name in data}


def _may_create(user) -> None:
    if not (user.may_create_campaigns or user.is_admin):
        raise PermissionDenied("Your account may not create campaigns; an admin can allow it.")


def valid(serializer) -> dict:
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)
