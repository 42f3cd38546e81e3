"""A comparator that learns without any human judgment: what it learns from, what its card says, and that it is never put in
use by itself. "Person" of the world is human-written; the other three systems are generated."""

import math

import pytest
from django.core.management import CommandError

from annotation.models import Job, Reference
from core.errors import Refused
from evaluator import tasks
from evaluator.comparator.settings import Settings, fields_of
from evaluator.models import ComparatorVersion, Dialogue, TrainingRun
from evaluator.roster import judge_of
from evaluator.trainings import services, sources
from evaluator.trainings.services import UNMEASURED, start_training
from evaluator.versions import registry
from evaluator.worker import comparators
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.world import World, command, recipe

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
UNJUDGED = {"human_scores": False, "human_judgments": False}


@pytest.fixture
def bare(tmp_path, client, models_dir) -> World:
    """Nobody judged anything."""
    return World(tmp_path, client, judged=False)


def trained(world, **options) -> ComparatorVersion:
    chosen = recipe(**{**UNJUDGED, "strong": True, "epochs": 1, **options})
    return tasks.run(start_training([world.campaign], foreground=True, recipe=chosen).job_id)


def shown(world, **options):
    chosen = {**UNJUDGED, "strong": True, "weak": True, **options}
    return sources.examples(start_training([world.campaign], foreground=True, recipe=chosen), Settings(**chosen))


class TestWhatItLearnsFrom:
    def test_references_count_as_human_written(self, bare):
        contexts = list(bare.campaign.contexts.order_by("pk")[:2])
        first = next(row["output"] for row in bare.rows if row["system"] == "Person")
        Reference.objects.create(context=contexts[0], number=1, text="w1 reference")
        Reference.objects.create(context=contexts[0], number=2, text=first)  # what Person answered, once more
        Reference.objects.create(context=contexts[0], number=3, text=" ")
        Reference.objects.create(context=contexts[1], number=1, text="w2 reference")
        found = shown(bare)
        assert [text.output for text in found.texts[48:]] == ["w1 reference", "w2 reference"]
        place = {i: found.texts[i].output for i in range(len(found.texts))}
        of_references = [p for p in found.pairs if "reference" in place[p.a] + place[p.b]]
        # Each reference ties with Person's and beats the three generated ones.
        assert len(found.pairs) == 12 * 3 + 2 * (1 + 3)
        assert sorted(p.target for p in of_references) == [(0, 0, 1)] * 6 + [(0, 1, 0)] * 2

    def test_a_snapshot_that_is_there_is_not_read(self, world):
        found = shown(world)
        assert {pair.source for pair in found.pairs} == {"strong"} and math.isnan(found.scores.max())
        assert found.provenance["sources"] == {} and found.provenance["ceilings"] == {"talk": {}}

    def test_dialogues_alone_will_do(self, bare):
        bare.campaign.systems.update(is_human=False)
        for i in range(9):
            Dialogue.objects.create(campaign=bare.campaign, key=str(i), turns=[f"w{i}", f"w{i} good", f"w{i} w1"])
        found = shown(bare)
        assert len(found.exchanges) == 18 and len(found.pairs) == 3 * 2  # of a third of the nine dialogues
        own = {(exchange.context, exchange.replies[0]) for exchange in found.exchanges}
        for pair in found.pairs:
            good, bad = found.texts[pair.a], found.texts[pair.b]
            assert pair.source == "dialogues" and pair.target == (1, 0, 0) and good.context == bad.context
            assert (good.context, good.output) in own and (bad.context, bad.output) not in own
        version = trained(bare, weak=True, base_max_length=32)
        assert version.metrics["learnt_from"]["dialogues"] == 6 and version.metrics["supervision"]["clear_pairs"] == 6

    def test_nothing_known_is_one_sentence(self, bare):
        bare.campaign.systems.update(is_human=False)
        with pytest.raises(Refused, match="no human-written text, checkpoints or dialogues are known"):
            trained(bare, weak=True)

    def test_a_criterion_is_peoples(self, world):
        with pytest.raises(Refused, match="A criterion needs human judgments"):
            start_training([world.campaign], "Overall", recipe=UNJUDGED)
        with pytest.raises(Refused, match="A criterion needs human judgments"):
            start_training([world.campaign], others=["Wit"], recipe=UNJUDGED)
        assert not Job.objects.exists()


class TestItsCard:
    @pytest.mark.parametrize("architecture", ["utility", "joint"])
    def test_its_figures_are_its_supervisions_and_nothing_is_said_of_people(self, bare, architecture):
        version = trained(bare, architecture=architecture)
        m = version.metrics
        assert m["heldout_pairwise_accuracy"] is None and m["heldout_pairwise_interval"] == [None, None]
        assert m["calibration"] is m["calibration_error"] is m["ties"] is None and m["reliability"] == []
        assert m["clear_pairs"] == 0 and m["supervision"]["clear_pairs"] == 36  # Person against three in twelve contexts
        assert 0 <= m["supervision"]["low"] <= m["supervision"]["accuracy"] <= m["supervision"]["high"] <= 1
        assert m["criteria"][0]["accuracy"] is None and m["correlations"] == []
        assert (version.warning, version.snapshots, version.criterion) == (UNMEASURED, [], "")
        assert version.name.startswith("talk-self-supervised-")
        page = bare.get(bare.alice, f"/c/talk/comparator/{version.name}/").content.decode()
        for said in ("Not measured on people.", UNMEASURED, "No human judgments were used", "--no-human"):
            assert said in page, said
        assert "One annotator against the rest" not in page and "when it says 70%" in page
        assert "not measured on people" in bare.get(bare.alice, "/c/talk/comparator/").content.decode()

    def test_it_learns_who_wrote_what(self, bare):
        found = trained(bare, epochs=12).metrics["supervision"]
        assert found["accuracy"] > 0.8  # Person and Fine both say "good": one in three pairs tells nothing
        assert found["low"] > 0.5

    def test_where_people_judged_it_is_measured_on_them_beside(self, world):
        version = trained(world, epochs=12)
        here = version.measured_here["talk"]["confidence"]
        assert (here["kind"], here["pairs"]) == ("here", 72)  # six pairs of four outputs in twelve contexts
        answers = {asked["question"]: asked for asked in version.gates["talk"]}
        assert "of people's held-out preferences" in answers["Better than chance?"]["answer"]
        assert version.metrics["heldout_pairwise_accuracy"] is None


class TestServing:
    def test_it_never_serves_by_itself(self, bare):
        version = trained(bare)
        assert registry.comparator_in_use(bare.campaign) is None and not version.promotions.exists()
        with pytest.raises(Refused, match="learned without human judgments"):
            registry.promote(bare.campaign, version)
        with pytest.raises(Refused, match="trained on people's judgments"):
            start_tournament(bare.campaign, "judge")
        assert start_tournament(bare.campaign, "judge", judge_of(bare.campaign, version)).settings["warning"] == UNMEASURED
        registry.promote(bare.campaign, version, reason="There is nothing else yet.")
        assert registry.comparator_in_use(bare.campaign) == version
        assert start_tournament(bare.campaign, "judge", seed=1).version == version

    def test_not_even_where_every_question_was_answered_well(self, world):
        version = trained(world)
        version.gates = {"talk": [{"question": "?", "passed": True, "answer": "Yes."}]}
        registry.consider(version)
        assert registry.comparator_in_use(world.campaign) is None
        run = start_training([world.campaign], foreground=True, recipe=recipe(epochs=1))
        first = tasks.run(run.job_id)  # that learned from people
        assert registry.comparator_in_use(world.campaign) == first

    def test_it_judges(self, bare):
        version = trained(bare)
        outputs = list(bare.campaign.contexts.first().outputs.all())
        assert set(comparators.utilities(version, outputs)) == {output.pk for output in outputs}


class TestAsked:
    def test_by_command(self, bare, monkeypatch):
        monkeypatch.setattr("evaluator.comparator.training.train.default_encoder", lambda: recipe()["encoder"])
        said = command("train_comparator", "talk", "--no-human", "--wait")
        assert TrainingRun.objects.get().settings["recipe"] == {**UNJUDGED, "strong": True, "weak": True}
        assert said["heldout_pairwise_accuracy"] is None and said["supervision"]["clear_pairs"] == 36
        with pytest.raises(CommandError, match="no snapshot of accepted judgments yet"):
            command("train_comparator", "talk")

    def test_again_gives_the_same_run(self, bare):
        run = start_training([bare.campaign], foreground=True, recipe=fields_of(human=False, weak=False))
        run.settings["recipe"] |= recipe(epochs=1)
        run.save()
        version = tasks.run(run.job_id)
        assert version.settings["human_scores"] is False
        page = bare.get(bare.alice, f"/c/talk/comparator/{version.name}/").content.decode()
        assert "train_comparator talk --no-human --no-weak --encoder" in page

    def test_the_same_twice_is_one(self, bare):
        first = start_training([bare.campaign], recipe=UNJUDGED)
        again = start_training([bare.campaign], recipe=UNJUDGED)
        assert again == first and again.was_waiting and not first.was_waiting
        assert services.start_training([bare.campaign], seed=1, recipe=UNJUDGED).seed == 1
