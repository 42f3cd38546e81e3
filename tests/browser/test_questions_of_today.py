"""A slider, how much better one of two is, and a ranking, answered by three people: with keys, on a phone, in Arabic."""

import json

import pytest
from playwright.sync_api import expect

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_outputs
from annotation.models import Campaign, Item, LikertScore, PairwiseJudgment, User
from annotation.people.accounts import add_annotator
from tests.annotation.pages import write_outputs
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
ANCHORS = {"0": "nothing kept", "33": "a part kept", "67": "most kept", "100": "all kept"}


@pytest.fixture
def people():
    return [User.objects.create_user(name, password="a-long-password") for name in ("bob", "carol", "amal")]


def begun(open_page, campaign, name, language="en", **options):
    """The first item, as this person sees it."""
    page = open_page(locale=language, **options)
    page.goto("/login/")
    page.locator("[name=username]").fill(name)
    page.locator("[name=password]").fill("a-long-password")
    page.locator("main form button").last.click()
    page.wait_for_url("**/")
    page.goto(f"/c/{campaign.slug}/annotate/?start=1")
    return page


def test_a_slider(open_page, people, tmp_path):
    quality = CriterionSpec("Quality", 0, 100, "worst", "best", anchors=ANCHORS, settings={"slider": True}, cannot_say=True)
    campaign = create_campaign(slug="da", title="Translations", overlap=3, criteria=[quality])
    import_outputs(campaign, write_outputs(tmp_path, 1))
    bob, carol, amal = (add_annotator(campaign, person) for person in people)
    page = begun(open_page, campaign, "bob")
    slider, number, press = page.get_by_role("slider"), page.get_by_role("spinbutton"), page.keyboard.press
    expect(slider).to_have_attribute("aria-valuetext", "no answer yet")
    for key in "67":
        press(key)
    expect(slider).to_have_value("67")
    press("Enter")
    expect(page.get_by_text("1 of 3 judged")).to_be_visible()
    slider.focus()
    press("Home")
    expect(number).to_have_value("0")
    press("PageUp")
    press("ArrowRight")
    expect(number).to_have_value("11")
    press("Enter")
    expect(page.get_by_text("2 of 3 judged")).to_be_visible()
    press("5")
    press("n")
    page.locator("[data-answer] button").last.click()
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    assert sorted(LikertScore.objects.filter(annotator=bob).values_list("value", flat=True)[:2]) == [11, 67]

    page = begun(open_page, campaign, "carol", **PHONE)
    page.get_by_role("slider").tap(position={"x": 2, "y": 20})
    expect(page.get_by_role("spinbutton")).to_have_value("0")
    page.locator("[data-answer] button").last.tap()
    expect(page.get_by_role("spinbutton")).to_have_value("")

    page = begun(open_page, campaign, "amal", language="ar", **PHONE)
    assert_axe_clean(page)
    slider = page.get_by_role("slider")
    box = slider.bounding_box()
    slider.tap(position={"x": box["width"] - 2, "y": 20})  # the lowest point is on the right
    expect(page.get_by_role("spinbutton")).to_have_value("0")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_asked_only_if(open_page, people, tmp_path):
    """Shown, required and sent only while its condition holds: by keys, on a phone, in Arabic."""
    why = CriterionSpec("Why", 1, 4, asked_if={"criterion": "Overall", "below": 3})
    sure = CriterionSpec("Sure", 0, 100, asked_if={"criterion": "Why", "at_least": 2}, settings={"slider": True})
    campaign = create_campaign(slug="why", title="Why so low?", overlap=3, criteria=[CriterionSpec("Overall"), why, sure])
    import_outputs(campaign, write_outputs(tmp_path, 1))
    bob, carol, _ = (add_annotator(campaign, person) for person in people)
    page = begun(open_page, campaign, "bob")
    press, named = page.keyboard.press, lambda name: page.locator(f"[data-scale={name}]")
    expect(named("Why")).to_be_hidden()
    press("2")
    expect(named("Why")).to_be_visible()
    expect(page.locator("[data-said]")).to_have_text("Now also asked: Why.")
    assert named("Why").evaluate("set => set.contains(document.activeElement)")
    press("Enter")  # the question that came is required
    expect(page.get_by_text("0 of 3 judged")).to_be_visible()
    press("3")
    expect(named("Sure")).to_be_visible()
    assert named("Sure").evaluate("set => set.contains(document.activeElement)")
    press("7")
    named("Overall").get_by_label("4", exact=True).check(force=True)
    expect(named("Why")).to_be_hidden()
    expect(named("Sure")).to_be_hidden()
    named("Overall").get_by_label("1", exact=True).check(force=True)
    expect(named("Why").locator(":checked")).to_have_count(0)  # what was answered before is gone
    named("Why").get_by_label("1", exact=True).check(force=True)
    expect(named("Sure")).to_be_hidden()
    press("Enter")
    expect(page.get_by_text("1 of 3 judged")).to_be_visible()
    expect(named("Why")).to_be_hidden()
    press("5")
    press("Enter")
    expect(page.get_by_text("2 of 3 judged")).to_be_visible()
    rows = LikertScore.objects.filter(annotator=bob).order_by("pk")
    assert list(rows.values_list("criterion__name", "value")) == [("Overall", 1), ("Why", 1), ("Overall", 5)]

    page = begun(open_page, campaign, "carol", **PHONE)
    page.locator("[data-scale=Overall]").get_by_label("1", exact=True).tap()
    page.locator("[data-scale=Why]").get_by_label("2", exact=True).tap()
    expect(page.locator("[data-scale=Sure]")).to_be_visible()
    page.reload()  # the draft is shown with its questions
    expect(page.locator("[data-scale=Sure]")).to_be_visible()
    page.locator("[data-scale=Sure] input[type=number]").fill("40")
    page.locator("[data-answer] button").last.tap()
    expect(page.get_by_text("1 of 3 judged")).to_be_visible()
    assert list(LikertScore.objects.filter(annotator=carol).order_by("pk").values_list("value", flat=True)) == [1, 2, 40]

    page = begun(open_page, campaign, "amal", language="ar", **PHONE)
    page.locator("[data-scale=Overall]").get_by_label("2", exact=True).tap()
    expect(page.locator("[data-scale=Why]")).to_be_visible()
    assert_axe_clean(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_how_much_better(open_page, people, tmp_path):
    asked = {"likert": False, "pairwise": True, "pair_points": 5, "pair_both_bad": True}
    campaign = create_campaign(slug="much", title="Which is better", overlap=3, criteria=[], **asked)
    import_outputs(campaign, write_outputs(tmp_path, 1))
    bob, carol, amal = (add_annotator(campaign, person) for person in people)
    page = begun(open_page, campaign, "bob")
    for n, key in enumerate("4tx"):
        expect(page.get_by_text(f"{n} of 3 judged")).to_be_visible()
        if n == 0:
            page.keyboard.press("1")
            page.keyboard.press("ArrowRight")
            expect(page.get_by_label("A is slightly better")).to_be_checked()
        page.keyboard.press(key)
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()

    page = begun(open_page, campaign, "carol", **PHONE)
    page.get_by_label("B is much better").tap()
    page.locator("[data-answer] button").last.tap()
    expect(page.get_by_text("1 of 3 judged")).to_be_visible()

    page = begun(open_page, campaign, "amal", language="ar", **PHONE)
    assert_axe_clean(page)
    page.get_by_label("A أفضل بكثير").tap()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("[data-answer] button").last.tap()
    expect(page.locator("[name=choice]:checked")).to_have_count(0)

    def said(person):
        rows = PairwiseJudgment.objects.filter(annotator=person).order_by("pk")
        return [("B" if (row.choice == "A") == row.shown_swapped else "A", row.detail) for row in rows]

    (first, much), (_, tied), (_, bad) = said(bob)
    assert (first, much, tied, bad) == ("B", {"strength": "slightly"}, None, {"both_bad": True})
    assert said(carol) == [("B", {"strength": "much"})] and said(amal) == [("A", {"strength": "much"})]


def test_a_ranking(open_page, people, tmp_path):
    """Set up on the page; the same order by three people: with keys, on a phone by touch, in Arabic on a phone with keys."""
    alice = User.objects.create_user("alice", password="a-long-password", may_create_campaigns=True)
    page = open_page()
    sign_in(page, "alice")
    page.goto("/new/?template=ranking")
    page.get_by_label("Title").fill("Four replies")
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/import/")
    campaign = Campaign.objects.get(memberships__user=alice)
    assert (campaign.outputs_at_once, campaign.likert) == (5, False)
    texts = [f"{word} reply. " + "It goes on for a while. " * 30 for word in ("Fine", "Good", "Poor", "Bad")]
    rows = [{"context_id": "c", "context": "Hello?", "system": f"s{n}", "output": text} for n, text in enumerate(texts)]
    file = tmp_path / "outputs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_outputs(campaign, file)
    page.goto(f"/c/{campaign.slug}/preview/")
    expect(page.get_by_role("radiogroup", name="Text D")).to_be_visible()
    assert_axe_clean(page)
    of_text = {"Good": "1", "Fine": "2", "Poor": "3", "Bad": "3"}

    def places(page):
        shown = page.locator("[data-text] .text").all_inner_texts()
        return [of_text[text.split()[0]] for text in shown]

    campaign.refresh_from_db()
    for person in people:
        add_annotator(campaign, person)
    page = begun(open_page, campaign, "bob")
    for key in places(page):
        page.keyboard.press(key)
    page.keyboard.press("Backspace")
    expect(page.get_by_role("radiogroup", name="Text C").get_by_role("radio", checked=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()

    page = begun(open_page, campaign, "carol", **PHONE)
    assert page.locator("[data-answer]").bounding_box()["height"] < 0.15 * 844  # the texts have the screen
    page.locator("[data-jump-to=C]").tap()
    assert 0 <= page.locator("[data-text=C]").bounding_box()["y"] < 20
    page.locator("[data-unfold]").tap()
    for letter, place in zip("ABCD", places(page)):
        line = page.get_by_role("radiogroup", name=f"Text {letter}")
        line.get_by_role("radio", name=place).tap()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("[data-answer] button").last.tap()
    expect(page.get_by_role("heading", name="All done")).to_be_visible()

    page = begun(open_page, campaign, "amal", language="ar", **PHONE)
    assert_axe_clean(page)
    page.locator("[data-unfold]").tap()
    expect(page.get_by_role("radiogroup", name="النص D")).to_be_visible()
    assert_axe_clean(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for key in places(page):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator("[data-answer]")).to_have_count(0)

    told = PairwiseJudgment.objects.values_list("annotator", "output_a__system__name", "output_b__system__name", "choice")
    wins = {("s0", "s1", "B"), ("s0", "s2", "A"), ("s0", "s3", "A"), ("s1", "s2", "A"), ("s1", "s3", "A"), ("s2", "s3", "tie")}
    assert len(told) == 18 and {row[1:] for row in told} == wins
    assert Item.objects.get(campaign=campaign).taken == 3


def test_letters_can_be_dragged(open_page, people, tmp_path):
    campaign = create_campaign(slug="drag", criteria=[], overlap=3, likert=False, pairwise=True, outputs_at_once=3)
    import_outputs(campaign, write_outputs(tmp_path, 1))
    add_annotator(campaign, people[0])
    page = begun(open_page, campaign, "bob")
    lines = [page.get_by_role("radiogroup", name=f"Text {letter}") for letter in "ABC"]
    lines[2].locator(".called").drag_to(lines[0].locator(".called"))
    for line, place in zip(lines, "231"):
        expect(line.get_by_role("radio", name=place)).to_be_checked()

    page = begun(open_page, campaign, "bob", **PHONE)
    page.locator("[data-unfold]").tap()
    touch = page.context.new_cdp_session(page)

    def at(letter):
        box = page.get_by_role("radiogroup", name=f"Text {letter}").locator(".called").bounding_box()
        return [{"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}]

    for kind, points in (("touchStart", at("A")), ("touchMove", at("B")), ("touchMove", at("C")), ("touchEnd", [])):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    for letter, place in zip("ABC", "312"):
        expect(page.get_by_role("radiogroup", name=f"Text {letter}").get_by_role("radio", name=place)).to_be_checked()
