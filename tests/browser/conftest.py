"""A real browser against a real server. Only Chromium as the system brings it; nothing is fetched from elsewhere."""

import os
import shutil
from pathlib import Path

import pytest

from tests.annotation.pages import World

# Playwright's synchronous API runs an event loop in this thread, which Django would take for an async context.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
# The headless shell is Chromium without windows: a page opens many times as fast.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(autouse=True)
def _database(transactional_db, settings):
    """The server runs in another thread, so every test really commits."""
    Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)


@pytest.fixture
def open_page(browser, live_server):
    """open_page(**context options) -> a page whose errors fail the test, but for those that hold one of `expected`."""
    contexts, problems = [], []

    def opened(expected=("422",), **options):
        def note(message):
            if message.type == "error" and not any(text in message.text for text in expected):
                problems.append(message.text)

        server = options.setdefault("base_url", live_server.url).rstrip("/")
        context = browser.new_context(**options)
        context.set_default_timeout(10_000)
        context.set_default_navigation_timeout(30_000)  # the first page loads the views, on whatever machine
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", note)
        page.on("request", lambda r: None if r.url.startswith((server, "blob:")) else problems.append(f"fetched {r.url}"))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not problems


@pytest.fixture
def scores(tmp_path, client):
    """Four outputs to score."""
    return World(tmp_path, client, contexts=2)


@pytest.fixture
def pairs(tmp_path, client):
    return World(tmp_path, client, contexts=1, likert=False, pairwise=True)


def sign_in(page, name="bob"):
    """A log-in without pages, which cost more than most tests: the page's next address is seen by this person."""
    requests = page.context.request  # its cookies are the page's
    requests.get("/login/")
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "csrftoken")
    form = {"username": name, "password": "a-long-password", "csrfmiddlewaretoken": token}
    assert requests.post("/login/", form=form, max_redirects=0).status == 302


def sign_in_by_hand(page, name="bob"):
    page.goto("/")
    page.get_by_role("link", name="Sign in").last.click()
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill("a-long-password")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")
