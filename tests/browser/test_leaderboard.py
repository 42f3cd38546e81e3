"""The leaderboard's pages in a browser: every one of them clean for axe and within a phone; entering a system by
keyboard; and everything without JavaScript."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from leaderboard.tournaments import start
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in
from tests.evaluator.fixtures import models_dir, sent  # noqa: F401 (autouse: nothing is sent, nothing written elsewhere)
from tests.evaluator.world import World
from tests.leaderboard.played import by_comparator, by_people, version  # noqa: F401 (a fixture)

PHONE = {"viewport": {"width": 360, "height": 740}}
BOARD = "/c/talk/leaderboard/"


@pytest.fixture
def world(tmp_path, client):
    world = World(tmp_path, client)
    world.alice.set_password("a-long-password")
    world.alice.save()
    world.campaign.contexts.update(metadata={"topic": "sport"})
    world.campaign.contexts.filter(key__lt="c06").update(metadata={"topic": "film"})
    return world


@pytest.fixture
def played(world, version):  # noqa: F811
    by_people(world.campaign)
    return by_comparator(world.campaign), by_comparator(world.campaign, seed=1)


def pages(world, board) -> list[str]:
    world.campaign.board_is_public = True
    world.campaign.save()
    context, system = world.campaign.contexts.first(), world.campaign.systems.first()
    return [
        BOARD,
        f"{BOARD}?judge=people",
        f"{BOARD}?basis=people&criterion=Overall&slice=topic%3A+film",
        f"/tournaments/{board.pk}/",
        f"{BOARD}beside/",
        f"{BOARD}history/",
        f"{BOARD}breakdown/",
        f"{BOARD}play/",
        f"{BOARD}embed/",
        "/boards/",
        f"{BOARD}samples/",
        f"{BOARD}samples/{context.pk}/",
        "/c/talk/systems/",
        f"/c/talk/systems/{system.pk}/",
    ]


def too_wide(page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_every_page_is_clean_and_fits_a_phone(world, played, open_page):
    page = open_page(**PHONE)
    sign_in(page, "alice-talk")
    for address in pages(world, played[1]):
        page.goto(address)
        for fold in page.locator("section:has(> #diagnostics) summary").all():
            fold.click()
        assert page.locator("h1").count() == 1, address
        assert_axe_clean(page)
        assert too_wide(page) <= 0, address


def test_pages_before_anything_was_played(world, open_page):
    page = open_page()
    sign_in(page, "alice-talk")
    for address in (BOARD, f"{BOARD}beside/", f"{BOARD}history/", f"{BOARD}breakdown/", f"{BOARD}samples/"):
        page.goto(address)
        assert page.locator(".empty").is_visible(), address
        assert_axe_clean(page)


def test_what_the_public_sees_is_clean(world, played, open_page):
    start.set_board(world.campaign, is_public=True, plays_new=True)
    page = open_page(**PHONE)
    for address in (BOARD, f"{BOARD}beside/", f"{BOARD}history/", f"{BOARD}breakdown/", pages(world, played[1])[-1]):
        page.goto(address)
        assert page.get_by_role("link", name="Sign in").first.is_visible()
        assert page.get_by_role("navigation", name="Campaign").count() == 0
        assert_axe_clean(page)


def test_from_the_board_down_to_a_text_by_keyboard(world, played, open_page):
    page = open_page()
    sign_in(page, "alice-talk")
    page.goto(BOARD)
    page.get_by_role("link", name="Samples").press("Enter")
    page.wait_for_url("**/samples/")
    page.locator("tbody a").first.press("Enter")
    page.wait_for_url("**/samples/*/?tournament=*")
    assert page.locator("article.output").count() == 4
    page.get_by_role("link", name="All samples").press("Enter")
    page.wait_for_url("**/samples/?tournament=*")


def test_a_system_is_entered_renamed_and_retired_without_javascript(world, played, open_page, tmp_path):
    rows = [{k: row[k] for k in ("context_id", "context", "output")} for row in world.rows if row["system"] == "Poor"]
    file = Path(tmp_path / "new.jsonl")
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = open_page(java_script_enabled=False)
    sign_in(page, "alice-talk")
    page.goto("/c/talk/systems/")
    page.get_by_role("textbox", name="Name").fill("Newcomer")
    page.get_by_label("Outputs file").set_input_files(file)
    page.get_by_role("button", name="Register").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Newcomer"
    assert "A worker now rates it against the others." in page.get_by_role("status").inner_text()
    page.get_by_role("textbox", name="Name").fill("Arrival")
    page.get_by_role("button", name="Save").click()
    assert "Former names: Newcomer" in page.locator("main").inner_text()
    page.get_by_role("button", name="Retire").click()
    assert "retired" in page.get_by_role("heading", level=1).inner_text()
    page.goto("/c/talk/systems/")
    page.get_by_role("textbox", name="Name").fill("Arrival")
    page.get_by_label("Outputs file").set_input_files(file)
    page.get_by_role("button", name="Register").click()
    assert "There is a system 'Arrival' already" in page.get_by_role("alert").inner_text()


def test_the_chart_to_embed_is_a_picture(world, played, open_page):
    start.set_board(world.campaign, is_public=True, plays_new=True)
    page = open_page()
    page.goto(BOARD)
    width = page.evaluate(
        """async address => { const image = new Image(); image.src = address; await image.decode(); return image.width; }""",
        f"/tournaments/{played[1].pk}.svg",
    )
    assert width == 360


PIXELS = """async bytes => {
  const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], {type: "image/png"}));
  const canvas = new OffscreenCanvas(image.width, image.height), drawn = canvas.getContext("2d");
  drawn.drawImage(image, 0, 0);
  const seen = drawn.getImageData(0, 0, image.width, image.height).data, colours = {};
  for (let at = 0; at < seen.length; at += 4) {
    const colour = [...seen.slice(at, at + 4)].join(" ");
    colours[colour] = (colours[colour] || 0) + 1;
  }
  return {width: image.width, height: image.height, colours};
}"""


def test_the_chart_is_saved_as_png(world, played, open_page):
    """Four times as wide as the SVG, and the same picture: its colours are there, and its letters are Inter's."""
    page = open_page(accept_downloads=True)
    sign_in(page, "alice-talk")
    page.goto(f"/tournaments/{played[1].pk}/")
    svg = page.request.get(f"/tournaments/{played[1].pk}.svg").text()
    high = int(re.search(r'height="(\d+)"', svg)[1])
    with page.expect_download() as saved:
        page.get_by_role("button", name="PNG chart").press("Enter")
    assert saved.value.suggested_filename == f"talk-{played[1].pk}.png"
    picture = page.evaluate(PIXELS, list(Path(saved.value.path()).read_bytes()))
    assert (picture["width"], picture["height"]) == (4 * 360, 4 * high)
    dots = svg.count("<circle")
    accent, white = picture["colours"]["18 82 95 255"], picture["colours"]["255 255 255 255"]  # #12525f of the intervals
    assert accent > dots * 900 and white > 0.5 * picture["width"] * picture["height"]  # a dot: pi (4 * 4.5)^2 = 1018
    assert_axe_clean(page)
    plot = page.locator("figure[data-plot$=head-to-head]")
    with page.expect_download() as drawn:
        plot.get_by_role("button", name="SVG").click()
    written = [text.text for text in ET.parse(drawn.value.path()).getroot() if text.get("font-size") == "10"]
    said = [*plot.locator("figcaption").inner_text().split(), *plot.get_attribute("data-said").split()]
    assert " ".join(written).split() == said and "Judged" in said and f"{played[1].pk}" in said
    page.route("**/inter-*", lambda route: route.fulfill(body=""))  # without Inter the letters are others
    with page.expect_download() as without:
        page.get_by_role("button", name="PNG chart").click()
    other = page.evaluate(PIXELS, list(Path(without.value.path()).read_bytes()))
    assert other["width"] == picture["width"] and other["colours"] != picture["colours"]


def test_a_png_that_can_t_be_drawn_says_what_to_do(world, played, open_page):
    page = open_page(expected=("503", "422"))
    sign_in(page, "alice-talk")
    page.goto(f"/tournaments/{played[1].pk}/")
    page.route("**/*.svg", lambda route: route.fulfill(status=503, body=""))
    page.get_by_role("button", name="PNG chart").click()
    page.get_by_role("button", name="PNG chart: not drawn; save the SVG chart instead").wait_for()


def test_moments_are_told_in_the_reader_s_zone(world, played, open_page):
    """UTC, nine hours before Tokyo, is what stands there without JavaScript."""
    played[1].campaign.board_is_public = True
    played[1].campaign.save()
    utc = played[1].finished_at
    tokyo = utc.astimezone(ZoneInfo("Asia/Tokyo"))
    page = open_page(timezone_id="Asia/Tokyo")
    page.goto(f"/tournaments/{played[1].pk}/")
    told = page.locator("time").first
    assert told.inner_text() == f"{tokyo.day} {tokyo:%b %Y, %H:%M}"
    assert told.get_attribute("title") == f"{utc.day} {utc:%b %Y, %H:%M} UTC"
    page = open_page(timezone_id="Asia/Tokyo", java_script_enabled=False)
    page.goto(f"/tournaments/{played[1].pk}/")
    assert page.locator("time").first.inner_text() == f"{utc.day} {utc:%b %Y, %H:%M} UTC"


def test_the_heads_of_a_long_table_stay_in_sight(world, open_page):
    for n in range(60):
        world.campaign.annotators.create(name=f"annotator-{n:02}")
    page = open_page(viewport={"width": 1280, "height": 700})
    sign_in(page, "alice-talk")
    page.goto("/c/talk/people/")
    region = page.get_by_role("region", name="Annotators")
    region.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    assert region.evaluate("box => box.scrollTop") > 500
    head, box = region.locator("thead th").first.bounding_box(), region.bounding_box()
    assert abs(head["y"] - box["y"]) <= 1
    assert_axe_clean(page)
