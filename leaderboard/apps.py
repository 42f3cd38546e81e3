from typing import Any

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self):
        from evaluator.signals import promoted

        promoted.connect(_play)


def _play(**promoted: Any) -> None:
    from leaderboard.tournaments.start import play_new_comparator  # here: few commands promote, and it loads all of the rating

    play_new_comparator(**promoted)
