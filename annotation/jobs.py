"""Long work that is never lost: a row first, then a message; a lease while it runs; a sweep that finds the dead.

A task is a function under `@jobs.task_body` that does `with jobs.claim(job_id) as claim:` and calls
`claim.report(...)` as it goes. What happens then:

- the message is lost, or comes before anybody listens: the sweep sends it again;
- the message comes twice: the second claim finds the row taken and does nothing;
- the worker dies: its lease runs out, the sweep queues the job again, or marks it failed after MAX_ATTEMPTS;
- somebody cancels: the next report raises Cancelled in the task.
"""

import contextlib
import functools
import logging
import threading
import time
from collections.abc import Callable, Collection
from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connection, transaction
from django.db.models import F, Q
from django.dispatch import Signal
from django.utils import timezone

from annotation import workers
from annotation.models import Job, JobPart, KeptResponse, WorkerPulse
from core.errors import Refused
from core.request_id import current

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=settings.JOB_LEASE_SECONDS)
BEAT_SECONDS = settings.JOB_LEASE_SECONDS / 4
RESEND_AFTER = timedelta(seconds=30)  # a queued job nobody took: its message is taken for lost
ALIVE = workers.ALIVE
pulsed = Signal()  # sender: None; from every living worker, every BEAT_SECONDS: time to look for what is due


class Cancelled(Exception):
    """Raised inside a task whose job somebody cancelled, or whose lease another worker took over."""


class Taken(Exception):
    """The job is not to be run now: somebody else runs it, or it is finished."""


def enqueue(task: str, title: str, campaign=None, user=None, foreground: bool = False) -> Job:
    """Record a job; its message goes out when the surrounding transaction commits.

    foreground: no message; the caller claims the job at once, in its own process.
    """
    job = Job.objects.create(
        task=task,
        title=title,
        campaign=campaign,
        created_by=user,
        sent_at=timezone.now() if foreground else None,
        request_id=current.get(),
    )
    if not foreground:
        transaction.on_commit(lambda: send(job))
    return job


def send(job: Job) -> None:
    """Send a queued job's message, the first one where a graphics card is idle. A broker that cannot be reached is no error:
    the sweep tries again."""
    Job.objects.filter(pk=job.pk).update(sent_at=timezone.now())
    special = workers.first_queue(queue_of(job.task)) if job.sent_at is None else None
    try:
        current_app.send_task(job.task, args=[str(job.pk)], **({"queue": special} if special else {}))
    except Exception:  # whatever the transport raises, the row stays queued
        log.exception("job %s: message not sent, the sweep will send it again", job.pk)


def retry(job: Job) -> bool:
    """Queue a failed or cancelled job again, from its first attempt. False where it was not finished that way."""
    changed = Job.objects.filter(pk=job.pk, status__in=[Job.Status.FAILED, Job.Status.CANCELLED]).update(
        status=Job.Status.QUEUED,
        attempts=0,
        error="",
        message="",
        progress=0,
        holder="",
        cancel_requested=False,
        finished_at=None,
        sent_at=None,
    )
    if changed:
        job.sent_at = None
        JobPart.objects.filter(job=job, done_at=None).update(attempts=0, error="", holder="", lease_until=None)
        transaction.on_commit(lambda: send(job))
    return bool(changed)


def cancel(job: Job) -> None:
    """Ask a running job to stop; a queued one stops at once."""
    now = timezone.now()
    queued = Job.objects.filter(pk=job.pk, status=Job.Status.QUEUED)
    if not queued.update(status=Job.Status.CANCELLED, finished_at=now, message="Cancelled before it started."):
        Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).update(cancel_requested=True)


class Claim:
    """The right to run one job until the lease runs out. Made by `claim`, renewed by its own thread."""

    def __init__(self, job: Job):
        self.job = job
        self._lost = threading.Event()
        self._stop = threading.Event()
        self._last_report = 0.0

    def _held_rows(self):
        return Job.objects.filter(pk=self.job.pk, holder=self.job.holder, status=Job.Status.RUNNING)

    def _beat(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            try:
                kept = self._held_rows().filter(cancel_requested=False).update(lease_until=timezone.now() + LEASE)
                if not kept:
                    self._lost.set()
            except Exception:  # a busy database now is no reason to lose the work; the next beat tries again
                log.exception("job %s: heartbeat failed", self.job.pk)
            finally:
                connection.close()

    def stopped(self) -> bool:
        """True once the job was cancelled or taken over: the work should end."""
        return self._lost.is_set()

    def report(self, progress: float, message: str = "", **extra) -> None:
        """Write progress (0 to 1), at most twice a second. Raises Cancelled when the work should end."""
        if self.stopped():
            raise Cancelled
        if time.monotonic() - self._last_report < 0.5 and progress < 1:
            return
        self._last_report = time.monotonic()
        fields = {"progress": min(max(progress, 0.0), 1.0), "message": message[:300]}
        if not self._held_rows().filter(cancel_requested=False).update(**fields):
            self._lost.set()
            raise Cancelled

    def finish(self, status: str, error: str = "") -> bool:
        """Record the outcome. False where the lease was lost meanwhile: then nothing may be written."""
        fields = {"status": status, "finished_at": timezone.now(), "error": error, "holder": "", "lease_until": None}
        if status == Job.Status.DONE:
            fields |= {"progress": 1.0}
        with transaction.atomic():
            done = bool(self._held_rows().update(**fields))
            if done and status == Job.Status.DONE:
                JobPart.objects.filter(job=self.job).delete()
        return done

    def put_back(self, message: str) -> None:
        """Queue the job again, for the sweep to send."""
        self._held_rows().update(status=Job.Status.QUEUED, holder="", lease_until=None, sent_at=None, message=message)


@contextlib.contextmanager
def claim(job_id):
    """Take a queued job, keep its lease while the body runs, record done, failed or cancelled.

    Raises Taken where the job is not queued. An error in the body is recorded and raised again.
    """
    holder, now = workers.new_holder(), timezone.now()
    taken = Job.objects.filter(pk=job_id, status=Job.Status.QUEUED).update(
        status=Job.Status.RUNNING, holder=holder, lease_until=now + LEASE, started_at=now, attempts=F("attempts") + 1, error=""
    )
    if taken != 1:
        raise Taken(f"job {job_id} is not waiting to be run")
    held = Claim(Job.objects.get(pk=job_id))
    beat = threading.Thread(target=held._beat, daemon=True)
    beat.start()
    token = current.set(held.job.request_id)
    try:
        yield held
    except Cancelled:
        held.finish(Job.Status.CANCELLED)
        raise
    except (OperationalError, InterfaceError) as error:  # the database was away: where it is back, another attempt
        connection.close()
        if held.job.attempts < Job.MAX_ATTEMPTS:
            held.put_back("The database was away. The job starts again.")
        else:
            held.finish(Job.Status.FAILED, error=f"{type(error).__name__}: {error}")
        raise
    except BaseException as error:
        words = str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}"
        held.finish(Job.Status.FAILED, error=words)
        raise
    else:
        held.finish(Job.Status.DONE)
    finally:
        current.reset(token)
        held._stop.set()
        beat.join(timeout=BEAT_SECONDS)


def task_body(work: Callable[[str], object]) -> Callable[[str], None]:
    """Make a function of a job's id, which claims the job, the body of a task. It ends quietly where the job is not to
    be run now or was cancelled; the job's row says which."""

    @functools.wraps(work)
    def body(job_id: str) -> None:
        with contextlib.suppress(Taken, Cancelled):
            work(job_id)

    return body


def sweep(now=None) -> int:
    """Find jobs whose worker died and messages that were lost; send them again. Safe to run anywhere, any time."""
    now = now or timezone.now()
    KeptResponse.objects.filter(created_at__lt=now - timedelta(days=1)).delete()
    dead = Job.objects.filter(status=Job.Status.RUNNING, lease_until__lt=now)
    dead.filter(cancel_requested=True).update(status=Job.Status.CANCELLED, finished_at=now, holder="")
    dead.filter(attempts__gte=Job.MAX_ATTEMPTS).update(
        status=Job.Status.FAILED,
        finished_at=now,
        holder="",
        error=f"The worker died {Job.MAX_ATTEMPTS} times while running this job. No data were lost; you can start it again.",
    )
    dead.update(status=Job.Status.QUEUED, holder="", sent_at=None, message="The worker died. The job starts again.")
    lost = Job.objects.filter(Q(sent_at=None) | Q(sent_at__lt=now - RESEND_AFTER), status=Job.Status.QUEUED)
    sent = 0
    for job in lost:
        send(job)
        sent += 1
    for job in Job.objects.filter(status=Job.Status.RUNNING, parts__done_at=None, parts__isnull=False).distinct():
        call_idle(job)
    return sent


def free_parts(job_id):
    """The parts of a running job that may be taken now (`annotation.parts`)."""
    return free(JobPart.objects.filter(job_id=job_id, job__status=Job.Status.RUNNING))


def free(rows):
    """Of these parts of running jobs those that nobody holds and somebody may take."""
    unheld = Q(lease_until=None) | Q(lease_until__lt=timezone.now())
    return rows.filter(unheld, job__cancel_requested=False, done_at=None, error="", attempts__lt=Job.MAX_ATTEMPTS)


def call_idle(job: Job) -> None:
    """While parts of a job are free, send a message for each living worker that holds none of them: its own may be lost, or
    older than the worker. One that is busy gets to it later, or too late."""
    now, queue = timezone.now(), queue_of(job.task)
    taken = WorkerPulse.objects.filter(seen_at__gte=now - ALIVE).values_list("queues", flat=True)
    alive = sum(not queues or queue in queues for queues in taken)
    busy = JobPart.objects.filter(job=job, done_at=None, lease_until__gte=now).count()
    call(job, min(max(alive - busy, 0), free_parts(job.pk).count()))


def call(job: Job, times: int) -> None:
    """Send the job's message to others, who lend a hand with its parts."""
    for _ in range(times):
        try:
            current_app.send_task(job.task, args=[str(job.pk)])
        except Exception:  # whatever the transport raises, the parts stay free
            log.exception("job %s: nobody could be called", job.pk)
            return


def queue_of(task: str) -> str:
    """The queue that a task's messages go to (CELERY_TASK_ROUTES)."""
    return current_app.amqp.router.route({}, task)["queue"].name


def pulse(name: str, queues: Collection[str] = ()) -> None:
    """Say that a worker lives, who takes jobs from these queues (none: from all), and sweep."""
    now = timezone.now()
    WorkerPulse.objects.update_or_create(name=name, defaults={"seen_at": now, "queues": list(queues)})
    WorkerPulse.objects.filter(seen_at__lt=now - timedelta(days=1)).delete()
    sweep(now)


def worker_alive(task: str | None = None) -> bool:
    """Is anybody at work: a worker with a fresh pulse, or a command that runs a job in the foreground? task: a worker that
    takes this one, or a command that runs one."""
    now = timezone.now()
    taken = list(WorkerPulse.objects.filter(seen_at__gte=now - ALIVE).values_list("queues", flat=True))
    at_work = Job.objects.filter(status=Job.Status.RUNNING, lease_until__gte=now)
    if task is None:
        return bool(taken) or at_work.exists()
    queue = queue_of(task)
    return any(not queues or queue in queues for queues in taken) or at_work.filter(task=task).exists()


def queued(job: Job) -> dict:
    """What a command says of a job that it leaves to a worker."""
    alive = worker_alive(job.task)
    said = (
        "A worker will start it soon."
        if alive
        else "No worker is running. The job waits until one starts (make serve); --wait runs it in this process."
    )
    return {"task": str(job.pk), "status": "queued", "worker_alive": alive, "said": said}


def pulse_forever(name: str, stop: threading.Event, queues: Collection[str] = ()) -> None:
    """The body of a worker's pulse thread."""
    while not stop.is_set():
        try:
            pulse(name, queues)
            for receiver, error in pulsed.send_robust(None):
                if isinstance(error, Exception):
                    log.error("%s failed", receiver, exc_info=error)
        except Exception:  # the database may be away for a while; the worker's other threads say so too
            log.exception("pulse failed")
        finally:
            close_old_connections()
            connection.close()
        stop.wait(BEAT_SECONDS)
