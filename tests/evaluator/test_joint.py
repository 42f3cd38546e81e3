"""A joint version, from its training to a board: everything that a utility version does, or one sentence why not."""

import io
import json
import zipfile

import pytest
from django.core.management import CommandError

from annotation.models import Job, Output
from annotation.outcome import Outcome
from core.errors import Refused
from evaluator.comparator.joint_model import JointComparator
from evaluator.judges.texts import Text
from evaluator.models import ComparatorVersion, TrainingRun, Utility
from evaluator.roster import judge_of
from evaluator.trainings.services import start_training
from evaluator.versions import archive, registry
from evaluator.versions.card_shape import first_wrong
from evaluator.worker import comparators
from leaderboard.boards import queries
from leaderboard.models import Game, Tournament
from leaderboard.tasks import run as play
from leaderboard.tournaments import start
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.packed import changed, upload
from tests.evaluator.world import SCORES, command, write

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
RECIPE = {"architecture": "joint", "epochs": 1}


@pytest.fixture
def version(comparator) -> ComparatorVersion:
    return comparator


def test_the_command_asks_for_it(world):
    command("train_comparator", "talk", "--architecture", "joint")
    assert TrainingRun.objects.get().settings["recipe"] == {"architecture": "joint"}
    command("train_comparator", "talk", "--architecture", "utility")
    assert TrainingRun.objects.first().settings["recipe"] == {}
    with pytest.raises(CommandError, match="invalid choice: 'both'"):
        command("train_comparator", "talk", "--architecture", "both")


def test_several_criteria_are_refused(world):
    world.score("Wit", SCORES)
    world.freeze()
    with pytest.raises(Refused, match="learns one criterion"):
        start_training([world.campaign], "Overall", recipe={"architecture": "joint"}, others=["Wit"])
    assert not TrainingRun.objects.exists()


def test_its_card_tells_how_often_it_contradicts_itself(world, version):
    m = version.metrics
    assert version.settings["architecture"] == "joint" and isinstance(comparators.load(version), JointComparator)
    assert (m["consistency"]["pairs"], m["consistency"]["triples"]) == (72, 48)  # six pairs, four triples in 12 contexts
    assert m["flips"]["share"] == pytest.approx(m["consistency"]["flips"]) and m["flips"]["n"] == 72
    assert m["calibration"]["error"] == pytest.approx(m["calibration_error"])
    assert {row["answers"] for row in m["attacks"]} == {24} and first_wrong(m) is None
    assert registry.comparator_in_use(world.campaign) == version  # the first of its campaign
    page = world.get(world.alice, f"/c/talk/comparator/{version.name}/").content.decode()
    for said in ("Joint: the model reads two outputs together", "With only one order", "Intransitive", "--architecture joint"):
        assert said in page, said


def test_it_plays_by_the_answers_of_compare(world, version):
    tournament = start_tournament(world.campaign, "judge", judge_of(world.campaign, version), foreground=True)
    played = play(tournament.job_id)
    comparator = comparators.load(version)
    games = Game.objects.filter(tournament=played).select_related("output_a__context", "output_b__context")
    sides = [[Text(tuple(o.context.turns), o.text) for o in (g.output_a, g.output_b)] for g in games]
    found = comparator.compare([a for a, _ in sides], [b for _, b in sides])
    assert len(games) == played.played > 0
    outcomes = {"A": Outcome.A, "tie": Outcome.TIE, "B": Outcome.B}
    assert [g.outcome for g in games] == [outcomes[choice].value for choice in found.choices]
    assert [g.p_a for g in games] == pytest.approx(found.probabilities[:, 0], abs=1e-5)
    assert played.settings["refit"] is None and "|refit:none|" in played.signature  # it learned from this campaign
    assert not Utility.objects.exists()  # there is none to remember
    outputs = list(Output.objects.filter(context__campaign=world.campaign).select_related("context"))
    other = next(o for o in outputs if o.context_id != outputs[0].context_id)
    with pytest.raises(Refused, match="compares outputs of one context only"):
        comparators.verdicts(version, outputs).outcomes([outputs[0].pk], [other.pk])


def test_single_outputs_play_across_contexts(world, version, monkeypatch):
    """48 outputs of 12 contexts: 100 games and at most 48 * 48 with references at 4 readings, and 12 * 4 * 3 within the
    contexts."""
    assert start.readings(world.campaign, 100) == 4 * (100 + 48 * 48) + 12 * 4 * 3
    help_text = f"Single outputs cost a joint comparator at most {start.readings(world.campaign):,} readings"
    assert help_text in world.get(world.alice, "/c/talk/leaderboard/play/").content.decode()
    asked = {"level": Tournament.Level.SAMPLE, "games": 100}
    board = play(start_tournament(world.campaign, "judge", judge_of(world.campaign, version), foreground=True, **asked).job_id)
    games = list(Game.objects.filter(tournament=board).select_related("output_a__context", "output_b__context"))
    assert len(games) == 100 and {row.system for row in queries.alone(board).three_scores} == set(
        world.campaign.systems.values_list("name", flat=True)
    )
    apart = next(g for g in games if g.output_a.context_id != g.output_b.context_id)
    a, b = ((tuple(o.context.turns), o.text) for o in (apart.output_a, apart.output_b))
    comparator = comparators.load(version)
    p = [comparator.compare([Text(c, a[1])], [Text(c, b[1])]).probabilities[0] for c in (a[0], b[0])]  # in either context
    assert apart.p_a == pytest.approx((p[0][0] + p[1][0]) / 2, abs=1e-5)
    monkeypatch.setattr(start, "MOST_READINGS", 1000)
    with pytest.raises(Refused, match="would read two outputs together 9,760 times; at most 1,000"):
        start_tournament(world.campaign, "judge", judge_of(world.campaign, version), **asked)


def test_files_are_judged(world, version, tmp_path):
    scored = tmp_path / "scored.jsonl"
    by_system = sorted(world.rows, key=lambda row: row["system"])  # so that the outputs of a context are far apart
    said = command("score_outputs", write(tmp_path, "in.jsonl", by_system), "--comparator", version.name, "--out", scored)
    scores = [json.loads(line)["score"] for line in scored.read_text().splitlines()]
    texts = [Text(tuple(row["context"]), row["output"]) for row in by_system]
    assert said["rows"] == 48 and scores == pytest.approx(comparators.load(version).score(texts), abs=1e-5)
    alone = write(tmp_path, "alone.jsonl", [*world.rows, {**world.rows[0], "context": ["another"]}])
    with pytest.raises(CommandError, match="line 49, field 'context': has one output in this file"):
        command("score_outputs", alone, "--comparator", version.name, "--out", tmp_path / "none.jsonl")
    assert not (tmp_path / "none.jsonl").exists()

    a, b = world.rows[0], world.rows[3]
    pair = {"context": a["context"], "output_a": a["output"], "output_b": b["output"]}
    path, out = write(tmp_path, "pairs.jsonl", [pair]), tmp_path / "compared.jsonl"
    assert command("compare_outputs", path, "--comparator", version.name, "--out", out)["rows"] == 1
    row = json.loads(out.read_text())
    assert row["p_a"] + row["p_tie"] + row["p_b"] == pytest.approx(1) and row["predicted_choice"] in ("A", "tie", "B")


class TestTakingAlong:
    @pytest.fixture
    def packed(self, version, models_dir) -> bytes:
        return archive.pack(version, models_dir / version.name, version.metrics).read()

    def test_what_comes_back_is_joint_still(self, world, version, packed):
        ComparatorVersion.objects.filter(pk=version.pk).update(metrics=version.metrics | {"fingerprint": "another"})
        job = upload(world, packed)
        assert job.status == Job.Status.DONE, job.error
        came = ComparatorVersion.objects.get(run=None)
        assert came.settings["architecture"] == "joint" and isinstance(comparators.load(came), JointComparator)

    def test_a_card_of_another_architecture_is_refused(self, world, version, packed):
        ComparatorVersion.objects.filter(pk=version.pk).update(metrics=version.metrics | {"fingerprint": "another"})
        with zipfile.ZipFile(io.BytesIO(packed)) as old:
            card = json.loads(old.read("card.json"))
        card["settings"]["architecture"] = "utility"
        job = upload(world, changed(packed, card_json=json.dumps(card)))
        assert job.status == Job.Status.FAILED and "Its card names another architecture" in job.error
        assert ComparatorVersion.objects.count() == 1
