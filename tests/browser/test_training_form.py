"""The form that starts a training, in a browser: by keyboard, on a phone, and refused."""

import pytest

from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in
from tests.evaluator.world import SCORES, World


@pytest.fixture
def world(tmp_path, client):
    world = World(tmp_path, client)
    world.score("Wit", SCORES)
    world.freeze()
    world.alice.set_password("a-long-password")
    world.alice.save()
    return world


@pytest.mark.parametrize("width", [360, 1280])
def test_what_is_refused_is_told_where_it_was_asked(open_page, world, width):
    page = open_page(viewport={"width": width, "height": 900})
    sign_in(page, world.alice.username)
    page.goto("/c/talk/comparator/")
    joint = page.get_by_label("reads two outputs together")
    assert not joint.is_visible()
    page.get_by_text("Advanced:").focus()
    page.keyboard.press("Enter")
    page.get_by_label("scores of Wit").check()
    joint.check()
    page.get_by_role("button", name="Train a comparator").click()
    refused = page.get_by_role("alert")
    refused.get_by_text("A joint comparator learns one criterion").wait_for()
    assert refused.evaluate("alert => alert === document.activeElement")
    assert joint.is_checked() and page.get_by_label("scores of Wit").is_checked()
    assert_axe_clean(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
