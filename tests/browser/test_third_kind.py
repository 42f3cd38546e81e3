"""A third kind of question set up on the page and answered by keyboard alone."""

import pytest
from playwright.sync_api import expect

from annotation.data.importer import import_outputs
from annotation.models import Campaign, LikertScore, User
from annotation.people.accounts import add_annotator
from tests.annotation.pages import write_outputs
from tests.annotation.questions.fixtures import facts  # noqa: F401 (a fixture)
from tests.browser.conftest import sign_in


@pytest.fixture
def people(facts):  # noqa: F811
    User.objects.create_user("alice", password="a-long-password", may_create_campaigns=True)
    return User.objects.create_user("bob", password="a-long-password")


def test_set_up_on_the_page_and_answered_by_keyboard(open_page, people, tmp_path):
    page = open_page()
    sign_in(page, "alice")
    page.goto("/new/")
    page.get_by_label("Title").fill("Right facts")
    row = page.get_by_role("group", name="Criterion 1")
    row.get_by_label("Name").fill("Facts")
    expect(row.get_by_label("Lowest", exact=True)).to_be_visible()
    expect(row.get_by_label("Facts at most")).to_be_hidden()
    row.get_by_label("Answered on").select_option("facts")
    expect(row.get_by_label("Facts at most")).to_be_visible()
    expect(row.get_by_label("Lowest", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Create the campaign").click()
    page.wait_for_url("**/import/")
    campaign = Campaign.objects.get()
    import_outputs(campaign, write_outputs(tmp_path, 1))
    add_annotator(campaign, people)

    page, press = (page := open_page()), page.keyboard.press
    sign_in(page)
    page.goto(f"/c/{campaign.slug}/annotate/?start=1")
    for n, key in enumerate(("7", "0", "n")):
        expect(page.get_by_text(f"{n} of 3 judged")).to_be_visible()
        page.wait_for_load_state("load")
        press(key)
        press("Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    given = LikertScore.objects.order_by("pk").values_list("value", "cannot_say")
    assert list(given) == [(7, False), (0, False), (None, True)]
