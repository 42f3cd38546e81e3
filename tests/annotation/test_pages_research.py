"""The researcher's pages: who may see them, what they show, what they change."""

import hashlib
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.assessment import assess
from annotation.importing import import_judgments
from annotation.models import AuditEvent, Campaign, Invitation, Job, LikertScore, Membership, Output, Snapshot, User
from annotation.services import add_annotator, invite
from tests.annotation.pages import World, text

pytestmark = pytest.mark.django_db
RESEARCH = ["import/", "people/", "quality/", "export/scores.csv"]


@pytest.fixture
def world(tmp_path, client):
    return World(tmp_path, client)


@pytest.fixture
def scored(world):
    """Three people score every output, mostly alike."""
    overall = world.campaign.criteria.get(name="Overall")
    for n in range(3):
        person = add_annotator(world.campaign, User.objects.create_user(f"judge{n}"))
        for i, output in enumerate(Output.objects.all()):
            value = 1 + (i * 2) % 5 if n or i else 5
            LikertScore.objects.create(annotator=person, output=output, criterion=overall, value=value)
    return world


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
                ("status/", {"status": "closed"}), ("people/", {"ask": "invite"}), ("guidelines/", {"guidelines": "x"}),
                ("quality/", {"mad": 2, "level": "ordinal", "on_zero_mad": "keep"}),
                (f"decisions/{decision.pk}/overrule/", {"reason": "because"}),
            ]:  # fmt: skip
                assert scored.post(path, data).status_code == 404, path
        decision.refresh_from_db()
        assert not decision.overrule_reason and not Invitation.objects.exists() and Snapshot.objects.count() == 1
        assert Campaign.objects.get().status == "open" and Campaign.objects.get().guidelines.startswith("# Be kind")


class TestHome:
    def test_signed_out_it_says_what_this_is(self, client):
        assert "how surely?" in text(client.get("/")) and "/login/" in text(client.get("/"))

    def test_an_annotator_starts_here(self, world):
        page = text(world.sign_in(world.bob).client.get("/"))
        assert "Start" in page and "0 of 6 judged" in page and "Your campaigns" not in page

    def test_a_researcher_sees_numbers_in_a_fixed_number_of_queries(self, scored, django_assert_num_queries):
        scored.sign_in(scored.alice)
        with django_assert_num_queries(6):  # session, user, annotators, campaigns with numbers, workers, jobs at work
            page = text(scored.client.get("/"))
        assert '<td class="num">18</td>' in page and "Small talk" in page

    def test_an_admin_sees_jobs_and_that_no_worker_is_alive(self, world):
        Job.objects.create(task="t", title="Train on talk", campaign=world.campaign)
        page = text(world.sign_in(User.objects.create_superuser("root")).client.get("/"))
        assert "Train on talk" in page and "No worker is alive" in page

    def test_a_stranger_is_told_how_to_get_in(self, world):
        assert "not been invited" in text(world.sign_in(world.charlie).client.get("/"))


class TestNewCampaign:
    FIELDS = {
        "title": "Jokes, good & bad", "slug": "", "likert": "on", "overlap": "2", "guidelines": "Laugh.",
        "criteria-TOTAL_FORMS": "6", "criteria-INITIAL_FORMS": "0",
        "criteria-0-name": "Funny", "criteria-0-low": "1", "criteria-0-high": "7", "criteria-0-high_label": "hilarious",
    }  # fmt: skip

    def test_it_is_made_with_its_criteria_and_researcher(self, world):
        answer = world.sign_in(world.alice).client.post("/new/", self.FIELDS)
        made = Campaign.objects.get(slug="jokes-good-bad")
        assert answer.url == "/c/jokes-good-bad/import/" and made.overlap == 2
        assert made.criteria.get().high_label == "hilarious" and made.memberships.get().user == world.alice

    @pytest.mark.parametrize("change, said", [
        ({"slug": "talk"}, "already a campaign"),
        ({"likert": ""}, "nothing to judge"),
        ({"criteria-0-high": "1"}, "must be above"),
        ({"criteria-0-name": ""}, "needs a name"),
        ({"title": ""}, "required"),
    ])  # fmt: skip
    def test_what_is_wrong_is_said_and_what_was_typed_stays(self, world, change, said):
        answer = world.sign_in(world.alice).client.post("/new/", self.FIELDS | change)
        assert answer.status_code == 422 and said in text(answer) and "Laugh." in text(answer)
        assert Campaign.objects.count() == 1

    def test_not_everybody_may(self, world):
        assert world.sign_in(world.bob).client.get("/new/").status_code == 403


class TestImport:
    def send(self, world, name, body, **data):
        file = SimpleUploadedFile(name, body if isinstance(body, bytes) else body.encode())
        return world.sign_in(world.alice).post("import/", {"file": file, "kind": "outputs"} | data)

    def test_outputs_come_in(self, world):
        rows = [{"context_id": "new", "context": "Good day", "system": s, "output": s * 3} for s in "xy"]
        answer = self.send(world, "more.jsonl", "".join(json.dumps(r) + "\n" for r in rows), human_systems="y")
        assert answer.status_code == 200 and "2 rows read" in text(answer)
        assert world.campaign.systems.get(name="y").is_human and not world.campaign.systems.get(name="x").is_human

    def test_errors_stand_in_a_table_and_nothing_is_stored(self, world):
        before = Output.objects.count()
        rows = '{"context_id": "n", "context": "c", "system": "x", "output": "fine"}\n{"context_id": "m"}\n'
        answer = self.send(world, "bad.jsonl", rows)
        page = text(answer)
        assert answer.status_code == 422 and "Nothing was imported" in page
        assert "<td>bad.jsonl</td>" in page and '<td class="num">2</td>' in page and "<code>" in page
        assert Output.objects.count() == before

    @pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe\xff", b"[]\n"])
    def test_a_file_that_is_none_is_refused_in_words(self, world, body):
        answer = self.send(world, "odd.jsonl", body)
        assert answer.status_code == 422 and "<td>odd.jsonl</td>" in text(answer)

    def test_checking_stores_nothing(self, world):
        before = Output.objects.count()
        row = {"context_id": "new", "context": "Good day", "system": "x", "output": "!"}
        answer = self.send(world, "more.jsonl", json.dumps(row), dry_run="on")
        assert "nothing was stored" in text(answer) and Output.objects.count() == before

    def test_without_a_file_the_form_says_so(self, world):
        answer = world.sign_in(world.alice).post("import/", {"kind": "scores"})
        assert answer.status_code == 422 and "required" in text(answer)


class TestPeople:
    def test_a_link_admits_guests_up_to_its_cap(self, world, client):
        world.sign_in(world.alice).post("people/", {"ask": "invite", "cap": "1"})
        invitation = Invitation.objects.get()
        address = f"/join/{invitation.token}/"
        assert address in text(world.get("people/"))
        client.logout()
        assert "Small talk" in text(client.get(address))
        assert client.post(address, {"name": "Zoe"}).url == "/c/talk/annotate/"
        assert client.get("/c/talk/guidelines/").status_code == 200
        client.logout()
        refused = client.post(address, {"name": "Max"})
        assert refused.status_code == 422 and "used up" in text(refused)
        assert "Zoe" in text(world.sign_in(world.alice).get("people/"))

    def test_an_account_joins_with_one_click(self, world):
        address = f"/join/{invite(world.campaign).token}/"
        world.sign_in(world.charlie)
        assert "Join as charlie" in text(world.client.get(address))
        assert world.client.post(address).url == "/c/talk/annotate/"
        assert world.get("guidelines/").status_code == 200

    def test_a_made_up_link_leads_nowhere(self, client):
        assert client.get("/join/nonsense/").status_code == 404

    def test_a_colleague_is_let_in_and_it_is_written_down(self, world):
        world.sign_in(world.alice).post("people/", {"ask": "researcher", "username": "charlie"})
        assert Membership.objects.filter(user=world.charlie).exists()
        assert AuditEvent.objects.filter(action="researcher added", user=world.alice).exists()
        answer = world.post("people/", {"ask": "researcher", "username": "nobody"})
        assert answer.status_code == 422 and "no account" in text(answer)

    def test_simulated_annotators_are_marked(self, world):
        world.campaign.annotators.create(name="sim-1", is_simulated=True)
        assert "a program" in text(world.sign_in(world.alice).get("people/"))


class TestQuality:
    RULE = {"mad": "1.5", "level": "interval", "on_zero_mad": "keep"}

    def test_with_nothing_to_assess_it_says_so(self, world):
        answer = world.sign_in(world.alice).post("quality/", self.RULE)
        assert answer.status_code == 422 and "nothing to assess" in text(answer)

    def test_assessing_freezes_a_snapshot_and_shows_every_number(self, scored):
        answer = scored.sign_in(scored.alice).post("quality/", self.RULE)
        assert answer.url == "/c/talk/quality/"
        snapshot = Snapshot.objects.get()
        report = snapshot.decisions.get().report
        page = text(scored.get("quality/"))
        for name in ("alpha_before", "alpha_after", "alpha_after_low", "fleiss_kappa", "cohen_kappa_mean"):
            assert f"{report[name]:.3f}".replace("-", "−") in page, name
        assert f"{report['kept']} of {report['scores']}" in page and report["reason"].split(";")[0] in page
        assert snapshot.name in page and "interval, MAD 1.5, MAD 0 keeps" in page and "alice" in page

    def test_pairs_have_their_own_table(self, world, tmp_path):
        rows = [
            {"context_id": "c0", "context": ["Hello 0.", "Hi there 0!"], "system_a": "Hydra-system",
             "output_a": "Reply 0 to 0", "system_b": "Kraken-system", "output_b": "Reply 1 to 0", "annotator": a,
             "choice": choice} for a, choice in (("p", "A"), ("q", "A"), ("r", "tie"))
        ]  # fmt: skip
        path = tmp_path / "judgments.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        import_judgments(world.campaign, path)
        assess(world.campaign)
        page = text(world.sign_in(world.alice).get("quality/"))
        assert "A, tie and B as names" in page and "Pairs: " in page

    def test_a_wrong_rule_is_refused(self, scored):
        answer = scored.sign_in(scored.alice).post("quality/", self.RULE | {"level": "cardinal"})
        assert answer.status_code == 422 and Snapshot.objects.count() == 0

    def test_a_snapshot_has_a_page_and_a_file_with_its_hash(self, scored):
        snapshot = assess(scored.campaign)
        page = text(scored.sign_in(scored.alice).get(f"snapshots/{snapshot.name}/"))
        assert snapshot.digest in page and "ordinal, MAD 1, MAD 0 drops" in page
        file = scored.get(f"snapshots/{snapshot.name}.jsonl")
        assert hashlib.sha256(file.content).hexdigest() == snapshot.digest
        assert scored.get("snapshots/000000000000/").status_code == 404
        for user in (scored.bob, scored.charlie):
            scored.sign_in(user)
            assert scored.get(f"snapshots/{snapshot.name}/").status_code == 404
            assert scored.get(f"snapshots/{snapshot.name}.jsonl").status_code == 404

    def test_overruling_needs_a_reason_and_keeps_it(self, world):
        overall = world.campaign.criteria.get(name="Overall")
        for n in range(2):
            person = add_annotator(world.campaign, User.objects.create_user(f"judge{n}"))
            for i, output in enumerate(Output.objects.all()):
                LikertScore.objects.create(annotator=person, output=output, criterion=overall, value=1 + (i + 2 * n) % 5)
        decision = assess(world.campaign, mad=9, on_zero_mad="keep").decisions.get()
        address = f"decisions/{decision.pk}/overrule/"
        assert "Overrule, with a reason" in text(world.sign_in(world.alice).get("quality/"))
        world.post(address, {"reason": "  "})
        decision.refresh_from_db()
        assert not decision.overrule_reason
        world.post(address, {"reason": "A pilot; more will come."})
        decision.refresh_from_db()
        assert decision.overruled_by == world.alice and decision.overrule_reason == "A pilot; more will come."
        assert "A pilot; more will come." in text(world.get("quality/"))


class TestOverviewAndExport:
    def test_the_overview_counts(self, scored, django_assert_max_num_queries):
        scored.sign_in(scored.alice)
        with django_assert_max_num_queries(20):
            page = text(scored.get())
        assert "0 of 6 items judged" in page or "6 of 6" in page
        assert "<dd>18</dd>" in page and "export/scores.csv" in page

    def test_exports_stream_what_counts(self, scored):
        scored.sign_in(scored.alice)
        lines = b"".join(scored.get("export/scores.jsonl").streaming_content).decode().splitlines()
        assert len(lines) == 18 and json.loads(lines[0])["aspect"] == "Overall"
        table = scored.get("export/scores.csv")
        assert "talk-scores.csv" in table["Content-Disposition"]
        assert b"".join(table.streaming_content).decode().count("\n") == 19
        assert scored.get("export/secrets.csv").status_code == scored.get("export/scores.xml").status_code == 404

    def test_pausing_and_opening(self, world):
        world.sign_in(world.alice).post("status/", {"status": "paused"})
        assert "Paused:" in text(world.get()) and Campaign.objects.get().status == "paused"
        world.post("status/", {"status": "open"})
        assert Campaign.objects.get().status == "open"

    def test_guidelines_are_written_here(self, world):
        world.sign_in(world.alice).post("guidelines/", {"guidelines": "Now *this*."})
        assert "<em>this</em>" in text(world.get("guidelines/"))

    @pytest.mark.parametrize("path", ["", "import/", "people/", "quality/", "guidelines/"])
    def test_simulated_data_is_labelled_everywhere(self, world, path):
        Campaign.objects.update(is_simulated=True)
        assert "simulated data" in text(world.sign_in(world.alice).get(path))

    def test_simulated_data_is_labelled_for_annotators_too(self, world):
        Campaign.objects.update(is_simulated=True)
        world.sign_in(world.bob)
        assert "simulated data" in text(world.get("annotate/?start=1")) and "simulated data" in text(world.client.get("/"))


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
        assert world.client.get("/api/campaigns/").status_code == 403
        listed = world.sign_in(world.alice).client.get("/api/campaigns/").json()
        assert [c["slug"] for c in listed["results"]] == ["talk"]
        assert world.client.get("/api/campaigns/talk/").json()["numbers"]["outputs"] == 6
        assert world.sign_in(world.bob).client.get("/api/campaigns/").json()["results"] == []
        assert world.client.get("/api/campaigns/talk/").status_code == 404
        assert world.client.post("/api/campaigns/").status_code == 405

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
