"""Promotion through the gate, rollback, retirement."""

import numpy as np
import pytest
from django.utils import timezone

from annotation.models import AuditEvent, Campaign
from core.errors import Refused
from evaluator.metaevaluation import gate
from evaluator.metaevaluation.agreement import Share
from evaluator.metaevaluation.pairs import JudgedPair
from evaluator.models import ComparatorVersion
from evaluator.roster import judge_of
from evaluator.signals import promoted
from evaluator.versions import limits, registry
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.world import World

RECIPE = {"epochs": 4}


def another(world, version, passed: bool) -> ComparatorVersion:
    """A second version as a training would have entered it, with a gate that says what the test needs."""
    asked = {"question": "Better?", "passed": passed, "answer": "It is." if passed else "It is not."}
    made = ComparatorVersion.objects.create(
        name=f"second-{passed}",
        settings=version.settings,
        seed=1,
        snapshots=version.snapshots,
        code="x",
        metrics=version.metrics,
        gates={"talk": [asked]},
    )
    made.campaigns.add(world.campaign)
    return made


def test_the_first_comparator_serves_and_its_gate_is_kept(world, comparator):
    promotion = world.campaign.promotions.get()
    assert registry.comparator_in_use(world.campaign) == comparator and promotion.reason == registry.FIRST
    questions = [asked["question"] for asked in promotion.gate]
    assert questions[:3] == ["Are its training judgments accepted?", "Better than chance?", "Not below “longer is better”?"]
    assert comparator.gates["talk"] == promotion.gate


def test_the_ceiling_of_people_stands_beside_it(comparator):
    ceiling = comparator.metrics["ceilings"]["talk"]["scores"]
    assert (ceiling["pairwise_accuracy"], ceiling["pairs"]) == (1.0, 144)  # Ann and Bob say the same of 72 pairs


def test_one_that_passes_takes_over_and_one_that_fails_waits(world, comparator):
    registry.consider(another(world, comparator, passed=False))
    assert registry.comparator_in_use(world.campaign) == comparator
    better = another(world, comparator, passed=True)
    registry.consider(better)
    registry.consider(better)  # the job ran twice
    assert registry.comparator_in_use(world.campaign) == better and world.campaign.promotions.count() == 2
    stages = registry.stages(world.campaign, ComparatorVersion.objects.all())
    assert sorted(stages.values()) == ["candidate", "candidate", "in_use"]


def test_promoting_against_the_gate_needs_a_reason(world, comparator, django_capture_on_commit_callbacks):
    worse = another(world, comparator, passed=False)
    with pytest.raises(Refused, match="This comparator did not pass the gate. It is not. Give a reason to promote it anyway."):
        registry.promote(world.campaign, worse, world.alice)
    heard = []
    promoted.connect(lambda sender, version, campaign, **_: heard.append((version, campaign)), weak=False, dispatch_uid="t")
    with django_capture_on_commit_callbacks(execute=True):
        registry.promote(world.campaign, worse, world.alice, "It knows our domain.")
    promoted.disconnect(dispatch_uid="t")
    assert registry.comparator_in_use(world.campaign) == worse and heard == [(worse, world.campaign)]
    event = AuditEvent.objects.filter(action="comparator promoted").first()
    assert event.user == world.alice and event.detail["reason"] == "It knows our domain."


def test_going_back_asks_nothing(world, comparator):
    registry.promote(world.campaign, another(world, comparator, passed=True), world.alice)
    registry.promote(world.campaign, comparator, world.alice)
    assert registry.comparator_in_use(world.campaign) == comparator and world.campaign.promotions.count() == 3


def test_a_retired_one_serves_no_more(world, comparator):
    second = another(world, comparator, passed=True)
    registry.promote(world.campaign, second, world.alice)
    registry.retire(world.campaign, second, world.alice)
    assert registry.comparator_in_use(world.campaign) == comparator  # the one before it
    for refused in (registry.retire, registry.promote):
        with pytest.raises(Refused, match="retired"):
            refused(world.campaign, ComparatorVersion.objects.get(pk=second.pk), world.alice)


def test_after_the_only_one_is_retired_the_next_has_to_pass(world, comparator):
    registry.retire(world.campaign, comparator, world.alice)
    registry.consider(another(world, comparator, passed=False))
    assert registry.comparator_in_use(world.campaign) is None
    better = another(world, comparator, passed=True)
    registry.consider(better)
    assert registry.comparator_in_use(world.campaign) == better
    assert world.campaign.promotions.first().reason == registry.PASSED


def test_one_that_is_used_elsewhere_too_is_retired_by_who_researches_both_or_an_admin(world, comparator, tmp_path):
    (tmp_path / "other").mkdir()
    other = World(tmp_path / "other", world.client, slug="other", judged=False)
    comparator.campaigns.add(other.campaign)
    for there, user in ((world, world.alice), (other, other.alice)):
        with pytest.raises(Refused, match="also used in a campaign that is not yours"):
            registry.retire(there.campaign, comparator, user)
    page = other.post(other.alice, f"/c/other/comparator/{comparator.name}/retire/")
    assert page.status_code == 302 and registry.comparator_in_use(world.campaign) == comparator
    registry.retire(other.campaign, comparator, world.dora)
    assert registry.comparator_in_use(world.campaign) is None


def test_a_deleted_campaign_keeps_none_from_being_retired(world, comparator, tmp_path):
    (tmp_path / "other").mkdir()
    other = World(tmp_path / "other", slug="other", judged=False)
    comparator.campaigns.add(other.campaign)
    Campaign.objects.filter(slug="other").update(deleted_at=timezone.now())
    registry.retire(world.campaign, comparator, world.alice)
    assert registry.comparator_in_use(world.campaign) is None


def test_a_version_of_another_campaign_is_refused(world, comparator, tmp_path):
    (tmp_path / "other").mkdir()
    other = World(tmp_path / "other", slug="other", judged=False)
    with pytest.raises(Refused, match="has not learned from this campaign"):
        registry.promote(other.campaign, comparator)


class TestFoldsOfBefore:
    """Figures of before folds kept groups together: `units` in the metrics came with those that do."""

    @pytest.fixture
    def old(self, comparator) -> ComparatorVersion:
        assert comparator.metrics["units"] == comparator.metrics["contexts"] == 12
        comparator.metrics = {name: value for name, value in comparator.metrics.items() if name != "units"}
        comparator.save()
        return comparator

    def said_at_each_door(self, world, version) -> set[str]:
        """What is said of it at page and API of the card and of the list, with files, by its job and about probabilities."""
        get = lambda address: world.get(world.alice, address)
        page, api = f"/c/talk/comparator/{version.name}/", f"/api/campaigns/talk/comparators/{version.name}/"
        (row,), card = get("/api/campaigns/talk/comparators/").json(), get(api).json()
        doors = [get(page).content.decode(), get("/c/talk/comparator/").content.decode(), row["gate_doubt"], card["gate_doubt"]]
        doors += [
            card["limits"],
            card["confidence"]["said"],
            *map(" ".join, (registry.warnings_of(version), registry.told(version))),
        ]
        return {
            said[at : said.index("; train it again.", at)] if (at := said.find("The held-out figures of")) + 1 else ""
            for said in doors
        }

    def test_nothing_is_said_where_no_context_has_a_group(self, world, old):
        assert self.said_at_each_door(world, old) == {""}

    @pytest.mark.parametrize("of", [{"group": "a document"}, {"metadata": {"conversation": "a", "turn": 1, "turns": 12}}])
    def test_where_contexts_have_groups_or_conversations_it_is_said_at_each_door(self, world, old, of):
        world.campaign.contexts.update(**of)
        said = f"The held-out figures of comparator {old.name} {limits.PARTED}"
        assert self.said_at_each_door(world, old) == {said}
        old.settings["sources"] = {"lent": ["Overall", True], **old.settings["sources"]}
        old.settings["beside"] = ["talk"]
        assert limits.parted_groups(old) == f"{said}, if its contexts had groups; train it again."  # "lent" is not here
        old.metrics["units"] = 5
        assert limits.parted_groups(old) == ""

    def test_of_one_that_was_uploaded_nobody_knows(self, world, old):
        old.run, old.settings["sources"] = None, {}
        assert limits.parted_groups(old).endswith(f"{limits.PARTED}, if its contexts had groups; train it again.")
        old.metrics = {}
        assert limits.parted_groups(old) == ""

    def test_conversations_that_nobody_judged_are_groups(self, world, old):
        old.metrics["learnt_from"] = {"dialogues": 40}
        assert limits.parted_groups(old).endswith(f"{limits.PARTED}; train it again.")

    def test_a_board_of_it_says_so(self, world, old):
        world.campaign.contexts.update(group="a document")
        board = start_tournament(world.campaign, "judge", judge_of(world.campaign, old), seed=7)
        assert board.settings["warning"] == limits.parted_groups(old) != ""


class TestGate:
    contexts = np.repeat(np.arange(10), 2)

    pairs = [JudgedPair(2 * i, 2 * i + 1, (1.0, 0.0, 0.0), 1.0) for i in range(20)]  # A is preferred in all

    def test_not_below_compares_on_the_same_pairs(self):
        mine, theirs = np.ones(20), np.repeat([1.0, -1.0], 10)
        asked = gate.not_below("longer", mine, theirs, self.pairs, self.contexts, seed=0)
        assert asked.passed and "+0.500" in asked.answer and "20 pairs" in asked.answer
        assert not gate.not_below("longer", theirs, mine, self.pairs, self.contexts, seed=0).passed
        assert gate.not_below("longer", mine, mine, self.pairs, self.contexts, seed=0).passed
        none = gate.not_below("longer", mine[:0], mine[:0], [], self.contexts[:0], seed=0)
        assert none.passed and none.answer == "No pair is held out for both it and longer."

    def test_chance_must_lie_below_the_interval(self):
        passed = gate.better_than_chance(Share(0.7, 0.6, 0.8, "people", 5))
        assert passed.passed and "70% of people's held-out preferences" in passed.answer
        assert "(60% to 80%, for people like these 5 annotators)" in passed.answer
        failed = gate.better_than_chance(Share(0.7, 0.5, 0.8, "annotators", 3))
        assert not failed.passed and "(50% to 80%, for these 3 annotators only)" in failed.answer
        assert "(60% to 80%);" in gate.better_than_chance(Share(0.7, 0.6, 0.8, None, None)).answer

    def test_calibration_and_attacks(self):
        off = {"error": 0.05, "low": 0.02, "high": 0.09}
        assert gate.calibrated(off).passed and not gate.calibrated(off | {"error": 0.051}).passed
        assert gate.calibrated(None).passed
        row = {"attack": "empty", "other_words": False, "share": 0.9, "low": 0.8, "high": 1.0, "n": 40}
        parroted = row | {"attack": "parroted", "other_words": True, "share": 0.6, "low": 0.5, "high": 0.7}
        asked = gate.not_fooled([row, parroted])
        assert (
            not asked.passed
            and "copied text (in other words): the honest output wins in 60% of 40 cases (50% to 70%)" in asked.answer
        )
        assert gate.not_fooled([]).passed

    def test_other_attacks_are_reported_and_not_asked_for(self):
        row = {"attack": "swapped", "other_words": False, "share": 0.1, "low": 0.0, "high": 0.2, "n": 20}
        assert gate.not_fooled([row]).answer == "No adversarial test was run."
        assert (
            not gate.not_fooled([row | {"attack": "negated"}]).passed
            and not gate.not_fooled([row | {"attack": "one word changed"}]).passed
        )
        asked = gate.not_fooled([row | {"attack": "empty", "share": 0.8}, row, row | {"attack": "padded", "share": 0.3}])
        assert asked.passed and asked.answer.endswith("Reported, not required: swapped text, 10% of 20 cases.")


class TestLimits:
    def test_the_first_line_names_what_fools_it_and_what_it_is_not_above(self):
        row = {"attack": "cut", "other_words": False, "share": 0.79, "n": 17}
        few = [row | {"attack": "swapped", "share": 0.0, "n": 1}]
        beside = {"cosine": "the last turn", "pearson": 0.4, "above": -0.1, "low": -0.2, "high": -0.01}
        said = limits.limits(
            {
                "attacks": [row, row | {"attack": "empty", "share": 0.8}, row | {"attack": "negated", "share": 0.6}, *few],
                "correlations": [{"campaign": "talk", "above_cosine": beside}],
                "transfer": [{"campaign": "chat", "above_cosine": beside | {"low": 0.01, "high": 0.2}}],
                "heldout_pairwise_accuracy": 0.65,
                "heldout_pairwise_interval": [0.6, 0.7],
                "longer_is_better_accuracy": 0.6,
            }
        )
        assert said == (
            "It is not known to be better than “longer is better”: it agrees with 65% (60% to 70%) of people's clear"
            " preferences, that rule with 60%."
            " It does not tell a good output from these in 80% of cases: negated (60%), cut (79%)."
            " Of these attacks there were under 17 cases, too few to say: swapped (1)."
            " On talk, it is below the untrained cosine with the last turn."
        )
        assert (
            limits.limits({})
            == ""
            == limits.limits({"attacks": [row | {"share": 0.9}], "heldout_pairwise_interval": [None, None]})
        )
