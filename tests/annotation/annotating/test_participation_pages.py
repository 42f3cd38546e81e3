"""Agreeing, withdrawing, going on elsewhere, and the end of the work, as plain pages."""

import re
import time
from unittest import mock

import pytest
from django.test import Client

from annotation.models import Annotator, Campaign, ConsentText, LikertScore, Submission
from annotation.people.invitations import invite
from tests.annotation.pages import World, hidden, text

pytestmark = pytest.mark.django_db
START = "annotate/?start=1"


def scored(world):
    return {f"score_{c.pk}": v for c, v in zip(world.campaign.criteria.all(), (4, 1))}


def finish(world):
    while "data-answer" in text(page := world.get(START)):
        world.post("annotate/", hidden(page) | scored(world))


class TestConsent:
    @pytest.fixture
    def consent_world(self, world):
        world.consent = ConsentText.objects.create(campaign=world.campaign, version=1, text="We **keep** it.<script>x</script>")
        return world.sign_in(world.bob)

    def test_it_comes_first_and_its_version_is_recorded(self, consent_world):
        assert consent_world.get(START).url == "/c/talk/consent/"
        page = text(consent_world.get("consent/"))
        assert "We <strong>keep</strong> it." in page and "<script>x" not in page and "Version 1" in page
        assert consent_world.post("consent/", {"version": 1}).url == "/c/talk/annotate/"
        assert Annotator.objects.get(user=consent_world.bob).consent == consent_world.consent
        assert consent_world.get("annotate/").url == "/c/talk/guidelines/"

    def test_a_new_version_is_asked_for_and_an_answer_under_way_is_stored(self, consent_world):
        consent_world.post("consent/", {"version": 1})
        form = hidden(consent_world.get(START))
        ConsentText.objects.create(campaign=consent_world.campaign, version=2, text="Longer.")
        assert consent_world.post("annotate/", form | scored(consent_world)).status_code == 303
        assert Submission.objects.count() == 1
        assert consent_world.get(START).url == "/c/talk/consent/"
        assert "have changed since you agreed" in text(consent_world.get("consent/"))

    def test_agreeing_to_a_text_that_changed_meanwhile_is_refused(self, consent_world):
        ConsentText.objects.create(campaign=consent_world.campaign, version=2, text="Longer.")
        answer = consent_world.post("consent/", {"version": 1})
        assert answer.status_code == 422 and "Longer." in text(answer)


class TestWithdrawing:
    def test_it_is_explained_then_done_and_nothing_is_asked_any_more(self, world):
        form = hidden(world.sign_in(world.bob).get(START))
        world.post("annotate/", form | scored(world))
        late = hidden(world.get(START))
        assert "Your answers no longer count" in text(world.get("withdraw/"))
        assert LikertScore.objects.counted().count() == 2
        world.post("withdraw/")
        assert LikertScore.objects.counted().count() == 0 and LikertScore.objects.count() == 2
        assert "You have withdrawn" in text(world.get("annotate/"))
        for headers in ({}, {"X-Swap": "1"}):
            refused = world.post("annotate/", late | scored(world), headers=headers)
            assert refused.status_code == 422 and "No further answers of yours are stored" in text(refused)
        assert "You have withdrawn" in text(world.client.get("/")) and world.get("withdraw/").status_code == 302


class TestElsewhere:
    def test_an_account_signs_in_and_finds_the_same_item_and_its_answers(self, world):
        world.post("annotate/", hidden(world.sign_in(world.bob).get(START)) | scored(world))
        form = hidden(world.get(START))
        phone = Client()
        phone.post("/login/", {"username": "bob", "password": "a-long-password"})
        assert hidden(phone.get("/c/talk/annotate/"))["assignment"] == form["assignment"]
        assert "1 answer in <bdi>Small talk</bdi>" in text(phone.get("/c/talk/answers/"))

    def test_an_account_is_told_to_sign_in(self, world):
        page = text(world.sign_in(world.bob).get("elsewhere/"))
        assert "Sign in there as <bdi>bob</bdi>" in page and "/resume/" not in page

    def test_a_guest_goes_on_by_their_own_link(self, world):
        world.client.post(f"/join/{invite(world.campaign).token}/", {"name": "Zoe"})
        form = hidden(world.get(START))
        link = re.search(r"http://testserver(/resume/[^\"]+)", text(world.get("elsewhere/")))[1]
        phone = Client()
        assert "Zoe" in text(phone.get(link)) and phone.get("/c/talk/annotate/").status_code == 302
        phone.post(link)
        assert hidden(phone.get("/c/talk/annotate/?start=1"))["assignment"] == form["assignment"]

    def test_a_guest_s_link_runs_out(self, world):
        world.client.post(f"/join/{invite(world.campaign).token}/", {"name": "Zoe"})
        with mock.patch("time.time", return_value=time.time() - 30 * 24 * 3600 - 60):
            link = re.search(r"http://testserver(/resume/[^\"]+)", text(world.get("elsewhere/")))[1]
        late = Client().post(link)
        assert late.status_code == 410 and "has expired" in text(late) and "_auth_user_id" not in late.client.session

    def test_nobody_comes_in_with_a_made_up_link_or_to_an_account(self, world):
        from django.core import signing

        from annotation.views.annotating.participation import RESUME

        assert world.client.get("/resume/abc/").status_code == 404
        assert world.client.get(f"/resume/{signing.dumps(world.annotator.pk, salt=RESUME)}/").status_code == 404
        assert world.client.get(f"/resume/{signing.dumps(world.annotator.pk, salt='other')}/").status_code == 404


class TestTheEnd:
    def test_the_completion_code_is_shown_only_when_the_work_is_done(self, tmp_path, client):
        world = World(tmp_path, client, contexts=1)
        Campaign.objects.update(completion_code="C0DE", completion_url="https://example.org/done?cc=C0DE")
        for path in ("", "guidelines/", START, "answers/", "elsewhere/", "withdraw/"):
            assert "C0DE" not in text(world.sign_in(world.bob).get(path, follow=True))
        finish(world)
        page = text(world.get("annotate/"))
        assert ">C0DE</code>" in page and 'href="https://example.org/done?cc=C0DE"' in page

    @pytest.mark.parametrize("status", ["paused", "closed"])
    def test_not_when_the_campaign_rests(self, world, status):
        Campaign.objects.update(completion_code="C0DE", status=status)
        assert "C0DE" not in text(world.sign_in(world.bob).get("annotate/"))

    def test_with_a_quota_the_work_is_done_when_it_is_reached(self, world):
        Campaign.objects.update(completion_code="C0DE", quota=2)
        world.sign_in(world.bob)
        finish(world)
        assert "You judged 2 items" in text(world.get("annotate/")) and "C0DE" in text(world.get("annotate/"))
