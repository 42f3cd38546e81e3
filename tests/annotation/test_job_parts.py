"""A job in parts: each is taken once, found again when its worker dies, stopped with its job, and merged once."""

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.db.models.signals import pre_delete
from django.utils import timezone

from annotation import jobs, parts
from annotation.models import Job, JobPart, WorkerPulse
from core.errors import Refused

pytestmark = pytest.mark.django_db
TASK = "leaderboard.tasks.play"
SQUARES = [0, 1, 4, 9, 16]


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(jobs.current_app, "send_task", lambda task, args: messages.append((task, args[0])))
    return messages


@pytest.fixture
def job():
    return jobs.enqueue(TASK, "Some work")


def square(work, report):
    report(0.5, "")
    return work["n"] ** 2


def five():
    return [{"n": n} for n in range(5)]


def running(job):
    Job.objects.filter(pk=job.pk).update(status=Job.Status.RUNNING, holder="first", lease_until=timezone.now() + jobs.LEASE)
    parts.lay_out(job, five())


def test_results_come_in_order_and_the_rows_go_when_the_job_is_done(job):
    with jobs.claim(job.pk) as claim:
        assert parts.share(claim, five, square, "Squares", (0.0, 0.5)) == SQUARES
        job.refresh_from_db()
        assert job.progress == 0.0  # written twice a second at most
        assert job.message == "Squares: 0 of 5 parts done"
    assert not JobPart.objects.exists()


def test_a_job_is_not_done_without_its_parts_gone(job):
    """A database that goes away in between leaves neither."""

    def away(**told):
        raise OperationalError

    with jobs.claim(job.pk) as claim, pytest.raises(OperationalError):
        parts.lay_out(job, five())
        pre_delete.connect(away, sender=JobPart, dispatch_uid="t")
        try:
            claim.finish(Job.Status.DONE)
        finally:
            pre_delete.disconnect(sender=JobPart, dispatch_uid="t")
            job.refresh_from_db()
            assert job.status == Job.Status.RUNNING and JobPart.objects.count() == 5


def test_progress_is_the_share_of_parts_done(job):
    seen = []

    def look(work, report):
        claim._last_report = 0.0  # so that the next report is written, however soon it comes
        job.refresh_from_db()
        seen.append((job.progress, job.message))

    with jobs.claim(job.pk) as claim:
        parts.share(claim, five, look, "Looks", (0.5, 1.0))
    assert seen == [(0.5 + n / 10, f"Looks: {n} of 5 parts done") for n in range(5)]


def test_whoever_looks_sees_how_far_each_part_under_way_has_come(job):
    """Of this worker's part and of another's, while they are worked on."""
    seen = []

    def work(of, report):
        if of["n"] == 0:
            with parts.Held(parts.take(job.pk)) as elsewhere:
                elsewhere.report(0.1, "other: 1 of 9 asked")
        claim._last_report = 0.0
        report(0.5, f"small: {of['n']} of 4 asked")
        job.refresh_from_db()
        seen.append((round(job.progress, 3), job.message))
        if of["n"] == 0:
            elsewhere.put_back()

    with jobs.claim(job.pk) as claim:
        parts.share(claim, five, work, "Asking")
    assert seen[0] == (0.1, "Asking: 0 of 5 parts done. small: 0 of 4 asked. other: 1 of 9 asked")
    assert seen[2] == (0.5, "Asking: 2 of 5 parts done. small: 2 of 4 asked")


def test_a_part_is_taken_once(job):
    running(job)
    taken = [parts.take(job.pk) for _ in range(6)]
    assert [part and part.number for part in taken] == [0, 1, 2, 3, 4, None]
    assert len({part.holder for part in taken[:5]}) == 5


def test_whose_row_changed_meanwhile_takes_the_next(job, monkeypatch):
    """Two read the same free rows; the filtered update lets one have the first."""
    running(job)
    first, real = [], jobs.free_parts

    def slow(job_id):
        rows = real(job_id)
        if not first:
            first.append(True)
            pks = list(rows.order_by("number").values_list("pk", flat=True))
            first.append(parts.take(job_id))
            return JobPart.objects.filter(pk__in=pks)
        return real(job_id)

    monkeypatch.setattr(jobs, "free_parts", slow)
    second = parts.take(job.pk)
    assert (first[1].number, second.number) == (0, 1)


def test_a_dead_workers_part_is_taken_again_and_its_late_result_is_refused(job):
    running(job)
    dead = parts.take(job.pk)
    with parts.Held(dead) as held:
        JobPart.objects.filter(pk=dead.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        again = parts.take(job.pk)
        assert (again.pk, again.attempts) == (dead.pk, 2)
        assert not held.finish("late")
    with parts.Held(again) as held:
        assert held.finish("in time")
        assert not held.finish("twice")
    again.refresh_from_db()
    assert (again.result, again.holder) == ("in time", "")


def test_a_part_that_keeps_killing_its_worker_ends_the_job(job):
    past = timezone.now() - timedelta(seconds=1)
    parts.lay_out(job, five())
    JobPart.objects.filter(number=2).update(attempts=Job.MAX_ATTEMPTS, holder="dead", lease_until=past)
    with pytest.raises(Refused, match="died 3 times at the same part"), jobs.claim(job.pk) as claim:
        parts.share(claim, five, square, "Squares")
    job.refresh_from_db()
    assert job.status == Job.Status.FAILED
    jobs.retry(job)
    with jobs.claim(job.pk) as claim:
        assert parts.share(claim, list, square, "Squares") == SQUARES


def test_the_next_attempt_goes_on_with_what_is_left(job):
    done = []

    def dies(work, report):
        if work["n"] == 3:
            raise KeyboardInterrupt
        return square(work, report)

    with pytest.raises(KeyboardInterrupt), jobs.claim(job.pk) as claim:
        parts.share(claim, five, dies, "Squares")
    past = timezone.now() - timedelta(seconds=1)
    JobPart.objects.filter(done_at=None).update(lease_until=past)
    jobs.retry(job)
    with jobs.claim(job.pk) as claim:
        result = parts.share(claim, list, lambda work, report: done.append(work["n"]) or square(work, report), "Squares")
    assert (result, done) == (SQUARES, [3, 4])


def test_an_error_ends_the_job_in_its_own_words(job):
    def refuses(work, report):
        if work["n"] == 2:
            raise Refused("There is no such device.")
        return 0

    with pytest.raises(Refused), jobs.claim(job.pk) as claim:
        parts.share(claim, five, refuses, "Parts")
    job.refresh_from_db()
    assert (job.status, job.error) == (Job.Status.FAILED, "There is no such device.")


def test_a_cancelled_job_stops_its_parts(job):
    def cancels(work, report):
        jobs.cancel(job)
        return 0

    with pytest.raises(jobs.Cancelled), jobs.claim(job.pk) as claim:
        parts.share(claim, five, cancels, "Parts")
    job.refresh_from_db()
    assert job.status == Job.Status.CANCELLED
    assert JobPart.objects.exclude(done_at=None).count() == 0  # not even the one that was under way is stored
    assert parts.take(job.pk) is None


def test_a_part_under_way_hears_of_the_cancelling(job):
    running(job)
    held = parts.Held(parts.take(job.pk))
    held.renew()
    held.report(0.5)
    jobs.cancel(job)
    held.renew()
    with pytest.raises(jobs.Cancelled):
        held.report(0.5)


def test_who_cannot_claim_the_job_lends_a_hand(job):
    running(job)
    body = parts.task_body(lambda job: square)(lambda job_id: jobs.claim(job_id).__enter__())
    body(str(job.pk))
    assert list(JobPart.objects.values_list("result", flat=True)) == SQUARES
    job.refresh_from_db()
    assert job.status == Job.Status.RUNNING and job.holder == "first"  # who claimed it merges


def test_a_part_is_held_while_its_judge_is_loaded(job, monkeypatch):
    """To import torch takes longer than a lease on a busy machine: others would take the part, and three times end the job."""
    renewed, held = threading.Event(), []
    monkeypatch.setattr(parts.Held, "renew", lambda self: renewed.set())
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.01)

    def slow(job):
        held.append(renewed.wait(5))
        return square

    running(job)
    assert parts.lend_a_hand(job.pk, slow) == 5 and held == [True]
    assert list(JobPart.objects.values_list("result", flat=True)) == SQUARES


def test_a_hand_is_not_lent_while_somebody_waits_at_a_page(job, sent):
    running(job)
    jobs.enqueue("annotation.tasks.calculate", "Look at the annotators")
    assert parts.lend_a_hand(job.pk, lambda job: square) == 1
    assert sent == [(TASK, str(job.pk))]  # and it is called again afterwards


def test_a_finished_job_has_nothing_to_lend_a_hand_with(job):
    with jobs.claim(job.pk) as claim:
        parts.share(claim, five, square, "Squares")
    assert parts.lend_a_hand(job.pk, lambda job: square) == 0


def test_living_workers_of_the_queue_are_called(job, sent):
    jobs.pulse("judge", ["judging"])
    jobs.pulse("all")
    jobs.pulse("trainer", ["training"])
    jobs.pulse("gone", ["judging"])
    WorkerPulse.objects.filter(name="gone").update(seen_at=timezone.now() - jobs.ALIVE)
    sent.clear()
    with jobs.claim(job.pk) as claim:
        parts.share(claim, five, square, "Squares")
    assert sent == [(TASK, str(job.pk))] * 2


def test_a_worker_that_starts_later_is_called_by_the_sweep(job, sent):
    running(job)
    parts.take(job.pk)
    jobs.pulse("first", ["judging"])
    assert sent == []  # it holds the part
    jobs.pulse("second", ["judging"])
    assert sent == [(TASK, str(job.pk))]


def test_results_are_merged_once(job):
    merged = []
    with jobs.claim(job.pk) as claim:
        assert parts.merge_once(claim, lambda: merged.append(1))
        assert not parts.merge_once(claim, lambda: merged.append(2))
    assert merged == [1]


def test_a_merge_that_fails_is_not_noted(job):
    with jobs.claim(job.pk) as claim:
        with pytest.raises(ZeroDivisionError):
            parts.merge_once(claim, lambda: 1 / 0)
        assert parts.merge_once(claim, list)


def test_who_lost_the_job_merges_nothing(job):
    merged = []
    with pytest.raises(jobs.Cancelled), jobs.claim(job.pk) as claim:
        Job.objects.filter(pk=job.pk).update(holder="another")
        parts.merge_once(claim, lambda: merged.append(1))
    assert merged == []


def test_a_database_that_was_away_fails_neither_part_nor_job(job, monkeypatch):
    monkeypatch.setattr("django.db.connection.close", lambda: None)

    def away(work, report):
        raise OperationalError("server closed the connection unexpectedly")

    with pytest.raises(OperationalError), jobs.claim(job.pk) as claim:
        parts.share(claim, five, away, "Parts")
    job.refresh_from_db()
    assert (job.status, job.error, job.holder) == (Job.Status.QUEUED, "", "")
    assert list(JobPart.objects.values_list("attempts", "error", "lease_until")) == [(0, "", None)] * 5
