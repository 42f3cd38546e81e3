"""Annotators' pages in the visitor's language: which pages, by what choice, and that nothing on them is left untranslated.

The checks of the catalogues use GNU gettext, as `make messages` does (docs/translating.md).
"""

import gettext
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.core import mail as outbox
from django.template.base import Lexer, TokenType
from django.test import Client
from django.urls import reverse
from django.utils.translation import get_language, get_language_info, override, to_locale
from django.utils.translation import gettext as translated

from annotation.models import User
from annotation.people.invitations import invite
from annotation.templatetags.texts import SCRIPT_WORDS, count, day, minutes
from tests.annotation.pages import World, hidden, text

ROOT = settings.BASE_DIR
TRANSLATED = [code for code, _ in settings.LANGUAGES if code != "en"]
START = "annotate/?start=1"
GERMAN = {"HTTP_ACCEPT_LANGUAGE": "de-AT,de;q=0.9,en;q=0.5"}


@pytest.fixture
def world(db, tmp_path, client):
    return World(tmp_path, client)


def tag(response) -> str:
    """The page's <html ...>."""
    return re.search("<html [^>]*>", text(response))[0]


def page_in(language, path, user=None):
    client = Client(HTTP_ACCEPT_LANGUAGE=language)
    if user:
        client.force_login(user)
    return client.get(path)


class TestWhichLanguage:
    @pytest.mark.django_db
    @pytest.mark.parametrize("language", TRANSLATED)
    def test_the_browser_chooses_and_the_page_says_so(self, language):
        page = page_in(language, "/login/")
        direction = "rtl" if get_language_info(language)["bidi"] else "ltr"
        assert tag(page) == f'<html lang="{language}" dir="{direction}">' and page["Content-Language"] == language
        assert "Accept-Language" in page["Vary"]

    @pytest.mark.django_db
    @pytest.mark.parametrize("language", ["en-GB", "tlh", "", "*", "x" * 600])
    def test_english_is_what_is_left(self, language):
        assert tag(page_in(language, "/login/")) == '<html lang="en" dir="ltr">'

    @pytest.mark.django_db
    def test_any_chinese_gets_the_one_that_is_there(self):
        assert 'lang="zh-hans"' in tag(page_in("zh-CN", "/login/"))

    @pytest.mark.django_db
    def test_a_visitor_s_choice_is_kept_and_the_page_comes_again(self):
        client = Client(**GERMAN)
        chosen = client.post("/language/", {"language": "ar"}, HTTP_REFERER="http://testserver/login/")
        assert chosen.status_code == 302 and chosen["Location"] == "http://testserver/login/"
        assert tag(client.get("/login/")) == '<html lang="ar" dir="rtl">'

    @pytest.mark.django_db
    def test_a_choice_leads_to_no_other_site_and_an_unknown_one_changes_nothing(self):
        client = Client(**GERMAN)
        chosen = client.post("/language/", {"language": "xx", "next": "https://elsewhere.example/"})
        assert chosen["Location"] == "/" and 'lang="de"' in tag(client.get("/login/"))

    def test_researchers_pages_are_english(self, world):
        pages = ("/", "/c/talk/", "/c/talk/design/", "/c/talk/guidelines/", "/c/talk/preview/", reverse("public_boards"))
        for path in pages:
            page = page_in("de", path, world.alice)
            assert page.status_code == 200 and 'lang="en"' in tag(page) and 'name="language"' not in text(page), path

    def test_the_api_speaks_english(self, world):
        assert page_in("de", "/api/nowhere").json()["message"].startswith("There is nothing")

    def test_no_page_is_one_in_the_visitor_s_language(self, world):
        page = page_in("de", "/nowhere/", world.bob)
        assert page.status_code == 404 and "Seite nicht gefunden" in text(page) and 'name="language"' in text(page)

    @pytest.mark.django_db
    def test_after_a_page_its_thread_speaks_english_again(self):
        assert 'lang="ar"' in tag(page_in("ar", "/login/")) and get_language() == "en"


class TestPages:
    @pytest.mark.parametrize("language", TRANSLATED)
    def test_a_guest_s_way_is_in_their_language(self, world, language):
        with override(language):
            join, send, score, done = map(
                translated, ("Join as a guest", "Send and continue", "Please also score: %(criteria)s.", "All done. Thank you.")
            )
        guest = Client(HTTP_ACCEPT_LANGUAGE=language)
        address = f"/join/{invite(world.campaign).token}/"
        assert join in text(guest.get(address))
        guest.post(address, {"name": "Mira"})
        page = guest.get(f"/c/talk/{START}")
        assert send in text(page) and f'lang="{language}"' in tag(page)
        refused = guest.post("/c/talk/annotate/", hidden(page))
        assert refused.status_code == 422 and score % {"criteria": "Overall, Fluency"} in text(refused)
        for _ in range(6):
            fields = hidden(guest.get(f"/c/talk/{START}"))
            fields |= {f"score_{criterion.pk}": criterion.low for criterion in world.campaign.criteria.all()}
            guest.post("/c/talk/annotate/", fields)
        assert done in text(guest.get(f"/c/talk/{START}"))

    @pytest.mark.parametrize("language", TRANSLATED)
    def test_a_forgotten_password_s_pages_and_letter_are_too(self, world, settings, language):
        settings.EMAIL_URL, settings.SITE_URL = "smtp://mail.example.org", "https://judge.example.org"
        User.objects.filter(pk=world.bob.pk).update(email="bob@example.org")
        with override(language):
            link, check, subject, ignore, save = map(
                translated,
                (
                    "Send the link",
                    "Check your e-mail",
                    "New password for Comparena",
                    "If this was not you, ignore this e-mail. Nothing will change.",
                    "Save the password",
                ),
            )
        visitor = Client(HTTP_ACCEPT_LANGUAGE=language)
        assert link in text(visitor.get("/password/reset/"))
        assert check in text(visitor.post("/password/reset/", {"email": "bob@example.org"}, follow=True))
        [letter] = outbox.outbox
        assert letter.subject == subject and ignore in letter.body
        address = re.search(r"https://judge.example.org(/password/reset/\S+)", letter.body)[1]
        assert save in text(visitor.get(address, follow=True))

    def test_an_annotator_s_account_is_in_their_language_and_a_researcher_s_in_english(self, world):
        page = page_in("de", "/account/", world.bob)
        assert tag(page) == '<html lang="de" dir="ltr">' and "Token erstellen" in text(page) and "30 Tage" in text(page)
        assert "Einschalten" in text(page_in("de", "/account/second-factor/", world.bob))
        page = page_in("de", "/account/", world.alice)
        assert tag(page) == '<html lang="en" dir="ltr">' and "Create a token" in text(page)

    def test_a_form_that_holds_an_answer_offers_no_language(self, world):
        """Choosing one loads the page anew, and what was filled in would be gone."""
        page = world.sign_in(world.bob).get(START)
        assert 'name="language"' in text(page)
        assert 'name="language"' not in text(world.post("annotate/", hidden(page)))

    def test_numbers_and_days_are_written_as_the_language_does(self):
        moment = datetime(2026, 3, 2, tzinfo=UTC)
        with override("de"):
            assert (count(1234), minutes(61)) == ("1.234", "1 Std. 1 Min.") and "2. März 2026" in day(moment)
        with override("en"):
            assert (count(1234), minutes(61)) == ("1,234", "1 h 1 min") and "2 Mar 2026" in day(moment)

    def test_texts_and_names_of_the_campaign_keep_their_own_direction(self, world):
        page = text(page_in("ar", f"/c/talk/{START}", world.bob))
        assert '<p class="text" lang="" dir="auto">' in page and '<bdi lang="">Overall</bdi>' in page


# --- the catalogues ---


def po_file(language, root=ROOT) -> Path:
    return root / "locale" / to_locale(language) / "LC_MESSAGES" / "django.po"


def read(path) -> dict:
    """{msgid, with its plural's number: msgstr} of a compiled catalogue."""
    with open(path, "rb") as file:
        return gettext.GNUTranslations(file)._catalog


@pytest.fixture(scope="session")
def collected(tmp_path_factory):
    """The catalogues as `make messages` would write them now."""
    folder = tmp_path_factory.mktemp("messages")
    for name in ("annotation", "config", "core", "locale", "templates"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "migrations"))
    command = ["makemessages", "--all", "--no-obsolete", "--no-wrap", "--add-location=file"]
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}  # as in a shell
    subprocess.run([sys.executable, "-m", "django", *command], cwd=folder, check=True, capture_output=True, env=environment)
    return folder


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_string_is_translated(collected, tmp_path, language):
    """`make messages` finds nothing new; nothing is empty or fuzzy; placeholders are those that msgfmt asks for."""
    now, compiled = po_file(language, collected), tmp_path / "now.mo"
    command = ["msgfmt", "--check", "--statistics", "-o", str(compiled), str(now)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    assert re.search(r"^\d+ translated messages?\.$", told, re.MULTILINE), f"{language}: {told}"
    committed = read(po_file(language).with_suffix(".mo"))
    assert {**read(compiled), "": ""} == {**committed, "": ""}, "run `make messages` and commit what it writes"


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_fills_in_what_its_english_does(language):
    """Scripts fill in {name}, of which msgfmt knows nothing; and a page's elements are those of the English."""
    catalogue = read(po_file(language).with_suffix(".mo"))
    catalogue.pop("")
    for english, said in catalogue.items():
        is_plural = isinstance(english, tuple)
        source = english[0] if is_plural else english
        marks = r"</?\w+>" if is_plural else r"</?\w+>|\{\w+\}|%\(\w+\)s"  # a form for one or two may leave the number out
        assert sorted(re.findall(marks, source)) == sorted(re.findall(marks, said)), f"{language}: {said!r}"
        assert '"' not in said.replace('\\"', ""), f"{language}: {said!r} would end an attribute"


# --- nothing on an annotator's page is outside the catalogues ---

PAGES = """base 400 403 403_csrf 404 500 registration/login registration/password_change_done registration/password_change_form
registration/password_reset_complete registration/password_reset_confirm registration/password_reset_done
registration/password_reset_form annotation/account annotation/second_factor annotation/second_factor_code
annotation/answers annotation/consent annotation/elsewhere annotation/feedback annotation/guidelines annotation/item
annotation/join annotation/leave annotation/pair annotation/rest annotation/resume annotation/score annotation/withdraw
includes/annotate_bar includes/answer_fields includes/choice includes/completion includes/context includes/field includes/fields
includes/form_errors includes/item_number includes/languages includes/pages includes/reason includes/report_item includes/scale
includes/send includes/to_judge includes/utterance includes/utterances""".split()
SAME = {
    "page-narrow",
    "Comparena",
    "· Comparena",
    "A",
    "B",
    "a",
    "b",
    "c",
    "d",
    "g",
    "r",
    "s",
    "t",
    "u",
    "Tab",
    "Enter",
    "Esc",
    "Backspace",
}
RESEARCHERS = {  # what only a researcher sees on these pages
    "Admin",
    "Preview",
    "Preview of",
    "See the next item",
    "Annotators judge better when they are told how: what each criterion means, and an example or two.",
    "Change them",
    "Write them",
    "Save",
}


class Bare(HTMLParser):
    """Collects what a reader reads or hears of a template's own HTML."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def handle_starttag(self, name, attributes):
        self.texts += [value for key, value in attributes if key in ("aria-label", "title", "placeholder", "alt") and value]

    def handle_data(self, data):
        self.texts.append(data)


def bare_texts(source: str) -> set[str]:
    """Words of a template that no translation tag holds. \\x1f stands where a tag or a variable does."""
    kept, hidden_until = [], ""
    for token in Lexer(source).tokenize():
        word = token.contents.split(" ", 1)[0]
        if token.token_type == TokenType.BLOCK and not hidden_until and word in ("blocktranslate", "comment"):
            hidden_until = f"end{word}"
        elif token.token_type == TokenType.BLOCK and word == hidden_until:
            hidden_until = ""
        elif token.token_type == TokenType.TEXT and not hidden_until:
            kept.append(token.contents)
        elif not hidden_until:
            kept.append("\x1f")
    parser = Bare()
    parser.feed("".join(kept))
    pieces = {piece.strip() for one in parser.texts for piece in one.split("\x1f")}
    return {piece for piece in pieces if re.search("[A-Za-z]", piece)}


@pytest.mark.parametrize("page", PAGES)
def test_no_text_stands_outside_the_translation_tags(page):
    bare = bare_texts((ROOT / "templates" / f"{page}.html").read_text(encoding="utf-8"))
    assert not bare - SAME - RESEARCHERS, f"{page}.html: wrap these in translate"


def test_a_bare_text_is_seen():
    source = '{% load i18n %}<p title="Bare title">{% translate "Held" %} Bare {{ x }}'
    source += "<b>{% blocktranslate %}Held{% endblocktranslate %}</b>"
    assert bare_texts(source) == {"Bare title", "Bare"}


SCRIPTS = [*(ROOT / "static/js/annotate").glob("*.js"), ROOT / "static/js/copy.js", ROOT / "static/js/texts/differences.js"]


def test_the_scripts_say_only_words_of_the_page():
    source = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    calls = re.findall(r"\bword\(([^(){}]*?)(?:, \{|\))", source)
    asked = {name for call in calls for name in re.findall(r'"(\w+)"', call)} | set(re.findall(r"\bwords\.(\w+) \?\?", source))
    assert asked == set(SCRIPT_WORDS)
