"""Agreeing to take part, and withdrawing: what counts afterwards, and what is marked."""

import uuid

import pytest

from annotation.annotating.assignment import next_assignment
from annotation.annotating.consent import agree, consent_due, withdraw_annotator
from annotation.annotating.submissions import submit
from annotation.assessment.assess import assess
from annotation.models import Annotator, AuditEvent, ConsentText, LikertScore, SnapshotMark, User
from annotation.people.accounts import add_annotator
from core.errors import Refused
from tests.annotation.pages import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path, client):
    return World(tmp_path, client, overlap=2)


def judge(annotator, values=(4, 1), items=2):
    answer = {"scores": {c.pk: v for c, v in zip(annotator.campaign.criteria.all(), values)}}
    for _ in range(items):
        submit(annotator, next_assignment(annotator).pk, uuid.uuid4(), answer)


class TestConsent:
    def write(self, world, version, text):
        return ConsentText.objects.create(campaign=world.campaign, version=version, text=text)

    def test_each_version_is_asked_for_and_recorded(self, world):
        assert consent_due(world.annotator) is None
        first = self.write(world, 1, "We keep your answers.")
        assert consent_due(world.annotator) == first
        agree(world.annotator, 1)
        bob = Annotator.objects.get(pk=world.annotator.pk)
        assert bob.consent == first and bob.consented_at and consent_due(bob) is None
        second = self.write(world, 2, "We keep them for ten years.")
        assert consent_due(bob) == second
        self.write(world, 3, " ")
        assert consent_due(bob) is None

    @pytest.mark.parametrize("version", [1, 3, None])
    def test_only_the_newest_version_can_be_agreed_to(self, world, version):
        self.write(world, 1, "Old."), self.write(world, 2, "New.")
        with pytest.raises(Refused, match="has changed"):
            agree(world.annotator, version)
        assert Annotator.objects.get(pk=world.annotator.pk).consent is None


class TestWithdrawing:
    @pytest.fixture
    def carol(self, world):
        return add_annotator(world.campaign, User.objects.create_user("carol"))

    def test_nothing_of_theirs_counts_and_nothing_is_deleted(self, world, carol):
        judge(world.annotator), judge(carol)
        withdraw_annotator(world.annotator, world.bob)
        assert set(LikertScore.objects.counted().values_list("annotator__name", flat=True)) == {carol.name}
        assert LikertScore.objects.filter(annotator=world.annotator).count() == 4
        event = AuditEvent.objects.get(action="annotator withdrew")
        assert event.user == world.bob
        assert event.detail == {"annotator": "annotator-1", "scores": 4, "judgments": 0, "snapshots marked": []}

    def test_their_places_are_free_again(self, world, carol):
        judge(world.annotator)
        held = next_assignment(world.annotator)
        withdraw_annotator(world.annotator)
        assert set(world.campaign.items.values_list("taken", flat=True)) == {0}
        held.refresh_from_db()
        assert held.status == "expired"

    def test_finished_snapshots_that_hold_them_are_marked_and_those_to_come_do_not(self, world, carol):
        judge(carol)
        without = assess(world.campaign)
        judge(world.annotator)
        with_bob = assess(world.campaign)
        withdraw_annotator(world.annotator), withdraw_annotator(world.annotator)
        mark = SnapshotMark.objects.get()
        assert (mark.snapshot, mark.reason) == (with_bob, "annotator-1 withdrew after it was frozen.")
        assert assess(world.campaign) == without
        assert AuditEvent.objects.filter(action="annotator withdrew").count() == 1

    def test_no_answer_is_taken_afterwards(self, world):
        assigned = next_assignment(world.annotator)
        withdraw_annotator(world.annotator)
        with pytest.raises(Refused, match="withdrawn"):
            submit(world.annotator, assigned.pk, uuid.uuid4(), {"scores": {}})
