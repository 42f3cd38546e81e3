"""The texts under evaluation. A corpus belongs to one campaign."""

import hashlib
import json

from django.core.validators import MinValueValidator
from django.db import models
from django.utils.text import Truncator

from core.rows import TURN

TITLE = 60  # characters of a text that has no name
HAS_SOURCE = ~models.Q(group="") | models.Q(metadata__has_keys=TURN)  # of contexts: `Context.source` may say something


class System(models.Model):
    """An NLG system. A human-written one plays like any other and also serves as reference."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="systems")
    name = models.CharField(max_length=200)
    is_human = models.BooleanField("human-written", default=False)
    description = models.TextField(blank=True)
    link = models.URLField(blank=True)
    cost = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0)], help_text="In cost_unit.")
    cost_unit = models.CharField(max_length=60, blank=True, help_text="For example US dollars per 1,000 outputs.")
    retired_at = models.DateTimeField(null=True, blank=True, help_text="No longer judged or played; its results stay.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="one_system_per_name")]

    def __str__(self):
        return self.name


class FormerName(models.Model):
    """A snapshot calls a system by the name it had then."""

    system = models.ForeignKey(System, models.CASCADE, related_name="former_names")
    name = models.CharField(max_length=200)
    changed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["changed_at"]

    def __str__(self):
        return f"{self.name}, now {self.system}"


class Checkpoint(models.Model):
    """A system at one point of its training."""

    system = models.ForeignKey(System, models.CASCADE, related_name="checkpoints")
    name = models.CharField(max_length=200)
    iteration = models.PositiveIntegerField(null=True, blank=True)
    total_iterations = models.PositiveIntegerField(null=True, blank=True)
    chosen_at = models.DateTimeField(
        null=True, blank=True, help_text="Somebody chose that it plays; of several, the one chosen last."
    )

    class Meta:
        ordering = ["iteration", "name"]
        constraints = [models.UniqueConstraint(fields=["system", "name"], name="one_checkpoint_per_name")]

    def __str__(self):
        return f"{self.system} {self.name}"


def key_from(turns: list[str]) -> str:
    """The key of a context that its file gives none."""
    return hashlib.sha256(json.dumps(turns, ensure_ascii=False).encode()).hexdigest()[:12]


class Context(models.Model):
    """The input that outputs answer: a dialogue's turns, or one text as a list of one."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="contexts")
    key = models.CharField(max_length=200, help_text="The context's id in the imported files.")
    turns = models.JSONField(default=list)
    metadata = models.JSONField(default=dict, blank=True)
    group = models.CharField(
        max_length=200, blank=True, default="", help_text="A topic or source; contexts of one group are not independent."
    )

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["campaign", "key"], name="one_context_per_key")]

    def __str__(self):
        return self.key

    @property
    def title(self) -> str:
        """What pages call it: its key; where that was made from its text, the beginning of its last turn, as a quotation."""
        words = " ".join(self.turns[-1].split()) if self.turns else ""
        return f"“{Truncator(words).chars(TITLE)}”" if words and self.key == key_from(self.turns) else self.key

    @property
    def source(self) -> str:
        """What it is not independent of: its group, else the conversation that it is a turn of; empty where it stands alone."""
        return self.group or (str(self.metadata[TURN[0]]) if self.turn else "")

    @property
    def turn(self) -> tuple[int, int] | None:
        """(2, 5) of the second of five turns of a conversation that are judged; None for what is no turn of one."""
        conversation, number, turns = (self.metadata.get(name) for name in TURN)
        are_whole = type(number) is int and type(turns) is int
        return (number, turns) if conversation and are_whole and 0 < number <= turns else None


class Reference(models.Model):
    """A human-written answer to a context that no system of the campaign is credited with."""

    context = models.ForeignKey(Context, models.CASCADE, related_name="references")
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True)

    class Meta:
        ordering = ["context_id", "number"]
        constraints = [models.UniqueConstraint(fields=["context", "number"], name="one_reference_per_number")]

    def __str__(self):
        return f"{self.context} reference {self.number}"


class Output(models.Model):
    """What a system (or one of its checkpoints) wrote for a context; several where they are numbered samples."""

    system = models.ForeignKey(System, models.CASCADE, related_name="outputs")
    checkpoint = models.ForeignKey(Checkpoint, models.CASCADE, null=True, blank=True, related_name="outputs")
    context = models.ForeignKey(Context, models.CASCADE, related_name="outputs")
    sample = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    replaced_at = models.DateTimeField(null=True, blank=True, help_text="A newer text stands in its place; kept as history.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["context", "system", "sample"],
                condition=models.Q(checkpoint__isnull=True, replaced_at__isnull=True),
                name="one_output_per_sample",
            ),
            models.UniqueConstraint(
                fields=["context", "system", "checkpoint", "sample"],
                condition=models.Q(checkpoint__isnull=False, replaced_at__isnull=True),
                name="one_output_per_checkpoint_sample",
            ),
        ]

    def __str__(self):
        return f"{self.system} on {self.context}"
