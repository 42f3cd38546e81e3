"""People's answers, and the decisions about them."""

import uuid
from collections.abc import Sequence

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.campaign import Purpose
from annotation.outcome import Outcome


class Submission(models.Model):
    """An answer as it arrived. The key is made with the page, so a double click or a re-sent request stores one."""

    key = models.UUIDField(primary_key=True, default=uuid.uuid4)
    annotator = models.ForeignKey("annotation.Annotator", models.CASCADE, related_name="submissions")
    assignment = models.ForeignKey("annotation.Assignment", models.CASCADE, related_name="submissions")
    payload = models.JSONField(help_text="The form's answer fields, as sent.")
    seconds = models.FloatField(null=True, blank=True, help_text="From showing the page to the answer.")
    active_seconds = models.FloatField(null=True, blank=True, help_text="The same less idle time, as the page measured it.")
    is_surplus = models.BooleanField(
        default=False, help_text="The item was already answered by this person: kept, counted nowhere."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    retracted_at = models.DateTimeField(null=True, blank=True, help_text="Set by undo; the rows below follow.")
    left_out: Sequence[str] = ()  # of an answer that was just sent: criteria that it answers though they were not asked

    class Meta:
        ordering = ["created_at"]
        indexes = [models.Index(fields=["annotator", "-created_at"], name="submission_latest")]  # undo.undo_last

    def __str__(self):
        return f"{self.annotator}, {self.created_at:%Y-%m-%d %H:%M}"


class AnswerQuerySet(models.QuerySet):
    def given(self):
        """The answers that exports hold: live ones on items that are evaluated, not gold, training or repeats, by people
        who have not withdrawn. Among them are those who could not say."""
        return self.filter(retracted_at=None, purpose=Purpose.EVALUATION, annotator__withdrawn_at=None)

    def counted(self):
        """Those that say something: what quality, snapshots and ratings count."""
        return self.given().filter(cannot_say=False)


class Answer(models.Model):
    """What answers to all kinds of questions share. Imported rows have no submission."""

    submission = models.ForeignKey(Submission, models.CASCADE, null=True, blank=True)
    purpose = models.CharField(max_length=13, choices=Purpose, default=Purpose.EVALUATION)
    created_at = models.DateTimeField(
        default=timezone.now, help_text="When it was answered; of imported rows as the file says."
    )
    retracted_at = models.DateTimeField(null=True, blank=True)
    cannot_say = models.BooleanField(default=False, help_text="Answered, without a value.")
    detail = models.JSONField(null=True, blank=True, help_text="What a kind of question keeps beside the value.")

    objects = AnswerQuerySet.as_manager()

    class Meta:
        abstract = True


class LikertScore(Answer):
    """A person's answer about one output, as a number. Fractional where a release holds only the mean of several people."""

    annotator = models.ForeignKey("annotation.Annotator", models.CASCADE, related_name="scores")
    output = models.ForeignKey("annotation.Output", models.CASCADE, related_name="scores")
    criterion = models.ForeignKey("annotation.Criterion", models.CASCADE, related_name="scores")
    value = models.FloatField(null=True, blank=True, help_text="Empty: cannot say.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(cannot_say=True, value=None) | Q(cannot_say=False, value__isnull=False), name="score_says_a_value"
            ),
            models.UniqueConstraint(
                fields=["criterion", "output", "annotator", "purpose"],
                condition=Q(retracted_at__isnull=True),
                name="one_live_score",
            ),
        ]

    def __str__(self):
        return f"{self.criterion} {'cannot say' if self.value is None else f'{self.value:g}'}"


class PairwiseJudgment(Answer):
    """A / tie / B by one person. `choice` is about output_a and output_b as stored here, whatever side each was shown."""

    annotator = models.ForeignKey("annotation.Annotator", models.CASCADE, related_name="judgments")
    output_a = models.ForeignKey("annotation.Output", models.CASCADE, related_name="judgments_as_a")
    output_b = models.ForeignKey("annotation.Output", models.CASCADE, related_name="judgments_as_b")
    criterion = models.ForeignKey(
        "annotation.Criterion",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="judgments",
        help_text="Empty: which output is better on the whole.",
    )
    choice = models.CharField(
        max_length=3, blank=True, choices=[(o.value, o.value) for o in Outcome], help_text="Empty: cannot say."
    )
    reason = models.CharField(max_length=500, blank=True)
    shown_swapped = models.BooleanField(null=True, help_text="True: output_b stood on the left. Empty: not known.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["output_a", "output_b", "annotator", "purpose"],
                condition=Q(retracted_at__isnull=True, criterion__isnull=True),
                name="one_live_judgment",
            ),
            models.UniqueConstraint(
                fields=["output_a", "output_b", "annotator", "purpose", "criterion"],
                condition=Q(retracted_at__isnull=True, criterion__isnull=False),
                name="one_live_judgment_per_criterion",
            ),
            models.CheckConstraint(
                condition=Q(cannot_say=True, choice="") | (Q(cannot_say=False) & ~Q(choice="")), name="judgment_says_a_choice"
            ),
        ]

    def __str__(self):
        return self.choice or "cannot say"

    @property
    def with_strength(self) -> str:
        """The choice with what was said beside it, for researchers."""
        beside = self.detail or {}
        return ", ".join(filter(None, (str(self), beside.get("strength"), "both bad" if beside.get("both_bad") else "")))


class Snapshot(models.Model):
    """Accepted judgments, frozen. `content` is zlib-compressed canonical JSON lines; `digest` their SHA-256."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="snapshots")
    digest = models.CharField(max_length=64)
    content = models.BinaryField()
    rule = models.JSONField(help_text="Filter, level and seed that decided.")
    scores = models.PositiveIntegerField(default=0, help_text="Scores kept.")
    judgments = models.PositiveIntegerField(default=0)
    is_simulated = models.BooleanField(default=False, help_text="Holds simulated judgments.")
    created_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    accepted_at = models.DateTimeField(default=timezone.now, help_text="When it was last accepted; the newest is by this.")

    class Meta:
        ordering = ["-accepted_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["campaign", "digest"], name="one_snapshot_per_content")]

    def __str__(self):
        return self.name

    @property
    def name(self) -> str:
        """The short name that tables and signatures carry."""
        return self.digest[:12]


class FrozenAnswers(models.Model):
    """Every answer that a snapshot was made from, kept or dropped, as its exports give them: zlib-compressed JSON lines."""

    snapshot = models.OneToOneField(Snapshot, models.CASCADE, related_name="frozen_answers")
    lines = models.BinaryField()

    def __str__(self):
        return f"answers of {self.snapshot}"


class SnapshotMark(models.Model):
    """What became of a finished snapshot's contents later: an annotator in it withdrew, an output in it was replaced."""

    snapshot = models.ForeignKey(Snapshot, models.CASCADE, related_name="marks")
    reason = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["snapshot", "reason"], name="one_mark_per_reason")]

    def __str__(self):
        return f"{self.snapshot}: {self.reason}"


class QualityDecision(models.Model):
    """What was decided in a snapshot about the scores on a criterion, or about judgments of pairs: on the whole
    (criterion empty) or on a criterion."""

    class Verdict(models.TextChoices):
        ACCEPTED = "accepted", "accepted"
        TENTATIVE = "tentative", "tentative"
        COLLECT_MORE = "collect more", "collect more"
        UNDEFINED = "undefined", "undefined"

    snapshot = models.ForeignKey(Snapshot, models.CASCADE, related_name="decisions")
    criterion = models.ForeignKey("annotation.Criterion", models.CASCADE, null=True, blank=True, related_name="decisions")
    on_pairs = models.BooleanField(default=False, help_text="Pairs judged on the criterion, not scores.")
    verdict = models.CharField(max_length=12, choices=Verdict)
    report = models.JSONField(help_text="The statistics behind the verdict, from annotation.quality.report.")
    overruled_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    overruled_at = models.DateTimeField(null=True, blank=True)
    overrule_reason = models.TextField(blank=True)

    class Meta:
        ordering = ["criterion__position", "id"]
        constraints = [models.UniqueConstraint(fields=["snapshot", "criterion", "on_pairs"], name="one_decision_per_question")]

    def __str__(self):
        return f"{self.what}: {self.verdict}"

    @property
    def what(self) -> str:
        """What was judged, in words."""
        return (f"{self.criterion} (pairs)" if self.on_pairs else str(self.criterion)) if self.criterion else "Pairs"

    @property
    def is_usable(self) -> bool:
        """May a comparator be trained on it without a warning?"""
        return self.verdict in (self.Verdict.ACCEPTED, self.Verdict.TENTATIVE) or bool(self.overrule_reason)
