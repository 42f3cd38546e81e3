"""From a snapshot to a version in the registry, whatever happens to the worker in between."""

import json
from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from annotation import jobs
from annotation.data.importer import import_outputs
from annotation.models import Campaign, Job, Output
from core.errors import Refused
from evaluator import tasks
from evaluator.comparator.settings import Settings
from evaluator.models import ComparatorVersion, Dialogue, TrainingRun, Utility
from evaluator.signals import promoted
from evaluator.trainings import sources
from evaluator.trainings.services import start_training
from evaluator.worker import comparators, train
from leaderboard import systems
from tests.evaluator.world import World, recipe, write

pytestmark = pytest.mark.django_db


def quiet(progress, message):
    pass


def trained(world, **options) -> ComparatorVersion:
    run = start_training([world.campaign], foreground=True, recipe=recipe(), **options)
    return tasks.run(run.job_id)


def test_the_version_records_what_made_it(world, models_dir):
    seen = []
    run = start_training([world.campaign], seed=5, foreground=True, recipe=recipe())
    version = tasks.run(run.job_id, watch=lambda progress, message: seen.append(progress))
    run.refresh_from_db()
    snapshot = world.campaign.snapshots.get()
    assert version.name.startswith("talk-overall-") and len(version.name) == len("talk-overall-") + 8
    assert (version.criterion, version.seed, version.snapshots) == ("Overall", 5, [snapshot.digest])
    assert version.settings["epochs"] == 2 and version.settings["sources"] == {"talk": ["Overall", False]}
    assert version.metrics["sources"] == {"scores": 96, "judgments": 0, "pairs_from_scores": 12 * 6, "pairs_from_judgments": 0}
    assert (version.metrics["pairs"], version.metrics["texts"], version.metrics["contexts"]) == (72, 48, 12)
    assert 0 <= version.metrics["heldout_pairwise_accuracy"] <= 1
    assert list(version.campaigns.all()) == [world.campaign] and not version.is_simulated
    assert [(p["fold"], p["epoch"]) for p in run.curve] == [(f, e) for f in range(3) for e in (1, 2)]
    assert run.job.status == Job.Status.DONE and seen == sorted(seen) and seen[-1] == 1.0
    assert [p.name for p in models_dir.iterdir()] == [version.name]


def test_the_same_training_again_gives_the_same_judge_under_another_name(world):
    first, second = trained(world), trained(world)
    assert second.name == f"{first.name}-2"
    output = Output.objects.filter(context__campaign=world.campaign).select_related("context")
    assert comparators.utilities(first, output) == comparators.utilities(second, output)


def shown(run):
    return sources.examples(run, Settings(**run.settings["recipe"]))


def test_by_default_nobody_tells_the_comparator_who_wrote_what(world):
    found = shown(start_training([world.campaign], foreground=True, recipe=recipe()))
    assert {type(text).__name__ for text in found.texts} == {"Text"}
    assert set(vars(found.texts[0])) == {"context", "output", "context_id", "group"}
    assert len(found.texts) == len(found.scores) == 48 and len(found.pairs) == 72
    assert {pair.source for pair in found.pairs} == {"scores"}


def test_human_written_beats_generated_where_that_is_asked_for(world):
    found = shown(start_training([world.campaign], foreground=True, recipe=recipe(strong=True)))
    strong = [pair for pair in found.pairs if pair.source == "strong"]
    assert len(strong) == 12 * 3  # Person against three systems, in twelve contexts
    people = {row["output"] for row in world.rows if row["system"] == "Person"}
    for pair in strong:
        better = pair.a if pair.target[0] == 1 else pair.b
        assert found.texts[better].output in people


def test_what_a_person_wrote_that_was_replaced_since_still_counts_as_human_written(world):
    rows = [row | {"output": f"good w{i}"} for i, row in enumerate(world.rows) if row["system"] == "Person"]
    person = world.campaign.systems.get(name="Person")
    systems.replace_outputs(person, write(world.folder, "new.jsonl", rows), "new.jsonl")
    found = shown(start_training([world.campaign], foreground=True, recipe=recipe(strong=True)))
    strong = [pair for pair in found.pairs if pair.source == "strong"]
    old = {row["output"] for row in world.rows if row["system"] == "Person"}
    new = {row["output"] for row in rows}
    said = lambda i: "old" if found.texts[i].output in old else "new" if found.texts[i].output in new else "generated"
    met = Counter((said(p.a if p.target[2] == 0 else p.b), said(p.b if p.target[2] == 0 else p.a)) for p in strong)
    assert met == {("old", "generated"): 36, ("new", "generated"): 36, ("old", "new"): 12}
    assert all(p.target[1] == 1 for p in strong if {said(p.a), said(p.b)} == {"old", "new"})


def test_later_checkpoints_beat_earlier_ones_where_that_is_asked_for(world):
    rows = [
        {
            "context_id": "c00",
            "context": world.rows[0]["context"],
            "system": "Net",
            "output": f"w{i}",
            "checkpoint": f"k{i}",
            "iteration": i,
            "total_iterations": 10,
        }
        for i in (1, 5, 9, 10)
    ]
    import_outputs(world.campaign, write(world.folder, "checkpoints.jsonl", rows))
    found = shown(start_training([world.campaign], foreground=True, recipe=recipe(weak=True)))
    weak = [pair for pair in found.pairs if pair.source == "weak"]
    # 1-5, 1-9, 1-10, 5-9, 5-10; 9 and 10 both lie in the last fifth
    assert sorted(round(pair.margin, 2) for pair in weak) == [0.4, 0.4, 0.5, 0.8, 0.9]
    assert len(found.texts) == len(found.scores) == 52 and np.isnan(found.scores[48:]).all()


def test_conversations_are_learnt_first_and_counted(world):
    turns = [["w1 w2", "w3 good", "w4 w5"], ["w6", "good w7"], ["w8 w9", "w1 good"]]
    for i, said in enumerate(turns * 4):
        Dialogue.objects.create(campaign=world.campaign, key=str(i), turns=[f"w{i} w{i + 1}", *said])
    fast = recipe(epochs=1, base_passes=1, base_max_length=32)
    version = tasks.run(start_training([world.campaign], foreground=True, recipe=fast).job_id)
    learnt = version.metrics["learnt_from"]
    # 4 times 3 + 2 + 2 replies; the 12 contexts that people judged are kept from the base
    assert (learnt["exchanges"], learnt["exchanges left out"]) == (28, 12)
    assert len(version.metrics["texts_sha256"]) == 64


def test_an_encoder_that_is_not_there_is_named(world):
    run = start_training([world.campaign], foreground=True, recipe=recipe(encoder="nobody/no-such-encoder"))
    with pytest.raises(Refused, match="encoder 'nobody/no-such-encoder' cannot be loaded"):
        tasks.run(run.job_id)


def test_several_campaigns_train_one_comparator(world, tmp_path):
    (tmp_path / "other").mkdir()
    other = World(tmp_path / "other", slug="other")
    run = start_training([world.campaign, other.campaign], foreground=True, recipe=recipe(epochs=1))
    version = tasks.run(run.job_id)
    assert version.metrics["texts"] == 96 and len(version.snapshots) == 2
    assert set(version.campaigns.all()) == {world.campaign, other.campaign}


def test_a_killed_worker_is_found_and_its_run_goes_on_to_one_version(world, sent, models_dir):
    Campaign.objects.update(plays_new_comparators=False)
    before = trained(world)
    run = start_training([world.campaign], seed=9, foreground=True, recipe=recipe())
    with pytest.raises(jobs.Cancelled):  # as far as the first member, and then no more
        train.train(run, quiet, lambda: TrainingRun.objects.get(pk=run.pk).curve[-1:] and _member_one_is_done(run, models_dir))
    Job.objects.filter(pk=run.job_id).update(
        status=Job.Status.RUNNING, holder="dead", attempts=1, lease_until=timezone.now() - timedelta(seconds=1)
    )
    work = models_dir / f".run-{run.job_id}"
    first_member = (work / "member-0.safetensors").stat().st_ino

    assert jobs.sweep() == 1 and sent[-1] == ("evaluator.tasks.train", str(run.job_id))
    assert ComparatorVersion.objects.get() == before  # and it is still in use
    output = Output.objects.filter(context__campaign=world.campaign).select_related("context").first()
    assert comparators.utilities(before, [output])[output.pk] is not None

    tasks.train(str(run.job_id))
    tasks.train(str(run.job_id))  # the message came twice
    version = ComparatorVersion.objects.get(run=run)
    run.refresh_from_db()
    assert (run.job.status, run.job.attempts) == (Job.Status.DONE, 2)
    assert (models_dir / version.name / "member-0.safetensors").stat().st_ino == first_member  # not trained again
    assert [(p["fold"], p["epoch"]) for p in run.curve] == [(f, e) for f in range(3) for e in (1, 2)]
    assert train.train(run, quiet, lambda: False) == version and ComparatorVersion.objects.count() == 2
    assert not work.exists()


def _member_one_is_done(run, models_dir) -> bool:
    return (models_dir / f".run-{run.job_id}" / "member-0.json").exists()


def test_a_worker_that_died_between_the_folder_and_the_row_loses_nothing(world, models_dir, monkeypatch):
    run = start_training([world.campaign], foreground=True, recipe=recipe())
    version = train.train(run, quiet, lambda: False)
    name, made = version.name, (models_dir / version.name / "member-0.safetensors").stat().st_mtime_ns
    version.delete()  # as if the transaction had not been committed
    again = train.train(run, quiet, lambda: False)
    assert again.name == name and (models_dir / name / "member-0.safetensors").stat().st_mtime_ns == made
    assert [p.name for p in models_dir.iterdir()] == [name]


@pytest.mark.parametrize("content", ["[]", '"run"', "not JSON", "", "[" * 100_000])
def test_an_owner_that_cannot_be_read_is_no_other_trainings_trouble(world, models_dir, content):
    (models_dir / "broken").mkdir(parents=True)
    (models_dir / "broken" / train.OWNER).write_text(content)
    run = start_training([world.campaign], foreground=True, recipe=recipe())
    assert train._work_folder(run) == models_dir / f".run-{run.job_id}" and (models_dir / "broken").is_dir()


def test_a_worker_that_died_while_it_announced_its_version_announces_it_again(world):
    """Otherwise its boards would never be played."""
    heard = []

    def hear(sender, version, **told):
        heard.append(version)
        if len(heard) == 1:
            raise RuntimeError("The database was away.")

    run = start_training([world.campaign], recipe=recipe())
    promoted.connect(hear, dispatch_uid="t")
    try:
        with pytest.raises(RuntimeError):
            tasks.run(run.job_id)
        assert Job.objects.get(pk=run.job_id).status == Job.Status.FAILED
        jobs.retry(run.job)
        version = tasks.run(run.job_id)
    finally:
        promoted.disconnect(dispatch_uid="t")
    assert heard == [version, version] and ComparatorVersion.objects.count() == 1
    assert Job.objects.get(pk=run.job_id).status == Job.Status.DONE


def test_a_cancelled_job_makes_no_version(world):
    run = start_training([world.campaign], foreground=True, recipe=recipe())

    def cancel(progress, message):
        Job.objects.filter(pk=run.job_id).update(cancel_requested=True)
        raise jobs.Cancelled  # what the next report would raise

    with pytest.raises(jobs.Cancelled):
        tasks.run(run.job_id, watch=cancel)
    run.job.refresh_from_db()
    assert run.job.status == Job.Status.CANCELLED and not ComparatorVersion.objects.exists()


def test_too_few_contexts_are_said_in_one_sentence(tmp_path):
    world = World(tmp_path, contexts=2)
    run = start_training([world.campaign], foreground=True, recipe=recipe())
    with pytest.raises(Refused, match="3 folds need at least 3 different contexts; there are 2"):
        tasks.run(run.job_id)
    run.job.refresh_from_db()
    assert run.job.status == Job.Status.FAILED and "3 folds need" in run.job.error


def test_an_output_is_judged_once_by_a_version(world, monkeypatch):
    version = trained(world)
    outputs = list(Output.objects.filter(context__campaign=world.campaign).select_related("context"))
    Utility.objects.all().delete()  # what the gate asked for
    first = comparators.utilities(version, outputs[:10])
    assert Utility.objects.filter(version=version).count() == 10
    every = comparators.utilities(version, outputs)
    monkeypatch.setattr(comparators, "load", lambda version: pytest.fail("loaded although all is known"))
    assert comparators.utilities(version, outputs) == every
    assert {pk: every[pk] for pk in first} == first


def test_verdicts_swap_with_the_sides(world):
    version = trained(world)
    outputs = list(Output.objects.filter(context__campaign=world.campaign).select_related("context"))
    said = comparators.verdicts(version, outputs)
    a, b = [o.pk for o in outputs[:8]], [o.pk for o in outputs[1:9]]
    assert (said.outcomes(a, b) == -said.outcomes(b, a)).all()
    assert said.probabilities(a, b) == pytest.approx(said.probabilities(b, a)[:, ::-1])


def test_a_version_whose_files_are_gone_is_refused(world, models_dir):
    version = trained(world)
    (models_dir / version.name / "comparator.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(Refused, match="cannot be used"):
        comparators.load(version)


def test_a_training_ends_well_where_the_version_that_serves_cannot_be_read(world, models_dir):
    version = trained(world)
    Utility.objects.all().delete()
    (models_dir / version.name / "comparator.json").write_text(json.dumps({"format": 4}))
    newer = trained(world, seed=1)
    assert Job.objects.get(pk=newer.run.job_id).status == Job.Status.DONE
    assert any(f"{version.name}, the one in use, can no longer be read" in asked["answer"] for asked in newer.gates["talk"])
