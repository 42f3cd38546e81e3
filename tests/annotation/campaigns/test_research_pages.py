"""The researcher's pages: who may see them, jobs, errors, the admin."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.assessment.assess import assess
from annotation.models import Campaign, Invitation, Job, LikertScore, Snapshot, Upload, User
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db
RESEARCH = ["import/", "people/", "quality/", "export/scores.csv"]


class TestWhoMaySee:
    @pytest.mark.parametrize("path", RESEARCH)
    def test_researchers_only(self, world, path):
        assert world.sign_in(world.alice).get(path).status_code == 200
        assert world.sign_in(world.bob).get(path).status_code == 404
        assert world.sign_in(world.charlie).get(path).status_code == 404
        world.client.logout()
        assert world.get(path).url.startswith("/login/")

    def test_an_admin_sees_every_campaign(self, world):
        world.sign_in(User.objects.create_superuser("root"))
        assert [world.get(path).status_code for path in RESEARCH] == [200] * 4

    def test_the_campaign_address_leads_an_annotator_to_the_work(self, world):
        assert world.sign_in(world.bob).get().url == "/c/talk/annotate/"
        assert world.sign_in(world.charlie).get().status_code == 404

    def test_neither_annotator_nor_outsider_changes_anything(self, scored):
        snapshot = assess(scored.campaign)
        decision = snapshot.decisions.get()
        Invitation.objects.all().delete()
        for user in (scored.bob, scored.charlie):
            scored.sign_in(user)
            for path, data in [
                ("status/", {"status": "closed"}),
                ("people/", {"ask": "invite"}),
                ("guidelines/", {"guidelines": "x"}),
                ("quality/", {"mad": 2, "level": "ordinal", "on_zero_mad": "keep"}),
                (f"decisions/{decision.pk}/overrule/", {"reason": "because"}),
            ]:
                assert scored.post(path, data).status_code == 404, path
        decision.refresh_from_db()
        assert not decision.overrule_reason and not Invitation.objects.exists() and Snapshot.objects.count() == 1
        assert Campaign.objects.get().status == "open" and Campaign.objects.get().guidelines.startswith("# Be kind")


class TestJobs:
    @pytest.fixture
    def job(self, world):
        return Job.objects.create(task="t", title="Train", campaign=world.campaign)

    def test_its_state_is_for_researchers_and_admins(self, world, job):
        state = world.sign_in(world.alice).client.get(f"/jobs/{job.pk}/").json()
        assert state["status"] == "queued" and not state["finished"] and not state["worker_alive"]
        assert world.sign_in(User.objects.create_superuser("root")).client.get(f"/jobs/{job.pk}/").status_code == 200
        for user in (world.bob, world.charlie):
            world.sign_in(user)
            for path in ("", "cancel/", "retry/"):
                assert world.client.post(f"/jobs/{job.pk}/{path}").status_code == 404

    def test_a_job_without_a_campaign_is_the_admins(self, world):
        job = Job.objects.create(task="t", title="Sweep")
        assert world.sign_in(world.alice).client.get(f"/jobs/{job.pk}/").status_code == 404

    def test_cancel_and_start_again(self, world, job):
        world.sign_in(world.alice).client.post(f"/jobs/{job.pk}/cancel/")
        job.refresh_from_db()
        assert job.status == "cancelled"
        assert world.client.post(f"/jobs/{job.pk}/retry/", {"next": "https://evil.example/"}).url == "/c/talk/"
        job.refresh_from_db()
        assert job.status == "queued"

    def test_the_overview_shows_it_and_that_nobody_works(self, world, job):
        page = text(world.sign_in(world.alice).get())
        assert f'data-job-url="/jobs/{job.pk}/"' in page and "No worker is running" in page

    def test_the_time_left_follows_the_pace_so_far(self, world, job):
        """A quarter in 2 minutes: 6 more. Not known where nothing is done yet, or a second attempt went on somewhere."""

        def left(**fields) -> str:
            start = timezone.now() - timedelta(minutes=2) + timedelta(seconds=1)
            Job.objects.filter(pk=job.pk).update(status="running", started_at=start, **fields)
            return world.client.get(f"/jobs/{job.pk}/").json()["left"]

        world.sign_in(world.alice)
        assert left(progress=0.25, attempts=1) == "about 6 min left" and "about 6 min left" in text(world.get())
        assert left(progress=0.0, attempts=1) == "" == left(progress=0.25, attempts=2)

    def test_a_finished_job_leads_to_what_it_made(self, world, job):
        Job.objects.filter(pk=job.pk).update(status="done", title="Import a.csv")
        upload = Upload.objects.create(campaign=world.campaign, name="a.csv", size=9, kind="scores", job=job)
        link = f'<a href="/c/talk/import/{upload.pk}/">Import a.csv</a>'
        assert link in text(world.sign_in(world.alice).get())
        assert link in text(world.sign_in(User.objects.create_superuser("root")).client.get("/jobs/"))
        Job.objects.filter(pk=job.pk).update(status="failed")
        assert link not in text(world.client.get("/jobs/"))


class TestAround:
    def test_error_pages_are_ours(self, world):
        assert "Page not found" in text(world.client.get("/nowhere/"))
        assert "You may not do this" in text(world.sign_in(world.bob).client.get("/new/"))

    def test_the_api_shows_researchers_their_own(self, world):
        assert world.client.get("/api/campaigns/").status_code == 401
        listed = world.sign_in(world.alice).client.get("/api/campaigns/").json()
        assert [c["slug"] for c in listed["results"]] == ["talk"]
        assert world.client.get("/api/campaigns/talk/").json()["numbers"]["outputs"] == 6
        assert world.sign_in(world.bob).client.get("/api/campaigns/").json()["results"] == []
        assert world.client.get("/api/campaigns/talk/").status_code == 404
        assert world.client.post("/api/campaigns/").status_code == 403

    def test_the_admin_opens_and_deletes_no_record(self, scored):
        scored.sign_in(User.objects.create_superuser("root"))
        for name in ("campaign", "likertscore", "submission", "pairwisejudgment", "snapshot", "annotator", "job"):
            page = scored.client.get(f"/admin/annotation/{name}/")
            assert page.status_code == 200 and "delete_selected" not in text(page), name
        score = LikertScore.objects.first()
        assert scored.client.post(f"/admin/annotation/likertscore/{score.pk}/delete/").status_code == 403
        assert scored.client.post(f"/admin/annotation/campaign/{scored.campaign.pk}/delete/").status_code == 403
        assert scored.client.get(f"/admin/annotation/campaign/{scored.campaign.pk}/change/").status_code == 200

    def test_the_admin_shows_nothing_that_nobody_uses(self, world):
        world.sign_in(User.objects.create_superuser("root"))
        page = text(world.client.get("/admin/"))
        assert "/admin/annotation/user/" in page and "/admin/auth/group/" not in page and "celery" not in page.lower()
        assert world.client.get(f"/admin/annotation/user/{world.bob.pk}/change/").status_code == 200

    def test_accounts_sign_in_and_change_their_password(self, world):
        answer = world.client.post("/login/", {"username": "bob", "password": "a-long-password"})
        assert answer.url == "/"
        assert "Change password" in text(world.client.get("/password/"))
        new = {"old_password": "a-long-password", "new_password1": "another-long-one", "new_password2": "another-long-one"}
        assert world.client.post("/password/", new).url == "/password/done/"
        assert world.client.post("/logout/").url == "/"
