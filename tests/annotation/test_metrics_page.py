"""What Prometheus reads: figures from rows, read back by its own parser; who may read them, and that they name nobody."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.cache import cache
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from annotation import health, jobs
from annotation.models import Assignment, Job, JobPart, LikertScore, PairwiseJudgment, Submission, User, WorkerPulse
from tests.annotation.corpora import answer, campaign_of, person

pytestmark = pytest.mark.django_db
TOKEN = "f3b1c0de-of-the-operator"  # noqa: S105


@pytest.fixture(autouse=True)
def throttle(settings):
    settings.METRICS_TOKEN = TOKEN
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()
    yield
    cache.clear()


def read(client, token=TOKEN) -> dict[tuple, float]:
    """{(name, label values...): value}"""
    page = client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert (page.status_code, page["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    families = list(text_string_to_metric_families(page.content.decode()))
    assert all(family.documentation and family.type in ("gauge", "counter") for family in families)
    return {(sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples}


def given(annotator, item) -> Assignment:
    return Assignment.objects.create(annotator=annotator, item=item, assigned_at=timezone.now())


class TestFigures:
    def test_jobs_by_queue_and_status(self, client, monkeypatch):
        monkeypatch.setattr(jobs.current_app, "send_task", lambda task, args: None)
        for status in ("queued", "queued", "done"):
            Job.objects.create(task="annotation.tasks.calculate", title="Look", status=status)
        Job.objects.create(task="evaluator.tasks.train", title="Train", status="failed")
        Job.objects.create(task="leaderboard.tasks.play", title="Play", status="running")
        found = {key[1:]: value for key, value in read(client).items() if key[0] == "comparena_jobs"}
        assert {labels: value for labels, value in found.items() if value} == {
            ("interactive", "queued"): 2,
            ("interactive", "done"): 1,
            ("training", "failed"): 1,
            ("judging", "running"): 1,
        }
        assert len(found) == 15  # three queues and five states: an alarm finds a figure where there is nothing to count

    def test_the_oldest_job_that_waits(self, client):
        ages = {"annotation.tasks.calculate": 60, "annotation.tasks.import_file": 900, "evaluator.tasks.train": 30}
        for task, seconds in ages.items():
            Job.objects.create(task=task, title=task)
            Job.objects.filter(task=task).update(created_at=timezone.now() - timedelta(seconds=seconds))
        Job.objects.create(task="leaderboard.tasks.play", title="Play", status="done")
        figures = read(client)
        waited = {queue: figures["comparena_oldest_waiting_job_seconds", queue] for queue in ("interactive", "training")}
        assert waited["interactive"] >= 900 > waited["training"] >= 30  # a test of a busy machine is at most minutes late
        assert figures["comparena_oldest_waiting_job_seconds", "judging"] == 0

    def test_living_workers_by_queue(self, client):
        now = timezone.now()
        WorkerPulse.objects.create(name="a", queues=["interactive", "judging"], seen_at=now)
        WorkerPulse.objects.create(name="b", queues=["judging", "training"], seen_at=now)
        WorkerPulse.objects.create(name="all", seen_at=now)
        WorkerPulse.objects.create(name="dead", queues=["training"], seen_at=now - 2 * jobs.ALIVE)
        figures = read(client)
        alive = {queue: figures["comparena_workers", queue] for queue in ("interactive", "judging", "training")}
        assert alive == {"interactive": 2, "judging": 3, "training": 2}

    def test_parts_that_nobody_holds(self, client):
        running = Job.objects.create(task="leaderboard.tasks.play", title="Play", status="running")
        queued = Job.objects.create(task="leaderboard.tasks.play", title="Play later")
        later, earlier = timezone.now() + jobs.LEASE, timezone.now() - jobs.LEASE
        states = [
            {},
            {"lease_until": later},
            {"lease_until": earlier},
            {"done_at": earlier},
            {"error": "broken"},
            {"attempts": 3},
        ]
        for number, state in enumerate(states):
            JobPart.objects.create(job=running, number=number, work=[], **state)
        JobPart.objects.create(job=queued, number=0, work=[])
        assert read(client)["comparena_job_parts_waiting",] == 2  # the first, and the one whose holder died

    def test_answers_and_who_is_at_it(self, client):
        campaign = campaign_of(systems=2, contexts=2, likert=True, pairwise=True)
        anna, carl = person(campaign, "anna-of-the-test"), person(campaign, "carl-of-the-test")
        item, pair = campaign.items.filter(other=None).first(), campaign.items.exclude(other=None).first()
        for who, what in ((anna, item), (anna, pair), (carl, item)):
            answer(who, given(who, what))
        LikertScore.objects.filter(annotator=anna).update(retracted_at=timezone.now())  # stored all the same
        Submission.objects.filter(annotator=carl).update(created_at=timezone.now() - timedelta(hours=1))
        figures = read(client)
        stored = LikertScore.objects.count(), PairwiseJudgment.objects.count()
        assert stored == (2, 1) == tuple(figures["comparena_judgments_total", kind] for kind in ("score", "pair"))
        assert figures["comparena_annotators_active",] == 1

    def test_sizes(self, client, monkeypatch):
        monkeypatch.setattr(health.shutil, "disk_usage", lambda path: SimpleNamespace(free=3 * 2**40 + 1, total=2**43))
        monkeypatch.setattr(health, "_database_size", lambda: 123_456_789_012)
        figures = read(client)
        sizes = [figures[f"comparena_{what}_bytes",] for what in ("disk_free", "disk", "database")]
        assert sizes == [3 * 2**40 + 1, 2**43, 123_456_789_012]

    def test_they_name_no_campaign_and_no_person(self, client):
        campaign = campaign_of(systems=2, contexts=2, slug="secret-campaign", likert=True)
        who = person(campaign, "anna-of-the-test")
        answer(who, given(who, campaign.items.first()))
        Job.objects.create(task="evaluator.tasks.train", title="Train on secret-campaign", campaign=campaign, error="of anna")
        WorkerPulse.objects.create(name="gpu@secret-host", seen_at=timezone.now())
        page = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).content.decode()
        assert "secret" not in page and "anna" not in page and "s0" not in page


class TestWhoMayRead:
    def ask(self, client, *words) -> int:
        return client.get("/metrics", headers={"Authorization": " ".join(words)} if words else {}).status_code

    def test_the_token_opens_it_and_nothing_like_it(self, client):
        assert self.ask(client, "Bearer", TOKEN) == 200
        wrong = [
            (),
            ("Bearer",),
            ("Bearer", ""),
            ("Bearer", TOKEN[:-1]),
            ("Bearer", TOKEN + "x"),
            ("Basic", TOKEN),
            ("Bearer", "é"),
        ]
        assert [self.ask(client, *words) for words in wrong] == [401] * len(wrong)

    @pytest.mark.parametrize("words", [(), ("Bearer",), ("Bearer", ""), ("Bearer", TOKEN)])
    def test_without_the_setting_there_is_no_such_page(self, client, settings, words):
        settings.METRICS_TOKEN = ""
        assert self.ask(client, *words) == 404

    def test_an_admin_reads_it_and_other_accounts_do_not(self, client, settings):
        client.force_login(User.objects.create_user("bob"))
        assert self.ask(client) == 404
        client.force_login(User.objects.create_superuser("alice"))
        assert self.ask(client) == 200
        settings.METRICS_TOKEN = ""
        assert self.ask(client) == 200

    def test_who_guesses_is_stopped(self, client):
        tries = [self.ask(client, "Bearer", f"guess-{n}") for n in range(70)]
        assert tries == [401] * 60 + [429] * 10

    def test_it_is_only_read(self, client):
        assert client.post("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 405
