"""One human evaluation: what is asked, of whom, about which outputs."""

import secrets

from django.db import models
from django.db.models import Q
from django.urls import reverse


class Campaign(models.Model):
    class Status(models.TextChoices):
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    slug = models.SlugField(unique=True, max_length=80)
    title = models.CharField(max_length=200)
    guidelines = models.TextField(blank=True, help_text="Markdown. Annotators read this before they start.")
    likert = models.BooleanField("score outputs", default=True)
    pairwise = models.BooleanField("judge pairs", default=False)
    overlap = models.PositiveSmallIntegerField(default=3, help_text="How many people judge each item (k).")
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    is_simulated = models.BooleanField(
        "holds simulated judgments", default=False, help_text="Shown on every page and written to every export."
    )
    seed = models.PositiveIntegerField(default=0, help_text="Draws the order of items and the sides of pairs.")
    created_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self):
        return self.title

    def get_absolute_url(self):
        return reverse("campaign", args=[self.slug])


class Criterion(models.Model):
    """One quality dimension with its Likert scale."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="criteria")
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=300, blank=True)
    low = models.IntegerField(default=1)
    high = models.IntegerField(default=5)
    low_label = models.CharField(max_length=60, blank=True)
    high_label = models.CharField(max_length=60, blank=True)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "id"]
        verbose_name_plural = "criteria"
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="one_criterion_per_name"),
            models.CheckConstraint(condition=Q(low__lt=models.F("high")), name="scale_low_below_high"),
        ]

    def __str__(self):
        return self.name

    @property
    def points(self) -> range:
        return range(self.low, self.high + 1)


class Item(models.Model):
    """What is put before an annotator: one output to score, or a pair to judge."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="items")
    output = models.ForeignKey("annotation.Output", models.CASCADE, related_name="items")
    other = models.ForeignKey("annotation.Output", models.CASCADE, null=True, blank=True, related_name="+")
    position = models.PositiveIntegerField(help_text="The order in which items are handed out (seeded).")
    taken = models.PositiveIntegerField(default=0, help_text="People who have answered it or hold it now.")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["output"], condition=Q(other__isnull=True), name="one_item_per_output"),
            models.UniqueConstraint(
                fields=["output", "other"], condition=Q(other__isnull=False), name="one_item_per_pair"
            ),
        ]
        indexes = [models.Index(fields=["campaign", "position"], name="item_next")]  # assignment.next_item

    def __str__(self):
        return f"item {self.position} of {self.campaign}"

    @property
    def is_pair(self) -> bool:
        return self.other_id is not None


class Assignment(models.Model):
    """An item handed to an annotator. `swapped` is the shown order of a pair: True shows `other` on the left."""

    class Status(models.TextChoices):
        OPEN = "open", "open"
        DONE = "done", "done"
        EXPIRED = "expired", "expired"

    item = models.ForeignKey(Item, models.CASCADE, related_name="assignments")
    annotator = models.ForeignKey("annotation.Annotator", models.CASCADE, related_name="assignments")
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    swapped = models.BooleanField(default=False)
    assigned_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["item", "annotator"], name="one_assignment_per_item_and_annotator")
        ]
        indexes = [models.Index(fields=["annotator", "status"], name="assignment_of_annotator")]  # assignment.current

    def __str__(self):
        return f"{self.item} for {self.annotator}"


def new_token() -> str:
    return secrets.token_urlsafe(16)


class Invitation(models.Model):
    """A link that lets whoever opens it annotate; `cap` limits how many people it admits (empty: no limit)."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="invitations")
    token = models.CharField(max_length=40, unique=True, default=new_token)
    cap = models.PositiveIntegerField(null=True, blank=True)
    uses = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self):
        return f"invitation to {self.campaign}"
