"""What a version's card says: measured when it was trained, shown to whom it may be shown, measured anew elsewhere."""

import io
import json
import zipfile
from itertools import combinations

import numpy as np
import pytest
from django.utils import timezone

from annotation.models import Campaign, LikertScore, Output, QualityDecision
from core.errors import Refused
from evaluator import tasks
from evaluator.judges.texts import Text
from evaluator.models import ComparatorVersion
from evaluator.trainings.services import start_training
from evaluator.versions import admission, archive, card_view
from evaluator.versions.card_shape import first_wrong
from evaluator.versions.selectors import refit
from evaluator.views.curves import reliability_chart
from evaluator.worker import card, comparators
from tests.evaluator.world import SYSTEMS, World, recipe

pytestmark = pytest.mark.one_database
RECIPE: dict = {}


def trained(world, **options) -> ComparatorVersion:
    return tasks.run(start_training([world.campaign], foreground=True, recipe=recipe(**options)).job_id)


@pytest.fixture
def other(world, tmp_path) -> World:
    """A second campaign, which Alice of the first does not research."""
    (tmp_path / "fenland").mkdir()
    return World(tmp_path / "fenland", slug="fenland")


class TestTraining:
    @pytest.fixture
    def version(self, comparator):
        return comparator

    def test_every_figure_has_its_interval_and_its_number(self, world, version):
        m = version.metrics
        assert m["calibration"]["pairs"] == 72 == sum(bin["n"] for bin in m["reliability"])
        assert m["calibration"]["error"] == pytest.approx(m["calibration_error"])
        assert m["longer"]["accuracy"] == pytest.approx(m["longer_is_better_accuracy"])
        assert m["flips"] == {"share": 0.0, "low": 0.0, "high": 0.0, "n": 72}
        assert {row["answers"] for row in m["attacks"]} == {24}  # Person's and Fine's: scored 5 and 4 of 1 to 5
        names = {(row["attack"], row["other_words"]) for row in m["attacks"]}
        assert len(names) == 16 + 5 and ("negated", False) not in names  # nothing to deny in these words
        for row in [m["calibration"], m["longer"], *m["attacks"]]:
            assert row["low"] <= row["high"]
        for row in [m["longer"], *m["correlations"], m["ceilings"]["talk"]["scores"]]:
            assert (row["population"], row["annotators"]) == ("annotators", 2)
        assert (m["heldout_population"], m["heldout_annotators"]) == ("annotators", 2)
        html = world.get(world.alice, f"/c/talk/comparator/{version.name}/").content.decode()
        assert "over contexts, and hold for these 2 annotators only" in html
        assert "each annotator in turn; for these 2 only" in html
        assert (
            f'<a href="/c/talk/comparator/{version.name}/">{version.run.job.title}</a>'
            in world.get(world.alice, "/c/talk/").content.decode()
        )
        assert f"It agrees with {m['heldout_pairwise_accuracy']:.0%} of people's" in version.gates["talk"][1]["answer"]
        assert "can differ from the pairwise accuracy" not in html  # one campaign, and replies have no weight
        version.metrics |= {"heldout_population": "people", "heldout_annotators": 12, "references": 0.3}
        version.save()
        html = world.get(world.alice, f"/c/talk/comparator/{version.name}/").content.decode()
        assert "over contexts and annotators, and hold for people like these 12 annotators" in html
        assert "The gate uses the final weight of other people’s replies" in html
        assert m["peak_memory"] > 2**25 and m["measuring_seconds"] > 0
        assert (m["transfer"], m["not_measured"]) == ([], [])
        assert first_wrong(m) is None  # so that it may be taken along

    def test_the_correlation_is_that_of_held_out_expected_scores_with_mean_scores(self, world, version):
        outputs = list(Output.objects.filter(context__campaign=world.campaign).select_related("context"))
        scores = comparators.load(version).score([Text(tuple(output.context.turns), output.text) for output in outputs])
        means = [np.mean(LikertScore.objects.filter(output=o).values_list("value", flat=True)) for o in outputs]
        expected = np.corrcoef(scores, means)[0, 1]
        (row,) = version.metrics["correlations"]
        assert (row["campaign"], row["outputs"], row["contexts"]) == ("talk", 48, 12)
        assert row["pearson"] == pytest.approx(expected, abs=1e-4)
        assert row["pearson_interval"][0] < row["pearson"] < row["pearson_interval"][1]

    def test_the_gate_asks_by_what_was_measured(self, version):
        answers = {asked["question"]: asked["answer"] for asked in version.gates["talk"]}
        m = version.metrics
        assert f"is {m['calibration']['error']:.3f} ({m['calibration']['low']:.3f}" in answers["Calibrated?"]
        assert f"{min(row['share'] for row in m['attacks']):.0%}" in answers["Hard to fool?"]


class TestTransfer:
    def test_what_people_judged_elsewhere_is_measured(self, world, other):
        version = trained(world)
        (row,) = version.metrics["transfer"]
        digest = other.campaign.snapshots.get().name
        assert (row["campaign"], row["criterion"], row["snapshot"]) == ("fenland", "Overall", digest)
        assert (row["outputs"], row["of_outputs"], row["contexts"], row["pairs"]) == (48, 48, 12, 72)
        u = dict(
            zip(
                [(r["context_id"], r["system"]) for r in other.rows],
                comparators.load(version).utilities([Text(tuple(r["context"]), r["output"]) for r in other.rows]),
            )
        )
        better = ["Poor", "Plain", "Fine", "Person"]  # as people order them in every context
        contexts = {r["context_id"] for r in other.rows}
        agree = [u[c, better[j]] > u[c, better[i]] for c in contexts for i in range(4) for j in range(i + 1, 4)]
        assert row["comparator"]["pairwise"]["accuracy"] == pytest.approx(np.mean(agree))
        assert row["longer"]["pairwise"]["accuracy"] == 0.5  # every output has three words
        assert row["longer"]["correlation"] is None and row["comparator"]["correlation"]["outputs"] == 48
        assert 0 <= row["cosine"]["pairwise"]["low"] <= row["cosine"]["pairwise"]["high"] <= 1
        assert row["calibration"]["pairs"] == 72 and -1 <= row["similarity"] <= 1.001

    def test_judgments_that_are_not_accepted_are_named_and_not_used(self, world, other):
        QualityDecision.objects.filter(snapshot__campaign=other.campaign).update(
            verdict="collect more", report={"reason": "Alpha is 0.400."}
        )
        m = trained(world, epochs=1).metrics
        why = "The scores of Overall are not accepted: Alpha is 0.400."
        assert (m["transfer"], m["not_measured"]) == ([], [{"campaign": "fenland", "why": why}])

    def test_a_campaign_that_is_gone_is_left_out(self, world, other):
        Campaign.objects.filter(slug="fenland").update(deleted_at=timezone.now())
        m = trained(world, epochs=1).metrics
        assert m["transfer"] == m["not_measured"] == []

    def test_a_campaign_of_others_lends_its_figures_and_not_its_name(self, world, other):
        version = trained(world, epochs=1)
        card = f"/c/talk/comparator/{version.name}/"
        page, api = world.get(world.alice, card), world.get(world.alice, f"/api/campaigns/talk/comparators/{version.name}/")
        download = zipfile.ZipFile(io.BytesIO(b"".join(world.get(world.alice, card + "download/").streaming_content)))
        for said in (page.content.decode(), json.dumps(api.json()["metrics"]["transfer"]), download.read("card.json").decode()):
            assert card_view.HIDDEN in said and "fenland" not in said
        by_admin = world.get(world.dora, f"/api/campaigns/talk/comparators/{version.name}/").json()
        assert by_admin["metrics"]["transfer"][0]["campaign"] == "fenland"


class TestApi:
    def test_the_card_as_json_says_what_the_page_says(self, world):
        version = trained(world, epochs=1)
        found = world.get(world.alice, f"/api/campaigns/talk/comparators/{version.name}/").json()
        assert (found["stage"], found["seed"], found["code"]) == ("in_use", 0, version.code)
        assert found["metrics"] == version.metrics and found["gate"] == version.gates["talk"]
        assert found["confidence"]["kind"] == "own"
        (row,) = world.get(world.alice, "/api/campaigns/talk/comparators/").json()
        assert row["card"] == f"/api/campaigns/talk/comparators/{version.name}/" and row["stage"] == "in_use"

    def test_an_outsider_finds_nothing(self, world):
        version = trained(world, epochs=1)
        for path in ("", f"{version.name}/"):
            assert world.get(world.charlie, f"/api/campaigns/talk/comparators/{path}").status_code == 404
        assert world.get(world.alice, "/api/campaigns/talk/comparators/nobody/").status_code == 404


class TestElsewhere:
    """A comparator that judges a campaign it did not learn from."""

    def taken_to(self, world, tmp_path, judged: bool) -> tuple[World, ComparatorVersion]:
        version = trained(world, epochs=1)
        packed = archive.pack(version, comparators.folder(version), version.metrics).read()
        (tmp_path / "there").mkdir()
        there = World(tmp_path / "there", world.client, slug="there", judged=judged)
        tasks.admit(str(admission.receive(there.campaign, [packed], there.alice).pk))
        return there, there.campaign.comparators.get()

    def test_where_people_judged_it_is_measured_there(self, world, tmp_path):
        there, version = self.taken_to(world, tmp_path, judged=True)
        found = card_view.confidence(version, there.campaign)
        assert (found["kind"], found["pairs"], found["snapshot"]) == ("here", 72, there.campaign.snapshots.get().name)
        assert (found["refit"]["pairs"], found["refit"]["snapshot"]) == (72, found["snapshot"])
        assert found["as_it_came"]["pairs"] == 72
        answers = {asked["question"]: asked["answer"] for asked in version.gates["there"]}
        assert f"is {found['error']:.3f}" in answers["Calibrated?"] and "The most successful attack" in answers["Hard to fool?"]
        html = there.get(there.alice, f"/c/there/comparator/{version.name}/").content.decode()
        assert found["said"] in html and 'id="attacks-here"' in html

    def test_before_enough_is_judged_it_says_that_nothing_is_known(self, world, tmp_path):
        there, version = self.taken_to(world, tmp_path, judged=False)
        said = "The calibration of its probabilities in this campaign is not known."
        more = " To measure it, people must judge 50 more pairs, and these judgments must be accepted."
        found = card_view.confidence(version, there.campaign)
        assert found == {"kind": "unknown", "needed": 50, "said": said + more}
        assert said in there.get(there.alice, f"/c/there/comparator/{version.name}/").content.decode()
        answers = {asked["question"]: asked for asked in version.gates["there"]}
        assert answers["Calibrated?"]["answer"] == "Its calibration was not measured."

        pairs = list(combinations(SYSTEMS, 2))  # six in each of twelve contexts
        judged = [(f"c{c:02}", a, b, who, "A") for c in range(12) for a, b in pairs for who in ("Ann", "Bob")]
        there.judge(judged[: 2 * 49])
        there.freeze()
        card.measure_here(version, there.campaign)
        found = card_view.confidence(version, there.campaign)
        assert (found["kind"], found["needed"], refit(version, there.campaign)) == ("unknown", 1, None)
        assert found["said"].endswith("people must judge 1 more pair, and these judgments must be accepted.")
        there.judge(judged[2 * 49 : 2 * 50])
        there.freeze()
        card.measure_here(version, there.campaign)
        found = card_view.confidence(version, there.campaign)
        assert (found["kind"], found["pairs"]) == ("here", 50)
        assert refit(version, there.campaign) == found["refit"]


class TestShape:
    def test_a_card_of_the_old_kind_fits(self):
        assert first_wrong({"pairs": 3, "contexts": 2, "seconds": 1.0}) is None

    @pytest.mark.parametrize(
        "name, value",
        [
            ("calibration", {"error": "much"}),
            ("calibration", 0.3),
            ("reliability", [{"said": 0.5, "n": 3}]),
            ("reliability", [None]),
            ("attacks", {"attack": "empty"}),
            ("transfer", [{"title": "x"}]),
            ("flips", {"share": True, "low": 0, "high": 0, "n": 0}),
            ("ceilings", {"talk": {"scores": {"pairs": "many"}}}),
            ("tie_threshold", "wide"),
            ("correlations", [{"campaign": 3}]),
            ("sources", {"scores": None}),
            ("sources", None),
            ("learnt_from", None),
            ("ceilings", None),
            ("ceilings", {"talk": None}),
            ("ceilings", {"talk": {"scores": None}}),
        ],
    )
    def test_what_a_page_could_not_show_is_named(self, name, value):
        assert first_wrong({name: value}) == name

    def test_whom_an_interval_speaks_of_may_be_missing(self):
        """As on cards of before."""
        longer = {"accuracy": 0.5, "low": 0.4, "high": 0.6, "pairs": 9}
        assert first_wrong({"longer": longer, "heldout_pairwise_interval": [0.4, 0.6]}) is None
        assert first_wrong({"longer": longer | {"population": "people", "annotators": 12}}) is None
        assert first_wrong({"longer": longer | {"population": 12}}) == "longer"

    def test_any_number_that_fits_is_drawn(self):
        bins = [{"said": 0.5, "right": 0.5, "n": n} for n in (0, -1)]
        assert first_wrong({"reliability": bins}) is None
        assert [radius for _, _, radius in reliability_chart(bins).dots] == [2, 2]


class TestLength:
    def card(self, world, **metrics) -> str:
        known = {"pairs": 36, "contexts": 12, "seconds": 1.0, "tie_threshold": 0.25}
        version = ComparatorVersion.objects.create(
            name="talk-long", criterion="", settings={}, seed=0, snapshots=[], code="0.1", metrics=known | metrics
        )
        version.campaigns.add(world.campaign)
        return world.get(world.alice, "/c/talk/comparator/talk-long/").content.decode()

    def test_it_is_no_part_of_a_utility(self, world):
        """Neither is told of, also where a card of an earlier version knows them."""
        html = self.card(world, length=0.31, bend=4.5)
        assert "twice the words" not in html and "Large differences" not in html
        assert "its utilities differ by less than 0.250 logits" in html

    def test_the_first_line_says_where_length_alone_does_as_well(self, world):
        said = "It is not known to be better than “longer is better”: it agrees with 66% (60% to 72%)"
        longer = {"accuracy": 0.64, "low": 0.60, "high": 0.68, "pairs": 90}
        known = {"heldout_pairwise_accuracy": 0.66, "longer_is_better_accuracy": 0.64, "longer": longer}
        wide, narrow = {"heldout_pairwise_interval": [0.60, 0.72]}, {"heldout_pairwise_interval": [0.65, 0.67]}
        assert said in self.card(world, **known, **wide)
        ComparatorVersion.objects.all().delete()
        assert said not in self.card(world, **known, **narrow)


class TestNothingClear:
    """People called every pair a tie: no preference is left to agree with, and a training's figures for that are null."""

    METRICS = {
        "heldout_pairwise_accuracy": None,
        "heldout_pairwise_interval": [None, None],
        "longer_is_better_accuracy": None,
        "pairs": 36,
        "contexts": 12,
        "seconds": 1.0,
    }

    def unpacked(self, folder, seed: int = 0) -> archive.Card:
        told = {"name": "ties", "criterion": "", "seed": seed, "code": "0.1", "snapshots": [], "settings": {}, "warning": ""}
        with zipfile.ZipFile(folder / "ties.zip", "w") as file:
            file.writestr("card.json", json.dumps(told | {"metrics": self.METRICS, "is_simulated": False}))
            for name in ("comparator.json", "member-0.safetensors"):  # not looked at before the comparator is loaded
                file.writestr(name, "{}")
        return archive.unpack(folder / "ties.zip", folder)

    def test_it_may_be_taken_along(self, tmp_path):
        assert self.unpacked(tmp_path).metrics == self.METRICS

    @pytest.mark.parametrize("seed", [-1, 2**31])
    def test_a_seed_that_no_training_has_is_refused(self, tmp_path, seed):
        with pytest.raises(Refused, match=f"card.json: The seed must be a whole number from 0 to 2147483647, not {seed}."):
            self.unpacked(tmp_path, seed)

    @pytest.mark.parametrize("value", ["high", [0.4], True])
    def test_an_accuracy_that_is_no_number_may_not(self, value):
        assert first_wrong(self.METRICS | {"heldout_pairwise_accuracy": value}) == "heldout_pairwise_accuracy"

    def test_the_pages_say_that_it_is_not_known(self, world):
        version = ComparatorVersion.objects.create(
            name="ties", criterion="", settings={}, seed=0, snapshots=[], code="0.1", metrics=self.METRICS
        )
        version.campaigns.add(world.campaign)
        for page in ("", "ties/"):
            html = world.get(world.alice, f"/c/talk/comparator/{page}").content.decode()
            assert html.count(">not known<") == 2 and "– to –" not in html
