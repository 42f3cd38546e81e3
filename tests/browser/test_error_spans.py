"""Errors are marked by three people: with keys, on a phone, and in Arabic on a phone; and in a preview. A draft is kept."""

import io
import json

import pytest
from playwright.sync_api import expect

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.export import as_jsonl, exported_answers
from annotation.data.importer import import_answers, import_outputs
from annotation.models import LikertScore, User
from annotation.people.accounts import add_annotator
from tests.browser.axe import assert_axe_clean
from tests.browser.test_questions_of_today import PHONE, begun

SOURCE = "Good day, my friend 😀 of old."
TEXTS = {"mt1": "Guten Tag mein 😀 Freund.", "mt2": "Tag.\r\nMein Freund!", "mt3": "صباح الخير يا صديقي"}
SETTINGS = {
    "severities": [["minor", 1], ["major", 5]],
    "categories": [["Accuracy/Omission", {}], ["Fluency/Punctuation", {"minor": 0.1}], ["Style", {}]],
    "source": True,
}


@pytest.fixture
def people():
    return [User.objects.create_user(name, password="a-long-password") for name in ("bob", "carol", "amal")]


def campaign_of(slug, settings, *more):
    errors = CriterionSpec("Errors", 0, 25, kind="spans", best="low", settings=settings)
    campaign = create_campaign(slug=slug, title="Translations", overlap=3, in_file_order=True, criteria=[errors, *more])
    rows = [{"context_id": "c1", "context": SOURCE, "system": name, "output": text} for name, text in TEXTS.items()]
    import_outputs(campaign, io.BytesIO(json.dumps(rows).encode()), "outputs.json")
    return campaign


def kept(person, system):
    row = LikertScore.objects.get(annotator=person, output__system__name=system, criterion__kind="spans")
    return row.value, [(m["text"], m["severity"], m.get("category"), m["where"]) for m in row.detail["spans"]]


def select(area, start, end):
    """As fingers do on a phone: what the handles of a selection leave behind."""
    area.evaluate("(area, [start, end]) => { area.focus(); area.setSelectionRange(start, end); }", [start, end])


def test_mqm(open_page, people):
    campaign = campaign_of("mqm", SETTINGS)
    bob, carol, amal = (add_annotator(campaign, person) for person in people)
    page = begun(open_page, campaign, "bob")
    press, area = page.keyboard.press, page.get_by_role("textbox", name="The text. Select")
    expect(page.locator(".work-score .output")).to_be_hidden()
    systems = {text.replace("\r\n", "\n"): name for name, text in TEXTS.items()}
    order = [systems[area.input_value()]]
    assert_axe_clean(page)
    press("Enter")
    expect(page.get_by_text("Mark the errors, or say that there are none.")).to_be_visible()

    while len(order) < 4:
        system = order[-1]
        press("m")
        expect(area).to_be_focused()
        press("x")  # takes no typing
        press("Control+Home")
        if system == "mt1":
            for _ in range(17):
                press("ArrowRight")  # over the picture sign, which is one place for the caret
            for _ in range(6):
                press("Shift+ArrowRight")
            press("2")
            category = page.get_by_role("combobox", name="Category of “Freund”")
            expect(category).to_be_focused()
            press("S")  # Style
            press("m")
            expect(category).to_have_value("Style")
        elif system == "mt2":
            press("Shift+Control+ArrowRight")
            press("1")
            page.get_by_role("combobox", name="Category of “Tag").select_option("Fluency/Punctuation")
            area.focus()
            press("Control+End")
            press("Shift+ArrowLeft")
            press("1")
            expect(page.locator(".mark-of")).to_have_count(2)
            area.focus()
            press("Control+End")
            press("Delete")
            expect(page.locator(".mark-of")).to_have_count(1)
            page.reload()  # a draft is kept
            expect(page.locator(".mark-of")).to_have_count(1)
            expect(page.locator(".marking mark")).to_have_count(1)
        else:
            press("Escape")
            press("0")
            expect(page.get_by_label("There is no error")).to_be_checked()
        assert_axe_clean(page)
        page.locator("[data-answer] > .button, [data-answer] button").last.click()
        if len(order) == 3:
            break
        expect(page.get_by_text(f"{len(order)} of 3 judged")).to_be_visible()
        order.append(systems[area.input_value()])
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    assert kept(bob, "mt1") == (5, [("Freund", "major", "Style", "output")])
    value, [(words, *rest)] = kept(bob, "mt2")
    assert (value, rest) == (0.1, ["minor", "Fluency/Punctuation", "output"]) and words.startswith("Tag")
    assert kept(bob, "mt3") == (0, [])

    page = begun(open_page, campaign, "carol", **PHONE)
    area = page.get_by_role("textbox", name="The text. Select")
    system = systems[area.input_value()]
    page.get_by_role("button", name="minor").tap()
    expect(page.locator("[data-said]")).to_have_text("Select some words first.")
    page.get_by_text("Something is missing").tap()
    source = page.get_by_role("textbox", name="The context. Select")
    select(source, 23, 29)
    page.get_by_role("button", name="major").tap()
    page.get_by_role("combobox", name="Category of “of old").select_option("Accuracy/Omission")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("[data-answer] button").last.tap()
    expect(page.get_by_text("1 of 3 judged")).to_be_visible()
    assert kept(carol, system) == (5, [("of old", "major", "Accuracy/Omission", "source")])

    page = begun(open_page, campaign, "amal", language="ar", **PHONE)
    area = page.locator("[data-text-of=output]")
    system = systems[area.input_value()]
    assert_axe_clean(page)
    select(area, 0, 4)
    page.locator("[data-severity=minor]").tap()
    page.locator("[data-category-of]").select_option("Style")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("[data-answer] button").last.tap()
    expect(page.locator(".mark-of")).to_have_count(0)
    assert kept(amal, system)[0] == 1

    rows = list(exported_answers(campaign, "spans"))
    copy = campaign_of("copy", SETTINGS)
    import_answers(copy, "spans", io.BytesIO("".join(as_jsonl(rows)).encode()), "spans.jsonl")
    assert list(exported_answers(copy, "spans")) == rows and len(rows) == 5


def test_esa_and_its_preview(open_page, people):
    score = CriterionSpec("Score", 0, 100, "worst", "best", settings={"slider": True})
    campaign = campaign_of("esa", {"severities": [["minor", 1], ["major", 5]], "categories": [], "source": True}, score)
    bob, _ = (add_annotator(campaign, person) for person in people[:2])
    page = begun(open_page, campaign, "bob")
    press, area = page.keyboard.press, page.get_by_role("textbox", name="The text. Select")
    press("m")
    press("Control+Home")
    press("Shift+End")
    press("2")
    expect(area).to_be_focused()  # no category is asked
    press("Escape")
    for key in "40":
        press(key)  # the errors are answered: what is typed goes to the score
    press("m")
    press("Enter")
    expect(page.get_by_text("1 of 3 judged")).to_be_visible()
    press("u")
    expect(page.locator(".mark-of")).to_have_count(1)
    assert sorted(LikertScore.objects.filter(annotator=bob).values_list("value", flat=True)) == [5, 40]

    people[1].is_superuser = people[1].is_staff = True
    people[1].save()
    page = begun(open_page, campaign, "carol")
    page.goto("/c/esa/preview/")
    select(page.get_by_role("textbox", name="The text. Select"), 0, 3)
    page.get_by_role("button", name="major").click()
    expect(page.locator(".marking mark")).to_have_count(1)
