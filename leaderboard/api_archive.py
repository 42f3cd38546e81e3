"""A whole campaign out and in again."""

from pathlib import Path

from django.http import FileResponse, Http404, HttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for_researcher
from annotation.api.assessment import LATER
from annotation.api.repeats import HEADER, once
from annotation.api.request_fields import KnownFields
from annotation.api.serializers import JobSerializer
from annotation.models import Job
from annotation.people.audit import exported
from core.errors import Refused
from leaderboard.archive import exchange
from leaderboard.publication import download


class ArchiveSerializer(KnownFields, serializers.Serializer):
    file = serializers.FileField()
    slug = serializers.SlugField(max_length=80, required=False, help_text="Another short name; default: the one that it had.")
    dry_run = serializers.BooleanField(default=False)


class AdmittedSerializer(serializers.Serializer):
    """rows: of each table."""

    campaign = serializers.CharField()
    rows = serializers.DictField(child=serializers.IntegerField())
    simulated = serializers.BooleanField()
    dry_run = serializers.BooleanField()


class FillingSerializer(JobSerializer):
    """The job that fills the new campaign."""

    campaign = serializers.CharField(source="campaign.slug")

    class Meta(JobSerializer.Meta):
        fields = [*JobSerializer.Meta.fields, "campaign"]


class ArchiveView(APIView):
    """POST writes the campaign's archive anew, as a job; GET is the newest one that is written."""

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        job = exchange.latest(campaign)
        if job is None or job.status != Job.Status.DONE:
            raise Refused("There is no archive of this campaign yet; POST to this address writes one.")
        file = exchange.file_of(job).open("rb")
        return FileResponse(file, as_attachment=True, filename=f"{slug}.zip", content_type="application/zip")

    @extend_schema(request=None, responses={201: JobSerializer}, parameters=[HEADER])
    @once
    def post(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        return Response(JobSerializer(exchange.ask(campaign, request.user)).data, status=201)


class PublishedView(APIView):
    """A snapshot's files as one zip: answers, preferences, boards, Inspect, Every Eval Ever, the Hub, HEDS, citation. Where
    answers are many, a worker writes it: 202 with its job, whose address `Location` names; then this address is the file."""

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY, 202: LATER})
    def get(self, request, slug, digest):
        campaign = campaign_for_researcher(request.user, slug)
        snapshot = _snapshot(campaign, digest)
        made = download.zip_of(snapshot, request.user)
        if isinstance(made, Job):
            address = reverse("api_job-detail", args=[made.pk])
            return Response({"job": str(made.pk)}, status=202, headers={"Location": address})
        exported(f"the files of {snapshot.name}", campaign, request.user)
        if isinstance(made, Path):
            return FileResponse(made.open("rb"), content_type="application/zip")
        return HttpResponse(made, content_type="application/zip")


def _snapshot(campaign, digest):
    found = campaign.snapshots.filter(digest__startswith=digest).first()
    if found is None:
        raise Http404
    return found


class ArchivesView(APIView):
    """A new campaign from an archive, with equal hashes, boards and times. Of a large one the answer is 202, with the job that
    fills the campaign."""

    parser_classes = [MultiPartParser]

    @extend_schema(
        request={"multipart/form-data": ArchiveSerializer},
        responses={200: AdmittedSerializer, 201: AdmittedSerializer, 202: FillingSerializer},
    )
    def post(self, request):
        if not (request.user.may_create_campaigns or request.user.is_admin):
            raise PermissionDenied("Your account may not create campaigns; an admin can allow it.")
        asked = ArchiveSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        _, admitted, job = exchange.receive(data["file"], data.get("slug", ""), request.user, data["dry_run"])
        if admitted is None:
            address = reverse("api_job-detail", args=[job.pk])
            return Response(FillingSerializer(job).data, status=202, headers={"Location": address})
        return Response(AdmittedSerializer(admitted.as_dict()).data, status=200 if admitted.dry_run else 201)
