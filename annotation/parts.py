"""A job in parts: rows that any worker takes, one at a time, each under a lease of its own; their results are joined in order.

The worker that claimed the job lays its parts out and works on them; messages like the job's own call others. Whoever gets one
while the job runs cannot claim it, and takes parts instead. What happens then:

- two want one part: a filtered update lets one have it;
- a worker dies with a part: its lease runs out, anybody takes the part again, MAX_ATTEMPTS times at most;
- the worker that claimed the job dies: the job is queued again (`jobs.sweep`), and goes on with the parts that are not done;
- somebody cancels: no part is taken any more, and the next report of a part that is worked on raises Cancelled;
- a part raises an error: it ends the job, in its own words.

Parts are laid out by what is to be done, never by how many work on it, so that any number of workers gives the same results.
"""

import contextlib
import functools
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F
from django.utils import timezone

from annotation import jobs, workers
from annotation.models import Job, JobPart
from core.errors import Refused

log = logging.getLogger(__name__)

CALL_AGAIN = 10.0  # seconds
LOOK_SECONDS = 0.2  # at parts that others hold
TELL_SECONDS = 0.5  # between two messages of a part

Report = Callable[[float, str], None]
Work = Callable[[Any, Report], Any]  # (a part's `work`, report) -> its result, both plain JSON


class Held:
    """The right to work on one part until its lease runs out, renewed by its own thread."""

    def __init__(self, part: JobPart, told: Callable[[float], None] | None = None):
        """told: hears of the share done, at most as often as a message is kept."""
        self.part, self._told = part, told
        self._last_message = 0.0
        self._lost, self._stop = threading.Event(), threading.Event()

    def rows(self):
        """The part while this worker holds it and its job goes on."""
        wanted = {"job__status": Job.Status.RUNNING, "job__cancel_requested": False, "done_at": None}
        return JobPart.objects.filter(pk=self.part.pk, holder=self.part.holder, **wanted)

    def _beat(self) -> None:
        while not self._stop.wait(jobs.BEAT_SECONDS):
            try:
                self.renew()
            except Exception:  # a busy database now is no reason to lose the work; the next beat tries again
                log.exception("%s: heartbeat failed", self.part)
            finally:
                connection.close()

    def renew(self) -> None:
        if not self.rows().update(lease_until=timezone.now() + jobs.LEASE):
            self._lost.set()

    def __enter__(self):
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join(timeout=jobs.BEAT_SECONDS)

    def report(self, progress: float, message: str = "") -> None:
        """Keep the message, for the job's page. Raises Cancelled where the part is to be left."""
        if self._lost.is_set():
            raise jobs.Cancelled
        if not message or time.monotonic() - self._last_message < TELL_SECONDS:
            return
        self._last_message = time.monotonic()
        self.rows().update(message=message[:300])
        if self._told:
            self._told(progress)

    def finish(self, result: Any) -> bool:
        """Store the result. False where the lease was lost meanwhile: then nothing is stored."""
        return bool(self.rows().update(result=result, done_at=timezone.now(), holder="", lease_until=None))

    def fail(self, error: str) -> None:
        self.rows().update(error=error, holder="", lease_until=None)

    def put_back(self) -> None:
        """Leave it to others, as if it had not been tried."""
        self.rows().update(holder="", lease_until=None, attempts=F("attempts") - 1)


def lay_out(job: Job, works: Iterable[Any]) -> None:
    """Write the job's parts, all at once."""
    JobPart.objects.bulk_create([JobPart(job=job, number=i, work=work) for i, work in enumerate(works)], batch_size=100)


def take(job_id) -> JobPart | None:
    """The next free part, now this worker's; None where none is free."""
    taken = {"holder": workers.new_holder(), "attempts": F("attempts") + 1, "message": ""}
    while pks := list(jobs.free_parts(job_id).order_by("number").values_list("pk", flat=True)[:8]):
        for pk in pks:
            until = timezone.now() + jobs.LEASE
            if jobs.free_parts(job_id).filter(pk=pk).update(**taken, lease_until=until) == 1:
                return JobPart.objects.get(pk=pk)
    return None


def do(part: JobPart, work: Work, told: Callable[[float], None] | None = None) -> None:
    """Work on a part that was taken, and keep its result. told: as `Held` takes it."""
    with Held(part, told) as held:
        try:
            result = work(part.work, held.report)
        except (jobs.Cancelled, OperationalError, InterfaceError) as stopped:
            if not isinstance(stopped, jobs.Cancelled):
                connection.close()  # the database was away; the next statement connects anew
            held.put_back()
            raise
        except Exception as error:
            held.fail(str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}")
            if not isinstance(error, Refused):
                log.exception("%s failed", part)
            return
        held.finish(result)


def lend_a_hand(job_id, work_of: Callable[[Job], Work]) -> int:
    """Work on free parts of a job that somebody else runs, until none is left or people wait for another job; returns how
    many. work_of makes what works on a part, once."""
    done, work = 0, None
    while part := take(job_id):
        if work is None:
            with Held(part) as held:  # to import torch and load a judge may take longer than a lease lasts
                try:
                    work = work_of(part.job)
                except Refused as refused:
                    held.fail(str(refused))
                    break
                except BaseException:
                    held.put_back()
                    raise
        do(part, work)
        done += 1
        if _somebody_waits():
            jobs.call(part.job, 1)
            break
    return done


def share(claim: jobs.Claim, works: Callable[[], Iterable[Any]], work: Work, said: str, span=(0.0, 1.0)) -> list[Any]:
    """The results of all parts, in order. works: what is to be done, laid out unless an earlier attempt did; the job's
    progress goes through `span` as parts are done. Raises Refused for a part that failed, Cancelled."""
    job = claim.job
    parts = JobPart.objects.filter(job=job)
    if not parts.exists():
        lay_out(job, works())
    parts.filter(done_at=None).update(error="")  # of an attempt that somebody started again
    total, called = parts.count(), -CALL_AGAIN

    def report(within: float = 0.0) -> None:
        """within: share done of the part that this worker works on. What others say of theirs stands there, too."""
        done = parts.exclude(done_at=None).count()
        share_done = min(1.0, (done + within) / max(total, 1))
        under_way = parts.filter(done_at=None, error="").exclude(holder="").exclude(message="").order_by("number")
        messages = [f"{said}: {done} of {total} parts done", *under_way.values_list("message", flat=True)]
        claim.report(span[0] + (span[1] - span[0]) * share_done, ". ".join(messages))

    while (left := parts.filter(done_at=None)).exists():
        report()
        if failed := left.exclude(error="").first():
            raise Refused(failed.error)
        if time.monotonic() - called >= CALL_AGAIN:
            called = time.monotonic()
            jobs.call_idle(job)
        if part := take(job.pk):
            do(part, work, report)
        else:
            if left.filter(attempts__gte=Job.MAX_ATTEMPTS, lease_until__lt=timezone.now()).exists():
                raise Refused(f"A worker died {Job.MAX_ATTEMPTS} times at the same part of this job. You can start it again.")
            time.sleep(LOOK_SECONDS)
    report()
    return list(parts.order_by("number").values_list("result", flat=True))


def merge_once(claim: jobs.Claim, merge: Callable[[], None]) -> bool:
    """Merge in the transaction that notes it, while this worker holds the job. False where it was done before. Raises
    Cancelled where the job is not this worker's any more."""
    with transaction.atomic():
        held = Job.objects.filter(pk=claim.job.pk, holder=claim.job.holder, status=Job.Status.RUNNING)
        if held.filter(merged_at=None).update(merged_at=timezone.now()):
            merge()
            return True
        if not held.exists():
            raise jobs.Cancelled
    return False


def task_body(work_of: Callable[[Job], Work]):
    """`jobs.task_body` for a job in parts: a message that cannot claim the job lends a hand with its parts."""

    def decorate(work: Callable[[str], object]) -> Callable[[str], None]:
        @functools.wraps(work)
        def body(job_id: str) -> None:
            try:
                work(job_id)
            except jobs.Cancelled:
                pass
            except jobs.Taken:
                with contextlib.suppress(jobs.Cancelled):
                    lend_a_hand(job_id, work_of)

        return body

    return decorate


def _somebody_waits() -> bool:
    """Is there a job that people look at a page for, and that nobody has taken yet?"""
    waiting = Job.objects.filter(status=Job.Status.QUEUED).values_list("task", flat=True)
    return any(jobs.queue_of(task) == "interactive" for task in waiting.distinct().order_by())
