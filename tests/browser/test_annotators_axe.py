"""axe-core on every page that an annotator meets, in light and dark, at a phone's width and at 200% zoom."""

import uuid

import pytest

from annotation.annotating.assignment import next_assignment
from annotation.annotating.consent import withdraw_annotator
from annotation.annotating.submissions import submit
from annotation.campaigns.items import summarize
from annotation.models import Assignment, Campaign, ConsentText, Criterion, Item
from annotation.people.invitations import invite
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in
from tests.browser.test_annotating import fits

START = "/c/talk/annotate/?start=1"


@pytest.fixture
def look(open_page):
    """look(path, act) -> the page after `act(page)`, clean and nowhere wider than the screen."""

    def looked(path, act=None, user="bob"):
        page = open_page(viewport={"width": 360, "height": 720}, expected=("422", "401", "403"))
        if user:
            sign_in(page, user)
        page.goto(path)
        if act:
            act(page)
        fits(page)
        assert_axe_clean(page)
        return page

    return looked


def send_empty(page):
    page.locator("[data-answer]").evaluate("form => form.submit()")
    page.get_by_role("alert").wait_for()


def answer(world, times=1, purpose="evaluation"):
    for _ in range(times):
        given = next_assignment(world.annotator)
        Assignment.objects.filter(pk=given.pk).update(purpose=purpose)
        values = {c.pk: c.low for c in world.campaign.criteria.all()}
        filled_in = {"choice": "left"} if given.item.is_pair else {"scores": values}
        last = submit(world.annotator, given.pk, uuid.uuid4(), filled_in, seconds=30)
    return last


def test_coming_in(look, scores):
    look("/login/", user=None)
    look(f"/join/{invite(scores.campaign).token}/", user=None)
    look("/c/talk/guidelines/")


def test_scoring(look, scores):
    Criterion.objects.filter(name="Overall").update(anchors={"1": "no reply", "3": "a dull reply", "5": "a fine reply"})
    answer(scores, 3)
    page = look(START)
    page.set_viewport_size({"width": 640, "height": 400})  # 1280 by 800 at 200%
    fits(page)
    assert_axe_clean(page)
    look(START, lambda page: page.keyboard.press("?"))
    look(START, lambda page: page.keyboard.press("g"))
    look(START, lambda page: page.keyboard.press("s"))
    look(START, send_empty)


@pytest.mark.parametrize("by_criterion", [False, True])
def test_judging_pairs(look, pairs, by_criterion):
    Campaign.objects.update(pairwise_by_criterion=by_criterion, asks_reason=True)
    look(START)
    look(START, send_empty)


def test_own_answers(look, scores):
    look("/c/talk/answers/")
    first = answer(scores)
    look("/c/talk/answers/")
    look(f"/c/talk/answers/{first.assignment_id}/")


def test_taking_part(look, scores):
    ConsentText.objects.create(campaign=scores.campaign, version=1, text="We keep *it*.")
    look("/c/talk/consent/")
    look("/c/talk/withdraw/")
    look("/c/talk/elsewhere/")
    withdraw_annotator(scores.annotator)
    look("/c/talk/annotate/")


def test_feedback(look, scores):
    Item.objects.update(purpose="training", expected={"scores": {"Overall": [4]}, "feedback": "It has no verb."})
    summarize(scores.campaign)
    scores.annotator.campaign.refresh_from_db()
    told = answer(scores, purpose="training")
    look(START)
    look(f"/c/talk/feedback/{told.key}/", lambda page: page.get_by_text("Show the item again").click())


@pytest.mark.parametrize("status", ["open", "paused", "closed"])
def test_the_end(look, scores, status):
    answer(scores, 6)
    Campaign.objects.update(status=status, completion_code="C0DE")
    look("/c/talk/annotate/")


def test_a_log_in_that_holds_an_answer_and_a_page_that_was_too_old(look, scores):
    def signed_out(page):
        page.context.clear_cookies(name="sessionid")
        page.locator("[data-answer]").evaluate("form => form.submit()")
        page.get_by_text("It is stored when you sign in").wait_for()

    def too_old(page):
        page.context.clear_cookies(name="csrftoken")
        page.locator("[data-answer]").evaluate("form => form.submit()")
        page.get_by_text("Your answer is kept here").wait_for()

    look(START, signed_out)
    look(START, too_old)
