"""The comparator in use is trained again by an admin's action or a campaign's rule, which is off until somebody sets it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation import jobs
from annotation.models import AuditEvent, Job, User
from annotation.snapshots import latest_snapshot
from evaluator.models import ComparatorVersion, Promotion, RetrainingRule, TrainingRun
from evaluator.trainings.services import retrain_due, set_retraining, start_training
from tests.evaluator.world import SCORES

pytestmark = pytest.mark.django_db
PAGE = "/c/talk/comparator/"
SAID = {"epochs": 2, "ties": False}


@pytest.fixture
def run(world):
    """The training of the comparator in use."""
    run = start_training([world.campaign], "Overall", seed=7, user=world.alice, recipe=SAID)
    Job.objects.update(status=Job.Status.DONE)
    version = ComparatorVersion.objects.create(name="talk-1", run=run, settings={}, seed=7, snapshots=[], code="x", metrics={})
    version.campaigns.add(world.campaign)
    Promotion.objects.create(campaign=world.campaign, version=version)
    return run


@pytest.fixture
def newer(world, run):
    """A snapshot with answers that the training did not have: as many as `Wit` has scores."""
    before = world.campaign.snapshots.get().scores
    world.score("Wit", SCORES)
    snapshot = world.freeze()
    return snapshot.scores - before


def asked(run: TrainingRun):
    return run.criterion, run.seed, run.settings["recipe"], run.settings["sources"]


def test_the_same_is_asked_of_the_newest_snapshot(world, run, newer):
    set_retraining(world.campaign, None, newer, world.alice)
    assert retrain_due() == 1
    again = TrainingRun.objects.first()
    assert again != run and asked(again) == asked(run) and again.job.created_by == world.alice
    assert list(again.snapshots.all()) == [latest_snapshot(world.campaign)] != list(run.snapshots.all())


def test_it_is_off_until_somebody_sets_it(world, run, newer):
    assert retrain_due(timezone.now() + timedelta(days=9999)) == 0
    set_retraining(world.campaign, None, None, world.alice)
    assert retrain_due(timezone.now() + timedelta(days=9999)) == 0 and TrainingRun.objects.count() == 1


def test_too_few_new_answers_or_days_start_nothing(world, run, newer):
    set_retraining(world.campaign, 7, newer + 1, world.alice)
    assert retrain_due() == retrain_due(timezone.now() + timedelta(days=6.9)) == 0
    assert retrain_due(timezone.now() + timedelta(days=7.1)) == 1


def test_without_a_newer_snapshot_nothing_is_trained_again(world, run):
    set_retraining(world.campaign, 1, 1, world.alice)
    assert retrain_due(timezone.now() + timedelta(days=30)) == 0


@pytest.mark.parametrize("status", [Job.Status.QUEUED, Job.Status.FAILED, Job.Status.CANCELLED, Job.Status.DONE])
def test_a_snapshot_is_learnt_from_once_however_that_ended(world, run, newer, status):
    set_retraining(world.campaign, 1, 1, world.alice)
    assert retrain_due() == 1
    Job.objects.filter(training_run=TrainingRun.objects.first()).update(status=status)
    assert retrain_due(timezone.now() + timedelta(days=30)) == 0


def test_a_training_under_way_is_waited_for(world, run, newer):
    Job.objects.update(status=Job.Status.RUNNING)
    set_retraining(world.campaign, 1, 1, world.alice)
    assert retrain_due(timezone.now() + timedelta(days=30)) == 0


def test_somebody_elses_experiment_is_not_repeated(world, run, newer):
    start_training([world.campaign], "Overall", seed=8, user=world.alice)
    set_retraining(world.campaign, None, 1, world.alice)
    assert retrain_due() == 1 and asked(TrainingRun.objects.first()) == asked(run)


def test_who_set_it_must_still_research_the_campaign(world, run, newer):
    set_retraining(world.campaign, None, 1, User.objects.create_user("bob"))
    assert retrain_due() == 0
    rule = RetrainingRule.objects.get()
    assert rule.refused == "bob no longer researches all campaigns that the comparator learns from."
    world.client.force_login(world.alice)
    assert rule.refused in world.client.get(PAGE).content.decode()
    set_retraining(world.campaign, None, 1, world.alice)
    assert retrain_due() == 1 and RetrainingRule.objects.get().refused == ""


def test_a_refusal_is_not_asked_again_for_the_same_snapshot(world, run, newer, monkeypatch):
    world.alice.is_active = False
    world.alice.save()
    set_retraining(world.campaign, None, 1, world.alice)
    assert retrain_due() == 0
    User.objects.update(is_active=True)
    assert retrain_due() == 0
    world.judge([("c00", "Fine", "Poor", "Ann", "A")])
    world.freeze()
    assert retrain_due() == 1


def test_a_workers_pulse_looks_for_it(world, run, newer):
    set_retraining(world.campaign, None, 1, world.alice)
    answers = [answer for _, answer in jobs.pulsed.send_robust(None)]
    assert 1 in answers and TrainingRun.objects.count() == 2


class TestPage:
    def test_a_researcher_sets_it_and_turns_it_off(self, world, run):
        world.client.force_login(world.alice)
        world.client.post(f"{PAGE}retraining/", {"after_days": "30", "after_judgments": "500"})
        rule = RetrainingRule.objects.get()
        assert (rule.after_days, rule.after_judgments, rule.user) == (30, 500, world.alice)
        page = world.client.get(PAGE).content.decode()
        assert 'value="30"' in page and f"On, set by {world.alice}." in page
        world.client.post(f"{PAGE}retraining/", {"after_days": "", "after_judgments": ""})
        rule.refresh_from_db()
        assert rule.after_days is rule.after_judgments is None
        assert AuditEvent.objects.filter(action="retraining set", user=world.alice).count() == 2

    @pytest.mark.parametrize("days", ["0", "-1", "x", "1" * 30])
    def test_nonsense_changes_nothing(self, world, run, days):
        world.client.force_login(world.alice)
        page = world.client.post(f"{PAGE}retraining/", {"after_days": days}, follow=True).content.decode()
        assert "Days since the last training:" in page and not RetrainingRule.objects.exists()


class TestApi:
    PATH = "/api/campaigns/talk/retraining/"

    def put(self, client, **body):
        return client.put(self.PATH, body, "application/json")

    def test_a_researcher_reads_it_sets_it_and_turns_it_off(self, world, run):
        world.client.force_login(world.alice)
        off = {"after_days": None, "after_judgments": None, "user": None, "refused": ""}
        assert world.client.get(self.PATH).json() == off
        on = {"after_days": 30, "after_judgments": None, "user": world.alice.username, "refused": ""}
        assert self.put(world.client, after_days=30, after_judgments=None).json() == on == world.client.get(self.PATH).json()
        assert RetrainingRule.objects.get().after_days == 30
        assert self.put(world.client, after_days=None, after_judgments=None).json() == off | {"user": world.alice.username}
        assert AuditEvent.objects.filter(action="retraining set", user=world.alice).count() == 2

    @pytest.mark.parametrize("body", [{}, {"after_days": 30}, {"after_days": 0, "after_judgments": None}])
    def test_nonsense_changes_nothing(self, world, run, body):
        world.client.force_login(world.alice)
        assert self.put(world.client, **body).status_code == 400 and not RetrainingRule.objects.exists()


class TestAdminSite:
    def act(self, client, *runs):
        chosen = {"action": "retrain", "_selected_action": [run.pk for run in runs]}
        return client.post("/admin/evaluator/trainingrun/", chosen, follow=True).content.decode()

    def test_an_admin_starts_a_training_again(self, world, run, newer):
        admin = User.objects.create_superuser("vera")
        world.client.force_login(admin)
        said = self.act(world.client, run)
        again = TrainingRun.objects.first()
        assert f"Training {run.pk} is started again as training {again.pk}." in said
        assert asked(again) == asked(run) and again.job.created_by == admin
        assert "already queued or running" in self.act(world.client, run)

    def test_who_is_no_admin_starts_nothing(self, world, run):
        world.client.force_login(world.alice)
        self.act(world.client, run)
        assert TrainingRun.objects.count() == 1
