"""A small causal language model judges from the page: prompt and price first, then rows and reasons."""

import json
import os
from pathlib import Path

import pytest
from django.conf import settings

from annotation.jobs import pulse
from annotation.models import Item, Job
from evaluator import tasks
from tests.browser.axe import assert_axe_clean
from tests.evaluator.fixtures import models_dir, sent  # noqa: F401 (fixtures)
from tests.evaluator.judges import model_server
from tests.evaluator.world import World

PAGE = "/c/talk/comparator/judges/"


@pytest.fixture
def server(monkeypatch):
    asked = []

    def before(request: dict) -> bool:
        asked.append(request)
        return True

    one = model_server.serve(model_server.tiny_model(), before=before)
    endpoint = {"url": f"http://127.0.0.1:{one.server_port}/v1", "price": [2, 10]}
    monkeypatch.setenv("COMPARENA_ENDPOINTS", json.dumps({"ours": endpoint}))
    monkeypatch.setenv("COMPARENA_DEVICE", "cpu")
    monkeypatch.setattr("evaluator.worker.judge_tables.candidates.METRICS", [])
    yield asked
    one.shutdown()
    one.server_close()


def set_up(page, name: str, prompt: str) -> None:
    page.locator("#id_model-model").fill("gpt2-tiny")
    page.locator("#id_model-prompt").select_option(prompt)
    page.locator("#id_model-calls").fill("500")
    page.locator("#id_model-name").fill(name)
    page.locator("#model ~ .panel button").click()
    page.get_by_text(f"{name} is set up.").wait_for()


def shot(page, name: str) -> None:
    """To be looked at, where somebody wants to."""
    if folder := os.environ.get("COMPARENA_SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


def test_it_is_set_up_asked_and_shown(open_page, live_server, client, tmp_path, server):
    world = World(tmp_path, client, contexts=6)
    client.force_login(world.alice)
    page = open_page(viewport={"width": 1280, "height": 900})
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
    pulse("worker@here")
    page.goto(PAGE)
    set_up(page, "pairs", "pairwise")
    set_up(page, "scores", "score")
    page.locator("#jury ~ .panel").get_by_label("pairs (language model)").check()
    page.locator("#jury ~ .panel").get_by_label("scores (language model)").check()
    page.locator("#jury ~ .panel button").click()
    page.get_by_text("jury is set up.").wait_for()
    page.get_by_text("pairs: what it is asked, and what that costs").click()
    page.get_by_text("500 requests of its budget are left.").first.wait_for()
    assert "72 calls" in page.content() and "at most about 0.2" in page.content() and server == []  # 36 pairs, both orders
    shot(page, "set-up-1280")
    for name in ("pairs (language model)", "scores (language model)", "jury (jury)"):
        page.locator("#evaluate ~ .panel").get_by_label(name).check()
    page.get_by_role("button", name="Evaluate").click()
    page.get_by_text("The evaluation is in the queue.").wait_for()
    tasks.set_beside_people(str(Job.objects.get(status=Job.Status.QUEUED).pk))
    page.get_by_role("rowheader", name="jury").first.wait_for(timeout=120_000)  # the page is loaded anew
    rows = {row.split("\n")[0]: row for row in page.locator("#all ~ .data tbody tr").all_inner_texts()}
    assert {"pairs", "scores", "jury"} <= set(rows) and "72 replies kept" in rows["pairs"] and len(server) == 72 + 24
    shot(page, "table-1280")
    page.set_viewport_size({"width": 390, "height": 900})
    shot(page, "table-390")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_axe_clean(page)
    page.goto(f"/c/talk/items/{Item.objects.first().pk}/")
    assert "No reason." in page.get_by_role("region", name="What language models said").inner_text()
    shot(page, "item-390")
