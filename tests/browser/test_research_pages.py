"""A researcher's day in a browser: every page is accessible, fits a phone, and works without JavaScript."""

import json

import pytest
from playwright.sync_api import expect

from annotation.assessment.assess import assess
from annotation.models import Campaign, Item, ItemReport, LikertScore, Output, Upload
from annotation.people.invitations import invite
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in

PHONE = {"viewport": {"width": 360, "height": 740}}
ROWS = [{"id": f"n{n}", "prompt": "Good day", "model": s, "reply": f"{s} says {n}"} for n in range(2) for s in ("new", "old")]


@pytest.fixture
def campaign(scores):
    """Scores, a report, a link, a refused file, a snapshot: something on every page."""
    overall = scores.campaign.criteria.get(name="Overall")
    for n in range(3):
        person = scores.campaign.annotators.create(name=f"judge-{n}")
        for i, output in enumerate(Output.objects.all()):
            LikertScore.objects.create(annotator=person, output=output, criterion=overall, value=1 + (i + (n == 2)) % 5)
    ItemReport.objects.create(item=Item.objects.first(), annotator=scores.annotator, kind="flag", reason="It is cut off.")
    invite(scores.campaign, scores.alice, cap=1, label="pilot")
    wrong = {"state": "refused", "error_count": 1, "errors": [[2, "score", "is 9"]]}
    Upload.objects.create(campaign=scores.campaign, name="bad.csv", size=9, kind="scores", **wrong)
    assess(scores.campaign)
    return scores.campaign


def pages(campaign) -> list[str]:
    item, file = campaign.items.first(), campaign.uploads.get()
    inside = [
        "",
        "design/",
        "import/",
        f"import/{file.pk}/",
        "people/",
        "progress/",
        "progress/answers/",
        "items/",
        f"items/{item.pk}/",
        "preview/",
        "plan/",
        "quality/",
    ]
    return ["/", "/new/", *(f"/c/talk/{path}" for path in inside)]


def test_an_invitation_link_is_copied_by_key(open_page, campaign):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    sign_in(page, "alice")
    page.goto("/c/talk/people/")
    field = page.get_by_label("pilot, 0 of 1 place")
    page.get_by_role("button", name="Copy pilot").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[aria-live=polite]", has_text="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == field.input_value() and "/join/" in field.input_value()
    assert_axe_clean(page)


def test_an_invitation_link_is_selected_without_javascript(open_page, campaign):
    page = open_page(java_script_enabled=False)
    sign_in(page, "alice")
    page.goto("/c/talk/people/")
    expect(page.get_by_label("pilot, 0 of 1 place")).to_have_attribute("readonly", "")
    assert not page.get_by_role("button", name="Copy").count()


def test_every_page_is_accessible_and_fits_a_phone(open_page, campaign):
    page = open_page(**PHONE)
    sign_in(page, "alice")
    for path in pages(campaign):
        page.goto(path)
        assert_axe_clean(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_a_campaign_from_its_design_to_its_first_item_without_javascript(open_page, scores, tmp_path, settings):
    settings.UPLOADS_DIR = tmp_path / "uploads"
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    page = open_page(java_script_enabled=False)
    sign_in(page, "alice")
    page.goto("/")
    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("Title").fill("Greetings")
    page.get_by_label("Name", exact=True).first.fill("Warmth")
    page.get_by_role("button", name="Create the campaign").click()
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Preview the file").click()
    expect(page.get_by_text("No errors; nothing is stored yet.")).to_be_visible()
    assert not Output.objects.filter(system__name="new").exists()
    page.get_by_role("button", name="Import it").click()
    expect(page.get_by_text("4 rows read")).to_be_visible()
    page.goto("/c/greetings/preview/")
    expect(page.get_by_role("group", name="Warmth")).to_be_visible()
    page.goto("/c/greetings/progress/")
    expect(page.get_by_text("0 of 12 answers given or under way; 0 of 4 items")).to_be_visible()
    assert Campaign.objects.get(slug="greetings").items.count() == 4


def test_a_file_is_dropped(open_page, scores, tmp_path, settings):
    settings.UPLOADS_DIR = tmp_path / "uploads"
    page = open_page()
    sign_in(page, "alice")
    page.goto("/c/talk/import/")
    expect(page.get_by_text("Choose, or drop here.")).to_be_visible()
    transfer = page.evaluate_handle(
        "text => { const t = new DataTransfer(); t.items.add(new File([text], 'dropped.jsonl')); return t; }",
        "".join(json.dumps(row) + "\n" for row in ROWS),
    )
    page.dispatch_event("[data-drop]", "drop", {"dataTransfer": transfer})
    page.get_by_role("button", name="Preview the file").click()
    expect(page.get_by_role("heading", name="dropped.jsonl")).to_be_visible()
    expect(page.get_by_text("4 rows read")).to_be_visible()
    assert_axe_clean(page)
    page.get_by_label("Human-written systems").fill("old")
    page.get_by_role("button", name="Import it").click()
    expect(page.get_by_text("Imported.", exact=True)).to_be_visible()
    assert scores.campaign.systems.get(name="old").is_human


def test_one_file_for_each_system_is_dropped_at_once(open_page, scores, tmp_path, settings):
    settings.UPLOADS_DIR = tmp_path / "uploads"
    page = open_page()
    sign_in(page, "alice")
    page.goto("/c/talk/import/")
    transfer = page.evaluate_handle(
        """texts => {
          const all = new DataTransfer();
          for (const [name, text] of Object.entries(texts)) all.items.add(new File([text], name));
          return all;
        }""",
        {"ape.csv": "prompt,response\nHi,Oh\nBye,Uh\n", "bee.csv": "prompt,response\nHi,Bz\nBye,Zz\n"},
    )
    page.dispatch_event("[data-drop]", "drop", {"dataTransfer": transfer})
    page.get_by_role("button", name="Preview the file").click()
    expect(page.get_by_role("heading", name="ape.csv and 1 more.zip")).to_be_visible()
    page.get_by_role("button", name="Import it").click()
    expect(page.get_by_text("Imported.", exact=True)).to_be_visible()
    outputs = Output.objects.filter(system__name__in=["ape", "bee"])
    texts = [(system, turns, text) for system, turns, text in outputs.values_list("system__name", "context__turns", "text")]
    expected = [("ape", ["Bye"], "Uh"), ("ape", ["Hi"], "Oh"), ("bee", ["Bye"], "Zz"), ("bee", ["Hi"], "Bz")]
    assert sorted(texts) == expected and scores.campaign.contexts.filter(turns__in=[["Hi"], ["Bye"]]).count() == 2


def test_figures_come_anew_by_themselves_until_told_not_to(open_page, campaign):
    page = open_page()
    sign_in(page, "alice")
    page.clock.install()
    page.goto("/c/talk/progress/")
    expect(page.get_by_text("18 scores.")).to_be_visible()
    person = campaign.annotators.create(name="late")
    LikertScore.objects.create(
        annotator=person, output=Output.objects.first(), criterion=campaign.criteria.get(name="Overall"), value=2
    )
    page.clock.fast_forward(21_000)
    expect(page.get_by_text("19 scores.")).to_be_visible()
    page.get_by_label("Update by itself").uncheck()
    LikertScore.objects.filter(annotator=person).delete()
    page.clock.fast_forward(60_000)
    expect(page.get_by_text("19 scores.")).to_be_visible()
    page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_text("18 scores.")).to_be_visible()
