"""What annotators do: join, agree, take the next item, answer, undo, change, skip, report, withdraw."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.throttling import ScopedRateThrottle
from rest_framework.views import APIView

from annotation.access import annotator_of
from annotation.annotating import reports, submissions
from annotation.annotating.assignment import progress, turn
from annotation.annotating.completion import is_finished
from annotation.annotating.consent import agree, consent_due, withdraw_annotator
from annotation.annotating.feedback import checks, shows_known_answer
from annotation.annotating.item_page import times_of
from annotation.annotating.submissions import live_submissions
from annotation.annotating.undo import undo_last
from annotation.api import item_shapes
from annotation.api.campaigns import valid
from annotation.campaigns.item_reports import latest_first, mark_read
from annotation.models import Annotator, Campaign, Scope
from annotation.people import invitations, notices
from annotation.people.tokens import make_token
from annotation.questions.store import of_submission
from core import errors


class TaskViewSet(viewsets.GenericViewSet):
    """The campaigns the user annotates."""

    scope = Scope.ANNOTATE
    lookup_field = "slug"
    lookup_value_regex = "[-a-zA-Z0-9_]+"
    serializer_class = item_shapes.TaskSerializer

    def get_queryset(self):
        campaigns = Campaign.objects.filter(annotators__user=self.request.user, deleted_at=None)
        return campaigns.prefetch_related("criteria")

    def get_object(self) -> Annotator:
        return annotator_of(self.request.user, self.kwargs["slug"])

    def list(self, request):
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(item_shapes.TaskSerializer(page, many=True).data)

    @extend_schema(responses=item_shapes.TaskDetailSerializer)
    def retrieve(self, request, slug):
        annotator = self.get_object()
        due = consent_due(annotator)
        campaign: Any = annotator.campaign
        campaign.progress = progress(annotator)
        campaign.consent = due and {"version": due.version, "text": due.text}
        return Response(item_shapes.TaskDetailSerializer(campaign).data)

    @extend_schema(request=None, responses=item_shapes.NextSerializer)
    @action(detail=True, methods=["post"])
    def next(self, request, slug):
        """The item in the person's hands, or the next one. It is theirs for an hour."""
        annotator = self.get_object()
        if consent_due(annotator):
            raise errors.Refused("Agree to the consent text first (the task's consent).")
        current = turn(annotator)
        if current.assignment is None and is_finished(annotator, current.progress):
            notices.note_finished(annotator)
        return Response(item_shapes.NextSerializer(item_shapes.turn_as_dict(annotator, current)).data)

    @extend_schema(methods=["get"], responses=item_shapes.GivenSerializer(many=True))
    @extend_schema(methods=["post"], request=item_shapes.AnswerSerializer, responses={201: item_shapes.StoredSerializer})
    @action(detail=True, methods=["get", "post"])
    def judgments(self, request, slug):
        """POST stores an answer, once for each key. GET lists the person's own answers that stand, the latest first."""
        annotator = self.get_object()
        if request.method == "GET":
            page = self.paginate_queryset(live_submissions(annotator))
            return self.get_paginated_response(item_shapes.GivenSerializer(page, many=True).data)
        return self._store(annotator, submissions.submit, item_shapes.AnswerSerializer(data=request.data))

    @extend_schema(request=item_shapes.AnswerSerializer, responses={201: item_shapes.StoredSerializer})
    @action(detail=True, methods=["post"])
    def revise(self, request, slug):
        """Put another answer in the place of an earlier one; the earlier one is kept, but counts no more."""
        return self._store(self.get_object(), submissions.revise, item_shapes.AnswerSerializer(data=request.data))

    def _store(self, annotator: Annotator, service, serializer: item_shapes.AnswerSerializer) -> Response:
        data = valid(serializer)
        times = times_of({"shown": data.get("shown", ""), "active": data.get("active_milliseconds")}, data["assignment"])
        stored = service(annotator, data["assignment"], data["key"], serializer.answer(), **times)
        feedback = []
        if shows_known_answer(stored, annotator.campaign):
            assignment = stored.assignment
            feedback = [asdict(check) for check in checks(assignment.item, of_submission(stored), assignment.swapped)]
        return Response(
            {"key": stored.key, "is_surplus": stored.is_surplus, "feedback": feedback, "left_out": stored.left_out}, status=201
        )

    @extend_schema(request=item_shapes.InHandSerializer, responses=item_shapes.NextSerializer)
    @action(detail=True, methods=["post"])
    def undo(self, request, slug):
        """Take back the latest answer; its item is in the person's hands again."""
        annotator = self.get_object()
        undo_last(annotator, **valid(item_shapes.InHandSerializer(data=request.data)))
        return Response(item_shapes.NextSerializer(item_shapes.turn_as_dict(annotator, turn(annotator))).data)

    @extend_schema(request=item_shapes.ReportSerializer, responses={204: None})
    @action(detail=True, methods=["post"])
    def skip(self, request, slug):
        """Pass an item by, saying why; it goes to somebody else."""
        annotator, data = self.get_object(), valid(item_shapes.ReportSerializer(data=request.data))
        reports.skip(annotator, data["assignment"], data["reason"])
        return Response(status=204)

    @extend_schema(request=item_shapes.ReportSerializer, responses={204: None})
    @action(detail=True, methods=["post"])
    def flag(self, request, slug):
        """Report an item as broken; it stays in the person's hands."""
        annotator, data = self.get_object(), valid(item_shapes.ReportSerializer(data=request.data))
        reports.flag(annotator, data["assignment"], data["reason"])
        return Response(status=204)

    @extend_schema(request=item_shapes.ReportSerializer, responses={204: None})
    @action(detail=True, methods=["post"])
    def ask(self, request, slug):
        """Ask the researchers about an item; it stays in the person's hands. `reports` has their reply."""
        annotator, data = self.get_object(), valid(item_shapes.ReportSerializer(data=request.data))
        reports.ask(annotator, data["assignment"], data["reason"])
        return Response(status=204)

    @extend_schema(responses=item_shapes.OwnReportSerializer(many=True))
    @action(detail=True)
    def reports(self, request, slug):
        """What the person said of items, with the researchers' replies, the latest first. They count as read then."""
        annotator = self.get_object()
        page = self.paginate_queryset(latest_first(annotator))
        mark_read(annotator)
        return self.get_paginated_response(item_shapes.OwnReportSerializer(page, many=True).data)

    @extend_schema(request=item_shapes.VersionSerializer, responses={204: None})
    @action(detail=True, methods=["post"])
    def consent(self, request, slug):
        """Agree to the newest consent text, by its version."""
        annotator = self.get_object()
        agree(annotator, valid(item_shapes.VersionSerializer(data=request.data))["version"])
        return Response(status=204)

    @extend_schema(request=None, responses={204: None})
    @action(detail=True, methods=["post"])
    def withdraw(self, request, slug):
        """From now on none of the person's answers counts. This can't be taken back."""
        withdraw_annotator(self.get_object(), request.user)
        return Response(status=204)


class JoinView(APIView):
    """Whoever holds an invitation's token may annotate: with their account, or as a guest, who gets a token here."""

    scope = Scope.ANNOTATE
    permission_classes = [AllowAny]
    throttle_classes = [ScopedRateThrottle]
    throttle_scope = "join"

    @extend_schema(request=item_shapes.GuestSerializer, responses={201: item_shapes.JoinedSerializer})
    def post(self, request, token):
        name = valid(item_shapes.GuestSerializer(data=request.data)).get("name", "")
        if request.user.is_authenticated:
            annotator, key = invitations.join(token, request.user), None
        else:
            user, annotator = invitations.join_as_guest(token, name)
            key = make_token(user, "guest", [Scope.ANNOTATE])[1]
        return Response({"task": annotator.campaign.slug, "token": key}, status=201)
