"""Probes that anybody may ask, and the page on which admins see workers, queues and jobs."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import InterfaceError
from django.utils import timezone

from annotation import health, jobs
from annotation.models import Job, User, WorkerPulse

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(health, "_kept", {})
    monkeypatch.setattr(jobs.current_app, "send_task", lambda task, args: None)


@pytest.fixture
def admin(client):
    user = User.objects.create_superuser("alice")
    client.force_login(user)
    return user


def break_database(monkeypatch):
    class Away:
        vendor = "away"

        def cursor(self):
            raise InterfaceError("password=secret at 10.0.0.1")

    monkeypatch.setattr(health, "connection", Away())


class TestProbes:
    def test_a_healthy_place_says_so_to_anybody(self, client, monkeypatch):
        monkeypatch.setattr(health.shutil, "disk_usage", lambda path: SimpleNamespace(free=health.FEWEST_FREE_BYTES))
        jobs.pulse("w1")
        answer = client.get("/readyz")
        well = {"database": "ok", "storing": "ok", "broker": "ok", "worker": "ok", "disk": "ok"}
        assert (answer.status_code, answer.json()) == (200, {"ok": True, "checks": well})
        answer = client.get("/healthz")
        assert (answer.status_code, answer.json()) == (200, {"ok": True, "checks": {"database": "ok"}})

    def test_what_is_missing_is_named(self, client, monkeypatch):
        monkeypatch.setattr(health.shutil, "disk_usage", lambda path: SimpleNamespace(free=health.FEWEST_FREE_BYTES - 1))
        monkeypatch.setattr(health.current_app.conf, "broker_url", "redis://127.0.0.1:1/0")
        answer = client.get("/readyz")
        checks = {
            "database": "ok",
            "storing": "ok",
            "broker": "cannot be reached",
            "worker": "none is alive",
            "disk": "nearly full",
        }
        assert (answer.status_code, answer.json()) == (503, {"ok": False, "checks": checks})

    @pytest.mark.parametrize("path", ["/healthz", "/readyz"])
    def test_a_database_that_is_away_is_said_without_its_address(self, client, monkeypatch, path):
        break_database(monkeypatch)
        answer = client.get(path)
        assert answer.status_code == 503 and answer.json()["checks"]["database"] == "cannot be reached"
        assert "secret" not in answer.content.decode() and "10.0.0.1" not in answer.content.decode()

    def test_asking_often_costs_no_query(self, client, django_assert_num_queries):
        client.get("/readyz")
        with django_assert_num_queries(0):
            assert client.get("/readyz").json()["checks"]["worker"] == "none is alive"

    def test_an_old_answer_is_not_kept(self, client, monkeypatch):
        client.get("/healthz")
        break_database(monkeypatch)
        assert client.get("/healthz").status_code == 200
        monkeypatch.setattr(health, "KEPT_SECONDS", 0.0)
        assert client.get("/healthz").status_code == 503


class TestPage:
    def test_it_is_for_admins(self, client):
        assert client.get("/status/").status_code == 302
        client.force_login(User.objects.create_user("bob"))
        assert client.get("/status/").status_code == 404

    def test_it_shows_workers_queues_and_jobs(self, client, admin):
        jobs.pulse("night@here", ["training", "judging"])
        WorkerPulse.objects.create(name="old@here", seen_at=timezone.now() - timedelta(hours=2))
        Job.objects.create(task="evaluator.tasks.train", title="Train on tea", status="running")
        Job.objects.create(task="annotation.tasks.calculate", title="Look", status="failed", error="OSError: away")
        Job.objects.create(task="annotation.tasks.calculate", title="Look again")
        page = client.get("/status/")
        assert {q["name"]: (q["queued"], q["running"], q["served"]) for q in page.context["queues"]} == {
            "interactive": (1, 0, False),
            "judging": (0, 0, True),
            "training": (0, 1, True),
        }
        assert [(w.name, w.is_alive) for w in page.context["workers"]] == [("night@here", True), ("old@here", False)]
        assert page.context["failed"] == 1 and "1 job failed" in page.content.decode()
        assert "training, judging" in page.content.decode()
        assert page.context["sizes"]["database"] >= 0 < page.context["sizes"]["free"]


class TestJobs:
    @pytest.fixture
    def three(self):
        for status in ("running", "failed", "queued"):
            Job.objects.create(task="annotation.tasks.calculate", title=f"Look, {status}", status=status, error="OSError: away")

    def test_each_state_has_its_list_and_number(self, client, admin, three):
        page = client.get("/jobs/?state=failed")
        assert [job.title for job in page.context["jobs"]] == ["Look, failed"] and "OSError: away" in page.content.decode()
        numbers = {name: number for name, _, number in page.context["states"]}
        assert numbers == {"": None, "queued": 1, "running": 1, "done": 0, "failed": 1, "cancelled": 0}
        assert len(client.get("/jobs/?state=odd").context["jobs"]) == 3

    def test_a_failed_job_is_started_again_from_it(self, client, admin, three):
        job = Job.objects.get(status="failed")
        answer = client.post(f"/jobs/{job.pk}/retry/", {"next": "/jobs/?state=failed"})
        job.refresh_from_db()
        assert answer["Location"] == "/jobs/?state=failed" and job.status == "queued"

    def test_a_hundred_jobs_ask_no_more_than_one(self, client, admin, three, django_assert_num_queries):
        Job.objects.bulk_create(Job(task="annotation.tasks.calculate", title=f"Look {n}") for n in range(97))
        with django_assert_num_queries(6):  # session, user; numbers; how many, which; what they made
            client.get("/jobs/")


class TestAdminSite:
    def act(self, client, action, job):
        return client.post("/admin/annotation/job/", {"action": action, "_selected_action": [str(job.pk)]}, follow=True)

    def test_jobs_are_cancelled_and_started_again(self, client, admin):
        job = Job.objects.create(task="annotation.tasks.calculate", title="Look")
        assert self.act(client, "cancel", job).status_code == 200
        job.refresh_from_db()
        assert job.status == "cancelled"
        assert "Started again: 1 of 1." in self.act(client, "retry", job).content.decode()
        job.refresh_from_db()
        assert job.status == "queued"
