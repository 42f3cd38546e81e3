"""What a training learns from, and when it is refused."""

import pytest

from annotation.models import AuditEvent, Job, QualityDecision
from core.errors import Refused
from evaluator.models import TrainingRun
from evaluator.trainings.services import start_training
from evaluator.versions.selectors import basis, by_default
from tests.evaluator.world import SCORES, World

pytestmark = pytest.mark.django_db
NOISE = {"Person": 1, "Fine": 5, "Plain": 2, "Poor": 4}


def test_a_run_its_job_and_its_message_come_together(world, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        run = start_training([world.campaign], seed=3, user=world.alice)
    assert (run.criterion, run.seed, run.warning) == ("Overall", 3, "")
    assert run.settings["sources"] == {"talk": ["Overall", False]}
    assert [s.pk for s in run.snapshots.all()] == [world.campaign.snapshots.get().pk]
    assert sent == [("evaluator.tasks.train", str(run.job_id))]
    assert AuditEvent.objects.filter(action="training started", user=world.alice).count() == 1


def test_in_the_foreground_no_message_goes_out(world, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        start_training([world.campaign], foreground=True)
    assert sent == []


def test_a_second_click_trains_nothing_twice(world):
    first = start_training([world.campaign])
    again = start_training([world.campaign])
    assert again == first and again.was_waiting and again.job_id == first.job_id
    assert not start_training([world.campaign], seed=1).was_waiting
    assert Job.objects.count() == TrainingRun.objects.count() == 2


def test_without_a_snapshot_it_is_refused(tmp_path):
    world = World(tmp_path, judged=False)
    with pytest.raises(Refused, match="has no snapshot of accepted judgments yet"):
        start_training([world.campaign])
    assert not Job.objects.exists()


def test_an_unknown_criterion_is_refused_by_name(world):
    with pytest.raises(Refused, match="no scores for the criterion 'Charm'.*it has: Overall"):
        start_training([world.campaign], criterion="Charm")


def test_a_seed_out_of_range_is_refused(world):
    with pytest.raises(Refused, match="seed must be"):
        start_training([world.campaign], seed=-1)


def test_the_first_criterion_is_the_default_whatever_its_answers_are(tmp_path):
    """Overall is the campaign's first; Wit agrees as well, and is accepted where Overall is not."""
    world = World(tmp_path, judged=False)
    world.score("Wit", SCORES)
    world.score("Overall", SCORES)
    snapshot = world.freeze()
    assert basis(snapshot) == basis(snapshot, "Overall") and basis(snapshot).warning == ""
    of_overall = QualityDecision.objects.filter(criterion__name="Overall")
    of_overall.update(verdict="collect more", report={"reason": "Alpha is 0.400."})
    found = basis(snapshot)
    assert (found.criterion, found.warning) == ("Overall", "The scores of Overall are not accepted: Alpha is 0.400.")
    assert by_default(snapshot, "Overall") == (
        "Nobody chose a criterion, so this is about Overall, the campaign's first criterion with scores."
    )


def test_where_one_question_was_asked_nobody_had_a_choice(world):
    assert by_default(world.campaign.snapshots.get(), "Overall") == ""


def test_what_is_not_accepted_is_used_with_a_warning(world):
    snapshot = world.campaign.snapshots.get()
    QualityDecision.objects.update(verdict="collect more", report={"reason": "Alpha is 0.400."})
    found = basis(snapshot)
    assert (found.criterion, found.warning) == ("Overall", "The scores of Overall are not accepted: Alpha is 0.400.")
    assert start_training([world.campaign]).warning == found.warning


def test_an_overruled_decision_brings_no_warning(world):
    QualityDecision.objects.update(verdict="collect more", overrule_reason="Read by hand; the scores are fine.")
    assert basis(world.campaign.snapshots.get()).warning == ""


def test_accepted_judgments_of_pairs_are_learned_with_the_scores(world):
    contexts = sorted({row["context_id"] for row in world.rows})
    world.judge([(c, "Fine", "Poor", who, "A") for c in contexts for who in ("Ann", "Bob")])
    world.judge([(c, "Fine", "Person", who, "tie") for c in contexts for who in ("Ann", "Bob")])
    snapshot = world.freeze()
    assert basis(snapshot).judgments
    QualityDecision.objects.filter(criterion=None).update(verdict="collect more")
    assert not basis(snapshot).judgments and basis(snapshot).warning == ""
    assert basis(snapshot, "").warning.startswith("The judgments of pairs are not accepted")


def test_judgments_of_pairs_alone_will_do(tmp_path):
    world = World(tmp_path, judged=False)
    world.judge([(f"c{c:02}", "Fine", "Poor", "Ann", "A") for c in range(12)])
    snapshot = world.freeze()
    assert basis(snapshot).criterion == "" and basis(snapshot).judgments
    with pytest.raises(Refused, match="judgments of pairs only"):
        basis(snapshot, "Overall")


def test_naming_pairs_where_there_are_none_is_refused(world):
    with pytest.raises(Refused, match="has no judgments of pairs"):
        start_training([world.campaign], criterion="")
