"""What goes wrong on the way: the line is cut, the session ends, the tab closes, somebody types ahead. Each answer arrives
once."""

from urllib.parse import parse_qs

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import expect

from annotation.models import LikertScore, Submission
from annotation.people.accounts import add_annotator
from tests.browser.conftest import sign_in, sign_in_by_hand
from tests.browser.test_annotating import counted, point, score_by_mouse, start

CUT = ("422", "net::ERR_INTERNET_DISCONNECTED", "net::ERR_FAILED")
SIGNED_OUT = ("422", "401", "403")
SEND = "Send and continue"


@pytest.fixture
def at_work(open_page, scores):
    """Bob's page with his first item, and the means to cut its line."""

    def opened(**options):
        page = open_page(**options)
        start(page)
        return page

    return opened


def send(page):
    page.get_by_role("button", name=SEND).click(no_wait_after=True)


class TestACutLine:
    def test_a_whole_session_through_it(self, at_work, scores):
        """Every second answer is given without a connection; the third one's reply is lost on the way back."""
        page = at_work(expected=CUT)
        lost = []
        for n in range(6):
            counted(page, n)
            score_by_mouse(page, 1 + n % 5, n % 2)
            if n % 2:
                page.context.set_offline(True)
                send(page)
                expect(page.get_by_text("Your answer is saved on this device")).to_be_visible()
                assert Submission.objects.count() == n
                page.context.set_offline(False)
            elif n == 2:
                page.route("**/annotate/", lambda route: (lost.append(route.fetch().status), route.abort()), times=1)
                send(page)
            else:
                send(page)
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
        assert lost == [200] and Submission.objects.count() == 6 and LikertScore.objects.count() == 12
        assert page.evaluate("Object.keys(localStorage)") == []

    def test_a_tab_closed_without_a_connection_sends_when_it_is_opened_again(self, at_work, scores):
        page = at_work(expected=CUT)
        score_by_mouse(page, 5, 1)
        page.context.set_offline(True)
        send(page)
        expect(page.get_by_text("Your answer is saved on this device")).to_be_visible()
        context = page.context
        page.close()
        context.set_offline(False)
        again = context.new_page()
        again.goto("/c/talk/annotate/?start=1")
        counted(again, 1)
        assert sorted(LikertScore.objects.values_list("value", flat=True)) == [1.0, 5.0]

    def test_a_server_in_trouble_is_asked_again(self, at_work, scores):
        page = at_work(expected=("500",))
        score_by_mouse(page, 5, 1)
        page.route("**/annotate/", lambda route: route.fulfill(status=500), times=1)
        send(page)
        counted(page, 1)
        assert Submission.objects.count() == 1


class TestAnEndedSession:
    @pytest.mark.parametrize("javascript", [True, False])
    def test_the_log_in_is_asked_for_and_the_answer_stored(self, at_work, scores, javascript):
        page = at_work(expected=SIGNED_OUT, java_script_enabled=javascript)
        score_by_mouse(page, 2, 1)
        Session.objects.all().delete()
        page.get_by_role("button", name=SEND).click()
        expect(page.get_by_text("It is stored when you sign in")).to_be_visible()
        page.get_by_label("Username").fill("bob")
        page.get_by_label("Password").fill("a-long-password")
        page.get_by_role("button", name="Sign in").click()
        counted(page, 1)
        assert sorted(LikertScore.objects.values_list("value", flat=True)) == [1.0, 2.0]
        assert Submission.objects.count() == 1

    def test_a_log_in_in_another_tab_makes_no_difference(self, at_work, scores):
        page = at_work(expected=SIGNED_OUT)
        score_by_mouse(page, 2, 1)
        other = page.context.new_page()
        other.goto("/")
        other.get_by_role("button", name="Sign out").click()
        sign_in_by_hand(other)
        send(page)
        counted(page, 1)
        assert Submission.objects.count() == 1

    def test_cookies_that_are_gone_ask_for_one_more_click(self, at_work, scores):
        page = at_work(expected=SIGNED_OUT, java_script_enabled=False)
        score_by_mouse(page, 2, 1)
        page.context.clear_cookies(name="csrftoken")
        page.get_by_role("button", name=SEND).click()
        page.get_by_role("button", name="Send my answer").click()
        counted(page, 1)
        assert Submission.objects.count() == 1


class TestDrafts:
    def test_what_was_filled_in_is_there_after_a_reload_and_gone_once_sent(self, at_work, scores):
        page = at_work()
        point(page, "Overall", 4).click()
        page.reload()
        expect(point(page, "Overall", 4)).to_be_checked()
        point(page, "Fluency", 1).click()
        send(page)
        counted(page, 1)
        assert page.locator("input[type=radio]:checked").count() == 0 and page.evaluate("localStorage.length") == 0

    def test_the_next_person_at_this_device_sees_none_of_it(self, at_work, scores):
        page = at_work()
        point(page, "Overall", 4).click()
        page.get_by_role("button", name="Sign out").click()
        add_annotator(scores.campaign, scores.charlie)
        sign_in(page, "charlie")
        page.goto("/c/talk/annotate/?start=1")
        counted(page, 0)
        assert page.locator("input[type=radio]:checked").count() == 0
        page.wait_for_function("localStorage.length === 0")


class TestTypingAhead:
    def test_keys_pressed_while_the_next_item_loads_are_done_there(self, at_work, scores):
        page = at_work()
        page.route("**/annotate/", lambda route: (page.wait_for_timeout(400), route.continue_()))
        for key in ("4", "1", "Enter", "5", "0", "Enter", "3", "1", "Enter"):
            page.keyboard.press(key)
        counted(page, 3)
        overall = scores.campaign.criteria.get(name="Overall")
        assert list(LikertScore.objects.filter(criterion=overall).order_by("pk").values_list("value", flat=True)) == [4, 5, 3]

    def test_a_second_enter_sends_nothing(self, at_work, scores):
        page = at_work()
        for key in ("4", "1", "Enter", "Enter"):
            page.keyboard.press(key)
        counted(page, 1)
        assert Submission.objects.count() == 1


def test_idle_time_is_left_out(at_work, scores):
    page = at_work()
    page.clock.install()
    page.reload()
    counted(page, 0)
    point(page, "Overall", 4).click()
    page.clock.fast_forward(30_000)
    point(page, "Fluency", 1).click()
    page.clock.fast_forward(3_600_000)  # an hour away: a minute of it counts
    with page.expect_request("**/annotate/") as sent:
        send(page)
    assert 90_000 <= int(parse_qs(sent.value.post_data)["active"][0]) < 110_000
    counted(page, 1)
