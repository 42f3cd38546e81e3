"""Judgments of another campaign learnt from beside one's own: they teach, and nothing is claimed about them."""

import pytest

from annotation.errors import Refused
from evaluator import sources, tasks
from evaluator.comparator.settings import Settings
from evaluator.registry import serving
from evaluator.services import start_training
from tests.evaluator.world import World, recipe

pytestmark = pytest.mark.django_db


@pytest.fixture
def lender(world, tmp_path):
    (tmp_path / "lender").mkdir()
    return World(tmp_path / "lender", slug="lender")


def test_its_texts_come_last_and_are_marked(world, lender):
    run = start_training([world.campaign], "Overall", beside=[lender.campaign], recipe=recipe())
    assert run.settings["beside"] == ["lender"]
    found = sources.examples(run, Settings(**run.settings["recipe"]))
    assert list(found.parts) == ["talk", "lender"]
    assert found.beside.tolist() == [False] * 48 + [True] * 48


def test_the_version_is_for_the_campaign_that_it_is_measured_on(world, lender):
    run = start_training([world.campaign], "Overall", foreground=True, beside=[lender.campaign], recipe=recipe())
    version = tasks.run(run.job_id)
    assert list(version.campaigns.all()) == [world.campaign] and version.name.startswith("talk-")
    assert len(version.snapshots) == 2
    assert version.metrics["calibration"]["pairs"] == 72  # all of talk's pairs of scores, 12 contexts of 6
    assert [row["campaign"] for row in version.metrics["correlations"]] == ["talk"]
    assert version.metrics["transfer"] == []  # it is no stranger to the lender
    assert serving(world.campaign) == version and serving(lender.campaign) is None
    html = world.get(world.alice, f"/c/talk/comparator/{version.name}/").content.decode()
    assert "train_comparator talk --criterion" in html and "--beside lender" in html
    assert html.count("<td>yes</td></tr>") == 3  # each member keeps one epoch


def test_a_campaign_beside_itself_is_named_once_and_one_without_judgments_is_refused(world, tmp_path):
    run = start_training([world.campaign], "Overall", beside=[world.campaign], recipe=recipe())
    assert "beside" not in run.settings and run.snapshots.count() == 1
    (tmp_path / "bare").mkdir()
    bare = World(tmp_path / "bare", slug="bare", judged=False)
    with pytest.raises(Refused, match="'bare' has no snapshot"):
        start_training([world.campaign], "Overall", seed=1, beside=[bare.campaign], recipe=recipe())
