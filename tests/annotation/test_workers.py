"""A worker with a graphics card gets trainings and judging first; no busy or dead one keeps others from them."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from celery.app.amqp import Queues
from django.conf import settings
from django.utils import timezone

from annotation import health, jobs, workers
from annotation.models import Job, JobPart, User, WorkerPulse
from config import celery, gpu
from leaderboard.management.commands import serve

pytestmark = pytest.mark.django_db
TRAIN, PLAY, CALCULATE = "evaluator.tasks.train", "leaderboard.tasks.play", "annotation.tasks.calculate"
ON_GPU = ["judging", "judging-gpu", "training", "training-gpu"]


@pytest.fixture
def sent(monkeypatch):
    """(task, queue) of each message; None: the queue that the task is routed to."""
    messages = []

    def send_task(task, args, queue=None):
        messages.append((task, queue and queue.name))

    monkeypatch.setattr(jobs.current_app, "send_task", send_task)
    return messages


def worker(name, queues, seconds_ago=0.0):
    WorkerPulse.objects.create(name=name, queues=queues, seen_at=timezone.now() - timedelta(seconds=seconds_ago))


def new_job(task=TRAIN) -> Job:
    job = Job.objects.create(task=task, title=task)
    jobs.send(job)
    return job


class TestFirstMessage:
    def test_it_goes_to_an_idle_card(self, sent):
        worker("web@here", ["interactive", "judging", "training"])
        worker("gpu@there", ON_GPU)
        for task in (TRAIN, PLAY, CALCULATE):
            new_job(task)
        assert sent == [(TRAIN, "training-gpu"), (PLAY, "judging-gpu"), (CALCULATE, None)]

    def test_a_card_is_asked_for_what_it_takes_alone(self, sent):
        worker("gpu@there", ["training", "training-gpu"])
        new_job(PLAY)
        assert sent == [(PLAY, None)]

    @pytest.mark.parametrize("pulses", [[], [("web@here", ["judging", "training"], 0)], [("gpu@there", ON_GPU, 3600)]])
    def test_without_a_living_card_it_goes_to_all(self, sent, pulses):
        for pulse in pulses:
            worker(*pulse)
        new_job()
        assert sent == [(TRAIN, None)]

    @pytest.mark.parametrize("held", ["job", "part"])
    def test_a_busy_card_leaves_it_to_all(self, sent, monkeypatch, held):
        worker("gpu@there", ON_GPU)
        monkeypatch.setattr(workers, "current_task", SimpleNamespace(request=SimpleNamespace(hostname="gpu@there")))
        mine = Job.objects.create(task=PLAY, title="Play")
        if held == "job":
            with jobs.claim(mine.pk):
                new_job()
            new_job()  # it is done by now
            assert sent == [(TRAIN, None), (TRAIN, "training-gpu")]
        else:
            later = timezone.now() + jobs.LEASE
            part = JobPart.objects.create(job=mine, number=0, work=[], holder=workers.new_holder(), lease_until=later)
            new_job()
            JobPart.objects.filter(pk=part.pk).update(holder="", lease_until=None)
            new_job()
            assert sent == [(TRAIN, None), (TRAIN, "training-gpu")]

    def test_of_two_cards_one_is_idle(self, sent):
        worker("gpu-1@there", ON_GPU)
        worker("gpu@there", ON_GPU)  # its name begins like the other's
        held = {"status": "running", "lease_until": timezone.now() + jobs.LEASE}
        Job.objects.create(task=TRAIN, title="Train", holder="gpu@there:0123456789ab", **held)
        new_job()
        Job.objects.create(task=TRAIN, title="Train", holder="gpu-1@there:0123456789ab", **held)
        new_job()
        assert sent == [(TRAIN, "training-gpu"), (TRAIN, None)]

    def test_a_holder_fits_its_column(self, monkeypatch):
        monkeypatch.setattr(workers, "current_task", SimpleNamespace(request=SimpleNamespace(hostname="w" * 150)))
        assert len(workers.new_holder()) <= Job._meta.get_field("holder").max_length


class TestNextMessages:
    def test_one_that_no_card_has_taken_goes_to_all(self, sent):
        worker("gpu@there", ON_GPU)
        new_job()
        jobs.sweep(timezone.now() + jobs.RESEND_AFTER + timedelta(seconds=1))
        assert sent == [(TRAIN, "training-gpu"), (TRAIN, None)]

    def test_a_job_that_starts_again_goes_to_a_card_again(self, sent, django_capture_on_commit_callbacks):
        worker("gpu@there", ON_GPU)
        job = new_job()
        Job.objects.filter(pk=job.pk).update(status=Job.Status.FAILED)
        job.refresh_from_db()
        with django_capture_on_commit_callbacks(execute=True):
            assert jobs.retry(job)
        dead = timezone.now() - timedelta(seconds=1)
        Job.objects.filter(pk=job.pk).update(status=Job.Status.RUNNING, attempts=1, holder="dead", lease_until=dead)
        jobs.sweep()
        assert sent == [(TRAIN, "training-gpu")] * 3


class TestWorker:
    def queues_of(self, monkeypatch, named, with_gpu=True) -> set[str]:
        monkeypatch.setattr(gpu, "is_used", lambda: with_gpu)
        queues = Queues(settings.CELERY_TASK_QUEUES)
        if named:
            queues.select(named)
        celery.take_gpu_queues(SimpleNamespace(app=SimpleNamespace(amqp=SimpleNamespace(queues=queues))))
        return set(queues.consume_from)

    def test_one_with_a_card_takes_from_its_queues_besides(self, monkeypatch):
        assert self.queues_of(monkeypatch, ["training", "judging"]) == set(ON_GPU)
        assert self.queues_of(monkeypatch, ["interactive", "judging"]) == {"interactive", "judging", "judging-gpu"}
        assert self.queues_of(monkeypatch, None) == {"interactive", *ON_GPU}

    def test_one_without_takes_what_it_is_told(self, monkeypatch):
        assert self.queues_of(monkeypatch, ["training"], with_gpu=False) == {"training"}
        assert self.queues_of(monkeypatch, None, with_gpu=False) == set(settings.QUEUES)

    def test_nobody_is_asked_about_cards_for_quick_jobs(self, monkeypatch):
        monkeypatch.setattr(gpu.subprocess, "run", lambda *words, **options: pytest.fail("torch was asked"))
        monkeypatch.setattr(gpu, "DRIVERS", ("/",))
        queues = Queues(settings.CELERY_TASK_QUEUES)
        queues.select(["interactive"])
        celery.take_gpu_queues(SimpleNamespace(app=SimpleNamespace(amqp=SimpleNamespace(queues=queues))))


class TestCard:
    def test_no_driver_is_no_card(self, monkeypatch):
        monkeypatch.delenv("COMPARENA_DEVICE", raising=False)
        monkeypatch.setattr(gpu, "DRIVERS", ("/dev/of-no-vendor",))
        monkeypatch.setattr(gpu.sys, "platform", "linux")
        monkeypatch.setattr(gpu.subprocess, "run", lambda *words, **options: pytest.fail("torch was asked"))
        assert not gpu.is_used()

    def test_the_cpu_by_name_is_no_card(self, monkeypatch):
        monkeypatch.setenv("COMPARENA_DEVICE", "cpu")
        monkeypatch.setattr(gpu, "DRIVERS", ("/",))
        assert not gpu.is_used()

    @pytest.mark.parametrize("said, used", [("cuda", True), ("mps", True), ("cpu", False)])
    def test_with_a_driver_torch_says(self, monkeypatch, said, used):
        monkeypatch.delenv("COMPARENA_DEVICE", raising=False)
        monkeypatch.setattr(gpu, "DRIVERS", ("/",))
        monkeypatch.setattr(gpu, "ASK", f"print({said!r})")
        assert gpu.is_used() is used

    def test_a_card_that_is_not_there_is_said_and_not_used(self, monkeypatch, caplog):
        """torch itself is asked, on a machine without this card."""
        monkeypatch.setenv("COMPARENA_DEVICE", "cuda:77")
        assert not gpu.is_used()
        assert "There is no device 'cuda:77' here" in caplog.text


def test_the_page_says_who_has_a_card(client):
    worker("web@here", ["interactive"])
    worker("gpu@there", ON_GPU)
    client.force_login(User.objects.create_superuser("alice"))
    shown = {pulse.name: (pulse.has_gpu, pulse.shared_queues) for pulse in client.get("/status/").context["workers"]}
    assert shown == {"web@here": (False, ["interactive"]), "gpu@there": (True, ["judging", "training"])}
    assert [queue["served"] for queue in health.queues()] == [True, True, True]


@pytest.mark.parametrize(
    "queues, started",
    [
        (settings.QUEUES, {"worker": ["interactive", "judging"], "training worker": ["training", "judging"]}),
        (["interactive"], {"worker": ["interactive"]}),
        (["training"], {"training worker": ["training"]}),
        ([], {}),
    ],
)
def test_serve_starts_workers_for_the_queues_of_its_machine(queues, started):
    assert serve._workers(queues) == started
