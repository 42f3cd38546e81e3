"""Bob's day in a browser: by mouse, by keyboard alone, by touch on a phone, with and without JavaScript."""

import pytest
from playwright.sync_api import expect

from annotation.campaigns.items import summarize
from annotation.models import Assignment, Campaign, Item, ItemReport, Job, LikertScore, PairwiseJudgment, Submission
from tests.browser.conftest import sign_in, sign_in_by_hand

LIVE = {"retracted_at": None}


def counted(page, done, total=6):
    """The page says how far the work is, and its script listens to keys."""
    expect(page.get_by_text(f"{done} of {total} judged")).to_be_visible()
    page.wait_for_load_state("load")


def start_by_hand(page):
    sign_in_by_hand(page)
    page.get_by_role("link", name="Start").click()
    expect(page.get_by_role("heading", name="Be kind")).to_be_visible()
    page.get_by_role("link", name="Start").click()
    counted(page, 0)


def start(page, items=6):
    sign_in(page)
    page.goto("/c/talk/annotate/?start=1")
    counted(page, 0, items)


def score_by_mouse(page, overall, fluency):
    point(page, "Overall", overall).click()
    point(page, "Fluency", fluency).click()


def point(page, criterion, value):
    return page.get_by_role("group", name=criterion).locator(f"input[value='{value}']")


class TestScoring:
    def test_a_whole_session_by_mouse(self, open_page, scores):
        page = open_page()
        start_by_hand(page)
        for n in range(6):
            counted(page, n)
            score_by_mouse(page, 1 + n % 5, n % 2)
            page.get_by_role("button", name="Send and continue").click()
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
        assert LikertScore.objects.filter(**LIVE).count() == 12 and Submission.objects.count() == 6
        assert all(0 < s < 60 for s in Submission.objects.values_list("seconds", flat=True))

    def test_a_whole_session_by_keyboard_alone(self, open_page, scores):
        page, press = (page := open_page()), page.keyboard.press
        page.goto("/login/")
        page.get_by_label("Username").focus()
        page.keyboard.type("bob")
        press("Tab")
        page.keyboard.type("a-long-password")
        press("Enter")
        page.wait_for_url("**/")
        page.get_by_role("link", name="Start").focus()
        press("Enter")
        page.wait_for_url("**/guidelines/")
        page.get_by_role("link", name="Start").focus()
        press("Enter")
        for n in range(6):
            counted(page, n)
            press("4")
            press("1")
            press("Enter")
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
        assert sorted(LikertScore.objects.values_list("value", flat=True)) == [1.0] * 6 + [4.0] * 6

    def test_keys_open_guidelines_and_help_go_back_and_undo(self, open_page, scores):
        page, press = (page := open_page()), page.keyboard.press
        start(page)
        press("g")
        expect(page.get_by_role("dialog").get_by_role("heading", name="Be kind")).to_be_visible()
        press("3")  # a digit in a dialog scores nothing
        press("Escape")
        press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        press("Escape")
        assert page.locator("input[type=radio]:checked").count() == 0
        press("2")
        press("Backspace")
        press("5")
        press("0")
        press("Enter")
        counted(page, 1)
        assert set(LikertScore.objects.values_list("value", flat=True)) == {5.0, 0.0}
        press("u")
        counted(page, 0)
        expect(point(page, "Overall", 5)).to_be_checked()
        assert LikertScore.objects.filter(**LIVE).count() == 0

    def test_the_keys_can_be_turned_off(self, open_page, scores):
        page, press = (page := open_page()), page.keyboard.press
        start(page)
        press("?")
        page.get_by_label("Use letters, digits").uncheck()
        press("Escape")
        press("4")
        press("g")
        assert page.locator("input[type=radio]:checked, dialog[open]").count() == 0
        page.reload()
        counted(page, 0)
        press("4")
        assert page.locator("input[type=radio]:checked").count() == 0
        page.get_by_role("button", name="Keys").click()
        page.get_by_label("Use letters, digits").check()
        press("Escape")
        press("4")
        expect(point(page, "Overall", 4)).to_be_checked()

    def test_a_digit_off_the_scale_is_announced_and_scores_nothing(self, open_page, scores):
        page = open_page()
        start(page)
        page.keyboard.press("9")
        expect(page.locator("[data-said]")).to_have_text("Overall has no 9.")
        page.keyboard.press("Enter")  # the browser itself asks for what is missing
        counted(page, 0)
        assert Submission.objects.count() == 0

    def test_a_double_click_stores_one_answer(self, open_page, scores):
        page = open_page()
        start(page)
        score_by_mouse(page, 4, 1)
        page.get_by_role("button", name="Send and continue").dblclick(no_wait_after=True)
        counted(page, 1)
        assert Submission.objects.count() == 1 and LikertScore.objects.count() == 2

    def test_the_back_button_shows_the_item_in_hand_not_the_old_one(self, open_page, scores):
        page = open_page()
        start(page)
        score_by_mouse(page, 4, 1)
        page.get_by_role("button", name="Send and continue").click()
        counted(page, 1)
        page.go_back()
        page.goto("/c/talk/annotate/")
        counted(page, 1)
        in_hand = Assignment.objects.get(status="open")
        assert page.locator("[data-answer] input[name=assignment]").get_attribute("value") == str(in_hand.pk)


class TestPairs:
    def test_by_mouse_and_by_key(self, open_page, pairs):
        page = open_page()
        start(page, items=3)
        page.get_by_role("radio", name="A is better").click()
        page.get_by_role("button", name="Send and continue").click()
        counted(page, 1, 3)
        page.keyboard.press("t")
        page.keyboard.press("Enter")
        counted(page, 2, 3)
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("radio", name="B is better")).to_be_checked()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
        shown = [s.payload["choice"] for s in Submission.objects.order_by("created_at")]
        assert shown == ["left", "tie", "right"]
        for judgment in PairwiseJudgment.objects.select_related("submission"):
            side = judgment.submission.payload["choice"]
            left = "B" if judgment.shown_swapped else "A"
            assert judgment.choice == {"left": left, "tie": "tie", "right": "BA"["AB".index(left)]}[side]

    def test_a_click_on_a_text_chooses_it_and_selecting_does_not(self, open_page, pairs):
        page = open_page()
        start(page, items=3)
        a, b = (page.get_by_role("region", name=f"Text {side}").locator(".text") for side in "AB")
        left, right = (page.locator(f"input[value='{side}']") for side in ("left", "right"))
        box = a.bounding_box()
        page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + 60, box["y"] + box["height"] / 2, steps=3)
        page.mouse.up()
        assert page.evaluate("String(getSelection())")
        expect(left).not_to_be_checked()
        a.click()  # ends the selection
        expect(left).not_to_be_checked()
        a.click()
        expect(left).to_be_checked()
        b.click()
        expect(right).to_be_checked()
        a.evaluate("text => text.click()")  # as a screen reader does, on a text that is no control
        expect(right).to_be_checked()
        assert not PairwiseJudgment.objects.exists()  # chosen, not sent

    def test_each_criterion_and_a_reason_by_key(self, open_page, pairs):
        Campaign.objects.update(pairwise_by_criterion=True, asks_reason=True)
        page, press = (page := open_page()), page.keyboard.press
        start(page, items=3)
        press("a")
        press("b")
        press("Backspace")
        press("t")
        press("r")
        page.keyboard.type("Shorter, but kind.")
        press("Escape")
        press("Enter")
        counted(page, 1, 3)
        payload = Submission.objects.get().payload
        assert sorted(payload["choices"].values()) == ["right", "tie"] and payload["reason"] == "Shorter, but kind."

    def test_an_item_is_skipped_by_key(self, open_page, pairs):
        page, press = (page := open_page()), page.keyboard.press
        start(page, items=3)
        press("s")
        page.keyboard.type("too long to read")
        press("Enter")  # to the buttons: a question must not skip the item
        expect(page.get_by_role("button", name="Skip", exact=True)).to_be_focused()
        press("Enter")
        expect(page.get_by_text("Skipped.")).to_be_visible()
        press("a")
        press("Enter")
        counted(page, 1, 2)
        assert ItemReport.objects.get().reason == "too long to read"

    def test_a_choice_is_undone_and_made_anew(self, open_page, pairs):
        page = open_page()
        start(page, items=3)
        page.keyboard.press("a")
        page.keyboard.press("Enter")
        counted(page, 1, 3)
        page.get_by_role("button", name="Undo last").click()
        counted(page, 0, 3)
        expect(page.get_by_role("radio", name="A is better")).to_be_checked()
        page.keyboard.press("b")
        page.keyboard.press("Enter")
        counted(page, 1, 3)
        assert PairwiseJudgment.objects.count() == 2 and PairwiseJudgment.objects.filter(**LIVE).count() == 1

    def test_practice_is_read_before_one_goes_on(self, open_page, pairs):
        Item.objects.filter(position=0).update(purpose="training", expected={"choice": "A", "feedback": "A is shorter."})
        summarize(pairs.campaign)
        page, press = (page := open_page()), page.keyboard.press
        sign_in(page)
        page.goto("/c/talk/annotate/?start=1")
        expect(page.get_by_text("You see the expected answer")).to_be_visible()
        page.wait_for_load_state("load")
        for key in ("t", "Enter", "a", "Enter"):  # typed ahead: what was expected stands in the way
            press(key)
        expect(page.get_by_text("A is shorter.")).to_be_visible()
        page.wait_for_timeout(300)
        expect(page.get_by_text("A is shorter.")).to_be_visible()
        press("Enter")
        counted(page, 0, 2)
        page.go_back()
        expect(page.get_by_text("A is shorter.")).to_be_visible()


class TestPhone:
    PHONE = {"viewport": {"width": 360, "height": 720}, "has_touch": True, "is_mobile": True}

    def test_a_whole_session_by_touch_with_nothing_off_the_side(self, open_page, scores):
        page = open_page(**self.PHONE)
        sign_in_by_hand(page)
        fits(page)
        page.get_by_role("link", name="Start").tap()
        page.wait_for_url("**/guidelines/")
        fits(page)
        page.get_by_role("link", name="Start").tap()
        for n in range(6):
            counted(page, n)
            fits(page)
            point(page, "Overall", 3).tap()
            point(page, "Fluency", n % 2).tap()
            page.get_by_role("button", name="Send and continue").tap()
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
        assert Submission.objects.count() == 6 and LikertScore.objects.filter(value=3).count() == 6
        page.get_by_role("link", name="Your answers").tap()
        expect(page.get_by_role("heading", name="Your answers")).to_be_visible()
        fits(page)
        page.get_by_role("link", name="Change answer 1", exact=True).tap()
        expect(page.get_by_role("button", name="Change my answer")).to_be_visible()
        fits(page)
        point(page, "Overall", 5).tap()
        page.get_by_role("button", name="Change my answer").tap()
        expect(page.get_by_text("Your answer was changed")).to_be_visible()
        assert LikertScore.objects.filter(value=5, **LIVE).count() == 1

    def test_a_pair_is_stacked(self, open_page, pairs):
        page = open_page(**self.PHONE)
        start(page, items=3)
        fits(page)
        a, b = (page.get_by_role("region", name=f"Text {side}").bounding_box() for side in "AB")
        assert b["y"] > a["y"] + a["height"] - 1 and a["width"] > 300

    @pytest.mark.parametrize(
        "path", ["/", "/new/", "/c/talk/", "/c/talk/import/", "/c/talk/people/", "/c/talk/guidelines/", "/c/talk/quality/"]
    )
    def test_the_researchers_pages_fit(self, open_page, scores, path):
        page = open_page(**self.PHONE)
        Job.objects.create(task="t", title="Train a comparator on everything that was judged", campaign=scores.campaign)
        scores.alice.is_staff = True
        scores.alice.save()
        sign_in(page, "alice")
        page.goto(path)
        fits(page)


def fits(page):
    width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width[0] <= width[1], f"{page.url} is {width[0]} wide on a screen of {width[1]}"


class TestWithoutJavaScript:
    def test_a_whole_session_in_plain_forms(self, open_page, scores):
        page = open_page(java_script_enabled=False)
        start_by_hand(page)
        page.get_by_text("Skip, report or ask about this item").click()
        page.get_by_label("Why, or what is your question?").fill("In Finnish.")
        page.get_by_role("button", name="Report as broken").click()
        expect(page.get_by_text("Reported.")).to_be_visible()
        assert page.get_by_role("button", name="Keys").count() == 0
        for n in range(6):
            counted(page, n)
            score_by_mouse(page, 4, 1)
            page.get_by_role("button", name="Send and continue").click()
        page.get_by_role("button", name="Undo last").click()
        counted(page, 5)
        page.get_by_role("link", name="Guidelines").click()
        expect(page.get_by_role("heading", name="Be kind")).to_be_visible()
        page.get_by_role("link", name="Start").click()
        page.get_by_role("button", name="Send and continue").click()
        expect(point(page, "Overall", 4)).not_to_be_checked()
        score_by_mouse(page, 2, 0)
        page.get_by_role("button", name="Send and continue").click()
        page.get_by_role("link", name="Your answers").click()
        page.get_by_role("link", name="Change answer 6").click()
        score_by_mouse(page, 1, 1)
        page.get_by_role("button", name="Change my answer").click()
        expect(page.get_by_text("Your answer was changed")).to_be_visible()
        assert LikertScore.objects.filter(**LIVE).count() == 12 and ItemReport.objects.count() == 1


def test_a_guest_comes_in_by_a_link(open_page, scores):
    from annotation.people.invitations import invite

    page = open_page()
    page.goto(f"/join/{invite(scores.campaign).token}/")
    page.get_by_label("Your name or a pseudonym").fill("Zoe")
    page.get_by_role("button", name="Join as a guest").click()
    page.get_by_role("link", name="Start").click()
    score_by_mouse(page, 5, 1)
    page.keyboard.press("Enter")
    counted(page, 1)
    assert set(LikertScore.objects.values_list("annotator__user__first_name", "value")) == {("Zoe", 5.0), ("Zoe", 1.0)}
