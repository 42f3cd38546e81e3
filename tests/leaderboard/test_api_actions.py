"""By program: train, promote, retire, take a comparator along, judges' scores, tournaments, the next pairs."""

import io
import json

import pytest
from django.test import Client

from annotation.models import Campaign, Job
from annotation.people.tokens import make_token
from evaluator.models import TrainingRun
from evaluator.versions.registry import comparator_in_use
from leaderboard.models import Tournament
from tests.evaluator.world import SCORES
from tests.leaderboard.played import by_people

pytestmark = pytest.mark.django_db


@pytest.fixture
def call(world):
    client = Client(headers={"Authorization": f"Bearer {make_token(world.alice, 'test')[1]}"})

    def sent(method: str, path: str, body=None, key: str = ""):
        headers = {"Idempotency-Key": key} if key else {}
        kind = "application/json"
        return client.generic(method, f"/api/campaigns/talk/{path}", json.dumps(body), content_type=kind, headers=headers)

    sent.client = client
    return sent


def upload(call, path: str, name: str, rows: list[dict], **fields):
    file = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    file.name = name
    return call.client.post(f"/api/campaigns/talk/{path}", {"file": file, **fields})


class TestTraining:
    def test_one_key_queues_one_training(self, call, django_capture_on_commit_callbacks):
        asked = {"criterion": "Overall", "seed": 7, "ties": False, "architecture": "utility"}
        first, second = (call("POST", "trainings/", asked, key="k") for _ in range(2))
        assert first.status_code == 201 and first.json() == second.json()
        run = TrainingRun.objects.get()
        assert (run.criterion, run.seed, run.settings["recipe"]["ties"]) == ("Overall", 7, False)
        assert [row["id"] for row in call("GET", "trainings/").json()] == [first.json()["id"]]

    def test_what_can_not_be_trained_is_refused_in_a_sentence(self, call):
        nothing = call("POST", "trainings/", {"criterion": "Grace"})
        assert nothing.status_code == 422 and "Grace" in nothing.json()["message"]
        other = call("POST", "trainings/", {"beside": ["elsewhere"]})
        assert other.json()["message"] == "You research no other campaign 'elsewhere' with accepted judgments."
        assert call("POST", "trainings/", {"seed": -1}).status_code == 400
        assert not Job.objects.filter(task="evaluator.tasks.train").exists()


class TestComparators:
    def test_promote_and_retire(self, world, call, version):
        against = call("POST", "comparators/talk-overall-1/promote/", {})
        assert against.status_code == 422 and "reason" in against.json()["message"]
        answer = call("POST", "comparators/talk-overall-1/promote/", {"reason": "to try it"})
        assert answer.status_code == 200 and answer.json()["stage"] == "in_use" and comparator_in_use(world.campaign) == version
        assert call("POST", "comparators/talk-overall-1/retire/").json()["stage"] == "retired"
        assert comparator_in_use(world.campaign) is None
        assert call("POST", "comparators/nobody/promote/", {}).status_code == 404

    def test_a_file_that_is_no_comparator_is_the_workers_to_refuse(self, call):
        answer = upload(call, "comparators/upload/", "x.zip", [{}])
        assert answer.status_code == 201 and answer.json()["status"] == "queued"

    def test_one_without_weights_can_not_be_taken_along(self, call, version):
        assert call("GET", "comparators/talk-overall-1/file/").status_code == 422

    def test_conversations(self, world, call):
        rows = [{"dialogue_id": "d1", "turns": ["Hi", "Hello"]}]
        assert upload(call, "import/dialogues/", "d.jsonl", rows).json()["new"] == {"dialogues": 1}
        wrong = upload(call, "import/dialogues/", "d.jsonl", [{"dialogue_id": "d2", "turns": 3}])
        assert wrong.status_code == 422 and wrong.json()["errors"][0]["field"] == "turns"
        assert world.campaign.dialogues.count() == 1


class TestJudges:
    def test_scores_from_elsewhere_come_in_and_a_worker_sets_judges_beside_people(self, world, call):
        rows = [{"context_id": r["context_id"], "system": r["system"], "score": SCORES[r["system"]]} for r in world.rows]
        done = upload(call, "import/judge-scores/", "gpt.jsonl", rows, judge="gpt")
        assert done.status_code == 200 and world.campaign.imported_scores.count() == len(rows)
        assert call("GET", "judges/").json() == {"table": None, "snapshot": None, "jobs": []}
        assert call("GET", "judges/table/csv/").status_code == 404
        first, again = (call("POST", "judges/", {"annotators": "expert"}) for _ in range(2))
        assert (first.status_code, again.status_code) == (201, 200) and first.json()["id"] == again.json()["id"]
        assert [job["id"] for job in call("GET", "judges/").json()["jobs"]] == [first.json()["id"]]


class TestTournaments:
    def test_one_is_queued_and_its_board_read_when_it_is_finished(self, world, call):
        asked = {"basis": "people", "criterion": "Overall", "seed": 3}
        made, again = (call("POST", "tournaments/", asked, key="k") for _ in range(2))
        assert made.status_code == again.status_code == 201
        tournament = Tournament.objects.get()
        assert (tournament.pk, tournament.seed, tournament.basis) == (made.json()["id"], 3, "people")
        assert call.client.get(f"/api/tournaments/{tournament.pk}/").status_code == 404
        done = by_people(world.campaign)
        assert call.client.get(f"/api/tournaments/{done.pk}/").json()["standings"][0]["system"] == "Person"
        rows = call.client.get(f"/api/tournaments/{done.pk}/file/csv/").content.decode().splitlines()
        assert "Person" in rows[1]
        assert call.client.get(f"/api/tournaments/{done.pk}/file/svg/")["Content-Type"].startswith("image/svg+xml")
        assert [row["id"] for row in call("GET", "tournaments/").json()] == [done.pk, tournament.pk]

    def test_who_is_not_there_plays_not(self, call):
        refused = call("POST", "tournaments/", {"judge": "comparator", "comparator": "nobody"})
        assert refused.json()["message"].startswith("There is no judge 'nobody' in campaign 'talk'; there are: ")

    def test_the_next_pairs_are_asked_where_a_comparator_serves(self, call):
        refused = call("POST", "ask/", {"goal": "comparator"})
        assert refused.status_code == 422 and "no comparator in use" in refused.json()["message"]

    def test_the_boards_settings_are_the_campaigns(self, call):
        answer = call("PATCH", "", {"board_is_public": True, "plays_new_comparators": False})
        assert answer.status_code == 200
        campaign = Campaign.objects.get(slug="talk")
        assert campaign.board_is_public and not campaign.plays_new_comparators
