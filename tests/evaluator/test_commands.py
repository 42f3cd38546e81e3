"""The evaluator's commands: what they print, what they write, how they fail."""

import json

import pytest
from django.core.management import CommandError

from annotation.models import Context, Job
from core.rows import Row
from evaluator.models import ComparatorVersion, TrainingRun
from evaluator.trainings.sources import text_in
from evaluator.versions.card_view import GROUPS_OF_FILES, confidence_on_files
from evaluator.versions.limits import limits
from evaluator.versions.registry import gate_doubt, warnings_of
from evaluator.worker import comparators
from evaluator.worker.judged_files import text_of_row
from leaderboard.models import Tournament
from tests.evaluator.world import command, recipe, write

pytestmark = pytest.mark.django_db
RECIPE: dict = {}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """--device is set in the environment: here, until the test ends."""
    monkeypatch.setenv("COMPARENA_DEVICE", "cpu")


@pytest.fixture
def tiny(monkeypatch):
    """Trainings take the tiny encoder."""
    from evaluator.comparator import settings

    monkeypatch.setattr("evaluator.comparator.training.train.default_encoder", lambda: recipe()["encoder"])
    assert settings.Settings().encoder == ""


@pytest.fixture
def version(comparator):
    return comparator


class TestTrainComparator:
    def test_waiting_prints_the_comparator(self, world, tiny):
        said = command("train_comparator", "talk", "--seed", "2", "--wait")
        snapshot = world.campaign.snapshots.get()
        assert said["comparator"].startswith("talk-overall-") and said["snapshots"] == [snapshot.name]
        assert 0 <= said["heldout_pairwise_accuracy"] <= 1 and said["seconds"] > 0 and said["device"] == "cpu"
        assert (said["seed"], said["criterion"], said["simulated"]) == (2, "Overall", False)
        assert said["limits"] == limits(ComparatorVersion.objects.get().metrics) != ""

    def test_what_was_waited_for_plays_at_once_too(self, world, tiny):
        said = command("train_comparator", "talk", "--wait")
        boards = Tournament.objects.values_list("basis", "judge__version__name", "finished_at")
        assert set(boards) == {(basis, said["comparator"], None) for basis in ("judge", "corrected")}

    def test_without_waiting_it_prints_the_task(self, world):
        said = command("train_comparator", "talk")
        job = Job.objects.get()
        assert (said["task"], said["status"], said["worker_alive"]) == (str(job.pk), "queued", False)
        assert said["said"].startswith("No worker is running. The job waits until one starts")
        assert job.status == Job.Status.QUEUED

    def test_a_device_that_is_not_there(self, world):
        with pytest.raises(CommandError, match="There is no device 'cuda:99' here; there is: .*cpu"):
            command("train_comparator", "talk", "--wait", "--device", "cuda:99")
        with pytest.raises(CommandError, match="--device works only with --wait"):
            command("train_comparator", "talk", "--device", "cpu")
        assert not TrainingRun.objects.exists()

    def test_an_unknown_campaign(self, db):
        with pytest.raises(CommandError, match="There is no campaign 'nowhere'"):
            command("train_comparator", "nowhere", "--wait")
        assert not TrainingRun.objects.exists()


def without(row: dict, *names: str) -> dict:
    return {k: v for k, v in row.items() if k not in names}


class TestScoreOutputs:
    def test_each_row_gets_its_score(self, world, version, tmp_path):
        out = tmp_path / "scored.jsonl"
        words = ("score_outputs", tmp_path / "outputs.jsonl", "--comparator", version.name, "--out", out)
        with pytest.raises(CommandError, match="There is no device 'mps:9' here"):
            command(*words, "--device", "mps:9")
        said = command(*words, "--device", "cpu")
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        error = version.metrics["calibration"]["error"]
        assert f"calibration error is {error:.3f}" in said["confidence"] and "is not known" in said["confidence"]
        doubt = gate_doubt(version, world.campaign)
        assert said["warnings"] == ([f"In talk: {doubt}"] if doubt else []) and version.warning == ""
        version.gates, version.warning = {}, "The scores of Overall are not accepted."
        never = f"In talk: Comparator {version.name} was never asked whether it may serve here."
        assert warnings_of(version) == ["The scores of Overall are not accepted.", never]
        assert said["rows"] == 48 and [without(r, "score", "utility") for r in rows] == world.rows
        by_utility = sorted(rows, key=lambda row: row["utility"])
        assert [row["score"] for row in by_utility] == sorted(row["score"] for row in rows)
        assert 0 < by_utility[0]["score"] < by_utility[-1]["score"] < 1

    def test_files_name_groups_as_the_campaign_does(self, world, version):
        """Two contexts of fold 0 are of one group, a third one and one of fold 1 of another, a fourth is a turn of a talk."""
        manifest = comparators.load(version).manifest
        by_fold = [[c for c in world.campaign.contexts.all() if manifest.fold_of(text_in(c, "")) == fold] for fold in (0, 1)]
        (a, b, c, d, *_), (e, *_) = by_fold
        for context, group in ((a, "tea"), (b, "tea"), (c, "parted"), (e, "parted")):
            Context.objects.filter(pk=context.pk).update(group=group)
        place = {"conversation": "talk", "turn": 1, "turns": 2}
        Context.objects.filter(pk=d.pk).update(metadata=place)
        new = {"context": ["never asked"], "output": "w1"}
        rows = [
            new | {"group": "tea"},
            new | {"group": None, "metadata": place | {"turn": "2"}},
            new | {"group": "parted"},
            new,
        ]
        texts = [text_of_row(Row(n, row), "output") for n, row in enumerate(rows, 1)]
        of_files = comparators.load(version, of_files=True).manifest
        assert [of_files.fold_of(text) for text in texts] == [0, 0, None, None]
        assert of_files.fold_of(text_of_row(Row(1, world.rows[0]), "output")) == manifest.fold_of(
            text_in(world.campaign.contexts.first(), "")
        )
        of_here = text_in(Context(campaign=world.campaign, turns=["never asked"], group="tea"), "")
        version.settings["uploaded"] = "elsewhere"  # where groups had other names
        assert comparators.load(version).manifest.fold_of(of_here) == 0 and manifest.fold_of(of_here) is None
        assert GROUPS_OF_FILES not in confidence_on_files(version)
        version.metrics["units"] = 9
        assert GROUPS_OF_FILES in confidence_on_files(version)

    def test_an_unknown_comparator_is_one_sentence(self, version, tmp_path):
        with pytest.raises(CommandError, match=f"There is no comparator 'nobody'; there is: {version.name}."):
            command("score_outputs", tmp_path / "outputs.jsonl", "--comparator", "nobody", "--out", tmp_path / "x")

    def test_a_bad_row_is_named_and_nothing_is_written(self, world, version, tmp_path):
        path = write(tmp_path, "bad.jsonl", [world.rows[0], {**world.rows[1], "output": 7}])
        out = tmp_path / "scored.jsonl"
        with pytest.raises(CommandError, match="bad.jsonl, line 2, field 'output': expected text, found a number"):
            command("score_outputs", path, "--comparator", version.name, "--out", out)
        assert not out.exists() and not list(tmp_path.glob(".*.part"))

    def test_an_earlier_file_stays_whole(self, world, version, tmp_path):
        out = tmp_path / "scored.jsonl"
        out.write_text("kept")
        with pytest.raises(CommandError, match="can't be opened"):
            command("score_outputs", tmp_path / "absent.jsonl", "--comparator", version.name, "--out", out)
        assert out.read_text() == "kept"

    def test_a_folder_that_is_not_there(self, version, tmp_path):
        out = tmp_path / "nowhere" / "scored.jsonl"
        with pytest.raises(CommandError, match="cannot be written"):
            command("score_outputs", tmp_path / "outputs.jsonl", "--comparator", version.name, "--out", out)


class TestCompareOutputs:
    def test_each_row_gets_probabilities_and_a_choice(self, world, version, tmp_path):
        a, b = world.rows[0], world.rows[3]
        pair = {
            "context_id": a["context_id"],
            "context": a["context"],
            "system_a": a["system"],
            "output_a": a["output"],
            "system_b": b["system"],
            "output_b": b["output"],
            "annotator": "Ann",
            "choice": "A",
        }
        back = {**pair, "output_a": b["output"], "output_b": a["output"]}
        same = {**pair, "output_b": a["output"]}
        out = tmp_path / "compared.jsonl"
        path = write(tmp_path, "pairs.jsonl", [pair, back, same])
        assert command("compare_outputs", path, "--comparator", version.name, "--out", out)["rows"] == 3
        there, turned, equal = (json.loads(line) for line in out.read_text().splitlines())
        assert {k: there[k] for k in pair} == pair
        assert there["p_a"] + there["p_tie"] + there["p_b"] == pytest.approx(1)
        assert [there["p_a"], there["p_tie"], there["p_b"]] == pytest.approx([turned["p_b"], turned["p_tie"], turned["p_a"]])
        assert turned["predicted_choice"] == {"A": "B", "B": "A", "tie": "tie"}[there["predicted_choice"]]
        assert equal["predicted_choice"] == "tie"
