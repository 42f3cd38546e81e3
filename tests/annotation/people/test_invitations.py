"""People are invited, and come in: by a link, with an account, from a crowd platform. Researchers come and go."""

import re
import uuid

import pytest
from django.test import Client
from django.utils import timezone

from annotation.annotating.assignment import Phase, Progress, next_assignment
from annotation.annotating.completion import is_finished
from annotation.annotating.submissions import submit
from annotation.campaigns.lifecycle import set_status
from annotation.campaigns.protocol import change_campaign
from annotation.models import Annotator, AuditEvent, Invitation, Membership, User
from annotation.people.invitations import invite
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db
PROLIFIC = "?PROLIFIC_PID=5f1&STUDY_ID=s1&SESSION_ID=x1"


class TestPeople:
    def test_a_link_admits_guests_up_to_its_cap(self, world, client):
        world.sign_in(world.alice).post("people/", {"ask": "invite", "cap": "1", "label": "pilot"})
        invitation = Invitation.objects.get()
        address = f"/join/{invitation.token}/"
        assert address in text(world.get("people/"))
        client.logout()
        assert "Small talk" in text(client.get(address))
        assert client.post(address, {"name": "Zoe"}).url == "/c/talk/annotate/"
        assert client.get("/c/talk/guidelines/").status_code == 200
        client.logout()
        refused = client.post(address, {"name": "Max"})
        assert refused.status_code == 422 and "limit of people" in text(refused)
        page = text(world.sign_in(world.alice).get("people/"))
        assert "Zoe" in page and "1 of 1 place taken" in page and Annotator.objects.get(invitation=invitation)

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

    def test_the_last_researcher_stays(self, world):
        world.sign_in(world.alice).post("people/", {"ask": "researcher", "username": "charlie"})
        path = f"people/researchers/{Membership.objects.get(user=world.alice).pk}/remove/"
        assert world.post(path).url == "/" and world.get("people/").status_code == 404
        world.sign_in(world.charlie)
        last = Membership.objects.get()
        world.post(f"people/researchers/{last.pk}/remove/")
        assert Membership.objects.get() == last and AuditEvent.objects.filter(action="researcher removed").count() == 1

    def test_an_account_made_for_somebody_signs_in_with_its_first_password(self, world):
        page = text(world.sign_in(world.alice).post("people/", {"ask": "account", "email": "Zoe@lab.example"}, follow=True))
        password = page.split("with the password ")[1].split(" ")[0]
        world.client.logout()
        answer = world.client.post("/login/", {"username": "zoe@lab.example", "password": password})
        assert answer.url == "/" and world.get("annotate/").status_code in (200, 302)

    def test_a_page_of_people_makes_a_fixed_number_of_queries(self, world, django_assert_num_queries):
        def queries():
            # session, user, campaign, links and their number, annotators and their number, researchers; what comes next;
            # figures that are kept
            with django_assert_num_queries(8 + 7 + 4):
                assert world.get("people/").status_code == 200

        world.sign_in(world.alice)
        invite(world.campaign)
        queries()
        for n in range(60):
            user = User.objects.create_user(f"u{n}")
            world.campaign.annotators.create(name=f"a{n}", user=user, invitation=invite(world.campaign))
        queries()
        assert "1 to 50 of 61" in text(world.get("people/")) and "51 to 61 of 61" in text(world.get("people/?page=2"))


class TestLinks:
    def test_a_revoked_link_admits_nobody_new_and_keeps_who_is_in(self, world, client):
        invitation = invite(world.campaign, label="mail")
        address = f"/join/{invitation.token}/"
        world.sign_in(world.charlie).client.post(address)
        world.sign_in(world.alice).post(f"people/links/{invitation.pk}/revoke/")
        assert world.sign_in(world.charlie).client.post(address).url == "/c/talk/annotate/"
        client.logout()
        assert "was withdrawn" in text(client.post(address, {"name": "Max"}))
        assert Annotator.objects.count() == 2 and User.objects.count() == 3

    def test_opening_a_link_admits_nobody(self, world, client):
        client.get(f"/join/{invite(world.campaign).token}/{PROLIFIC}")
        assert Annotator.objects.count() == 1 and Invitation.objects.get().uses == 0

    def test_an_invited_person_makes_an_account_and_goes_on_elsewhere(self, world, client):
        address = f"/join/{invite(world.campaign).token}/"
        account = {"how": "account", "email": "zoe@home.example", "password": "a-long-one-2"}
        assert client.post(address, account | {"password": "short"}).status_code == 422
        assert client.post(address, account).url == "/c/talk/annotate/"
        client.logout()
        assert "sign in with it" in text(client.post(address, account))
        assert client.post("/login/", {"username": account["email"], "password": account["password"]}).url == "/"
        assert client.get("/c/talk/guidelines/").status_code == 200 and Annotator.objects.count() == 2

    def test_a_link_to_a_deleted_campaign_leads_nowhere(self, world, client):
        token = invite(world.campaign).token
        type(world.campaign).objects.update(deleted_at=timezone.now())
        assert client.get(f"/join/{token}/").status_code == 404

    def test_outsiders_revoke_and_remove_nothing(self, world):
        invitation = invite(world.campaign)
        for user in (world.bob, world.charlie):
            world.sign_in(user)
            assert world.post(f"people/links/{invitation.pk}/revoke/").status_code == 404
            assert world.post(f"people/researchers/{Membership.objects.get().pk}/remove/").status_code == 404
        assert Invitation.objects.get().revoked_at is None and Membership.objects.exists()


class TestLeaving:
    def test_a_guest_is_asked_before_signing_out_and_keeps_a_way_back(self, world, client):
        client.post(f"/join/{invite(world.campaign).token}/", {"name": "Kim"})
        assert 'action="/logout/"' not in text(client.get("/")) and 'href="/leave/"' in text(client.get("/"))
        page = text(client.get("/leave/"))
        [link] = re.findall(r'value="http://testserver(/resume/[^"]+)" readonly', page)
        assert "30 days" in page and 'action="/logout/"' in page and "_auth_user_id" in client.session
        client.post("/logout/")
        assert client.get("/leave/").url.startswith("/login/")
        assert client.post(link).url == "/c/talk/annotate/"
        assert Annotator.objects.get(invitation__isnull=False).user_id == int(client.session["_auth_user_id"])

    def test_whoever_has_a_password_is_not_asked(self, world):
        world.sign_in(world.bob)
        assert 'action="/logout/"' in text(world.client.get("/")) and world.client.get("/leave/").url == "/"


class TestCrowds:
    @pytest.fixture
    def link(self, world):
        return f"/join/{invite(world.campaign, label='Prolific').token}/"

    def test_a_prolific_worker_starts_with_one_button_and_the_parameters_are_kept(self, world, client, link):
        page = text(client.get(link + PROLIFIC))
        assert "Start" in page and "pseudonym" not in page
        assert client.post(link + PROLIFIC).url == "/c/talk/annotate/"
        worker = Annotator.objects.get(invitation__label="Prolific")
        assert worker.source == {"PROLIFIC_PID": "5f1", "STUDY_ID": "s1", "SESSION_ID": "x1"}
        assert "<code>5f1</code>" in text(world.sign_in(world.alice).get("people/"))

    def test_the_same_worker_is_the_same_annotator_in_their_browser(self, world, client, link):
        client.post(link + PROLIFIC)
        client.post("/logout/")
        client.post(link + "?PROLIFIC_PID=other")  # another person, in the same browser
        assert client.post(link + PROLIFIC.replace("x1", "x2")).url == "/c/talk/annotate/"
        worker = Annotator.objects.get(source__PROLIFIC_PID="5f1")
        assert int(client.session["_auth_user_id"]) == worker.user_id and Invitation.objects.get().uses == 2
        assert worker.source["SESSION_ID"] == "x2" and worker.source["earlier"][0]["SESSION_ID"] == "x1"

    def test_another_browser_with_the_worker_s_address_is_not_them_until_a_researcher_says_so(self, world, client, link):
        client.post(link + PROLIFIC)
        worker, other = Annotator.objects.get(source__PROLIFIC_PID="5f1"), Client()
        other.cookies["browser"] = worker.browser  # unsigned
        refused = other.post(link + PROLIFIC)
        assert refused.status_code == 422 and "started in another browser" in text(refused)
        assert "_auth_user_id" not in other.session and Annotator.objects.get(pk=worker.pk).source == worker.source
        release = f"/c/talk/people/annotators/{worker.pk}/release/"
        world.sign_in(world.charlie)
        assert world.client.post(release).status_code == 404
        world.sign_in(world.alice)
        assert release in text(world.get("people/")) and world.client.post(release).status_code == 302
        assert other.post(link + PROLIFIC).status_code == 302
        assert int(other.session["_auth_user_id"]) == worker.user_id
        assert Client().post(link + PROLIFIC).status_code == 422

    def test_a_worker_id_opens_no_account_that_has_a_password(self, world, client, link):
        world.sign_in(world.charlie).client.post(link + PROLIFIC)
        client.logout()
        answer = client.post(link + PROLIFIC)
        assert answer.status_code == 422 and "sign in with it" in text(answer) and "_auth_user_id" not in client.session

    def test_mturk_looks_before_it_accepts(self, world, client, link):
        sent = "?assignmentId={}&hitId=h1&workerId=w1&turkSubmitTo=https%3A%2F%2Fwww.mturk.com"
        looking = sent.format("ASSIGNMENT_ID_NOT_AVAILABLE").replace("&workerId=w1", "")
        assert "Accept the task first" in text(client.get(link + looking))
        assert client.post(link + looking).status_code == 422 and Annotator.objects.count() == 1
        assert client.post(link + sent.format("as1")).url == "/c/talk/annotate/"
        assert Annotator.objects.latest("pk").source == {
            "workerId": "w1",
            "assignmentId": "as1",
            "hitId": "h1",
            "turkSubmitTo": "https://www.mturk.com",
        }


class TestFinishing:
    def test_the_work_is_done_when_nothing_is_left_and_not_before(self, world):
        worker, all_done = world.annotator, Progress(done=6, total=6, phase=Phase.FINISHED)
        assert not is_finished(worker) and is_finished(worker, all_done)
        assert not is_finished(worker, Progress(done=5, total=6)) and not is_finished(worker, Progress(0, 0, Phase.FINISHED))
        worker.has_qualified = False
        assert not is_finished(worker, all_done)
        worker.has_qualified, worker.withdrawn_at = True, timezone.now()
        assert not is_finished(worker, all_done)

    def test_the_code_is_shown_then_and_kept_when_the_campaign_closes(self, world):
        change_campaign(world.campaign, completion_code="C0DE-7", quota=1)
        world.sign_in(world.bob)
        assert "C0DE-7" not in text(world.get("annotate/?start=1"))
        assignment = next_assignment(world.annotator)
        submit(world.annotator, assignment.pk, uuid.uuid4(), {"scores": {c.pk: 1 for c in world.campaign.criteria.all()}})
        assert "C0DE-7" in text(world.get("annotate/?start=1"))
        set_status(world.campaign, "closed")
        assert "C0DE-7" in text(world.get("annotate/?start=1"))

    def test_a_closed_campaign_gives_no_code_to_who_is_not_done(self, world):
        change_campaign(world.campaign, completion_code="C0DE-7")
        set_status(world.campaign, "closed")
        assert "C0DE-7" not in text(world.sign_in(world.bob).get("annotate/?start=1"))
