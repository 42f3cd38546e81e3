"""Tournaments and what came out of them. A finished tournament never changes."""

from django.db import models
from django.urls import reverse


class Tournament(models.Model):
    class Judge(models.TextChoices):
        COMPARATOR = "comparator", "comparator"
        PEOPLE = "people", "people"

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="tournaments")
    job = models.OneToOneField("annotation.Job", models.CASCADE, related_name="tournament")
    judge = models.CharField(max_length=12, choices=Judge)
    version = models.ForeignKey("evaluator.ComparatorVersion", models.PROTECT, null=True, blank=True)
    snapshot = models.ForeignKey(
        "annotation.Snapshot", models.PROTECT, null=True, blank=True, related_name="tournaments",
        help_text="The judgments people play with, and the source of their mean scores. Empty: nobody judged yet.",
    )  # fmt: skip
    criterion = models.CharField(max_length=100, blank=True, help_text="Empty: judgments of pairs.")
    seed = models.PositiveIntegerField(default=0)
    wanted_games = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: until the order settles.")
    settings = models.JSONField(default=dict, help_text="Rules, and `systems`: ids in the order of the two below.")
    settled = models.BooleanField(null=True, help_text="Did the order settle by the paper's rule?")
    head_to_head = models.JSONField(default=list, help_text="[i][j]: games i won against j, tied, lost.")
    replicates = models.JSONField(default=list, help_text="Ratings replayed on resampled contexts: a row per replicate.")
    signature = models.CharField(max_length=400, blank=True)
    is_simulated = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["campaign", "judge", "criterion", "-finished_at"], name="tournament_latest")]

    def __str__(self):
        return f"tournament {self.pk}"

    def get_absolute_url(self):
        return reverse("tournament", args=[self.pk])


class Game(models.Model):
    """One context, one output of each of two systems, one verdict. `outcome` is about output_a."""

    tournament = models.ForeignKey(Tournament, models.CASCADE, related_name="games")
    number = models.PositiveIntegerField()
    output_a = models.ForeignKey("annotation.Output", models.PROTECT, related_name="+")
    output_b = models.ForeignKey("annotation.Output", models.PROTECT, related_name="+")
    outcome = models.CharField(max_length=3)
    p_a = models.FloatField(null=True)
    p_b = models.FloatField(null=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["tournament", "number"], name="one_game_per_number")]

    def __str__(self):
        return f"game {self.number}"


class SystemRating(models.Model):
    tournament = models.ForeignKey(Tournament, models.CASCADE, related_name="ratings")
    system = models.ForeignKey("annotation.System", models.PROTECT, related_name="ratings")
    rating = models.FloatField()
    rd = models.FloatField()
    volatility = models.FloatField()
    low = models.FloatField(help_text="95% interval, contexts resampled.")
    high = models.FloatField()
    games = models.PositiveIntegerField()
    wins = models.PositiveIntegerField()
    ties = models.PositiveIntegerField()
    losses = models.PositiveIntegerField()
    human_mean = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["-rating"]
        constraints = [models.UniqueConstraint(fields=["tournament", "system"], name="one_rating_per_system")]

    def __str__(self):
        return f"{self.system} {self.rating:.0f}"
