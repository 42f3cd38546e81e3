"""The researcher's pages: who may see them, jobs, errors, the admin."""

import pytest

from annotation.assessment.assess import assess
from annotation.models import Campaign, Invitation, Job, LikertScore, Snapshot, User
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
        assert f'data-job-url="/jobs/{job.pk}/"' in page and "No worker is alive" in page


class TestAround:
    def test_error_pages_are_ours(self, world):
        assert "no such page" in text(world.client.get("/nowhere/"))
        assert "not yours to do" in text(world.sign_in(world.bob).client.get("/new/"))

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

    def test_accounts_sign_in_and_change_their_password(self, world):
        answer = world.client.post("/login/", {"username": "bob", "password": "a-long-password"})
        assert answer.url == "/"
        assert "Change password" in text(world.client.get("/password/"))
        new = {"old_password": "a-long-password", "new_password1": "another-long-one", "new_password2": "another-long-one"}
        assert world.client.post("/password/", new).url == "/password/done/"
        assert world.client.post("/logout/").url == "/"
