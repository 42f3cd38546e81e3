"""What a researcher whose comparator failed its gate sees first."""

from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in
from tests.browser.test_leaderboard import BOARD, models_dir, sent, version, world  # noqa: F401 (fixtures)
from tests.leaderboard.boards.test_board import FAILED, gated
from tests.leaderboard.played import by_comparator, by_people, calibrated


def test_peoples_board_opens_and_the_comparators_says_what_it_failed(world, version, open_page):  # noqa: F811
    gated(version, FAILED)
    by_people(world.campaign), by_comparator(world.campaign), calibrated(world.campaign)
    page = open_page(viewport={"width": 1200, "height": 900})
    sign_in(page, "alice-talk")
    page.goto(BOARD)
    assert page.locator("#standings").inner_text().startswith("Standings, judged by people")
    assert page.locator("nav.switch a[aria-current]").first.inner_text() == "people, Overall"
    page.get_by_role("link", name="comparator, Overall", exact=True).click()
    page.wait_for_url("**judge=comparator**")
    warning = page.locator("main .warning", has_text=f"Comparator {version.name} did not pass its gate.").first
    assert FAILED[1]["answer"] in warning.inner_text()
    ratings = page.locator("#intervals").bounding_box()
    assert warning.bounding_box()["y"] < ratings["y"]  # it is read before any rating
    assert_axe_clean(page)
