"""The first hour: from no account to a campaign with criteria, by keyboard, on a phone, with axe."""

import pytest

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


def test_the_fonts_come_from_here_and_are_used(open_page):
    page = open_page()
    page.goto("/")
    page.evaluate("document.fonts.ready")
    loaded = page.evaluate("[...document.fonts].filter(face => face.status === 'loaded').map(face => face.family)")
    assert {name.strip('"') for name in loaded} == {"Inter Variable", "Source Serif 4 Variable"}
    used = page.evaluate("getComputedStyle(document.querySelector('.lede')).fontFamily")
    assert used.startswith('"Inter Variable", system-ui')
    assert_axe_clean(page)
