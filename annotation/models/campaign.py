"""One human evaluation: what is asked, of whom, about which outputs."""

import secrets

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.functional import cached_property

from annotation.models.corpus import HAS_SOURCE
from annotation.statements import Statement
from core.sealed import digest, seal, unseal


class Purpose(models.TextChoices):
    """Why something is judged. Only EVALUATION counts towards quality, snapshots and ratings."""

    EVALUATION = "evaluation", "evaluation"
    GOLD = "gold", "gold"
    TRAINING = "training", "training"
    QUALIFICATION = "qualification", "qualification"
    REPEAT = "repeat", "repeat"


def percent(default: int, text: str):
    return models.PositiveSmallIntegerField(default=default, validators=[MaxValueValidator(100)], help_text=text)


class Campaign(models.Model):
    """The protocol of one human evaluation, and where it stands."""

    class PairDesign(models.TextChoices):
        RING = "ring", "each system meets two others on every context; one ranking for each context"
        ALL = "all", "every pair of systems on every context; as many rankings as ask no pair twice"
        NUMBER = "number", "a number of pairs or rankings, drawn in balance"

    class PairPoints(models.IntegerChoices):
        THREE = 3, "A, tie or B"
        FIVE = 5, "much or slightly better, or a tie (5 points)"
        SEVEN = 7, "much, just or slightly better, or a tie (7 points)"

    class TextFormat(models.TextChoices):
        PLAIN = "plain", "as they are, character by character"
        MARKDOWN = "markdown", "as Markdown, with tables, code and LaTeX"

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
    overlap_percent = percent(100, "Share of the items that k people judge; one person judges each of the rest.")
    quota = models.PositiveIntegerField(null=True, blank=True, help_text="Items one annotator judges at most.")
    pair_design = models.CharField(max_length=10, choices=PairDesign, default=PairDesign.RING)
    pairs = models.PositiveIntegerField(null=True, blank=True, help_text="How many pairs, where a number is drawn.")
    pairwise_by_criterion = models.BooleanField("judge pairs on each criterion", default=False)
    pair_points = models.PositiveSmallIntegerField("how pairs are judged", choices=PairPoints, default=PairPoints.THREE)
    pair_both_bad = models.BooleanField("a pair may be answered: both are bad", default=False)
    outputs_at_once = models.PositiveSmallIntegerField(
        "outputs compared at a time", default=2, validators=[MinValueValidator(2), MaxValueValidator(7)]
    )
    best_worst = models.BooleanField("of several outputs, ask for the best and the worst alone", default=False)
    asks_reason = models.BooleanField("ask for a short reason (optional)", default=False)
    text_format = models.CharField("how texts are shown", max_length=10, choices=TextFormat, default=TextFormat.PLAIN)
    in_file_order = models.BooleanField("hand items out in the order of the file", default=False)
    gold_percent = percent(0, "Share of a person's items that have a known answer.")
    gold_is_loud = models.BooleanField("tell people at once when they miss a gold item", default=False)
    repeat_percent = percent(0, "Share of a person's pairs shown to them again with the sides swapped.")
    pass_mark = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MaxValueValidator(100)],
        help_text="Percent of the qualification items to get right. Empty: nobody is turned away.",
    )
    completion_code = models.CharField(max_length=100, blank=True, help_text="Shown when a person's work is done.")
    completion_url = models.URLField(blank=True, help_text="Where a crowd worker returns to when the work is done.")
    screened_out_code = models.CharField(max_length=100, blank=True, help_text="Shown to who misses the pass mark.")
    failed_checks_code = models.CharField(
        max_length=100, blank=True, help_text="Shown in place of the completion code to who misses the mark of known answers."
    )
    timed_out_code = models.CharField(
        max_length=100, blank=True, help_text="Shown to who began and could not end: their time was up, or nothing is left."
    )
    check_mark = models.PositiveSmallIntegerField(
        "mark of known answers",
        null=True,
        blank=True,
        validators=[MaxValueValidator(100)],
        help_text="Percent of the items with a known answer to get right. Empty: nobody fails them.",
    )
    board_is_public = models.BooleanField("anyone may read the leaderboard", default=False)
    plays_new_comparators = models.BooleanField("a new comparator plays a tournament at once", default=True)
    is_simulated = models.BooleanField(
        "holds simulated judgments", default=False, help_text="Shown on every page and written to every export."
    )
    seed = models.PositiveIntegerField(default=0, help_text="Draws the order of items and the sides of pairs.")
    drawn = models.JSONField(
        default=dict, editable=False, help_text='What its items are: {"cells": [cell, ...], purpose: number of items}.'
    )
    created_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True, blank=True, help_text="Out of sight; nothing in it is lost.")

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self):
        return self.title

    def get_absolute_url(self):
        return reverse("campaign", args=[self.slug])

    @cached_property
    def asked(self) -> list["Criterion"]:
        """Its criteria, read once: an answer is checked against them, and the page after it shows them. Django takes half as
        long again for a query with an order as for one without."""
        return self.ask(CRITERIA.all(self.pk))

    def ask(self, criteria: list["Criterion"]) -> list["Criterion"]:
        """From now on these are the ones that were read; returns them in order."""
        for criterion in criteria:
            criterion.campaign = self
        self.__dict__["asked"] = sorted(criteria, key=lambda criterion: (criterion.position, criterion.pk))
        return self.__dict__["asked"]

    @property
    def has_groups(self) -> bool:
        """Does any of its contexts belong to a group or a conversation (`Context.source`)?"""
        return self.contexts.filter(HAS_SOURCE).exists()


class Criterion(models.Model):
    """One quality dimension, and how it is asked about an output: `annotation/questions` has a module for each kind."""

    class Best(models.TextChoices):
        HIGH = "high", "the highest point"
        LOW = "low", "the lowest point"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="criteria")
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=300, blank=True)
    low = models.IntegerField(default=1)
    high = models.IntegerField(default=5)
    low_label = models.CharField(max_length=60, blank=True)
    high_label = models.CharField(max_length=60, blank=True)
    anchors = models.JSONField(default=dict, blank=True, help_text='What each point means: {"3": "understandable"}.')
    position = models.PositiveSmallIntegerField(default=0)
    kind = models.CharField(max_length=20, default="scale", help_text="How outputs are asked about: a name in the registry.")
    best = models.CharField("best is", max_length=4, choices=Best, default=Best.HIGH)
    cannot_say = models.BooleanField("annotators may answer that they cannot say", default=False)
    optional = models.BooleanField("annotators may leave it empty", default=False)
    settings = models.JSONField(default=dict, blank=True, help_text="What only its kind of question knows.")
    asked_if = models.JSONField(
        default=dict,
        blank=True,
        help_text='Its condition: {"criterion": an earlier one, "below", "at_least" or "equal": point}.',
    )

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


CRITERIA = Statement(lambda campaign: Criterion.objects.filter(campaign=campaign).order_by(), arguments=1)


class ConsentText(models.Model):
    """What annotators agree to before they start. A change makes a new version; the old one stays on record."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="consent_texts")
    version = models.PositiveIntegerField()
    text = models.TextField(blank=True, help_text="Markdown. Empty: from this version on nobody is asked.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["version"]
        constraints = [models.UniqueConstraint(fields=["campaign", "version"], name="one_consent_text_per_version")]

    def __str__(self):
        return f"consent {self.version} of {self.campaign}"


FREE = Q(purpose=Purpose.EVALUATION, taken__lt=models.F("places"))


class Item(models.Model):
    """What is put before an annotator: one output to score, a pair to judge, or several outputs to rank."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="items")
    output = models.ForeignKey("annotation.Output", models.CASCADE, related_name="items")
    other = models.ForeignKey("annotation.Output", models.CASCADE, null=True, blank=True, related_name="+")
    context = models.ForeignKey("annotation.Context", models.CASCADE, related_name="items")
    further = models.JSONField(default=list, blank=True, help_text="Ids of the third output to rank and those that follow it.")
    cell = models.CharField(max_length=146, editable=False, help_text="Ids of the system, or of all.")
    purpose = models.CharField(max_length=13, choices=Purpose, default=Purpose.EVALUATION)
    expected = models.JSONField(
        null=True,
        blank=True,
        help_text='The known answer of a gold, training or qualification item: {"scores": {criterion: [values]}, '
        '"choice": "A", "feedback": text}.',
    )
    position = models.PositiveIntegerField(help_text="The order in which items are handed out (seeded).")
    places = models.PositiveIntegerField(default=1, help_text="How many people are to judge it.")
    taken = models.PositiveIntegerField(default=0, help_text="People who have answered it or hold it now.")
    taken_swapped = models.PositiveIntegerField(default=0, help_text="Of these, who see `other` on the left.")
    starts_swapped = models.BooleanField(default=False, help_text="The side on which the first of them sees it (drawn).")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["output"], condition=Q(other__isnull=True), name="one_item_per_output"),
            models.UniqueConstraint(
                fields=["output", "other", "further"], condition=Q(other__isnull=False), name="one_item_per_pair"
            ),
        ]
        indexes = [
            models.Index(fields=["campaign", "purpose", "position"], name="item_order"),
            models.Index(fields=["campaign", "cell", "position"], name="item_free_of_cell", condition=FREE),
            models.Index(fields=["campaign", "position"], name="item_free", condition=FREE),
        ]  # assignment.py

    def __str__(self):
        return f"item {self.position} of {self.campaign}"

    @property
    def is_pair(self) -> bool:
        """Are outputs compared, two or more?"""
        return self.other_id is not None

    @staticmethod
    def of_system(system: int, item: str = "") -> Q:
        """Which items are about one of its outputs. item: the way to them, "item__"."""
        return Q(**{f"{item}cell__regex": rf"(^|:){system}(:|$)"})

    @property
    def size(self) -> int:
        """How many outputs it shows; a stored item tells by its cell, without reading more."""
        if not self.is_pair:
            return 1
        return self.cell.count(":") + 1 if self.cell else 2 + len(self.further)

    @cached_property
    def further_outputs(self) -> list:
        """Without their systems; `items.load_further` reads those."""
        outputs = type(self.output).objects.only("text").in_bulk(self.further) if self.further else {}
        return [outputs[pk] for pk in self.further]

    @property
    def texts(self) -> list:
        """The outputs that it shows: one to score, two of a pair, or several to rank, in the stored order."""
        return [self.output, self.other, *self.further_outputs] if self.is_pair else [self.output]


class Assignment(models.Model):
    """An item handed to an annotator. `swapped` is the shown order of a pair: True shows `other` on the left. `order` is
    that of several outputs: their places in the item's own order, from 0, the first shown first."""

    class Status(models.TextChoices):
        OPEN = "open", "open"
        DONE = "done", "done"
        EXPIRED = "expired", "expired"
        SKIPPED = "skipped", "skipped"

    item = models.ForeignKey(Item, models.CASCADE, related_name="assignments")
    annotator = models.ForeignKey("annotation.Annotator", models.CASCADE, related_name="assignments")
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    purpose = models.CharField(max_length=13, choices=Purpose, default=Purpose.EVALUATION)
    swapped = models.BooleanField(default=False)
    order = models.CharField(max_length=7, default="", blank=True)
    assigned_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "annotator"], condition=~Q(purpose=Purpose.REPEAT), name="one_assignment_per_item_and_annotator"
            ),
            models.UniqueConstraint(
                fields=["item", "annotator"], condition=Q(purpose=Purpose.REPEAT), name="one_repeat_per_item_and_annotator"
            ),
        ]
        indexes = [
            models.Index(fields=["annotator", "status"], name="assignment_of_annotator"),
            models.Index(fields=["annotator", "id"], name="assignment_history"),  # history.read_history
            models.Index(fields=["assigned_at"], name="assignment_held", condition=Q(status="open")),  # places.sweep
        ]

    def __str__(self):
        return f"{self.item} for {self.annotator}"

    @property
    def shown(self) -> list:
        """The item's outputs in the order in which this person sees them."""
        texts = self.item.texts
        if self.order:
            return [texts[int(place)] for place in self.order]
        return texts[::-1] if self.swapped else texts


def new_token() -> str:
    return secrets.token_urlsafe(16)


class Invitation(models.Model):
    """A link that lets whoever opens it annotate; `cap` limits how many people it admits (empty: no limit)."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="invitations")
    digest = models.CharField(
        max_length=64, unique=True, editable=False, help_text="SHA-256 of the token, by which it is found."
    )
    sealed_token = models.CharField(max_length=255, editable=False, help_text="The token, sealed under SECRET_KEY.")
    cap = models.PositiveIntegerField(null=True, blank=True)
    uses = models.PositiveIntegerField(default=0)
    label = models.CharField(max_length=100, blank=True, help_text="Where it was sent, for the researchers.")
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self):
        return f"invitation to {self.campaign}"

    def save(self, *args, **kwargs):
        """A new one gets its token, which is random and never changes."""
        if not self.digest:
            token = new_token()
            self.digest, self.sealed_token = digest(token), seal(token)
        super().save(*args, **kwargs)

    @property
    def token(self) -> str:
        """Empty where it was sealed under a SECRET_KEY that is no longer known: the link works, but can't be shown."""
        return unseal(self.sealed_token) or ""


class ItemReport(models.Model):
    """What an annotator says about an item instead of, or beside, an answer: skipped it, flags it as broken, or asks about it;
    and what the researchers reply, which no other annotator sees."""

    class Kind(models.TextChoices):
        SKIP = "skip", "skipped"
        FLAG = "flag", "flagged"
        ASK = "ask", "asked about"

    item = models.ForeignKey(Item, models.CASCADE, related_name="reports")
    annotator = models.ForeignKey("annotation.Annotator", models.CASCADE, related_name="reports")
    kind = models.CharField(max_length=4, choices=Kind)
    reason = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    reply = models.CharField(max_length=1000, blank=True)
    replied_at = models.DateTimeField(null=True, blank=True)
    replied_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["-created_at"]

    def __str__(self):
        return f"{self.item} {self.kind} by {self.annotator}"
