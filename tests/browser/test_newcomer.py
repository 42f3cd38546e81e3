"""A newcomer's first hour without a terminal: from no account to people's board. Three files of different shapes, a guest on a
phone, and after every step the way on that the page itself offers."""

import csv
import json

import pytest

from annotation.models import Job
from leaderboard import tasks

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


def test_from_no_account_to_peoples_board(open_page, files):
    page = open_page()
    _make_a_campaign(page)
    for name in ("chat.json", "table.csv", "long.jsonl"):
        _import(page, files / name)
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("button", name="Create a link").click()
    address = page.locator("input[data-copy]").input_value()
    _judge_as_a_guest(open_page(**PHONE), address, items=12)

    page.get_by_role("link", name="Overview", exact=True).click()
    page.get_by_role("link", name="Freeze a snapshot").click()
    page.get_by_role("button", name="Preview the filter").click()
    page.get_by_role("button", name="Accept and freeze").click()
    page.get_by_role("link", name="Play people's board").click()
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_url("**/leaderboard/**")
    for job in Job.objects.filter(status=Job.Status.QUEUED):
        tasks.run(job.pk)
    page.get_by_role("link", name="Leaderboard", exact=True).click()
    table = page.get_by_role("table", name="People, Overall")
    table.wait_for()
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
    page.get_by_role("button", name="Look at it").click()
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
