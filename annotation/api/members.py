"""Who researches and who judges: researchers come and go, accounts are made, crowd workers are released."""

from collections.abc import Callable

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.annotating.crowd import return_worker
from annotation.api.repeats import HEADER, once
from annotation.api.request_fields import KnownFields
from annotation.campaigns import lifecycle
from annotation.models import Campaign, Membership
from annotation.people.accounts import add_account
from annotation.people.invitations import release_worker

PK = OpenApiParameter("pk", int, location="path")


class ResearcherSerializer(KnownFields, serializers.ModelSerializer):
    username = serializers.CharField(source="user.username", max_length=150, help_text="Of an account that is there.")

    class Meta:
        model = Membership
        fields = ["id", "username"]


class AccountSerializer(KnownFields, serializers.Serializer):
    email = serializers.EmailField(max_length=150, help_text="It is the log-in name.")
    name = serializers.CharField(max_length=60, required=False, allow_blank=True, help_text="A name or a pseudonym.")


class NewAccountSerializer(serializers.Serializer):
    annotator = serializers.CharField(help_text="The pseudonym that exports carry.")
    username = serializers.CharField()
    password = serializers.CharField(allow_blank=True, help_text="Of a new account, shown only now; else empty.")


class MemberActions:
    """Actions of the campaigns."""

    get_object: Callable[[], Campaign]  # these are the viewset's
    request: Request
    _page: Callable[..., Response]

    @extend_schema(methods=["get"], responses=ResearcherSerializer(many=True))
    @extend_schema(methods=["post"], request=ResearcherSerializer, responses={201: ResearcherSerializer}, parameters=[HEADER])
    @action(detail=True, methods=["get", "post"])
    @once
    def researchers(self, request, slug):
        """POST lets an existing account see the campaign's results and work with them."""
        campaign = self.get_object()
        if request.method == "GET":
            return self._page(ResearcherSerializer, campaign.memberships.select_related("user").order_by("user__username"))
        asked = ResearcherSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        added = lifecycle.add_researcher(campaign, asked.validated_data["user"]["username"], request.user)
        return Response(ResearcherSerializer(added).data, status=201)

    @extend_schema(responses={204: None}, parameters=[PK])
    @action(detail=True, methods=["delete"], url_path=r"researchers/(?P<pk>\d{1,9})", url_name="researcher")
    def researcher(self, request, slug, pk):
        """They no longer see the campaign's results. The last researcher stays."""
        memberships = self.get_object().memberships.select_related("campaign", "user")
        lifecycle.remove_researcher(get_object_or_404(memberships, pk=pk), request.user)
        return Response(status=204)

    @extend_schema(request=AccountSerializer, responses={201: NewAccountSerializer}, parameters=[HEADER])
    @action(detail=True, methods=["post"])
    @once
    def accounts(self, request, slug):
        """Let somebody judge under an account, which is made where there is none for this address."""
        campaign, asked = self.get_object(), AccountSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        annotator, password = add_account(campaign, data["email"], data.get("name", ""), request.user)
        made = {"annotator": annotator.name, "username": annotator.user.username, "password": password}
        return Response(made, status=201)

    @extend_schema(request=None, responses={204: None}, parameters=[OpenApiParameter("name", str, location="path")])
    @action(detail=True, methods=["post"], url_path=r"annotators/(?P<name>[^/]{1,200})/release", url_name="release")
    def release(self, request, slug, name):
        """Let a crowd platform's worker go on in another browser: the next that opens the link as this worker."""
        release_worker(get_object_or_404(self.get_object().annotators, name=name), request.user)
        return Response(status=204)

    @extend_schema(request=None, responses={204: None}, parameters=[OpenApiParameter("name", str, location="path")])
    @action(detail=True, methods=["post"], url_path=r"annotators/(?P<name>[^/]{1,200})/returned", url_name="returned")
    def returned(self, request, slug, name):
        """A crowd platform's worker gave the task back: their answers count no more, and their places are free at once."""
        return_worker(get_object_or_404(self.get_object().annotators, name=name), request.user)
        return Response(status=204)
