"""Figures of this installation in Prometheus' text format (prometheus.io/docs/instrumenting/exposition_formats, 0.0.4). All of
them come from rows and the disk, so each web process gives the same. None names a campaign or a person."""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Exists, Min, OuterRef
from django.utils import timezone

from annotation import health, jobs
from annotation.models import Annotator, Job, JobPart, Submission
from annotation.questions import store

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
ACTIVE = timedelta(minutes=5)

Samples = Iterable[tuple[dict[str, str], float]]


def text() -> str:
    sizes = health.sizes()
    return "".join(
        [
            _metric("jobs", "gauge", "Jobs, by queue and status.", _jobs()),
            _metric("oldest_waiting_job_seconds", "gauge", "Age of the oldest job that waits; 0 if none does.", _waiting()),
            _metric("job_parts_waiting", "gauge", "Parts of running jobs that no worker has taken.", _one(_parts_waiting())),
            _metric("workers", "gauge", "Living workers that take jobs from a queue.", _workers()),
            _metric("judgments_total", "counter", "Answers stored, also imported and retracted ones.", _answers()),
            _metric("annotators_active", "gauge", "Annotators who answered in the last 5 minutes.", _one(_active())),
            _metric("disk_free_bytes", "gauge", "Free space where DATA_DIR lies.", _one(sizes["free"])),
            _metric("disk_bytes", "gauge", "Size of the disk where DATA_DIR lies.", _one(sizes["disk"])),
            _metric("database_bytes", "gauge", "Size of the database.", _one(sizes["database"])),
        ]
    )


def _metric(name: str, kind: str, about: str, samples: Samples) -> str:
    """Labels are names of queues, states and kinds: nothing in them needs escaping."""
    name = f"comparena_{name}"
    lines = [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        within = ",".join(f'{label}="{text}"' for label, text in labels.items())
        lines.append(f"{name}{{{within}}} {value}" if within else f"{name} {value}")
    return "\n".join(lines) + "\n"


def _one(value: float) -> Samples:
    return [({}, value)]


def _jobs() -> Samples:
    counts = {(queue, status): 0 for queue in settings.QUEUES for status in Job.Status.values}
    for task, status, count in Job.objects.order_by().values_list("task", "status").annotate(Count("pk")):
        counts[jobs.queue_of(task), status] += count
    return [({"queue": queue, "status": status}, count) for (queue, status), count in counts.items()]


def _waiting() -> Samples:
    ages, now = dict.fromkeys(settings.QUEUES, 0.0), timezone.now()
    waiting = Job.objects.filter(status=Job.Status.QUEUED).order_by().values_list("task").annotate(Min("created_at"))
    for task, created_at in waiting:
        queue = jobs.queue_of(task)
        ages[queue] = max(ages[queue], (now - created_at).total_seconds())
    return [({"queue": queue}, age) for queue, age in ages.items()]


def _parts_waiting() -> int:
    running = JobPart.objects.filter(job__status=Job.Status.RUNNING)
    return jobs.free(running).count()


def _workers() -> Samples:
    alive = [pulse.queues or settings.QUEUES for pulse in health.workers() if pulse.is_alive]
    return [({"queue": queue}, sum(queue in taken for taken in alive)) for queue in settings.QUEUES]


def _answers() -> Samples:
    totals = store.totals()
    return [({"kind": "score"}, totals["scores"]), ({"kind": "pair"}, totals["judgments"])]


def _active() -> int:
    answered = Submission.objects.filter(annotator=OuterRef("pk"), created_at__gte=timezone.now() - ACTIVE)
    return Annotator.objects.filter(Exists(answered)).count()
