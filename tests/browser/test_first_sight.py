"""What a researcher whose comparator failed its gate sees first: 24 contexts, two annotators."""

import csv
import io
from xml.etree import ElementTree

import pytest

from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in
from tests.browser.test_leaderboard import BOARD, models_dir, sent, version  # noqa: F401 (fixtures)
from tests.evaluator.world import World
from tests.leaderboard.boards.test_board import FAILED, gated
from tests.leaderboard.played import by_comparator, by_people, calibrated

REASON = FAILED[1]["answer"]


@pytest.fixture
def world(tmp_path, client):
    world = World(tmp_path, client, contexts=24)
    world.alice.set_password("a-long-password")
    world.alice.save()
    return world


@pytest.fixture
def failed(world, version):  # noqa: F811
    """The comparator's board; people's and the combined one are there, too."""
    gated(version, FAILED)
    by_people(world.campaign)
    board = by_comparator(world.campaign)
    calibrated(world.campaign)
    return board


def warning_of(page, version):  # noqa: F811
    return page.locator("main .warning", has_text=f"Comparator {version.name} did not pass its gate.").first


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (360, 800)])
def test_the_tab_opens_on_peoples_board(failed, version, open_page, width, height):  # noqa: F811
    page = open_page(viewport={"width": width, "height": height})
    sign_in(page, "alice-talk")
    page.goto("/c/talk/")
    page.get_by_role("link", name="Leaderboard", exact=True).click()
    page.wait_for_url(f"**{BOARD}")
    assert page.locator("nav.switch a[aria-current]").first.inner_text() == "people, Overall"
    first = page.get_by_text("Person is first. It is above Fine by 1.00 points")
    assert first.bounding_box()["y"] + first.bounding_box()["height"] < height  # seen without scrolling
    assert page.locator("#standings").inner_text().startswith("Standings, judged by people")
    assert page.locator("#standings").bounding_box()["y"] < (500 if width > 1000 else height)
    drawn = page.locator("section:has(> div > #standings) .drawn").first.bounding_box()  # the interval is seen on a phone, too
    assert drawn["width"] > 80 and drawn["x"] + drawn["width"] < width
    assert page.locator("section:has(> div > #standings) .of-error").first.is_hidden()
    beside = page.locator("#standings-beside")
    assert beside.inner_text().startswith("For comparison: judged by the comparator")
    assert REASON in warning_of(page, version).inner_text()
    assert warning_of(page, version).bounding_box()["y"] < beside.bounding_box()["y"]
    assert "which has not passed its gate" in page.locator("main").inner_text()  # of the dashed intervals
    page.locator("section:has(> div > #standings) .menu summary").click()
    page.get_by_role("checkbox", name="SE", exact=True).first.check()
    assert page.locator("section:has(> div > #standings) .of-error").first.is_visible()


def test_its_own_board_says_what_it_failed_before_any_rating(failed, version, open_page):  # noqa: F811
    page = open_page(viewport={"width": 1280, "height": 900})
    sign_in(page, "alice-talk")
    page.goto(BOARD)
    page.get_by_role("link", name="comparator, Overall", exact=True).click()
    page.wait_for_url("**basis=judge**")
    warning = warning_of(page, version)
    assert REASON in warning.inner_text()
    box = warning.bounding_box()
    assert box["y"] + box["height"] < 900 and box["y"] < page.locator("#intervals").bounding_box()["y"]
    assert_axe_clean(page)


def test_so_do_its_files(failed, version, open_page):  # noqa: F811
    page = open_page()
    sign_in(page, "alice-talk")
    said = f"Comparator {version.name} did not pass its gate. {REASON}"
    address = f"/tournaments/{failed.pk}"
    table = page.request.get(f"{address}.csv").text()
    assert {row["gate"] for row in csv.DictReader(io.StringIO(table))} == {said}
    assert f"% {said}" in page.request.get(f"{address}.tex").text()
    gate = page.request.get(f"/api{address}/").json()["basis"]["judge"]["gate"]
    assert not gate["passed"] and gate["reasons"] == [REASON]
    drawn = ElementTree.fromstring(page.request.get(f"{address}.svg").text())
    assert said in " ".join(element.text or "" for element in drawn.iter() if element.tag.endswith("text"))
