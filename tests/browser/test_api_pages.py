"""The page of one's account with its tokens, and the reference of the REST API."""

from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in


def test_a_token_is_made_and_the_reference_read_on_a_phone(open_page, scores):
    page = open_page(viewport={"width": 360, "height": 740})
    sign_in(page)
    page.goto("/account/")
    page.get_by_label("Purpose").fill("laptop")
    page.get_by_role("button", name="Create a token").click()
    assert page.get_by_label("Your new token").input_value().startswith("comparena_")
    assert_axe_clean(page)
    page.get_by_role("link", name="REST API").click()
    page.get_by_text("POST /api/tasks/{slug}/judgments/").click()
    assert page.get_by_text("The same key again stores nothing twice.").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert_axe_clean(page)
