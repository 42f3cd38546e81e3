"""One tournament: who judges, by which rules, and what its board shows."""

from django.db import models
from django.urls import reverse

from evaluator.models import ComparatorVersion
from leaderboard.models.frozen import Immutable, TournamentQuerySet
from leaderboard.rating.rules import DEFAULT, Rules


class Tournament(models.Model):
    was_waiting = False  # not stored: it was asked for again while it waits or runs

    class Basis(models.TextChoices):
        PEOPLE = "people", "people"
        JUDGE = "judge", "one judge"
        CORRECTED = "corrected", "people corrected by a judge"

    class Level(models.TextChoices):
        SYSTEM = "system", "systems play"
        SAMPLE = "sample", "outputs play"

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="tournaments")
    job = models.OneToOneField("annotation.Job", models.CASCADE, related_name="tournament")
    basis = models.CharField(max_length=12, choices=Basis, help_text="Whose word the board is built on.")
    judge = models.ForeignKey(
        "evaluator.Judge", models.RESTRICT, null=True, blank=True, related_name="tournaments", help_text="Empty: people alone."
    )
    snapshot = models.ForeignKey(
        "annotation.Snapshot",
        models.RESTRICT,
        null=True,
        blank=True,
        related_name="tournaments",
        help_text="The judgments people play with, and the source of their mean scores. Empty: nobody judged yet.",
    )
    criterion = models.CharField(max_length=100, blank=True, help_text="Empty: judgments of pairs.")
    level = models.CharField(max_length=8, choices=Level, default=Level.SYSTEM)
    rating = models.CharField(max_length=20, default=DEFAULT.rating, help_text="The rule that turns games into ratings.")
    ties = models.CharField(max_length=20, default=DEFAULT.ties, help_text="What a tie does.")
    pairing = models.CharField(max_length=20, default=DEFAULT.pairing, help_text="Which games are played.")
    stop = models.CharField(max_length=20, default=DEFAULT.stop, help_text="When no more are played.")
    extends = models.ForeignKey(
        "self",
        models.RESTRICT,
        null=True,
        blank=True,
        related_name="extended_by",
        help_text="A finished board whose games are taken over; only systems that are new since then play.",
    )
    seed = models.PositiveIntegerField(default=0)
    wanted_games = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: as many as the pairing gives.")
    played = models.PositiveIntegerField(default=0, help_text="Games.")
    settings = models.JSONField(
        default=dict, help_text="What takes part (`last_output`, `last_context`), and `systems`: ids in the order below."
    )
    settled = models.BooleanField(null=True, help_text="Did it end by the rule for its end?")
    head_to_head = models.JSONField(default=list, help_text="[i][j]: games i won against j, tied, lost.")
    replicates = models.JSONField(default=list, help_text="Ratings on resampled contexts: a row per replicate.")
    board = models.JSONField(null=True, blank=True, help_text="`boards.board.Board`, with its schema. Empty: read `findings`.")
    findings = models.JSONField(default=dict, help_text="What boards of before show beside the ratings, by name.")
    signature = models.CharField(max_length=1000, blank=True)
    is_simulated = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = TournamentQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["campaign", "basis", "criterion", "-finished_at"], name="tournament_latest")]

    def __str__(self):
        return f"tournament {self.pk}"

    def save(self, *args, **kwargs):
        self._must_be_open()
        super().save(*args, **kwargs)

    def get_absolute_url(self):
        return reverse("tournament", args=[self.pk])

    def delete(self, *args, **kwargs):
        self._must_be_open()
        return super().delete(*args, **kwargs)

    def rules(self) -> Rules:
        return Rules(self.rating, self.ties, self.pairing, self.stop)

    @property
    def only_kept(self) -> bool:
        """Of people's answers, only what the filter kept? Else all that count."""
        return bool(self.settings.get("only_kept"))

    @property
    def plays_itself(self) -> bool:
        """Is each of its games decided by one judge that is not people?"""
        return self.basis == self.Basis.JUDGE

    @property
    def version(self) -> ComparatorVersion | None:
        """The comparator that judges; None where people do, or another judge."""
        return self.judge.version if self.judge else None

    @property
    def judge_name(self) -> str:
        """Empty where people alone judge."""
        return self.judge.name if self.judge else ""

    def _must_be_open(self) -> None:
        if self.pk and Tournament.objects.filter(pk=self.pk, finished_at__isnull=False).exists():
            raise Immutable
