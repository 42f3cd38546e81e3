"""The first hour: from no account to a campaign with criteria, by keyboard, on a phone, with axe."""

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign, User
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in

PHONE = {"viewport": {"width": 360, "height": 740}}


def fits(page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_first_admin_is_made_by_keyboard(open_page):
    page = open_page(**PHONE)
    page.goto("/")
    assert_axe_clean(page)
    page.get_by_role("link", name="Create the admin account").click()
    assert_axe_clean(page)
    assert fits(page)
    page.keyboard.type("root")  # the first field has the focus
    for _ in range(2):
        page.keyboard.press("Tab")
        page.keyboard.type("a-long-pass-phrase")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="New campaign").first.wait_for()
    assert User.objects.get().is_admin
    assert_axe_clean(page)


def test_a_template_is_chosen_a_criterion_added_and_enter_saves(open_page, pairs):
    page = open_page(**PHONE)
    sign_in(page, "alice")
    page.goto("/new/?template=summarisation")
    assert_axe_clean(page)
    assert fits(page)
    first = page.get_by_role("group", name="Criterion 1")
    expect(first.get_by_label("Lowest", exact=True)).to_be_hidden()  # what the template fills in is folded
    first.get_by_text("How it is answered").click()
    expect(first.get_by_label("Lowest", exact=True)).to_have_value("1")
    button = page.get_by_role("button", name="Add criterion")
    button.focus()
    page.keyboard.press("Enter")
    page.keyboard.type("Wit")  # the new row has the focus
    assert page.get_by_role("group", name="Criterion 5").get_by_label("Name").input_value() == "Wit"
    assert_axe_clean(page)
    page.get_by_label("Title").fill("News")
    page.keyboard.press("Enter")
    page.wait_for_url("**/c/news/import/")
    names = list(Campaign.objects.get(slug="news").criteria.values_list("name", flat=True))
    assert names == ["Coherence", "Consistency", "Fluency", "Relevance", "Wit"]
    assert page.get_by_text("Next, on this page: Import the outputs").is_visible()
    assert_axe_clean(page)


@pytest.mark.parametrize("enter_in", ["Title", "Add criterion"])
def test_without_javascript_a_row_comes_from_the_server(open_page, pairs, enter_in):
    page = open_page(java_script_enabled=False)
    sign_in(page, "alice")
    page.goto("/new/")
    page.get_by_label("Title").fill("News")
    page.get_by_label("Name", exact=True).fill("Wit")
    if enter_in == "Title":
        page.get_by_label("Title").press("Enter")
        page.wait_for_url("**/c/news/import/")
    else:
        page.get_by_role("button", name=enter_in).press("Enter")
        page.get_by_role("group", name="Criterion 2").wait_for()
        assert page.get_by_label("Name", exact=True).first.input_value() == "Wit"


def test_the_steps_of_a_new_campaign(open_page, pairs):
    """Four steps of one form: Next and links show each, what is wrong brings its own back, and the preview follows."""
    page = open_page(viewport={"width": 1280, "height": 900})
    sign_in(page, "alice")
    page.goto("/new/")
    page.get_by_label("Name", exact=True).fill("Wit")
    expect(page.locator("[data-example]").get_by_role("group", name="Wit")).to_be_visible()
    assert page.locator(".example-of").bounding_box()["x"] > page.locator("#design").bounding_box()["x"] + 500
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", name="On which texts")).to_be_focused()
    expect(page.get_by_label("Title")).to_be_hidden()
    page.get_by_role("link", name="Quality and plan").click()
    assert_axe_clean(page)
    page.get_by_label("Pass mark of the qualification, %").fill("200")
    page.get_by_role("button", name="Create the campaign").click()
    page.get_by_label("Title").fill("News")  # the browser asks for it, in the first step
    page.get_by_role("button", name="Create the campaign").click()
    mark = page.get_by_label("Pass mark of the qualification, %")
    expect(mark).to_be_visible()  # the browser refuses 200 in the fourth
    mark.fill("80")
    page.locator("#design").evaluate("form => { form.elements.slug.value = 'talk'; form.noValidate = true; }")
    page.get_by_role("button", name="Create the campaign").click()
    expect(page.get_by_text("There is already a campaign 'talk'")).to_be_visible()
    page.get_by_label("Short name").fill("news")
    page.get_by_role("button", name="Create the campaign").click()
    page.wait_for_url("**/c/news/import/")
    assert Campaign.objects.get(slug="news").pass_mark == 80


def test_without_scripts_all_steps_stand_below_each_other(open_page, pairs):
    page = open_page(java_script_enabled=False)
    sign_in(page, "alice")
    page.goto("/new/")
    page.get_by_label("Name", exact=True).fill("Wit")
    expect(page.get_by_role("heading", name="Quality and plan")).to_be_visible()
    page.get_by_role("button", name="Show what is filled in").click()
    expect(page.locator("[data-example]").get_by_role("group", name="Wit")).to_be_visible()
    assert page.get_by_label("Name", exact=True).input_value() == "Wit"


def test_the_fonts_come_from_here_and_are_used(open_page):
    page = open_page()
    page.goto("/")
    page.evaluate("document.fonts.ready")
    loaded = page.evaluate("[...document.fonts].filter(face => face.status === 'loaded').map(face => face.family)")
    assert {name.strip('"') for name in loaded} == {"Inter Variable", "Source Serif 4 Variable"}
    used = page.evaluate("getComputedStyle(document.querySelector('.lede')).fontFamily")
    assert used.startswith('"Inter Variable", system-ui')
    assert_axe_clean(page)
