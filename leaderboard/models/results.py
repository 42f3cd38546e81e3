"""What a tournament found, row by row: of its games, its systems, its outputs and its contexts."""

from django.db import models

from leaderboard.models.frozen import Result
from leaderboard.models.tournament import Tournament


class Game(Result):
    """One context, one output of each of two systems, a comparator's verdict. `outcome` is about output_a.

    People's games have no rows of their own: they are the accepted answers, which the snapshot holds."""

    tournament = models.ForeignKey(Tournament, models.CASCADE, related_name="games")
    number = models.PositiveIntegerField()
    output_a = models.ForeignKey("annotation.Output", models.RESTRICT, related_name="+")
    output_b = models.ForeignKey("annotation.Output", models.RESTRICT, related_name="+")
    outcome = models.CharField(max_length=3)
    p_a = models.FloatField(null=True)
    p_b = models.FloatField(null=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["tournament", "number"], name="one_game_per_number")]

    def __str__(self):
        return f"game {self.number}"


class SystemRating(Result):
    tournament = models.ForeignKey(Tournament, models.CASCADE, related_name="ratings")
    system = models.ForeignKey("annotation.System", models.RESTRICT, related_name="ratings")
    name = models.CharField(max_length=200, default="", help_text="What the system was called when this was played.")
    is_human = models.BooleanField(default=False)
    rating = models.FloatField()
    rd = models.FloatField()
    volatility = models.FloatField()
    low = models.FloatField(help_text="95% interval, contexts resampled.")
    high = models.FloatField()
    rank_low = models.PositiveSmallIntegerField(null=True, help_text="Best rank that the intervals leave open, from 1.")
    rank_high = models.PositiveSmallIntegerField(null=True)
    games = models.PositiveIntegerField()
    wins = models.PositiveIntegerField()
    ties = models.PositiveIntegerField()
    losses = models.PositiveIntegerField()
    human_mean = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["-rating", "name"]
        constraints = [models.UniqueConstraint(fields=["tournament", "system"], name="one_rating_per_system")]

    def __str__(self):
        return f"{self.name} {self.rating:.0f}"


class OutputResult(Result):
    """One output against the others of its context. A share is points over games: a win 1, a tie a half."""

    tournament = models.ForeignKey(Tournament, models.CASCADE, related_name="outputs")
    output = models.ForeignKey("annotation.Output", models.RESTRICT, related_name="+")
    system = models.ForeignKey("annotation.System", models.RESTRICT, related_name="+")
    context = models.ForeignKey("annotation.Context", models.RESTRICT, related_name="+")
    comparator = models.FloatField(null=True, help_text="The comparator's expected share.")
    people = models.FloatField(null=True, help_text="People's share.")
    people_games = models.PositiveIntegerField(default=0)
    rating = models.FloatField(null=True, help_text="Where outputs play: the output's own rating.")
    rd = models.FloatField(null=True)
    points = models.FloatField(null=True, help_text="Mean points (3, 1, 0) against common references.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tournament", "output"], name="one_result_per_output")]
        indexes = [
            models.Index(fields=["tournament", "system"], name="output_results_of_system"),  # samples.best_and_worst
            models.Index(fields=["tournament", "context"], name="output_results_of_context"),  # samples.outputs
        ]

    def __str__(self):
        return f"{self.output} in {self.tournament}"


class ContextResult(Result):
    """How far the comparator and people part on one context."""

    tournament = models.ForeignKey(Tournament, models.CASCADE, related_name="contexts")
    context = models.ForeignKey("annotation.Context", models.RESTRICT, related_name="+")
    games = models.PositiveIntegerField(help_text="People's games here.")
    disagreement = models.FloatField(
        null=True, help_text="Mean |comparator's expected points - people's| over those games, 0 to 1."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tournament", "context"], name="one_result_per_context")]
        indexes = [models.Index(fields=["tournament", "-disagreement"], name="context_results_by_quarrel")]  # samples.contexts

    def __str__(self):
        return f"{self.context} in {self.tournament}"
