"""Long work as rows: what runs, who runs it, and what was done by whom."""

import math
import uuid

from django.db import models
from django.utils import timezone


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


class WorkerPulse(models.Model):
    """When a worker was last seen alive."""

    name = models.CharField(primary_key=True, max_length=200)
    queues = models.JSONField(default=list, help_text="Those that it takes jobs from; none: all.")
    seen_at = models.DateTimeField()

    def __str__(self):
        return self.name


class AuditEvent(models.Model):
    """Who did what to a campaign, in words. Rows are only ever added."""

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="audit_events")
    user = models.ForeignKey("annotation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    action = models.CharField(max_length=60)
    detail = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self):
        return f"{self.action} ({self.created_at:%Y-%m-%d %H:%M})"
