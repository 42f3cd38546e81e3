from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self):
        from evaluator.signals import trained
        from leaderboard.services import play_new_comparator

        trained.connect(play_new_comparator)
