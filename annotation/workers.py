"""Workers, as their rows describe them. One with a graphics card gets trainings and judging first.

Such a worker also takes from a queue of its kind alone ("training-gpu" beside "training"; `config.celery`), and says so with
its pulse. A message goes there when one of them is alive and holds nothing. If nobody claims the job, its next message, after
`jobs.RESEND_AFTER`, goes to the queue of all. So neither a busy nor a dead graphics card keeps others from the work.
"""

import socket
import uuid
from datetime import timedelta

from celery import current_task
from django.conf import settings
from django.utils import timezone
from kombu import Exchange, Queue

from annotation.models import Job, JobPart, WorkerPulse

ALIVE = timedelta(seconds=settings.JOB_LEASE_SECONDS)  # since the last pulse
FIRST_ON_GPU = ("judging", "training")
NAME_CHARACTERS = 80  # of a worker's name in a holder's


def new_holder() -> str:
    """A token of one claim: the name of the worker (of the machine, where a command claims), and a random end."""
    return f"{_shortened((current_task and current_task.request.hostname) or socket.gethostname())}{uuid.uuid4().hex[:12]}"


def _shortened(name: str) -> str:
    return f"{name[:NAME_CHARACTERS]}:"


def gpu_queue(queue: str) -> Queue:
    name = f"{queue}-gpu"
    return Queue(name, Exchange(name), routing_key=name)


def has_gpu(pulse: WorkerPulse) -> bool:
    return any(gpu_queue(queue).name in pulse.queues for queue in FIRST_ON_GPU)


def first_queue(queue: str) -> Queue | None:
    """Where a job's first message goes, other than to its queue: to the graphics cards, where one takes such jobs and is
    idle."""
    if queue not in FIRST_ON_GPU:
        return None
    own, now = gpu_queue(queue), timezone.now()
    for pulse in WorkerPulse.objects.filter(seen_at__gte=now - ALIVE):
        if own.name in pulse.queues and not _holds_something(pulse.name, now):
            return own
    return None


def _holds_something(name: str, now) -> bool:
    held = {"holder__startswith": _shortened(name), "lease_until__gte": now}
    return Job.objects.filter(status=Job.Status.RUNNING, **held).exists() or JobPart.objects.filter(**held).exists()
