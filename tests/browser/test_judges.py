"""The judges' page in a browser: what a reader of the table and somebody on a phone get."""

import numpy as np
import pytest

from annotation.models import Job, Snapshot
from evaluator.metaevaluation.judges_table import JudgeAnswers, PeopleScores, as_json, tables
from evaluator.models import JudgesTable
from evaluator.worker.registration import json_ready
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in


@pytest.fixture(scope="module")
def found():
    """Three people's scores of 40 outputs, a judge that knows them, and one that lacks some."""
    rng = np.random.default_rng(0)
    given = rng.integers(1, 6, (40, 1)).clip(1, 5) + rng.integers(0, 2, (40, 3)).astype(float)
    contexts, systems = np.repeat(np.arange(10), 4), np.tile(np.arange(4), 10)
    people = PeopleScores(given, contexts, systems, systems == 0, rng.integers(3, 30, 40))
    partial = np.where(np.arange(40) < 6, np.nan, rng.normal(size=40))
    knowing = JudgeAnswers("a-judge-with-a-rather-long-name-v2", given.mean(axis=1))
    judges = [knowing, JudgeAnswers("partial", partial, lacks="6 are left out")]
    return {scope: as_json(one) for scope, one in tables(people, judges, "crowd", 0).items()}


@pytest.fixture
def table(scores, found):
    """The same as a row, beside a judge that lacks all."""
    snapshot = Snapshot.objects.create(campaign=scores.campaign, digest="ab" * 32, content=b"", rule={})
    record = {
        "campaign": scores.campaign.slug,
        "snapshot": snapshot.name,
        "digest": snapshot.digest,
        "criterion": "Overall",
        "warning": "The scores of Overall are not accepted: alpha is 0.55.",
        "simulated": True,
        "annotators": "crowd",
        "seed": 0,
        "code": "0.1",
        "tables": found,
        "without": [{"judge": "comparator", "why": "this campaign has no comparator in use"}],
    }
    job = Job.objects.create(task="evaluator.tasks.set_beside_people", title="Judges", status=Job.Status.DONE)
    return JudgesTable.objects.create(
        job=job, campaign=scores.campaign, snapshot=snapshot, annotators="crowd", key="0" * 64, record=json_ready(record)
    )


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_clean_and_nothing_hangs_over_the_side(open_page, scores, table, width):
    page = open_page(viewport={"width": width, "height": 900})
    sign_in(page, "alice")
    page.goto(f"/c/{scores.campaign.slug}/comparator/judges/")
    assert_axe_clean(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    hidden = page.locator("#all ~ .data").evaluate("box => box.scrollWidth - box.clientWidth")
    assert hidden <= 0 or width < 1280  # a phone scrolls within the table
    row = page.get_by_role("row", name="a-judge-with-a-rather-long-name-v2").first
    assert "may replace one" in row.inner_text() and page.get_by_text("6 are left out").count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_each_judge_has_a_page_with_a_scatter_plot(open_page, scores, table, width, scheme):
    page = open_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    sign_in(page, "alice")
    page.goto(f"/c/{scores.campaign.slug}/comparator/judges/")
    page.get_by_role("link", name="a-judge-with-a-rather-long-name-v2").first.press("Enter")
    plot = page.get_by_role("img", name="Its scores and people's")
    plot.wait_for()
    assert plot.locator("circle").count() == 40 and "Each of the 40 dots is an output" in page.content()
    assert_axe_clean(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_is_reached_and_asked_for_by_keyboard(open_page, scores, table):
    page = open_page()
    sign_in(page, "alice")
    page.goto(f"/c/{scores.campaign.slug}/comparator/")
    page.get_by_role("link", name="Compare other automatic judges with people").press("Enter")
    page.get_by_label("The annotators are").select_option("expert")
    page.get_by_role("button", name="Evaluate").press("Enter")
    page.get_by_text("has judgments of pairs by criterion only").wait_for()  # this snapshot is empty
