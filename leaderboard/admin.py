"""Tournaments, to look at. A finished one never changes."""

from django.contrib import admin

from evaluator.admin import ReadOnly
from leaderboard.models import Tournament


@admin.register(Tournament)
class TournamentAdmin(ReadOnly):
    list_display = ["id", "campaign", "basis", "judge", "criterion", "seed", "settled", "finished_at"]
    list_select_related = ["campaign", "judge"]
    exclude = ["replicates", "head_to_head", "findings", "board"]
