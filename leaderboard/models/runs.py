"""Trainings that are watched: a system's checkpoints while it learns, and what a judge says of them. Nothing here is judged by
people or plays on a board until somebody chooses it."""

from django.db import models
from django.db.models import Q


class Run(models.Model):
    """One training that is watched. Who judges it, by which rules and on which contexts stays as it was opened."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="runs")
    name = models.CharField(max_length=150, help_text="What its trainer, pages and the API call it.")
    judge = models.ForeignKey("evaluator.Judge", models.RESTRICT, related_name="runs")
    judge_digest = models.CharField(max_length=64, help_text="The judge's, when the run was opened.")
    criterion = models.CharField(max_length=100, blank=True, help_text="What the judge is asked for; empty: pairs as a whole.")
    snapshot = models.ForeignKey(
        "annotation.Snapshot",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Ties are fitted on its pairs.",
    )
    warning = models.TextField(blank=True, help_text="Why the judge is not above every doubt here.")
    contexts = models.JSONField(help_text="Ids of the contexts that each checkpoint answers, in their order.")
    total_steps = models.PositiveIntegerField(null=True, blank=True, help_text="Of the whole training; it may grow.")
    settings = models.JSONField(default=dict, blank=True, help_text="The trainer's own, as they were sent.")
    rules = models.JSONField(help_text="`evaluator.selection.rules.Rules` as a dict.")
    reading = models.JSONField(null=True, blank=True, help_text="Of a pointwise judge, how two utilities become an answer.")
    verdict = models.JSONField(null=True, blank=True, help_text="What the judged checkpoints say together (`runs.curve`).")
    summary = models.JSONField(default=dict, blank=True, help_text="Of the verdict, what a list of runs shows.")
    advice_given = models.JSONField(default=list, blank=True, help_text="[{step, word, rule}], as it was given the first time.")
    system = models.ForeignKey(
        "annotation.System", models.SET_NULL, null=True, blank=True, related_name="runs", help_text="Once something is chosen."
    )
    job = models.ForeignKey(
        "annotation.Job", models.SET_NULL, null=True, blank=True, related_name="+", help_text="Judges all that waits."
    )
    created_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True, help_text="Takes no more checkpoints.")

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="one_run_per_name")]

    def __str__(self):
        return self.name


class RunCheckpoint(models.Model):
    """A run at one step. Its outputs never change once they are all there; then it is judged, once."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="checkpoints")
    step = models.PositiveIntegerField()
    validation_loss = models.FloatField(null=True, blank=True, help_text="As the trainer sent it.")
    parts = models.PositiveSmallIntegerField(null=True, blank=True, help_text="It comes in so many; empty: in one.")
    digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of its outputs; empty: some are missing.")
    received_at = models.DateTimeField(auto_now_add=True)
    judged_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True, help_text="That judging took, loading the judge left out.")
    judge = models.JSONField(default=dict, blank=True, help_text="What judged: {name, digest, settings, seed}.")
    utilities = models.JSONField(null=True, blank=True, help_text="(n,) by the run's contexts; null: not judged.")
    against = models.JSONField(default=list, blank=True, help_text="[{step, wins, ties, losses}] against the previous ones.")
    lengths = models.JSONField(default=list, blank=True, help_text="(n,) characters of the outputs.")
    degenerate = models.FloatField(null=True, blank=True, help_text="Mean degenerate share of the outputs.")
    unjudged = models.PositiveIntegerField(default=0, help_text="Outputs that the judge said nothing of.")
    checkpoint = models.ForeignKey(
        "annotation.Checkpoint", models.SET_NULL, null=True, blank=True, related_name="+", help_text="Where it was chosen."
    )

    class Meta:
        ordering = ["step"]
        constraints = [models.UniqueConstraint(fields=["run", "step"], name="one_checkpoint_per_step")]
        indexes = [
            models.Index(
                fields=["run", "step"], condition=Q(judged_at=None), name="run_checkpoints_waiting"
            )  # judgments.waiting_of
        ]

    def __str__(self):
        return f"{self.run} at step {self.step}"


class RunOutput(models.Model):
    """What a run wrote for a context at one step."""

    checkpoint = models.ForeignKey(RunCheckpoint, models.CASCADE, related_name="outputs")
    context = models.ForeignKey("annotation.Context", models.CASCADE, related_name="+")
    text = models.TextField(blank=True)
    log_probability = models.FloatField(null=True, blank=True, help_text="Natural logarithm, as its generator gives it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["checkpoint", "context"], name="one_run_output_per_context")]

    def __str__(self):
        return f"{self.checkpoint} on {self.context}"


class RunComparison(models.Model):
    """What a judge that reads two outputs together says of two checkpoints of a run."""

    later = models.ForeignKey(RunCheckpoint, models.CASCADE, related_name="comparisons")
    earlier = models.ForeignKey(RunCheckpoint, models.CASCADE, related_name="+")
    outcomes = models.JSONField(help_text="(n,) by the run's contexts: 1 where the later is better, 0, -1; null: not judged.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["later", "earlier"], name="one_comparison_per_pair")]

    def __str__(self):
        return f"{self.later} against step {self.earlier.step}"
