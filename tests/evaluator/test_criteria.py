"""Several criteria in one training: the first judges, the others are learnt beside it and can be read."""

import json

import numpy as np
import pytest
from django.core.management import CommandError

from annotation.models import Job, Output, QualityDecision
from core.errors import Refused
from evaluator import tasks
from evaluator.comparator.settings import Settings
from evaluator.models import ComparatorVersion, TrainingRun
from evaluator.trainings import sources
from evaluator.trainings.services import start_training
from evaluator.versions.card_shape import first_wrong
from evaluator.worker import comparators
from tests.evaluator.world import SCORES, World, command, recipe

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
WIT = {"Person": 1, "Fine": 5, "Plain": 2, "Poor": 4}


@pytest.fixture
def twice(world):
    """The world, judged by Wit too."""
    world.score("Wit", WIT)
    world.freeze()
    return world


def shown(run) -> sources.TrainingMaterial:
    return sources.examples(run, Settings(**run.settings["recipe"]))


class TestStarting:
    def test_the_first_is_the_runs_and_the_others_stand_in_its_settings(self, twice):
        run = start_training([twice.campaign], "Overall", others=["Wit", "Overall", "Wit"])
        assert (run.criterion, run.settings["others"]) == ("Overall", ["Wit"])
        assert start_training([twice.campaign], "Overall", others=["Wit"]) == run
        alone = start_training([twice.campaign], "Overall")
        assert alone != run and "others" not in alone.settings

    @pytest.mark.parametrize("name", ["Charm", ""])
    def test_one_that_nobody_scored_is_refused(self, twice, name):
        with pytest.raises(Refused, match=f"no scores for the criterion '{name}' in snapshot .* of campaign 'talk'"):
            start_training([twice.campaign], "Overall", others=[name])
        assert not Job.objects.exists() and not TrainingRun.objects.exists()

    def test_a_joint_comparator_learns_one(self, twice):
        with pytest.raises(Refused, match="joint comparator learns one criterion"):
            start_training([twice.campaign], "Overall", others=["Wit"], recipe={"architecture": "joint"})
        assert not Job.objects.exists()

    def test_one_that_is_not_accepted_is_warned_of(self, twice):
        QualityDecision.objects.filter(criterion__name="Wit").update(
            verdict="collect more", report={"reason": "Alpha is 0.400."}, overrule_reason=""
        )
        run = start_training([twice.campaign], "Overall", others=["Wit"])
        assert run.warning == "The scores of Wit are not accepted: Alpha is 0.400."


class TestExamples:
    def test_each_criterion_brings_its_scores_and_pairs(self, twice):
        found = shown(start_training([twice.campaign], "Overall", others=["Wit"], recipe=recipe()))
        assert found.criteria == ["Overall", "Wit"] and found.scores.shape == (48, 2)
        assert [sum(pair.criterion == c for pair in found.pairs) for c in (0, 1)] == [72, 72]
        by_text = {row["output"]: row["system"] for row in twice.rows}
        for c, given in enumerate((SCORES, WIT)):
            expected = [(given[by_text[text.output]] - 1) / 4 for text in found.texts]
            assert found.scores[:, c] == pytest.approx(expected)

    def test_a_campaign_without_it_teaches_nothing_about_it(self, twice, tmp_path):
        (tmp_path / "other").mkdir()
        other = World(tmp_path / "other", slug="other")
        run = start_training([twice.campaign, other.campaign], "Overall", others=["Wit"], recipe=recipe())
        found = shown(run)
        there, here = found.scores[found.parts["other"]], found.scores[found.parts["talk"]]
        assert np.isnan(there[:, 1]).all() and np.isfinite(there[:, 0]).all() and np.isfinite(here).all()
        assert sum(pair.criterion == 1 for pair in found.pairs) == 72


class TestTraining:
    @pytest.fixture
    def version(self, twice) -> ComparatorVersion:
        run = start_training([twice.campaign], "Overall", foreground=True, others=["Wit"], recipe=recipe())
        return tasks.run(run.job_id)

    def test_what_it_is_worth_and_what_it_says_by_each(self, twice, version, tmp_path):
        m = version.metrics
        assert (version.criterion, version.settings["others"]) == ("Overall", ["Wit"])
        assert [(row["name"], row["clear_pairs"]) for row in m["criteria"]] == [("Overall", 72), ("Wit", 72)]
        assert m["criteria"][0]["accuracy"] == m["heldout_pairwise_accuracy"] and m["calibration"]["pairs"] == 72
        assert first_wrong(m) is None  # so that it may be taken along

        html = twice.get(twice.alice, f"/c/talk/comparator/{version.name}/").content.decode()
        wit = m["criteria"][1]
        assert f"{wit['accuracy']:.3f}" in html and f"{wit['low']:.3f} to {wit['high']:.3f}" in html
        assert "--criterion Overall --criterion Wit" in html

        out = tmp_path / "scored.jsonl"
        command("score_outputs", tmp_path / "outputs.jsonl", "--comparator", version.name, "--out", out)
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        assert all(list(row["scores"]) == ["Overall", "Wit"] and row["scores"]["Overall"] == row["score"] for row in rows)
        assert all(list(row["utilities"]) == ["Overall", "Wit"] and 0 < row["score"] < 1 for row in rows)
        assert len({row["scores"]["Wit"] for row in rows}) > 1

        outputs = list(Output.objects.filter(context__campaign=twice.campaign).select_related("context", "system"))
        remembered = comparators.utilities(version, outputs)
        place = {(o.context.key, o.system.name): remembered[o.pk] for o in outputs}
        assert [row["utility"] for row in rows] == pytest.approx(
            [place[row["context_id"], row["system"]] for row in rows], abs=1e-4
        )

    def test_the_command_takes_several(self, twice, monkeypatch):
        monkeypatch.setattr("evaluator.comparator.training.train.default_encoder", lambda: recipe()["encoder"])
        with pytest.raises(CommandError, match="no scores for the criterion 'Charm'"):
            command("train_comparator", "talk", "--criterion", "Overall", "--criterion", "Charm")
        said = command("train_comparator", "talk", "--criterion", "Wit", "--criterion", "Overall", "--wait")
        assert said["criterion"] == "Wit" and [row["name"] for row in said["criteria"]] == ["Wit", "Overall"]
