"""A job is a row: claimed once, found again when its worker dies, stopped when somebody cancels."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation import jobs
from annotation.models import Job, WorkerPulse
from core.errors import Refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(jobs.current_app, "send_task", lambda task, args: messages.append((task, args[0])))
    return messages


@pytest.fixture
def job(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        return jobs.enqueue("somewhere.work", "Some work")


def test_the_message_goes_out_after_the_commit(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        job = jobs.enqueue("somewhere.work", "Some work")
        assert sent == []
    assert sent == [("somewhere.work", str(job.pk))]


def test_a_broker_that_is_away_is_no_error(monkeypatch, django_capture_on_commit_callbacks):
    def away(task, args):
        raise OSError("no broker")

    monkeypatch.setattr(jobs.current_app, "send_task", away)
    with django_capture_on_commit_callbacks(execute=True):
        job = jobs.enqueue("somewhere.work", "Some work")
    job.refresh_from_db()
    assert job.status == Job.Status.QUEUED


def test_a_job_is_claimed_once(job):
    with jobs.claim(job.pk):
        with pytest.raises(jobs.Taken), jobs.claim(job.pk):
            pass
    job.refresh_from_db()
    assert (job.status, job.attempts, job.progress, job.holder) == (Job.Status.DONE, 1, 1.0, "")
    with pytest.raises(jobs.Taken), jobs.claim(job.pk):
        pass


def test_an_error_is_recorded_and_raised(job):
    with pytest.raises(ZeroDivisionError), jobs.claim(job.pk):
        raise ZeroDivisionError("by zero")
    job.refresh_from_db()
    assert (job.status, job.error) == (Job.Status.FAILED, "ZeroDivisionError: by zero")
    assert jobs.retry(job)
    job.refresh_from_db()
    assert (job.status, job.error, job.attempts) == (Job.Status.QUEUED, "", 0)


def test_progress_is_written(job):
    with jobs.claim(job.pk) as claim:
        claim.report(0.25, "fold 1")
        job.refresh_from_db()
        assert (job.progress, job.message) == (0.25, "fold 1")


def test_a_cancelled_job_stops_at_its_next_report(job):
    with pytest.raises(jobs.Cancelled), jobs.claim(job.pk) as claim:
        jobs.cancel(job)
        claim.report(0.5)
    job.refresh_from_db()
    assert job.status == Job.Status.CANCELLED


def test_a_queued_job_is_cancelled_at_once(job):
    jobs.cancel(job)
    job.refresh_from_db()
    assert job.status == Job.Status.CANCELLED


def die(job, **fields):
    """What a worker killed in the middle leaves behind."""
    past = timezone.now() - timedelta(seconds=1)
    fields = {"status": Job.Status.RUNNING, "attempts": 1, "holder": "dead", "lease_until": past, **fields}
    Job.objects.filter(pk=job.pk).update(**fields)


def test_a_dead_workers_job_is_sent_again(job, sent):
    die(job)
    assert jobs.sweep() == 1
    assert len(sent) == 2
    with jobs.claim(job.pk) as claim:
        assert claim.job.attempts == 2


def test_a_job_whose_workers_keep_dying_is_marked_failed(job, sent):
    die(job, attempts=Job.MAX_ATTEMPTS)
    jobs.sweep()
    job.refresh_from_db()
    assert job.status == Job.Status.FAILED and "worker died 3 times" in job.error
    assert len(sent) == 1


def test_a_living_workers_job_is_left_alone(job, sent):
    die(job, lease_until=timezone.now() + jobs.LEASE)
    assert jobs.sweep() == 0


def test_a_lost_message_is_sent_again(job, sent):
    assert jobs.sweep() == 0
    assert jobs.sweep(timezone.now() + jobs.RESEND_AFTER + timedelta(seconds=1)) == 1
    assert len(sent) == 2


def test_who_lost_the_lease_writes_nothing(job):
    with pytest.raises(jobs.Cancelled), jobs.claim(job.pk) as claim:
        die(job)
        jobs.sweep()
        claim.report(0.9)
    job.refresh_from_db()
    assert job.status == Job.Status.QUEUED


def test_a_worker_is_alive_while_its_pulse_is_fresh():
    assert not jobs.worker_alive()
    jobs.pulse("w1")
    assert jobs.worker_alive()
    WorkerPulse.objects.update(seen_at=timezone.now() - jobs.ALIVE)
    assert not jobs.worker_alive()


def test_a_job_in_the_foreground_counts_as_somebody_at_work(job):
    with jobs.claim(job.pk):
        assert jobs.worker_alive()
    assert not jobs.worker_alive()


def test_a_refusal_is_recorded_in_its_own_words(job):
    with pytest.raises(Refused), jobs.claim(job.pk):
        raise Refused("There is nothing to play.")
    job.refresh_from_db()
    assert job.error == "There is nothing to play."


def test_a_job_s_queue_is_its_task_s():
    tasks = {
        "annotation.tasks.calculate": "interactive",
        "annotation.tasks.import_file": "interactive",
        "publication.write": "interactive",
        "evaluator.tasks.train": "training",
        "evaluator.tasks.admit": "judging",
        "leaderboard.tasks.play": "judging",
    }
    assert {task: jobs.queue_of(task) for task in tasks} == tasks


def test_a_worker_is_alive_for_what_it_takes(job):
    jobs.pulse("w1", ["interactive", "judging"])
    assert jobs.worker_alive() and jobs.worker_alive("leaderboard.tasks.play")
    assert not jobs.worker_alive("evaluator.tasks.train")
    jobs.pulse("w2")  # takes all
    assert jobs.worker_alive("evaluator.tasks.train")
