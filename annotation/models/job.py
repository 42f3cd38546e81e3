"""Long work as rows: what runs, who runs it, and what was done by whom."""

import math
import uuid

from django.db import models
from django.utils import timezone

from core.request_id import current


class Job(models.Model):
    """A task's row. A message may be lost or come twice; this row is claimed once at a time and found again."""

    class Status(models.TextChoices):
        QUEUED = "queued", "waiting for a worker"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    MAX_ATTEMPTS = 3

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    task = models.CharField(max_length=100, help_text="Name of the Celery task that runs it.")
    title = models.CharField(max_length=200)
    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, null=True, related_name="jobs")
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    holder = models.CharField(max_length=100, blank=True, help_text="One claim's token; empty when nobody runs it.")
    lease_until = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When its last message was sent.")
    progress = models.FloatField(default=0.0, help_text="From 0 to 1.")
    message = models.CharField(max_length=300, blank=True)
    error = models.TextField(blank=True)
    cancel_requested = models.BooleanField(default=False)
    created_by = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    request_id = models.CharField(max_length=64, blank=True, default="", help_text="Of the request that asked for it.")
    merged_at = models.DateTimeField(null=True, blank=True, help_text="When the results of its parts were merged, once.")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["status", "lease_until"], name="job_sweep")]  # jobs.sweep

    def __str__(self):
        return self.title

    @property
    def is_finished(self) -> bool:
        return self.status in (self.Status.DONE, self.Status.FAILED, self.Status.CANCELLED)

    @property
    def minutes_left(self) -> int | None:
        """Whole minutes at the pace so far; None where that is not known: it does not run, has hardly begun, or began
        further on than at 0, as a second attempt may."""
        if self.status != self.Status.RUNNING or self.started_at is None or self.attempts > 1 or self.progress < 0.02:
            return None
        spent = (timezone.now() - self.started_at).total_seconds()
        return math.ceil(spent * (1 - self.progress) / self.progress / 60)


class JobPart(models.Model):
    """One part of a running job, taken by any worker under a lease of its own (`annotation.parts`)."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField(help_text="In the order in which results are joined, from 0.")
    work = models.JSONField(help_text="What is to be done; only the job's task knows what it means.")
    result = models.JSONField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    holder = models.CharField(max_length=100, blank=True, help_text="One claim's token; empty when nobody works on it.")
    lease_until = models.DateTimeField(null=True, blank=True)
    message = models.CharField(max_length=300, blank=True, help_text="How far whoever works on it has come.")
    error = models.TextField(blank=True, help_text="What ended it; it ends its job, too.")
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="one_part_per_number")]
        indexes = [models.Index(fields=["job", "done_at", "number"], name="next_free_part")]  # parts.take

    def __str__(self):
        return f"part {self.number} of {self.job}"


class Heartbeat(models.Model):
    """One row, which the probe of readiness writes to see that something can be stored."""

    at = models.DateTimeField()

    def __str__(self):
        return f"{self.at:%Y-%m-%d %H:%M:%S}"


class WorkerPulse(models.Model):
    """When a worker was last seen alive."""

    name = models.CharField(primary_key=True, max_length=200)
    queues = models.JSONField(default=list, help_text="Those that it takes jobs from; none: all.")
    seen_at = models.DateTimeField()

    # What annotation.health says of it
    is_alive: bool
    has_gpu: bool
    shared_queues: list[str]

    def __str__(self):
        return self.name


def current_request_id() -> str:
    return current.get()


class AuditEvent(models.Model):
    """Who did what, in words: to a campaign, or to an account. Rows are only ever added: triggers in the database (migration
    0020) refuse to change or delete them. People are named by their accounts, never in `detail`, so that they can be erased.
    """

    campaign = models.ForeignKey(  # where that is gone, its number stays
        "annotation.Campaign", models.DO_NOTHING, null=True, blank=True, db_constraint=False, related_name="audit_events"
    )
    user = models.ForeignKey("annotation.User", models.PROTECT, null=True, blank=True, related_name="+")
    subject = models.ForeignKey(
        "annotation.User", models.PROTECT, null=True, blank=True, related_name="+", help_text="Whose account it is about."
    )
    action = models.CharField(max_length=60)
    detail = models.JSONField(default=dict, blank=True)
    request_id = models.CharField(max_length=64, blank=True, default=current_request_id, help_text="As in the server’s log.")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)  # the audit log is read from its end

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self):
        return f"{self.action} ({self.created_at:%Y-%m-%d %H:%M})"
