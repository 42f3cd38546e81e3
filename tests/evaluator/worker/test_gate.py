"""What the gate asks of a version, on which of people's judgments; by a judge without weights."""

import pytest

from annotation.models import QualityDecision
from core.errors import Refused
from evaluator.comparator.settings import Settings
from evaluator.models import ComparatorVersion
from evaluator.trainings import sources
from evaluator.trainings.services import start_training
from evaluator.versions import registry
from evaluator.versions.limits import PARTED, parted_groups
from evaluator.worker import comparators, gate
from leaderboard.systems import describe
from tests.evaluator.world import recipe

pytestmark = pytest.mark.django_db
CHANCE = "Better than chance?"
LIKED = {"good": 2.0, "w0": 1.0, "bad": 0.0}


@pytest.fixture(autouse=True)
def by_the_last_word(monkeypatch):
    """Goes by the last word, as people do."""

    def utilities(version, outputs):
        return {output.pk: LIKED[output.text.split()[-1]] for output in outputs}

    monkeypatch.setattr(comparators, "utilities", utilities)


def entered(world, **fields) -> ComparatorVersion:
    """A version's row, as a training on the world would have made it."""
    known = {
        "name": "talk-overall-1",
        "criterion": "Overall",
        "settings": {"sources": {"talk": ["Overall", False]}},
        "seed": 0,
        "snapshots": [world.campaign.snapshots.first().digest],
        "code": "x",
        "metrics": {"seconds": 1.0},
    }
    version = ComparatorVersion.objects.create(**known | fields)
    version.campaigns.add(world.campaign)
    return version


def asked(version, world) -> dict[str, dict]:
    return {one["question"]: one for one in gate.ask(version, world.campaign)}


def rename(world, old: str, new: str) -> None:
    describe(world.campaign.systems.get(name=old), new, "", "")


class TestRenamed:
    """A snapshot goes on calling a system what it was called then."""

    def test_the_gate_is_asked_on_the_same_preferences(self, world):
        version = entered(world)
        before = asked(version, world)
        rename(world, "Fine", "Finer")
        rename(world, "Finer", "Finest")
        assert asked(version, world) == before and "on the same 72 pairs" in before["Not below “longer is better”?"]["answer"]

    def test_human_written_text_is_learnt_from_once(self, world):
        rename(world, "Person", "Somebody")
        run = start_training([world.campaign], foreground=True, recipe=recipe(strong=True))
        found = sources.examples(run, Settings(**run.settings["recipe"]))
        assert len(found.texts) == 48
        strong = [pair for pair in found.pairs if pair.source == "strong"]
        written = {row["output"] for row in world.rows if row["system"] == "Person"}
        assert len(strong) == 12 * 3
        assert all(found.texts[p.a if p.target[0] == 1 else p.b].output in written for p in strong)


class TestServingNow:
    @pytest.fixture
    def new(self, world, monkeypatch) -> ComparatorVersion:
        """A second version, beside one in use and whose files cannot be read."""
        old = entered(world)
        registry.consider(old)
        judging = comparators.utilities

        def utilities(version, outputs):
            if version == old:
                raise Refused(f"Comparator {version.name} cannot be used.")
            return judging(version, outputs)

        monkeypatch.setattr(comparators, "utilities", utilities)
        return entered(world, name="talk-overall-2")

    def test_one_that_cannot_be_read_is_no_reason_against_the_next(self, world, new):
        gate.ask_all(new)
        *others, last = new.gates["talk"][:4]
        assert last == {
            "question": "Not below talk-overall-1, the one in use?",
            "passed": True,
            "answer": "talk-overall-1, the one in use, can no longer be read, so this question counts as passed.",
        }
        assert [one["question"] for one in others][1:] == [CHANCE, "Not below “longer is better”?"]
        registry.consider(new)
        assert registry.comparator_in_use(world.campaign) == new

    def test_the_other_questions_hold(self, world, new):
        new.warning = "The scores of Overall are not accepted."
        gate.ask_all(new)
        registry.consider(new)
        assert registry.comparator_in_use(world.campaign).name == "talk-overall-1"

    def test_one_whose_figures_may_be_too_high_is_no_fair_measure(self, world):
        old = entered(world, metrics={"seconds": 1.0, "contexts": 12})
        registry.consider(old)
        world.campaign.contexts.filter(key__lt="c06").update(group="a document")
        answer = asked(entered(world, name="talk-overall-2"), world)["Not below talk-overall-1, the one in use?"]["answer"]
        assert answer.startswith("Against talk-overall-1") and answer.endswith(f" {parted_groups(old)}") and PARTED in answer


class TestUploaded:
    """A version that learned elsewhere, by a criterion called like one of here."""

    @pytest.fixture
    def uploaded(self, world) -> ComparatorVersion:
        return entered(world, criterion="Wit", settings={"sources": {}}, snapshots=["elsewhere"])

    def pairs(self, world, choice: str = "A") -> None:
        contexts = sorted({row["context_id"] for row in world.rows})
        world.judge([(c, "Fine", "Poor", who, choice) for c in contexts for who in ("Ann", "Bob")])
        world.freeze()

    def test_it_is_asked_by_what_is_accepted_here(self, world, uploaded):
        world.score("Wit", {"Person": 1, "Fine": 2, "Plain": 3, "Poor": 5})
        world.freeze()
        assert "92% of people's" in asked(uploaded, world)[CHANCE]["answer"]  # by Overall; Person and Fine read alike

    def test_judgments_of_pairs_that_are_not_accepted_do_not_speak(self, world, uploaded):
        self.pairs(world, choice="B")
        QualityDecision.objects.filter(criterion=None).update(verdict="collect more")
        assert "on the same 72 pairs" in asked(uploaded, world)["Not below “longer is better”?"]["answer"]

    def test_where_nothing_is_accepted_there_is_nothing_to_go_by(self, world, uploaded):
        QualityDecision.objects.update(verdict="collect more", report={"reason": "Alpha is 0.400."})
        told = asked(uploaded, world)[CHANCE]
        assert (told["passed"], told["answer"]) == (False, "The scores of Overall are not accepted: Alpha is 0.400.")

    def test_one_that_learned_here_is_asked_by_what_it_learned(self, world):
        self.pairs(world, choice="B")
        version = entered(world, settings={"sources": {"talk": ["", True]}}, criterion="")
        assert "0% of people's" in asked(version, world)[CHANCE]["answer"]
