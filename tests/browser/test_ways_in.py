"""Ten shapes of files from the drop on the import page to annotators' first item, on a screen and on a phone. With SHOTS=folder
each step leaves a screenshot."""

import base64
import json
import os
from pathlib import Path

import pytest

from annotation.campaigns.lifecycle import create_campaign, set_status
from annotation.campaigns.protocol import CriterionSpec
from annotation.models import Campaign, User
from annotation.people.invitations import invite
from tests.annotation.data.doors import SAMPLES
from tests.annotation.data.test_more_shapes import BY_LINE, MQM, folder
from tests.annotation.data.tool_rows import TOOLS
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in

SCREEN, PHONE = {"viewport": {"width": 1280, "height": 900}}, {"viewport": {"width": 390, "height": 844}}
DROP = """([name, content]) => {
    const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
    const files = new DataTransfer();
    files.items.add(new File([bytes], name));
    document.querySelector("[data-drop]").dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true}));
}"""


def lines(tool: str) -> bytes:
    return "".join(json.dumps(TOOLS[tool].full(n)) + "\n" for n in range(3)).encode()


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


# {shape: (the file's name, its content, what is typed where the file does not say it)}
SHAPES = {
    "Arena": ("arena.jsonl", lines("Arena"), {}),
    "MT-bench": ("mtbench.jsonl", sample("mtbench.jsonl"), {}),
    "AlpacaEval": ("alpaca.json", sample("alpaca_annotations.json"), {}),
    "TRL": ("trl.jsonl", sample("trl_pref.jsonl"), {}),
    "Inspect": ("log.json", sample("inspect.json"), {}),
    "lm-evaluation-harness": ("samples_t.jsonl", sample("lm_eval_samples.jsonl"), {"System": "my-model"}),
    "MQM": ("mqm.tsv", MQM.encode(), {}),
    "Argilla": ("argilla.json", sample("argilla.json"), {"System": "my-model"}),
    "texts": ("talk.zip", folder(BY_LINE), {}),
    "a tab-separated file": ("mt.tsv", sample("22_unquoted_tsv.outputs.tsv"), {}),
}


def shot(page, name: str) -> None:
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def fits(page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("shape", SHAPES)
def test_from_the_drop_to_the_first_item(open_page, shape, settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path / "uploads"
    name, content, typed = SHAPES[shape]
    alice = User.objects.create_user("alice", password="a-long-password", may_create_campaigns=True)
    campaign = create_campaign(slug="talk", criteria=[CriterionSpec("Quality", 1, 5)], user=alice, pairwise=True)
    page = open_page(**SCREEN)
    sign_in(page, "alice")
    page.goto("/c/talk/import/")
    page.evaluate(DROP, [name, base64.b64encode(content).decode()])
    page.get_by_role("button", name="Preview the file").click()
    page.get_by_role("heading", name=name).wait_for()
    if typed:
        for label, value in typed.items():
            page.get_by_label(f"{label}, if no column names it").fill(value)
        page.get_by_role("button", name="Check").click()
    page.get_by_text("No errors; nothing is stored yet.").wait_for()
    names, numbers = page.locator("dl.facts dt").all_inner_texts(), page.locator("dl.facts dd").all_inner_texts()
    account = {name: int(number) for name, number in zip(names, numbers) if not name.startswith("Also in this file")}
    assert account.pop("Read", 0) == sum(account.values())
    assert "'role'" not in page.content()
    shot(page, f"{shape} 1 preview")
    assert_axe_clean(page)
    page.set_viewport_size(PHONE["viewport"])
    assert fits(page)
    shot(page, f"{shape} 2 preview on a phone")
    page.get_by_role("button", name="Import it").click()
    page.get_by_text("Imported.", exact=True).wait_for()
    shot(page, f"{shape} 3 imported")
    assert campaign.items.exists()

    set_status(campaign, Campaign.Status.OPEN, alice)
    phone = open_page(**PHONE)
    phone.goto(f"/join/{invite(campaign, alice, label='pilot').token}/")
    phone.get_by_label("Your name or a pseudonym").fill("Gus")
    phone.get_by_role("button", name="Join as a guest").click()
    phone.get_by_role("link", name="Start").click()
    phone.locator("fieldset").first.wait_for()
    assert fits(phone)
    shot(phone, f"{shape} 4 first item")
    assert_axe_clean(phone)
