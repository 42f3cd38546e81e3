"""Judgments of another campaign learnt from beside one's own: they teach, and nothing is claimed about them."""

import copy

import pytest
from django.test import override_settings

from annotation.data.importer import import_outputs
from annotation.models import Job
from core.errors import Refused
from evaluator import tasks
from evaluator.comparator import storage
from evaluator.comparator.settings import Settings
from evaluator.models import ComparatorVersion
from evaluator.trainings import sources
from evaluator.trainings.services import start_training
from evaluator.versions import archive, card_view, registry
from evaluator.versions.registry import comparator_in_use
from evaluator.versions.selectors import criterion_in
from evaluator.worker import comparators
from tests.evaluator.packed import upload
from tests.evaluator.world import SCORES, World, recipe, write

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture(scope="module")
def made_lender(made_world, django_db_blocker, tmp_path_factory):
    with django_db_blocker.unblock():
        return World(tmp_path_factory.mktemp("lender"), slug="lender")


@pytest.fixture
def lender(made_lender, world, tmp_path):
    lender = copy.deepcopy(made_lender)
    lender.folder, lender.client = tmp_path / "lender", world.client
    lender.folder.mkdir()
    return lender


@pytest.fixture(scope="module")
def made_comparator(made_world, made_lender, django_db_blocker, tmp_path_factory):
    """Learned from talk, and beside it from the lender."""
    folder, talk, beside = tmp_path_factory.mktemp("models"), made_world.campaign, [made_lender.campaign]
    with django_db_blocker.unblock(), override_settings(MODELS_DIR=folder):
        run = start_training([talk], "Overall", foreground=True, beside=beside, recipe=recipe(epochs=1))
        return tasks.run(run.job_id), folder


@pytest.fixture
def lent(comparator) -> ComparatorVersion:
    return comparator


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
    assert comparator_in_use(world.campaign) == version and comparator_in_use(lender.campaign) is None
    html = world.get(world.dora, f"/c/talk/comparator/{version.name}/").content.decode()
    assert "train_comparator talk --criterion" in html and "--beside lender" in html


def brought_to(there, version) -> ComparatorVersion:
    job = upload(there, archive.pack(version, comparators.folder(version), version.metrics).read())
    assert job.status == Job.Status.DONE, job.error
    return there.campaign.comparators.get()


@pytest.mark.parametrize("installation", ["the same", "another"])
def test_brought_to_its_lender_it_is_measured_on_nothing_that_it_learned(world, lender, lent, installation):
    if installation == "another":
        ComparatorVersion.objects.update(metrics=lent.metrics | {"fingerprint": "another"})
    came = brought_to(lender, lent)
    assert (came == lent) == (installation == "the same") and len(comparators.load(came).manifest.beside) == 12
    asked = {one["question"]: one for one in came.gates["lender"]}
    assert not asked["Better than chance?"]["passed"]
    assert asked["Better than chance?"]["answer"].endswith("it learned from every context where they have one.")
    assert asked["Calibrated?"]["answer"] == "Its calibration was not measured."
    found = card_view.confidence(came, lender.campaign)
    assert (found["kind"], found["needed"], found["left_out"]) == ("unknown", 50, 12)  # though many judged what it learned
    assert found["said"].startswith("It learned from 12 contexts of this campaign. The calibration of its probabilities")
    assert card_view.card(came, lender.campaign, lender.alice)["attacks_here"] == []
    html = world.get(lender.alice, f"/c/lender/comparator/{came.name}/").content.decode()
    assert found["said"].split(".")[0] in html
    assert (f"train_comparator &#x27;{card_view.HIDDEN}&#x27; --criterion" in html) == (installation == "the same")


def test_what_the_lender_judged_since_is_measured(world, lender, lent):
    new = lambda row: row | {"context_id": "new " + row["context_id"], "context": ["w1", *row["context"]]}
    lender.rows = [new(row) for row in lender.rows[:36]]
    import_outputs(lender.campaign, write(lender.folder, "more.jsonl", lender.rows))
    lender.score("Overall", SCORES)
    lender.freeze()
    came = brought_to(lender, lent)
    found = card_view.confidence(came, lender.campaign)
    assert (found["kind"], found["pairs"], found["left_out"]) == ("here", 54, 12)  # 9 contexts of 6
    assert found["said"].startswith("It learned from 12 contexts of this campaign. On the others, its expected calibration")
    answers = {one["question"]: one["answer"] for one in came.gates["lender"]}
    assert "on the same 54 pairs" in answers["Not below “longer is better”?"]


def test_a_campaign_of_the_lenders_contexts_is_no_transfer(world, lender, tmp_path):
    (tmp_path / "copied").mkdir()
    World(tmp_path / "copied", slug="copied")  # as many letters: the same texts
    run = start_training([world.campaign], "Overall", foreground=True, beside=[lender.campaign], recipe=recipe(epochs=1))
    metrics = tasks.run(run.job_id).metrics
    why = "It learned from every context that people judged there."
    assert (metrics["transfer"], metrics["not_measured"]) == ([], [{"campaign": "copied", "why": why}])


def test_a_newcomer_is_not_held_against_what_the_one_that_serves_has_learnt(world, lender, lent):
    brought_to(lender, lent)
    registry.promote(lender.campaign, lent, reason="It is all we have.")
    run = start_training([lender.campaign], "Overall", foreground=True, recipe=recipe(epochs=1))
    asked = {one["question"]: one for one in tasks.run(run.job_id).gates["lender"]}
    found = asked[f"Not below {lent.name}, the one in use?"]
    assert found["passed"] and found["answer"].startswith("No pair is held out for both")


def test_a_file_of_before_names_no_context_beside(lent):
    folder = comparators.folder(lent)
    record = storage.read_json(folder / "comparator.json")
    assert record.pop("beside")
    storage.write_json(record, folder / "comparator.json")
    assert comparators.load(lent).manifest.beside == [] and comparators.taught(lent) is None


class TestOfAnotherCriterion:
    """What the lender's default takes is no criterion of the comparator's."""

    @pytest.fixture
    def witty(self, lender):
        """The lender, where Wit is the first criterion."""
        lender.score("Wit", SCORES)
        lender.freeze()
        lender.campaign.criteria.exclude(name="Wit").update(position=9)
        return lender

    def test_the_measured_one_names_it(self, world, witty):
        run = start_training([world.campaign], beside=[witty.campaign], recipe=recipe())
        assert run.settings["sources"] == {"talk": ["Overall", False], "lender": ["Wit", False]}
        assert run.criterion == "Overall"
        assert sources.examples(run, Settings(**run.settings["recipe"])).criteria == ["Overall"]

    def test_it_can_be_learnt_beside_all_the_same(self, world, witty):
        world.score("Wit", SCORES)
        world.freeze()
        run = start_training([world.campaign], others=["Wit"], beside=[witty.campaign], recipe=recipe())
        assert (run.criterion, run.settings["others"]) == ("Overall", ["Wit"])

    def test_of_two_that_are_measured_the_first_names_it(self, world, witty):
        run = start_training([world.campaign, witty.campaign], recipe=recipe())
        assert run.criterion == "Overall" and run.settings["sources"]["lender"] == ["Wit", False]
        version = ComparatorVersion(criterion=run.criterion, settings=run.settings)
        assert [criterion_in(version, judged.campaign) for judged in (world, witty)] == ["Overall", "Wit"]


def test_a_campaign_beside_itself_is_named_once_and_one_without_judgments_is_refused(world, tmp_path):
    run = start_training([world.campaign], "Overall", beside=[world.campaign], recipe=recipe())
    assert "beside" not in run.settings and run.snapshots.count() == 1
    (tmp_path / "bare").mkdir()
    bare = World(tmp_path / "bare", slug="bare", judged=False)
    with pytest.raises(Refused, match="'bare' has no snapshot"):
        start_training([world.campaign], "Overall", seed=1, beside=[bare.campaign], recipe=recipe())
