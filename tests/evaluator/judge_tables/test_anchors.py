"""A language model is asked again about pairs that people judged: by a command, and from its page."""

from datetime import timedelta

import pytest
from django.core.management import CommandError
from django.urls import reverse
from django.utils import timezone

from annotation import jobs
from annotation.models import AuditEvent, User
from evaluator import tasks
from evaluator.judge_tables import anchors
from evaluator.models import AnchorAsking, AnchorSet, Reply
from evaluator.views.judges import key_of
from tests.evaluator.judges.stub_server import Server, completion, honest, shown
from tests.evaluator.world import World, command

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
TABLE = ("evaluate_judges", "talk", "--judge", "tiny", "--page")
AGAIN = ("ask_judge_again", "talk", "--judge", "tiny", "--wait")


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def world(tmp_path, client, server, monkeypatch):
    monkeypatch.setattr("evaluator.worker.judge_tables.candidates.METRICS", [])
    world = World(tmp_path, client)
    asked = ("--language-model", "tiny", "--url", server.url, "--calls", "400", "--price", "1", "2")
    command("set_up_judge", "talk", *asked)
    return world


def likes_bad(request: dict) -> dict:
    """Its own opposite, under another name."""
    pair = shown(request)
    said = completion("B" if "good" in pair["A"] else "A" if "good" in pair["B"] else "C")
    return said | {"model": "tiny-2"}


def test_the_first_time_takes_what_is_kept_and_later_ones_ask_anew(world, server):
    command(*TABLE)
    kept = len(server.requests)
    first = command(*AGAIN, "--pairs", "20")
    assert first["pairs"] == 20 and first["drift"] is None
    assert len(server.requests) == kept and first["used"]["kept"] == 40 and first["used"]["calls"] == 0
    again = command(*AGAIN)
    assert len(server.requests) == kept + 40 and again["used"]["calls"] == 40
    assert again["drift"]["flips"] == [0, 0, 0] and again["drift"]["then"] == again["drift"]["now"] > 0.5
    assert again["used"]["cost"] == pytest.approx(40 * (200 * 1 + 20 * 2) / 1e6)
    command(*TABLE)  # what it said in between changes no table
    assert len(server.requests) == kept + 40


def test_a_model_that_changed_is_seen(world, server):
    command(*AGAIN, "--pairs", "20")
    server.script = [likes_bad] * 40
    changed = command(*AGAIN)
    assert changed["used"]["other_models"] == {"tiny-2": 40} and changed["used"]["model"] == "tiny"
    drift = changed["drift"]
    assert drift["pairs"] == 20 and drift["flips"][1] > 0 and drift["change"][2] < 0
    assert drift["now"] - drift["then"] == pytest.approx(drift["change"][0])


def test_one_that_was_stopped_goes_on_and_asks_nothing_twice(world, server):
    command(*AGAIN, "--pairs", "20")
    before = len(server.requests)
    server.script = [honest] * 10 + [(401, {}, b"no")] * 100  # the key ends
    with pytest.raises(CommandError):
        command(*AGAIN)
    server.script.clear()
    kept = Reply.objects.count()
    asking = AnchorAsking.objects.last()
    asking.job.status = "queued"
    asking.job.save()
    asking = tasks.ask_again(asking.job_id)
    assert asking.used["kept"] + asking.used["calls"] == 40 and asking.used["kept"] == kept - before


def test_its_page_shows_what_changed(world, server, client):
    command(*TABLE)
    page = reverse("judge", args=["talk", key_of("tiny")])
    client.force_login(User.objects.create_superuser("root"))
    assert "Draw the pairs and ask" in client.get(page).content.decode()
    for script, pairs in (([], 100), ([likes_bad] * 200, 72)):  # 100 are asked for, and people judged 72
        server.script = script
        assert client.post(f"{page}again/").status_code == 302
        asking = AnchorAsking.objects.last()
        assert f"Ask tiny again about {pairs} pairs" in client.get(page).content.decode()  # the job, live
        tasks.ask_anchors(str(asking.job_id))
    asking.refresh_from_db()
    asking.choices[:2] = ["", ""]
    asking.save()
    text = client.get(page).content.decode()
    assert "tiny-2 answered in its place (144 replies)" in text and "Ask again" in text
    assert "2 of 72" in text  # pairs without an answer, the systems beside them
    assert f"{asking.drift['change'][0]:.2f}".replace("-", "−") in text and asking.drift["flips"][0] > 0.4


def test_by_itself_each_so_many_days(world, server, client):
    """Of several workers one starts it; the next is due so many days after it, however it ended."""
    now = timezone.now()
    command(*AGAIN, "--pairs", "5", "--every", "7")
    later = now + timedelta(days=7, minutes=5)
    assert anchors.ask_due(now + timedelta(days=6)) == 0 == [n for _, n in jobs.pulsed.send_robust(None)].count(1)
    assert [anchors.ask_due(later), anchors.ask_due(later)] == [1, 0]
    asking = AnchorAsking.objects.last()
    assert asking.job.status == "queued" and asking.anchor_set.askings.count() == 2
    tasks.ask_again(asking.job_id)
    AnchorAsking.objects.update(created_at=now - timedelta(days=8))
    assert 1 in [answer for _, answer in jobs.pulsed.send_robust(None)]
    command("ask_judge_again", "talk", "--judge", "tiny", "--every", "0")
    assert AnchorSet.objects.get().every_days is None and anchors.ask_due(now + timedelta(days=99)) == 0


def test_a_schedule_is_set_on_the_page_and_by_the_api(world, client):
    world.client.force_login(world.alice)
    page, address = reverse("judge_again", args=["talk", key_of("tiny")]), "/api/campaigns/talk/judges/again/"
    weekly = {"judge": "tiny", "every_days": 7}
    early = world.client.put(address, weekly, content_type="application/json")
    assert early.status_code == 422 and "not been asked a first time" in early.json()["message"]
    command(*AGAIN, "--pairs", "5")
    for set_it, days in (
        (lambda: world.client.put(address, weekly, content_type="application/json"), 7),
        (lambda: world.client.post(page, {"every_days": "30"}), 30),
        (lambda: world.client.post(page, {"every_days": "0"}), 30),  # no number of days
        (lambda: world.client.post(page, {"every_days": ""}), None),
    ):
        assert set_it().status_code in (200, 302)
        assert AnchorSet.objects.get().every_days == days and AnchorAsking.objects.count() == 1
    assert AuditEvent.objects.filter(action="judge's schedule set").count() == 3
    said = world.client.get(page.removesuffix("again/") + "../").content.decode()
    assert "tiny is asked again 30 days after each time." in said and "tiny is asked again only when somebody asks." in said
    assert world.get(world.alice, address).json()[0]["every_days"] is None


def test_who_may_not_and_what_is_no_language_model(world, client):
    page = reverse("judge_again", args=["talk", key_of("tiny")])
    client.force_login(User.objects.create_user("outsider"))
    assert client.post(page).status_code in (403, 404) and not AnchorAsking.objects.exists()
    with pytest.raises(CommandError, match="There is no language model 'cosim'"):
        command("ask_judge_again", "talk", "--judge", "cosim")
    command(*AGAIN, "--pairs", "5")
    with pytest.raises(CommandError, match="was drawn with --pairs 5, and stays as it is"):
        command(*AGAIN, "--pairs", "6")


def test_by_the_api(world, server):
    command(*TABLE)
    address = "/api/campaigns/talk/judges/again/"
    world.client.force_login(world.alice)
    made = world.client.post(address, {"judge": "tiny", "pairs": 20}, content_type="application/json")
    assert made.status_code == 201 and tasks.ask_again(made.json()["id"]).used["kept"] == 40
    (listed,) = world.get(world.alice, address).json()
    assert listed["judge"] == "tiny" and listed["drift"] is None and listed["job"]["id"] == made.json()["id"]
    refused = world.client.post(address, {"judge": "nobody"}, content_type="application/json")
    assert refused.status_code == 422 and "no language model 'nobody'" in refused.json()["message"]
