"""A newcomer's first hour: a fresh clone, `make serve`, and from there no terminal. From no account to people's board, by three
files of different shapes and a guest on a phone, and after every step the way on that the page itself offers.

`pytest -s` prints how long each step takes. What is left out: the installation (`make setup`), which is this environment's own.
"""

import csv
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
OUTPUTS = {
    "Good": "Fine, thanks. And you?",
    "Short": "Fine.",
    "Odd": "Purple.",
    "Long": "I am fine, thanks for asking, I am fine.",
}
CONTEXTS = [["Hello!", "Hi.", f"How are you on day {day}?"] for day in range(1, 6)]


@pytest.fixture
def files(tmp_path):
    """Chat messages as a JSON array, a CSV with semicolons and other names, and one system's own file."""
    said = lambda system, day: f"{OUTPUTS[system]} It is day {day}."
    roles = lambda turns: [{"role": role, "content": turn} for role, turn in zip(("user", "assistant", "user"), turns)]
    chat = [
        {"messages": roles(turns), "model": system, "response": said(system, day)}
        for system in ("Good", "Short")
        for day, turns in enumerate(CONTEXTS)
    ]
    (tmp_path / "chat.json").write_text(json.dumps(chat))
    with (tmp_path / "table.csv").open("w", newline="") as file:
        rows = csv.writer(file, delimiter=";")
        rows.writerow(["prompt", "model", "answer"])
        rows.writerows([json.dumps(turns), "Odd", said("Odd", day)] for day, turns in enumerate(CONTEXTS))
    lines = [json.dumps({"context": turns, "output": said("Long", day)}) for day, turns in enumerate(CONTEXTS)]
    (tmp_path / "long.jsonl").write_text("\n".join(lines))
    return tmp_path


@pytest.fixture
def clone(tmp_path):
    """A clone of the last commit with what is changed since, whose .venv is the environment that runs the tests."""
    folder = tmp_path / "comparena"
    git = ["git", "-C", str(ROOT)]
    if subprocess.run([*git, "rev-parse", "--git-dir"], capture_output=True).returncode:
        pytest.skip("not a checkout of git")
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", folder], check=True)
    changes = subprocess.run([*git, "diff", "--binary", "HEAD"], capture_output=True, check=True).stdout
    if changes:
        subprocess.run(["git", "-C", folder, "apply", "-"], input=changes, check=True)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


@pytest.fixture
def served(clone, tmp_path):
    """The address that `make serve` prints in a fresh clone."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ours = ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "BROKER_URL", "DATA_DIR", "SECRET_KEY")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    with (tmp_path / "log").open("wb") as log:  # -o: .venv is as old as it is
        command = ["make", "-o", ".venv/runtime", "serve", f"PORT={port}"]
        made = subprocess.Popen(command, cwd=clone, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield _address(made, tmp_path / "log")
    finally:
        os.killpg(made.pid, signal.SIGINT)
        made.wait()


def _address(made, log: Path) -> str:
    while True:
        said = log.read_text()
        if told := re.search(r"There is no admin yet. Create one at (http://\S+)first/ in a browser", said):
            return told[1]
        assert made.poll() is None, said
        time.sleep(0.2)


@pytest.fixture
def step():
    """step("what is done"), when it is done: prints how long it took."""
    begun = before = time.monotonic()

    def done(what: str) -> None:
        nonlocal before
        now = time.monotonic()
        print(f"{now - begun:6.1f} s  (+{now - before:.1f})  {what}")
        before = now

    return done


def test_from_a_fresh_clone_to_peoples_board(step, served, open_page, files):
    step("make serve")
    page = open_page(base_url=served)
    _make_a_campaign(page)
    step("account, template, campaign")
    for name in ("chat.json", "table.csv", "long.jsonl"):
        _import(page, files / name)
        step(f"import of {name}")
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("button", name="Create a link").click()
    address = page.locator("input[data-copy]").input_value()
    step("invitation")
    _judge_as_a_guest(open_page(base_url=served, **PHONE), address, items=12)
    step("12 judgments on a phone")

    page.get_by_role("link", name="Overview", exact=True).click()
    page.get_by_role("link", name="Freeze a snapshot").click()
    page.get_by_role("button", name="Preview the filter").click()
    page.get_by_role("button", name="Accept and freeze").click()
    page.get_by_role("link", name="Play people's board").click()
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**/leaderboard/**")
    table = page.get_by_role("table", name="Overall, with 95% intervals")
    table.wait_for(timeout=120_000)  # the page shows it by itself when a worker has played it
    step("people's board")
    assert all(table.get_by_role("link", name=name).is_visible() for name in ("Good", "Short", "Odd", "long"))
    assert page.get_by_text("With only 1 annotator, the board cannot generalise to other people.").is_visible()
    assert page.get_by_role("link", name="Train a comparator").is_visible()


def _make_a_campaign(page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Create the admin account").click()
    page.get_by_label("Username").fill("ada")
    for field in page.locator("input[type=password]").all():
        field.fill("a-long-pass-phrase")
    page.get_by_role("button", name="Create the account").click()
    page.get_by_role("link", name="New campaign").first.click()
    page.get_by_role("link", name="Dialogue quality").click()
    page.get_by_text("Filled in from the template “Dialogue quality”").wait_for()
    page.get_by_label("Title").fill("Small talk")
    page.get_by_role("button", name="Create the campaign").click()
    page.get_by_role("heading", name="Import", exact=True).wait_for()


def _import(page, file) -> None:
    """Columns are recognised; where the system is named by the file alone, its name is offered."""
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Preview the file").click()
    page.get_by_role("heading", name=file.name).wait_for()
    if not page.get_by_role("button", name="Import it").count():
        page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Import it").click()
    page.get_by_text("Imported.", exact=True).wait_for()
    page.get_by_role("link", name="All files").click()


def _judge_as_a_guest(page, address: str, items: int) -> None:
    page.goto(address)
    page.get_by_label("Your name or a pseudonym").fill("Gus")
    page.get_by_role("button", name="Join as a guest").click()
    page.get_by_role("link", name="Start").click()
    for done in range(items):
        page.get_by_text(f"{done} of 20 judged").wait_for()
        for n, scale in enumerate(page.locator("fieldset.scale").all()):
            points = scale.locator("label")
            points.nth((done + n) % points.count()).click()
        page.get_by_role("button", name="Send and continue").click()
    page.get_by_text(f"{items} of 20 judged").wait_for()
