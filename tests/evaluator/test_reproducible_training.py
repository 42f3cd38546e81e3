"""The command on a card trains what the card is about, and names no campaign to those who do not research it."""

import io
import json
import shlex
import zipfile

import pytest
from django.core.management import call_command

from annotation.models import Job
from evaluator.comparator.settings import Settings
from evaluator.models import ComparatorVersion, TrainingRun
from evaluator.trainings.services import start_training
from evaluator.versions import card_view, selectors
from evaluator.worker.registration import measured_on
from tests.evaluator.world import SCORES, World

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def made(world, run: TrainingRun, **metrics) -> ComparatorVersion:
    """The version's row, as the run would have entered it."""
    settings = {**vars(Settings(**run.settings["recipe"])), **{k: v for k, v in run.settings.items() if k != "recipe"}}
    version = ComparatorVersion.objects.create(
        name=f"{world.campaign.slug}-{run.pk}",
        run=run,
        criterion=run.criterion,
        settings=settings,
        seed=run.seed,
        code="x",
        snapshots=[],
        metrics={"pairs": 72, "contexts": 12, "seconds": 1.0} | metrics,
    )
    version.campaigns.set(measured_on(run))
    return version


@pytest.fixture
def lender(world, tmp_path) -> World:
    """A campaign of others, where Wit is the first criterion."""
    (tmp_path / "lender").mkdir()
    lender = World(tmp_path / "lender", slug="lender")
    lender.score("Wit", SCORES)
    lender.freeze()
    lender.campaign.criteria.exclude(name="Wit").update(position=9)
    return lender


class TestCommand:
    def repeated(self, world, run: TrainingRun) -> str:
        """What is printed; it asks for the same training."""
        version = made(world, run)
        Job.objects.update(status=Job.Status.DONE)
        said = card_view.again(version, world.dora)
        call_command(*shlex.split(said)[2:], "--json", stdout=io.StringIO())
        again = TrainingRun.objects.exclude(pk=run.pk).get()
        assert (again.criterion, again.seed) == (run.criterion, run.seed)
        assert {"others": [], "beside": []} | again.settings == {"others": [], "beside": []} | run.settings
        assert set(again.snapshots.all()) == set(run.snapshots.all())
        return said

    def test_the_default_of_one_campaign(self, world):
        said = self.repeated(world, start_training([world.campaign], seed=3))
        assert said == "python manage.py train_comparator talk --criterion Overall --seed 3"

    def test_judgments_of_pairs_alone(self, world):
        world.judge([(row["context_id"], "Fine", "Poor", who, "A") for row in world.rows[::4] for who in ("Ann", "Bob")])
        world.freeze()
        assert "--criterion ''" in self.repeated(world, start_training([world.campaign], ""))

    def test_several_criteria_and_a_recipe(self, world):
        world.score("Wit", SCORES)
        world.freeze()
        recipe = {"strong": True, "weak": True, "next_utterance": False, "encoder": "a folder/of mine"}
        run = start_training([world.campaign], "Wit", others=["Overall"], recipe=recipe)
        assert "--criterion Wit --criterion Overall --strong --weak" in self.repeated(world, run)

    def test_each_campaign_by_its_own_default(self, world, lender):
        said = self.repeated(world, start_training([world.campaign, lender.campaign], recipe={"architecture": "joint"}))
        assert "train_comparator talk lender --architecture joint" in said

    def test_the_campaign_that_names_it_comes_first(self, world, lender):
        run = start_training([lender.campaign, world.campaign])
        assert run.criterion == "Wit" and "train_comparator lender talk" in self.repeated(world, run)

    def test_criteria_learnt_beside_a_default(self, world, lender):
        world.score("Wit", SCORES)
        world.freeze()
        run = start_training([world.campaign], others=["Wit"], beside=[lender.campaign])
        assert "train_comparator talk --also Wit --beside lender --seed 0" in self.repeated(world, run)


class TestLender:
    """Alice researches the campaign, and not the one that lent its judgments."""

    CEILING = {"pairwise_accuracy": 0.75, "pairwise_interval": [0.7, 0.8], "pairs": 10, "pearson": None, "spearman": None}
    CORRELATION = {
        "outputs": 48,
        "contexts": 12,
        "pearson": 0.5,
        "pearson_interval": [0.4, 0.6],
        "spearman": 0.5,
        "spearman_interval": [0.4, 0.6],
    }

    @pytest.fixture
    def version(self, world, lender, models_dir) -> ComparatorVersion:
        ceilings = {"talk": {"scores": self.CEILING}, "lender": {"scores": self.CEILING | {"pairs": 99}}}
        correlations = [{"campaign": "talk"} | self.CORRELATION]
        run = start_training([world.campaign], "Overall", beside=[lender.campaign])
        version = made(world, run, ceilings=ceilings, correlations=correlations)
        folder = models_dir / version.name
        folder.mkdir(parents=True)
        (folder / "comparator.json").write_text("{}")
        return version

    def said(self, world, user, version) -> dict[str, str]:
        card = f"/c/talk/comparator/{version.name}/"
        archive = zipfile.ZipFile(io.BytesIO(b"".join(world.get(user, card + "download/").streaming_content)))
        return {
            "page": world.get(user, card).content.decode(),
            "list": world.get(user, "/c/talk/comparator/").content.decode(),
            "file": archive.read("card.json").decode(),
            "api": world.get(user, f"/api/campaigns/talk/comparators/{version.name}/").content.decode(),
            "jobs": world.get(user, "/api/campaigns/talk/jobs/").content.decode(),
        }

    def test_its_name_is_for_those_who_research_it(self, world, version):
        by_alice, by_admin = self.said(world, world.alice, version), self.said(world, world.dora, version)
        assert not [where for where, said in by_alice.items() if "lender" in said]
        assert all("lender" in by_admin[where] and card_view.HIDDEN in by_alice[where] for where in ("page", "file", "api"))
        again = json.loads(by_alice["api"])["again"]
        assert again == f"python manage.py train_comparator talk --criterion Overall --beside '{card_view.HIDDEN}' --seed 0"
        version.refresh_from_db()
        assert version.settings["beside"] == ["lender"]

    def test_it_is_no_ceiling_of_what_is_measured_elsewhere(self, version):
        assert selectors.ceiling(version) == self.CEILING
        assert selectors.ceilings(version.metrics, version.settings) == [("talk", "scores", self.CEILING)]

    def test_two_that_are_not_ones_own_stay_apart(self, world, lender, tmp_path):
        (tmp_path / "moor").mkdir()
        moor = World(tmp_path / "moor", slug="moor")
        version = made(world, start_training([world.campaign, moor.campaign], beside=[lender.campaign]))
        told = card_view.settings(version, world.alice)
        assert set(told["sources"]) == {"talk", f"{card_view.HIDDEN} (1)", f"{card_view.HIDDEN} (2)"}
        assert told["beside"] == [f"{card_view.HIDDEN} (1)"]
        assert card_view.card(version, world.campaign, world.alice)["campaigns"].count(card_view.HIDDEN) == 1
