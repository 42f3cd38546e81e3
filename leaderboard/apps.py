from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self):
        from evaluator.signals import promoted
        from leaderboard.tournaments.start import play_new_comparator

        promoted.connect(play_new_comparator)
