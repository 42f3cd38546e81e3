"""An answer that meets the log-in, or a stale page, is kept and stored afterwards, once; also without JavaScript."""

import html
import re

import pytest
from django.test import Client

from annotation.models import LikertScore, Submission
from tests.annotation.pages import hidden, text

pytestmark = pytest.mark.django_db
START = "annotate/?start=1"
BOB = {"username": "bob", "password": "a-long-password"}


@pytest.fixture
def answer(world):
    """Bob's answer, filled in; then his session ended."""
    form = hidden(world.sign_in(world.bob).get(START))
    world.client.logout()
    return form | {f"score_{c.pk}": v for c, v in zip(world.campaign.criteria.all(), (4, 1))}


def waiting(page) -> dict:
    return {"waiting": re.search(r'name="waiting" value="([^"]+)"', text(page))[1]}


def fields(page) -> dict:
    """Every hidden field of the page's form in <main>."""
    fields = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', text(page).split("<main")[1])
    return {name: html.unescape(value) for name, value in fields}


class TestAnEndedSession:
    def test_the_answer_waits_for_the_log_in_and_is_stored(self, world, answer):
        sign_in_page = world.post("annotate/", answer)
        assert sign_in_page.status_code == 401 and "Your answer is kept" in text(sign_in_page)
        assert Submission.objects.count() == 0
        stored = world.client.post("/login/", BOB | waiting(sign_in_page))
        assert stored.status_code == 303 and stored.url == "/c/talk/annotate/?start=1"
        assert sorted(LikertScore.objects.values_list("value", flat=True)) == [1, 4]
        assert str(Submission.objects.get().key) == answer["key"]

    def test_a_mistyped_password_loses_nothing(self, world, answer):
        again = world.client.post("/login/", BOB | {"password": "wrong"} | waiting(world.post("annotate/", answer)))
        assert again.status_code == 200 and "Your answer is kept" in text(again)
        world.client.post("/login/", BOB | waiting(again))
        assert Submission.objects.count() == 1

    def test_sent_twice_it_is_stored_once(self, world, answer):
        kept = waiting(world.post("annotate/", answer))
        for _ in range(2):  # the second time Bob is signed in already
            assert world.client.post("/login/", BOB | kept).status_code == 303
        assert Submission.objects.count() == 1

    def test_what_is_missing_is_asked_for_after_the_log_in(self, world, answer):
        answer.popitem()
        stored = world.client.post("/login/", BOB | waiting(world.post("annotate/", answer)))
        assert stored.status_code == 422 and "Please also score: Fluency" in text(stored)

    def test_a_changed_or_made_up_answer_is_not_believed(self, world, answer):
        kept = waiting(world.post("annotate/", answer))
        response = world.client.post("/login/", BOB | {"waiting": "x" + kept["waiting"]})
        assert response.status_code == 302 and Submission.objects.count() == 0

    def test_somebody_else_who_signs_in_there_stores_nothing(self, world, answer):
        kept = waiting(world.post("annotate/", answer))
        page = world.client.post("/login/", BOB | {"username": "charlie"} | kept, follow=True)
        assert "that this account did not give" in text(page) and Submission.objects.count() == 0

    def test_reading_still_leads_to_the_log_in(self, world):
        assert world.get("answers/").url == "/login/?next=/c/talk/answers/"


class TestAStalePage:
    @pytest.fixture
    def browser(self, world):
        client = Client(enforce_csrf_checks=True)
        client.force_login(world.bob)
        world.client = client
        return client

    def test_the_answer_is_kept_and_sent_once_more(self, world, browser):
        page = world.get(START)
        scores = {f"score_{c.pk}": v for c, v in zip(world.campaign.criteria.all(), (4, 1))}
        refused = world.post("annotate/", hidden(page) | scores | {"csrfmiddlewaretoken": "x" * 64})
        assert refused.status_code == 403 and "Your answer is kept here" in text(refused)
        assert Submission.objects.count() == 0
        assert 'action="/c/talk/annotate/"' in text(refused)
        assert world.post("annotate/", fields(refused)).status_code == 303
        assert sorted(LikertScore.objects.values_list("value", flat=True)) == [1, 4]

    def test_not_what_comes_from_another_site(self, world, browser):
        page = world.get(START)
        foreign = world.post("annotate/", hidden(page) | {"score_1": 5}, headers={"Origin": "https://evil.example"})
        assert foreign.status_code == 403 and "score_1" not in text(foreign) and "Nothing was stored" in text(foreign)

    def test_nor_any_other_form(self, world, browser):
        refused = world.post("withdraw/", {"secret": "yes"})
        assert refused.status_code == 403 and "secret" not in text(refused)
