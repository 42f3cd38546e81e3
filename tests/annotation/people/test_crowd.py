"""What a crowd platform's worker takes back, and what happens to the places of who gives the task back."""

import json
import time
import uuid
from urllib.parse import urlencode

import pytest
from django.db.models import F
from django.test import Client

from annotation.annotating.assignment import next_assignment, progress
from annotation.annotating.completion import Completion, completion
from annotation.annotating.crowd import let_go
from annotation.annotating.submissions import submit
from annotation.campaigns.lifecycle import set_status
from annotation.campaigns.protocol import change_campaign
from annotation.models import Annotator, Item
from annotation.people.invitations import crowd_source, invite, join
from core.errors import Refused
from tests.annotation.pages import World, text
from tests.annotation.people.test_crowd_of_workers import SECRET, signed

pytestmark = pytest.mark.django_db
CODES = {"completion_code": "DONE", "screened_out_code": "OUT", "failed_checks_code": "FAILED", "timed_out_code": "LATE"}
SOURCE = {"PROLIFIC_PID": "5f1", "STUDY_ID": "s1", "SESSION_ID": "x1"}
WORKER = "?" + urlencode(SOURCE)


@pytest.fixture
def world(tmp_path, client):
    return World(tmp_path, client, **CODES, completion_url="https://app.prolific.com/submissions/complete?cc=DONE")


@pytest.fixture
def worker(world):
    """In by a link for one person, with one answer and one item in hand."""
    world.link = f"/join/{invite(world.campaign, cap=1).token}/"
    Client().post(world.link + WORKER)
    worker = Annotator.objects.get(source__PROLIFIC_PID="5f1")
    answer(worker)
    next_assignment(worker)
    return worker


def answer(annotator):
    scores = {criterion.pk: 1 for criterion in annotator.campaign.criteria.all()}
    submit(annotator, next_assignment(annotator).pk, uuid.uuid4(), {"scores": scores})


def taken() -> int:
    return sum(Item.objects.values_list("taken", flat=True))


def says(status: str, submission: str = "x1", secret: str = SECRET, **more):
    said = {"event_type": "submission.status.change", "resource_id": submission, "participant_id": "5f1", "status": status}
    body = json.dumps(said | more).encode()
    headers = signed(body, secret=secret)
    return Client().post("/hooks/prolific/", body, content_type="application/json", headers=headers).status_code


class TestCodes:
    def of(self, annotator) -> Completion | None:
        annotator = Annotator.objects.select_related("campaign").get(pk=annotator.pk)
        return completion(annotator, progress(annotator))

    def test_each_ending_has_its_code_and_its_address(self, world, worker):
        assert self.of(worker) is None
        change_campaign(world.campaign, quota=1)
        Annotator.objects.filter(pk=worker.pk).first().assignments.filter(status="open").update(status="expired")
        assert self.of(worker) == Completion("DONE", "https://app.prolific.com/submissions/complete?cc=DONE")
        Annotator.objects.filter(pk=worker.pk).update(has_qualified=False)
        assert self.of(worker) == Completion("OUT", "https://app.prolific.com/submissions/complete?cc=OUT")

    def test_who_misses_the_mark_of_known_answers_failed_the_checks(self, world, worker, monkeypatch):
        change_campaign(world.campaign, quota=1, check_mark=50)
        worker.assignments.filter(status="open").update(status="expired")
        right = {"n": 1}
        monkeypatch.setattr("annotation.annotating.completion.right_answers", lambda *_: (right["n"], 2))
        assert self.of(worker).code == "DONE"  # half of two
        right["n"] = 0
        assert self.of(worker) == Completion("FAILED", "https://app.prolific.com/submissions/complete?cc=FAILED")
        change_campaign(world.campaign, failed_checks_code="")
        assert self.of(worker).code == "DONE"

    def test_who_began_and_cannot_end_timed_out(self, world, worker):
        set_status(world.campaign, "closed")
        assert self.of(worker).code == "LATE" and self.of(world.annotator) is None  # who never began has nothing to take back

    def test_who_began_and_finds_nothing_before_the_first_answer_timed_out(self, world, worker):
        other = Annotator.objects.create(campaign=world.campaign, name="other")
        next_assignment(other)
        other.assignments.update(status="expired")
        Item.objects.update(taken=F("places"))
        assert self.of(other).code == "LATE" and self.of(world.annotator) is None
        assert self.of(worker) is None  # an item is in hand yet

    def test_who_timed_out_at_prolific_gets_its_code_unless_the_quota_is_reached(self, world, worker, settings):
        settings.PROLIFIC_SECRET = SECRET
        assert says("TIMED-OUT") == 204
        assert self.of(worker) is None  # they may go on
        Item.objects.update(taken=F("places"))
        assert self.of(worker) == Completion("LATE", "https://app.prolific.com/submissions/complete?cc=LATE")
        join(world.link[6:-1], worker.user, crowd_source(SOURCE))
        assert self.of(worker).code == "LATE"  # the same submission
        change_campaign(world.campaign, timed_out_code="")
        assert self.of(worker).code == "DONE"  # nobody who judged reads none
        change_campaign(world.campaign, timed_out_code="LATE", quota=1)
        assert self.of(worker).code == "DONE"

    def test_another_submission_has_its_own_time(self, world, worker):
        let_go(worker)
        Item.objects.update(taken=F("places"))
        join(world.link[6:-1], worker.user, crowd_source(SOURCE | {"SESSION_ID": "x2"}))
        assert self.of(worker).code == "DONE"
        assert Annotator.objects.get(pk=worker.pk).source["earlier"] == [SOURCE | {"timed_out": True}]

    def test_an_address_without_the_code_is_for_the_completed_alone(self, world, worker):
        change_campaign(world.campaign, completion_url="https://example.org/done")
        Annotator.objects.filter(pk=worker.pk).update(has_qualified=False)
        assert self.of(worker) == Completion("OUT")

    def test_a_mark_is_a_percentage(self, world):
        with pytest.raises(Refused, match="percentage"):
            change_campaign(world.campaign, check_mark=101)


class TestWebhook:
    @pytest.fixture(autouse=True)
    def secret(self, settings):
        settings.PROLIFIC_SECRET = SECRET

    def test_who_returns_frees_all_places_at_once_and_the_link_admits_another(self, world, worker):
        assert taken() == 2 and Client().post(world.link + WORKER.replace("5f1", "other")).status_code == 422
        assert says("RETURNED") == says("RETURNED") == 204
        assert taken() == 0 and Annotator.objects.get(pk=worker.pk).withdrawn_at
        assert Client().post(world.link + WORKER.replace("5f1", "other")).status_code == 302
        assert Client().post(world.link + WORKER.replace("5f1", "third")).status_code == 422  # one place came free, not two

    def test_who_runs_out_of_time_there_loses_what_is_in_hand_and_keeps_the_rest(self, worker):
        assert says("TIMED-OUT") == 204
        assert taken() == 1 and not Annotator.objects.get(pk=worker.pk).withdrawn_at

    def test_other_news_changes_nothing(self, worker):
        assert says("APPROVED") == says("RETURNED", "another submission") == 204
        assert says("RETURNED", event_type="study.status.change") == says("RETURNED", participant_id=None) == 204
        assert taken() == 2

    def test_it_is_signed(self, worker, settings):
        assert says("RETURNED", secret="wrong") == 403
        assert Client().post("/hooks/prolific/", b"{}", "application/json").status_code == 403
        assert taken() == 2
        body = b"[1]"
        assert Client().post("/hooks/prolific/", body, "application/json", headers=signed(body)).status_code == 400
        settings.PROLIFIC_SECRET = ""
        assert says("RETURNED") == 404

    @pytest.mark.parametrize(("age", "status"), [(290, 204), (-290, 204), (310, 403), (-310, 403)])
    def test_an_old_request_that_is_sent_again_changes_nothing(self, worker, age, status):
        body = json.dumps(
            {"event_type": "submission.status.change", "resource_id": "x1", "participant_id": "5f1", "status": "RETURNED"}
        )
        headers = signed(body.encode(), str(int(time.time()) - age))
        assert Client().post("/hooks/prolific/", body, "application/json", headers=headers).status_code == status
        assert (taken() == 2) == (status == 403)

    def test_the_signature_is_that_of_their_example(self):
        """echo -n '1700000000{"a": 1}' | openssl dgst -sha256 -hmac key -binary | base64"""
        assert signed(b'{"a": 1}', "1700000000", "key")["X-Prolific-Request-Signature"] == EXAMPLE


EXAMPLE = "QcwEMP4tj9lhI0Rnai8wg7k1C8c1YRRE4/U7/FNktrk="


def test_a_researcher_says_that_a_worker_returned(world, worker):
    page = f"/c/talk/people/annotators/{worker.pk}/returned/"
    assert page in text(world.sign_in(world.alice).get("people/"))
    assert world.client.post(page).status_code == 302 and taken() == 0
    assert page not in text(world.get("people/"))
