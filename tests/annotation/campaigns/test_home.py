"""The first page: for everybody what concerns them."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.assessment import calculations
from annotation.campaigns.lifecycle import create_campaign
from annotation.models import Calculation, Job, LikertScore, User, WorkerPulse
from annotation.people.accounts import add_annotator
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db


class TestHome:
    def test_signed_out_it_says_what_this_is(self, client):
        assert "how sure can we be?" in text(client.get("/")) and "/login/" in text(client.get("/"))

    def test_an_annotator_starts_here(self, world):
        page = text(world.sign_in(world.bob).client.get("/"))
        assert "Start" in page and "You have not started yet" in page and "Your campaigns" not in page

    def test_a_researcher_sees_numbers_in_a_fixed_number_of_queries(self, scored, django_assert_num_queries):
        scored.sign_in(scored.alice)
        for n in range(3):
            add_annotator(create_campaign(slug=f"other-{n}", user=scored.alice), scored.alice)
        with django_assert_num_queries(12):  # session, user; lists; kept counts; counts of three kinds; workers, jobs at work
            page = text(scored.client.get("/"))
        assert '<td class="num">18</td>' in page and "Small talk" in page

    def test_what_is_large_is_counted_by_a_worker(self, scored, monkeypatch, django_assert_num_queries):
        monkeypatch.setattr(calculations, "AT_ONCE", 0)
        scored.sign_in(scored.alice)
        assert '<td class="num">18</td>' in text(scored.client.get("/")) and not Job.objects.exists()
        LikertScore.objects.first().delete()
        with django_assert_num_queries(9):  # nothing to count
            page = text(scored.client.get("/"))
        assert '<td class="num">18</td>' in page and "counted <time" in page
        Calculation.objects.update(created_at=timezone.now() - timedelta(minutes=2))
        assert '<td class="num">18</td>' in text(scored.client.get("/"))
        calculations.run(Job.objects.get().pk)
        for path in ("/", f"/c/{scored.campaign.slug}/", f"/api/campaigns/{scored.campaign.slug}/"):
            page = text(scored.client.get(path))
            numbers = re.findall(r"(?<![\w.-])(?<!\d:)\d+(?![\w.-]|:\d)", re.sub(r"<time.*?</time>", "", page))
            assert "17" in numbers and "18" not in numbers and "counted" in page, path

    def test_an_admin_sees_how_many_jobs_there_are_and_that_no_worker_is_alive(self, world):
        for status in ("queued", "queued", "failed", "done"):
            Job.objects.create(task="t", title="Train on talk", campaign=world.campaign, status=status)
        page = text(world.sign_in(User.objects.create_superuser("root")).client.get("/"))
        assert "0 running, 2 waiting" in page and "1 failed" in page and "No worker is running" in page

    def test_an_admin_sees_living_workers_only(self, world):
        for name, minutes in (("alive@here", 0), ("gone@here", 30)):
            WorkerPulse.objects.create(name=name, seen_at=timezone.now() - timedelta(minutes=minutes))
        page = text(world.sign_in(User.objects.create_superuser("root")).client.get("/"))
        assert "alive@here" in page and "gone@here" not in page

    def test_a_stranger_is_told_how_to_get_in(self, world):
        assert "You have no campaign yet" in text(world.sign_in(world.charlie).client.get("/"))
