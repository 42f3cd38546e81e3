"""Annotators' pages in each language: they fit a phone, pass axe, and keys go to the side they point at."""

import re

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign, PairwiseJudgment, Submission
from annotation.people.invitations import invite
from tests.browser.axe import assert_axe_clean
from tests.browser.test_annotating import fits
from tests.browser.test_nothing_lost import CUT

START = "/c/talk/annotate/?start=1"
SENDING = {
    "de": "Senden und weiter",
    "fr": "Envoyer et continuer",
    "es": "Enviar y continuar",
    "zh-hans": "发送并继续",
    "ar": "إرسال ومتابعة",
}


@pytest.fixture
def guest(open_page):
    """guest(world, language) -> the page of somebody who joined with a browser of that language."""

    def joined(world, language, width=1280):
        locale = "zh-CN" if language == "zh-hans" else language
        page = open_page(CUT, locale=locale, viewport={"width": width, "height": 740})
        page.goto(f"/join/{invite(world.campaign).token}/")
        return page

    return joined


def go_in(page):
    page.locator("#id_name").fill("Mira")
    page.locator("main .button-big").click()
    page.wait_for_url("**/guidelines/")
    page.goto(START)


def press(page, key, code):
    """A key of another keyboard: what it writes, and where it is."""
    page.evaluate(
        "([key, code]) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, code, bubbles: true }))", [key, code]
    )


def chosen(page):
    return page.locator("input[type=radio]:checked")


@pytest.mark.parametrize("language", SENDING)
def test_a_guest_s_pages_fit_a_phone_and_pass_axe(guest, pairs, language):
    Campaign.objects.update(asks_reason=True)
    page = guest(pairs, language, width=360)
    page.locator(".languages summary").click()
    fits(page)
    assert_axe_clean(page)
    go_in(page)
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.get_by_role("button", name=SENDING[language])).to_be_visible()
    fits(page)
    assert_axe_clean(page)
    for n in range(3):
        expect(page.locator("progress")).to_have_js_property("value", n)
        page.keyboard.press("a")
        page.keyboard.press("Enter")
    expect(page.locator("[data-answer]")).to_have_count(0)
    fits(page)
    assert_axe_clean(page)
    assert PairwiseJudgment.objects.count() == 3


def test_from_right_to_left_an_arrow_chooses_the_text_it_points_at(guest, pairs):
    page = guest(pairs, "ar")
    go_in(page)
    a, b = (page.locator(f"[data-side={side}]").bounding_box() for side in ("left", "right"))
    assert a["x"] > b["x"] and a["y"] == b["y"]  # A, the first, is on the right
    page.keyboard.press("ArrowRight")
    expect(chosen(page)).to_have_value("left")
    page.keyboard.press("ArrowLeft")
    expect(chosen(page)).to_have_value("right")
    page.keyboard.press("a")
    expect(chosen(page)).to_have_value("left")


def test_keys_of_an_arabic_keyboard_are_known_by_their_place(guest, pairs):
    page = guest(pairs, "ar")
    go_in(page)
    for key, code, side in (("ش", "KeyA", "left"), ("لا", "KeyB", "right"), ("ف", "KeyT", "tie")):
        press(page, key, code)
        expect(chosen(page)).to_have_value(side)


def test_digits_of_a_french_keyboard_need_no_shift(guest, scores):
    page = guest(scores, "fr")
    go_in(page)
    press(page, "'", "Digit4")
    expect(chosen(page)).to_have_value("4")


def test_the_language_is_changed_without_javascript(open_page, scores):
    page = open_page(locale="de", java_script_enabled=False)
    page.goto(f"/join/{invite(scores.campaign).token}/")
    page.locator(".languages summary").click()
    page.get_by_role("button", name="Español").click()
    expect(page.get_by_role("button", name="Participar como invitado")).to_be_visible()


def test_what_was_filled_in_outlives_a_change_of_language(guest, scores):
    page = guest(scores, "de")
    go_in(page)
    page.keyboard.press("4")
    page.locator(".languages summary").click()
    page.get_by_role("button", name="Français").click()
    expect(page.get_by_role("button", name=SENDING["fr"])).to_be_visible()
    expect(chosen(page)).to_have_value("4")


def test_without_a_connection_the_page_still_speaks_its_language(guest, scores):
    page = guest(scores, "de")
    go_in(page)
    page.context.set_offline(True)
    page.keyboard.press("4")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Ihre Antwort ist auf diesem Gerät gespeichert")).to_be_visible()
    page.context.set_offline(False)
    expect(page.locator("progress")).to_have_js_property("value", 1)
    assert Submission.objects.count() == 1


@pytest.mark.parametrize("language", SENDING)
def test_the_pages_of_an_account_fit_a_phone_and_pass_axe(open_page, scores, settings, language):
    settings.EMAIL_URL, settings.SITE_URL = "smtp://mail.example.org", "https://judge.example.org"
    locale = "zh-CN" if language == "zh-hans" else language
    page = open_page(CUT, locale=locale, viewport={"width": 360, "height": 740})
    for address in ("/password/reset/", "/password/reset/sent/", "/password/reset/done/", "/password/reset/Mw/set-password/"):
        page.goto(address)
        expect(page.locator("html")).to_have_attribute("lang", language)
        fits(page)
        assert_axe_clean(page)
    page.goto("/login/")
    page.locator("#id_username").fill("bob")
    page.locator("#id_password").fill("a-long-password")
    page.locator("main button").click()
    page.wait_for_url("**/")
    for address in ("/account/", "/account/second-factor/"):
        page.goto(address)
        expect(page.locator("html")).to_have_attribute("lang", language)
        fits(page)
        assert_axe_clean(page)
    page.goto("/account/")
    page.locator("#id_name").fill("laptop")
    page.locator("main form.form button").last.click()
    expect(page.locator("#key")).to_have_value(re.compile("^comparena_"))
    fits(page)
    assert_axe_clean(page)
