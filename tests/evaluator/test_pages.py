"""The comparator's page: who sees it, what it shows, what its button does."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from annotation.models import Job
from evaluator import tasks
from evaluator.models import ComparatorVersion, TrainingRun
from evaluator.trainings import services
from evaluator.views.curves import learning_curves, reliability_chart
from tests.evaluator.world import World, recipe

pytestmark = pytest.mark.django_db
PAGE = "/c/talk/comparator/"
RECIPE = {"epochs": 1}


@pytest.mark.parametrize("path", [PAGE, PAGE + "upload/", PAGE + "dialogues/"])
def test_only_researchers_and_admins(world, path):
    ask = world.get if path == PAGE else world.post
    assert ask(world.charlie, path).status_code == 404
    assert ask(world.alice, path).status_code in (200, 302)
    assert ask(world.dora, path).status_code in (200, 302)
    world.client.logout()
    assert "/login/" in world.client.get(PAGE).url
    assert not TrainingRun.objects.filter(job__created_by=world.charlie).exists()


def test_a_failed_run_says_why_and_can_be_started_again(world):
    services.start_training([world.campaign])
    Job.objects.update(status=Job.Status.FAILED, error="The worker died 3 times.")
    html = world.get(world.alice, PAGE).content.decode()
    assert "The worker died 3 times." in html and "Start again" in html


def test_a_version_shows_its_accuracy_with_interval_and_baseline(world):
    run = services.start_training([world.campaign], foreground=True, recipe=recipe())
    version = tasks.run(run.job_id)
    for page in (PAGE, f"{PAGE}{version.name}/"):
        html = world.get(world.alice, page).content.decode()
        assert version.name in html and "onger is better" in html and "in use" in html
        assert f"{version.metrics['heldout_pairwise_accuracy']:.3f}" in html
        assert f"{version.metrics['longer_is_better_accuracy']:.3f}" in html
        assert "style=" not in html and "simulated" not in html
    assert version.code in html and "<polyline" in html and version.snapshots[0][:12] in html


def test_what_learned_from_simulated_judgments_says_so(tmp_path, client):
    world = World(tmp_path, client, judged=False)
    world.score("Overall", {"Person": 5, "Fine": 4, "Plain": 3, "Poor": 1}, simulated=True)
    world.freeze()
    run = services.start_training([world.campaign], foreground=True, recipe=recipe(epochs=1))
    tasks.run(run.job_id)
    assert ComparatorVersion.objects.get().is_simulated
    assert "badge-simulated" in world.get(world.alice, PAGE).content.decode()


def test_before_any_judgment_the_page_says_what_to_do(tmp_path, client):
    world = World(tmp_path, client, judged=False)
    html = world.get(world.alice, PAGE).content.decode()
    assert "assess the quality" in html and '<select name="criterion"' not in html
    assert "Train a comparator without judgments" in html


def test_each_member_has_a_line_of_its_training_losses():
    curve = [{"fold": fold, "epoch": epoch, "train_loss": 1.0 - epoch / 10} for fold in (0, 1) for epoch in (1, 2, 3)]
    (losses,) = learning_curves(curve)
    assert [(line["label"], len(line["dots"])) for line in losses.lines] == [("1", 3), ("2", 3)]
    heights = [y for _, y in losses.lines[0]["dots"]]
    assert heights == sorted(heights) and heights[0] < heights[-1]  # it falls: y grows downwards
    assert learning_curves([]) == []


def test_a_web_process_loads_neither_torch_nor_the_parts_of_scipy_before_it_needs_them():
    program = (
        "import django, sys; django.setup(); from django.urls import get_resolver; get_resolver().url_patterns;"
        "import config.wsgi, evaluator.tasks, leaderboard.tasks;"
        "bad = {'torch', 'transformers', 'scipy.sparse', 'scipy.stats'} & set(sys.modules);"
        "sys.exit(f'loaded: {bad}' if bad else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        env={**__import__("os").environ, "DJANGO_SETTINGS_MODULE": "config.settings_test"},
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def version(comparator):
    return comparator


class TestCard:
    def test_an_outsider_may_do_nothing_with_it(self, world, version):
        card = f"{PAGE}{version.name}/"
        assert world.get(world.charlie, card).status_code == world.get(world.charlie, card + "download/").status_code == 404
        for action in ("promote/", "retire/"):
            assert world.post(world.charlie, card + action).status_code == 404
        version.refresh_from_db()
        assert version.retired_at is None

    def test_one_that_serves_without_having_passed_says_so(self, world, version):
        card, warning = f"{PAGE}{version.name}/", "has not passed"
        version.gates = {world.campaign.slug: [{"question": "Calibrated?", "passed": True, "answer": "Off by 0.01."}]}
        version.save()
        assert warning not in world.get(world.alice, card).content.decode()
        version.gates[world.campaign.slug][0]["passed"] = False
        version.save()
        assert warning in world.get(world.alice, card).content.decode()
        assert "did not pass the gate: Off by 0.01." in world.get(world.alice, PAGE).content.decode()

    def test_one_that_was_never_asked_says_so_at_each_door(self, world, version):
        version.gates, never = {}, f"Comparator {version.name} was never asked whether it may serve here."
        version.save()
        get = lambda address: world.get(world.alice, address)
        assert all(never in get(page).content.decode() for page in (PAGE, f"{PAGE}{version.name}/"))
        (row,), card = get("/api/campaigns/talk/comparators/").json(), f"/api/campaigns/talk/comparators/{version.name}/"
        assert row["gate_doubt"] == get(card).json()["gate_doubt"] == never and row["warning"] == version.warning

    def test_it_is_retired_and_another_promoted_with_a_reason(self, world, version):
        again = services.start_training([world.campaign], seed=1, foreground=True, recipe=recipe(epochs=1))
        second = tasks.run(again.job_id)
        world.post(world.alice, f"{PAGE}{version.name}/retire/")
        world.post(world.alice, f"{PAGE}{second.name}/promote/", {"reason": "It is newer."})
        html = world.get(world.alice, f"{PAGE}{second.name}/").content.decode()
        assert "It is newer." in html or "Passed the gate." in html
        assert "retired" in world.get(world.alice, f"{PAGE}{version.name}/").content.decode()

    def test_it_is_downloaded_and_uploaded(self, world, version):
        answer = world.get(world.alice, f"{PAGE}{version.name}/download/")
        assert answer["Content-Disposition"] == f'attachment; filename="{version.name}.zip"'
        file = ContentFile(b"".join(answer.streaming_content), name="x.zip")
        world.post(world.alice, PAGE + "upload/", {"file": file})
        job = Job.objects.get(task="evaluator.tasks.admit")
        assert job.created_by == world.alice and job.title in world.get(world.alice, PAGE).content.decode()

    def test_conversations_come_in_by_the_page(self, world):
        row = b'{"dialogue_id": "d", "turns": ["hello", "hi"]}\n'
        world.post(world.alice, PAGE + "dialogues/", {"file": ContentFile(row, name="d.jsonl")})
        assert world.campaign.dialogues.count() == 1
        world.post(world.alice, PAGE + "dialogues/", {"file": ContentFile(b"{}", name="d.jsonl")})
        assert "d.jsonl, line 1" in world.get(world.alice, PAGE).content.decode()

    def test_an_unknown_version_is_not_found(self, world):
        assert world.get(world.alice, PAGE + "nobody/").status_code == 404


def test_reliability_is_drawn_on_a_square():
    chart = reliability_chart([{"said": 0.5, "right": 1.0, "n": 4}, {"said": 1.0, "right": 0.0, "n": 1}])
    assert chart.dots == [(115.0, 0.0, 8.0), (230.0, 230.0, 5.0)] and reliability_chart([]) is None
