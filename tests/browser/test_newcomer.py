"""A newcomer's first hour: a fresh clone, `make serve`, and from there no terminal. From no account to people's board, by three
files of different shapes and a guest on a phone, and after every step the way on that the page itself offers. Then from a file
of translations, as WMT writes them, to a board of marked errors and scores (ESA).

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
SENTENCES = {
    "The bank opens at nine.": "Die Bank öffnet um neun.",
    "She lives near the river.": "Sie wohnt am Fluss.",
    "It rained all day.": "Es regnete den ganzen Tag.",
    "Nobody was hurt.": "Niemand wurde verletzt.",
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


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone of the last commit with what is changed since, whose .venv is the environment that runs the tests."""
    folder = tmp_path_factory.mktemp("clone") / "comparena"
    git = ["git", "-C", str(ROOT)]
    if subprocess.run([*git, "rev-parse", "--git-dir"], capture_output=True).returncode:
        pytest.skip("not a checkout of git")
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", folder], check=True)
    changes = subprocess.run([*git, "diff", "--binary", "HEAD"], capture_output=True, check=True).stdout
    if changes:
        subprocess.run(["git", "-C", folder, "apply", "-"], input=changes, check=True)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


@pytest.fixture(scope="module")
def served(clone, tmp_path_factory):
    """The address that `make serve` prints in a fresh clone."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ours = ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "BROKER_URL", "DATA_DIR", "SECRET_KEY")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    said = tmp_path_factory.mktemp("log") / "log"
    with said.open("wb") as log:  # -o: .venv is as old as it is
        command = ["make", "-o", ".venv/runtime", "serve", f"PORT={port}"]
        made = subprocess.Popen(command, cwd=clone, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield _address(made, said)
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
    _make_a_campaign(page, "Dialogue quality", "Small talk")
    step("account, template, campaign")
    for name in ("chat.json", "table.csv", "long.jsonl"):
        _import(page, files / name)
        step(f"import of {name}")
    address = _invitation(page)
    step("invitation")
    _judge_as_a_guest(open_page(base_url=served, **PHONE), address, items=12)
    step("12 judgments on a phone")
    table = _board(page, "Overall")
    step("people's board")
    assert all(table.get_by_role("link", name=name).is_visible() for name in ("Good", "Short", "Odd", "long"))
    assert page.get_by_text("With only 1 annotator, the board cannot generalise to other people.").is_visible()
    assert page.get_by_role("link", name="Train a comparator").is_visible()


def test_from_a_file_of_translations_to_a_board_of_their_errors(step, served, open_page, tmp_path):
    """Columns as WMT has them: source, document and segment, a system's target. Errors are marked, then a score is given."""
    lines = ["system\tdoc\tdoc_id\tseg_id\tsource\ttarget"]
    for n, (source, target) in enumerate(SENTENCES.items(), start=1):
        lines += [f"{name}\tnews\t1\t{n}\t{source}\t{text}" for name, text in (("online-A", target), ("tiny", target.upper()))]
    (tmp_path / "translations.tsv").write_text("\n".join(lines))
    page = open_page(base_url=served)
    _make_a_campaign(page, "Translation, error spans (ESA)", "News")
    step("account, template, campaign")
    _import(page, tmp_path / "translations.tsv")
    step("import")
    guest = open_page(base_url=served)
    _join(guest, _invitation(page))
    for _ in range(2 * len(SENTENCES)):
        _mark_and_score(guest)
    step(f"{2 * len(SENTENCES)} translations judged")
    table = _board(page, "Score")
    step("people's board")
    assert re.split(r"\s+", table.locator("tbody tr").first.inner_text())[1] == "online-A"
    assert all(table.get_by_role("link", name=name).is_visible() for name in ("online-A", "tiny"))


def _invitation(page) -> str:
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("button", name="Create a link").click()
    return page.locator("input[data-copy]").input_value()


def _board(page, criterion: str):
    """From the campaign's overview: a snapshot by the default filter, and people's board, which a worker plays."""
    page.get_by_role("link", name="Overview", exact=True).click()
    page.get_by_role("link", name="Freeze a snapshot").click()
    page.get_by_role("button", name="Preview the filter").click()
    page.get_by_role("button", name="Accept and freeze").click()
    page.get_by_role("link", name="Play people's board").click()
    page.get_by_label("People's criterion").select_option(criterion)
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**/leaderboard/**")
    table = page.get_by_role("table", name=f"{criterion}, with 95% intervals")
    table.wait_for(timeout=120_000)  # the page shows it by itself when a worker has played it
    return table


def _mark_and_score(page) -> None:
    """The whole of a shouted translation is a major error."""
    area = page.locator("[data-text-of=output]")
    item, text = page.locator("[data-item]").get_attribute("data-item"), area.input_value()
    if text.isupper():
        area.focus()
        page.keyboard.press("Control+a")
        page.keyboard.press("2")
        page.locator(".mark-of").wait_for()
    else:
        page.locator("[data-no-errors]").check()
    page.get_by_role("spinbutton").fill("20" if text.isupper() else "90")
    page.locator("[data-answer] .button-big").click()
    page.locator(f'[data-item="{item}"]').wait_for(state="detached")


def _make_a_campaign(page, template: str, title: str) -> None:
    """By the first admin, who is made where there is none yet."""
    page.goto("/")
    if page.get_by_role("link", name="Create the admin account").count():
        page.get_by_role("link", name="Create the admin account").click()
        page.get_by_label("Username").fill("ada")
        for field in page.locator("input[type=password]").all():
            field.fill("a-long-pass-phrase")
        page.get_by_role("button", name="Create the account").click()
    else:
        page.goto("/login/")
        page.get_by_label("Username").fill("ada")
        page.get_by_label("Password").fill("a-long-pass-phrase")
        page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="New campaign").first.click()
    page.get_by_role("link", name=template).first.click()
    page.get_by_text(f"Filled in from the template “{template}”").wait_for()
    page.get_by_label("Title").fill(title)
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


def _join(page, address: str) -> None:
    page.goto(address)
    page.get_by_label("Your name or a pseudonym").fill("Gus")
    page.get_by_role("button", name="Join as a guest").click()
    page.get_by_role("link", name="Start").click()


def _judge_as_a_guest(page, address: str, items: int) -> None:
    _join(page, address)
    for done in range(items):
        page.get_by_text(f"{done} of 20 judged").wait_for()
        for n, scale in enumerate(page.locator("fieldset.scale").all()):
            points = scale.locator("label")
            points.nth((done + n) % points.count()).click()
        page.get_by_role("button", name="Send and continue").click()
    page.get_by_text(f"{items} of 20 judged").wait_for()
