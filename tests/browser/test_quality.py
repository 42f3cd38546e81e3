"""A researcher looks at a filter, accepts it, and learns what became of the snapshot; axe on every page of Quality."""

import pytest

from annotation.models import LikertScore, Output, Snapshot, User
from annotation.people.accounts import add_annotator
from tests.annotation.pages import World
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in


@pytest.fixture
def judged(tmp_path, client):
    """Bob and two others score twelve outputs; Bob is off on one, and two scores stay far apart."""
    world = World(tmp_path, client, contexts=4)
    overall = world.campaign.criteria.get(name="Overall")
    people = [world.annotator, *(add_annotator(world.campaign, User.objects.create_user(f"judge{n}")) for n in range(2))]
    for i, output in enumerate(Output.objects.order_by("pk")):
        for n, person in enumerate(people):
            if i == 1 and n == 0:
                continue
            value = 5 if (i, n) in ((0, 0), (1, 1)) else 1 if i == 1 else 1 + (i * 2) % 5
            LikertScore.objects.create(annotator=person, output=output, criterion=overall, value=value)
    return world


def test_preview_accept_snapshot_withdrawal_mark(judged, open_page):
    page = open_page()
    sign_in(page, "alice")
    page.goto("/c/talk/quality/")
    page.get_by_label("MAD threshold").fill("1.5")
    page.get_by_label("Level of measurement").select_option("interval")
    page.get_by_role("button", name="Preview the filter").click()
    assert page.get_by_role("row", name="Overall").get_by_text("1 of 35").is_visible()
    assert Snapshot.objects.count() == 0
    page.get_by_role("button", name="Accept and freeze").click()
    snapshot = Snapshot.objects.get()
    assert snapshot.rule["mad"] == 1.5
    assert page.get_by_text(f"frozen as snapshot {snapshot.name}").is_visible()
    page.get_by_role("heading", name="Newest snapshot").get_by_role("link").click()
    assert page.get_by_text(snapshot.digest).is_visible()

    own = open_page()
    sign_in(own, "bob")
    own.goto("/c/talk/withdraw/")
    own.get_by_role("main").get_by_role("button", name="Withdraw").click()
    own.wait_for_load_state()

    page.reload()
    assert page.get_by_text(f"{judged.annotator.name} withdrew after it was frozen.").is_visible()
    page.goto("/c/talk/quality/")
    assert page.get_by_role("link", name="1 mark").is_visible()


def test_a_disagreement_is_settled_by_keyboard(judged, open_page):
    page = open_page()
    sign_in(page, "alice")
    page.goto("/c/talk/quality/disagreement/")
    page.get_by_role("radio", name="5").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("It answers the question.")
    page.keyboard.press("Enter")
    page.get_by_text("Nothing is open").wait_for()
    assert judged.campaign.adjudications.get().value == 5


PAGES = ["quality/", "quality/preview/", "quality/annotators/", "quality/disagreement/", "quality/study/", "quality/report/"]


@pytest.mark.parametrize("width", [360, 1280])
def test_every_page_is_accessible_and_fits(judged, open_page, width):
    from annotation.assessment.assess import assess

    first, second = assess(judged.campaign, 1.0, "interval"), assess(judged.campaign, 9.0, "ordinal", "keep")
    page = open_page(viewport={"width": width, "height": 800})
    sign_in(page, "alice")
    between = f"snapshots/{second.name}/difference/?from={first.digest}"
    for path in [*PAGES, "quality/datasheet/", f"snapshots/{first.name}/", between]:
        page.goto(f"/c/talk/{path}")
        page.evaluate("document.querySelectorAll('main details').forEach(details => { details.open = true })")
        assert_axe_clean(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_the_report_prints_whole_and_light(judged, open_page):
    from annotation.assessment.assess import assess

    longest = judged.campaign.systems.first()
    judged.campaign.systems.filter(pk=longest.pk).update(name="N" * 100)  # numbers stay on the paper beside it
    assess(judged.campaign, 1.0, "interval")
    page = open_page(viewport={"width": 673, "height": 900}, color_scheme="dark")  # A4 within its margins
    sign_in(page, "alice")
    page.goto("/c/talk/quality/report/")
    page.emulate_media(media="print")
    tables = page.locator(".data").evaluate_all("all => all.filter(one => one.scrollHeight > one.clientHeight + 1).length")
    assert page.get_by_text("N" * 100).count() and tables == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 673
    assert not page.get_by_role("link", name="Disagreement").is_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(251, 250, 248)"
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
