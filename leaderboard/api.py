"""Boards as JSON, for those who may see the campaign's results."""

from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for_researcher, campaigns_researched_by
from leaderboard import selectors
from leaderboard.models import Tournament


def tournament_for_researcher(user, pk: int) -> Tournament:
    found = Tournament.objects.select_related("campaign", "job", "version__run", "snapshot").defer("snapshot__content")
    return get_object_or_404(found, pk=pk, campaign__in=campaigns_researched_by(user))


class LeaderboardView(APIView):
    """The newest board; ?judge=comparator|people, ?criterion=NAME."""

    def get(self, request, slug):
        campaign = campaign_for_researcher(request.user, slug)
        judge = request.query_params.get("judge", Tournament.Judge.COMPARATOR)
        tournament = selectors.latest(campaign, judge, request.query_params.get("criterion"))
        if tournament is None:
            raise Http404
        people = selectors.latest(campaign, Tournament.Judge.PEOPLE, tournament.criterion)
        return Response(selectors.board(tournament, people))


class TournamentView(APIView):
    """One finished tournament; it never changes."""

    def get(self, request, pk):
        tournament = tournament_for_researcher(request.user, pk)
        if tournament.finished_at is None:
            raise Http404
        return Response(selectors.board(tournament))
