"""From a snapshot to a version in the registry, whatever happens to the worker in between."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation import jobs
from annotation.errors import Refused
from annotation.models import Job, Output
from evaluator import runner, tasks
from evaluator.models import ComparatorVersion, TrainingRun, Utility
from evaluator.services import start_training
from tests.evaluator.world import World, recipe

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
    assert version.metrics["sources"] == {
        "scores": 96, "judgments": 0, "pairs_from_scores": 12 * 6, "pairs_from_judgments": 0,
    }  # fmt: skip
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
    assert runner.utilities(first, output) == runner.utilities(second, output)


def test_human_written_is_not_told_to_the_comparator(world):
    run = start_training([world.campaign], foreground=True, recipe=recipe())
    texts, pairs, scores, *_ = runner.examples(run)
    assert {type(text).__name__ for text in texts} == {"Text"} and set(vars(texts[0])) == {"context", "output"}
    assert len(texts) == len(scores) == 48 and len(pairs) == 72


def test_several_campaigns_train_one_comparator(world, tmp_path):
    (tmp_path / "other").mkdir()
    other = World(tmp_path / "other", slug="other")
    run = start_training([world.campaign, other.campaign], foreground=True, recipe=recipe(epochs=1))
    version = tasks.run(run.job_id)
    assert version.metrics["texts"] == 96 and len(version.snapshots) == 2
    assert set(version.campaigns.all()) == {world.campaign, other.campaign}


def test_a_killed_worker_is_found_and_its_run_goes_on_to_one_version(world, sent, models_dir):
    before = trained(world)
    run = start_training([world.campaign], seed=9, foreground=True, recipe=recipe())
    with pytest.raises(jobs.Cancelled):  # as far as the first member, and then no more
        runner.train(run, quiet, lambda: TrainingRun.objects.get(pk=run.pk).curve[-1:] and _member_one_is_done(run, models_dir))
    Job.objects.filter(pk=run.job_id).update(
        status=Job.Status.RUNNING, holder="dead", attempts=1, lease_until=timezone.now() - timedelta(seconds=1)
    )
    work = models_dir / f".run-{run.job_id}"
    first_member = (work / "member-0.safetensors").stat().st_mtime_ns

    assert jobs.sweep() == 1 and sent[-1] == ("evaluator.tasks.train", str(run.job_id))
    assert ComparatorVersion.objects.get() == before  # and it still serves
    output = Output.objects.filter(context__campaign=world.campaign).select_related("context").first()
    assert runner.utilities(before, [output])[output.pk] is not None

    tasks.train(str(run.job_id))
    tasks.train(str(run.job_id))  # the message came twice
    version = ComparatorVersion.objects.get(run=run)
    run.refresh_from_db()
    assert (run.job.status, run.job.attempts) == (Job.Status.DONE, 2)
    assert (models_dir / version.name / "member-0.safetensors").stat().st_mtime_ns == first_member  # not trained again
    assert [(p["fold"], p["epoch"]) for p in run.curve] == [(f, e) for f in range(3) for e in (1, 2)]
    assert runner.train(run, quiet, lambda: False) == version and ComparatorVersion.objects.count() == 2
    assert not work.exists()


def _member_one_is_done(run, models_dir) -> bool:
    return (models_dir / f".run-{run.job_id}" / "fold-0.json").exists()


def test_a_worker_that_died_between_the_folder_and_the_row_loses_nothing(world, models_dir, monkeypatch):
    run = start_training([world.campaign], foreground=True, recipe=recipe())
    version = runner.train(run, quiet, lambda: False)
    name, made = version.name, (models_dir / version.name / "member-0.safetensors").stat().st_mtime_ns
    version.delete()  # as if the transaction had not been committed
    again = runner.train(run, quiet, lambda: False)
    assert again.name == name and (models_dir / name / "member-0.safetensors").stat().st_mtime_ns == made
    assert [p.name for p in models_dir.iterdir()] == [name]


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
    first = runner.utilities(version, outputs[:10])
    assert Utility.objects.filter(version=version).count() == 10
    every = runner.utilities(version, outputs)
    monkeypatch.setattr(runner, "load", lambda version: pytest.fail("loaded although all is known"))
    assert runner.utilities(version, outputs) == every
    assert {pk: every[pk] for pk in first} == first


def test_verdicts_swap_with_the_sides(world):
    version = trained(world)
    outputs = list(Output.objects.filter(context__campaign=world.campaign).select_related("context"))
    said = runner.verdicts(version, outputs)
    a, b = [o.pk for o in outputs[:8]], [o.pk for o in outputs[1:9]]
    assert (said.outcomes(a, b) == -said.outcomes(b, a)).all()
    assert said.probabilities(a, b) == pytest.approx(said.probabilities(b, a)[:, ::-1])


def test_a_version_whose_files_are_gone_is_refused(world, models_dir):
    version = trained(world)
    (models_dir / version.name / "comparator.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(Refused, match="cannot be used"):
        runner.load(version)
