"""Handing out items and storing answers: k at most, nothing twice, nothing lost."""

import json
import uuid
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.annotating import assignment, places
from annotation.annotating.history import read_history
from annotation.annotating.reports import flag, skip
from annotation.annotating.submissions import _submit, revise, submit
from annotation.annotating.undo import undo_last
from annotation.assessment.assess import as_dict, assess
from annotation.assessment.decisions import overrule
from annotation.campaigns.lifecycle import create_campaign, set_status
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_outputs
from annotation.models import Annotator, Assignment, Campaign, Item, ItemReport, LikertScore, PairwiseJudgment, Submission, User
from annotation.people.accounts import add_annotator
from annotation.people.invitations import invite, join, join_as_guest
from core.errors import Refused

pytestmark = pytest.mark.django_db


def make(tmp_path, systems=("a", "b", "c"), contexts=2, **settings):
    campaign = create_campaign(slug="talk", criteria=[CriterionSpec("Overall"), CriterionSpec("Fluency", 0, 1)], **settings)
    path = tmp_path / "outputs.jsonl"
    rows = [
        {"context_id": f"c{c}", "context": ["hi"], "system": s, "output": f"{s}{c}"} for c in range(contexts) for s in systems
    ]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    import_outputs(campaign, path)
    return campaign


def person(campaign, name):
    return add_annotator(campaign, User.objects.create_user(name))


def scores(campaign, *values):
    return {"scores": {c.pk: v for c, v in zip(campaign.criteria.all(), values)}}


@pytest.fixture
def campaign(tmp_path):
    return make(tmp_path, overlap=2)


@pytest.fixture
def bob(campaign):
    return person(campaign, "bob")


class TestHandingOut:
    def test_an_item_goes_to_k_people_and_never_twice_to_one(self, campaign):
        for name in ("bob", "carol", "dave"):
            annotator = person(campaign, name)
            while assigned := assignment.next_assignment(annotator):
                submit(annotator, assigned.pk, uuid.uuid4(), scores(campaign, 3, 1))
        assert set(campaign.items.values_list("taken", flat=True)) == {2}
        assert campaign.annotators.get(user__username="dave").assignments.count() == 0
        assert LikertScore.objects.count() == 6 * 2 * 2  # items x people x criteria

    def test_the_same_item_is_given_until_it_is_answered(self, bob):
        assert assignment.next_assignment(bob).pk == assignment.next_assignment(bob).pk

    def test_a_stale_assignment_gives_its_place_back(self, tmp_path):
        campaign = make(tmp_path, systems=("a",), contexts=1, overlap=1)
        bob, carol = person(campaign, "bob"), person(campaign, "carol")
        held = assignment.next_assignment(bob)
        assert assignment.next_assignment(carol) is None
        Assignment.objects.update(assigned_at=timezone.now() - places.HOLD - timedelta(minutes=1))
        taken_over = assignment.next_assignment(carol)
        assert taken_over.item_id == held.item_id
        submit(carol, taken_over.pk, uuid.uuid4(), scores(campaign, 5, 1))
        late = submit(bob, held.pk, uuid.uuid4(), scores(campaign, 1, 0))
        assert late.is_surplus and late.payload["scores"]
        assert LikertScore.objects.filter(annotator=bob).count() == 0

    def test_nothing_is_handed_out_while_paused(self, campaign, bob):
        set_status(campaign, Campaign.Status.PAUSED)
        bob.refresh_from_db()
        assert assignment.next_assignment(bob) is None

    def test_a_ring_of_pairs_shows_every_system_equally_often(self, tmp_path):
        campaign = make(tmp_path, systems="abcd", contexts=5, pairwise=True, likert=False)
        counts = {}
        for item in campaign.items.select_related("output__system", "other__system"):
            for output in (item.output, item.other):
                counts[output.system.name] = counts.get(output.system.name, 0) + 1
        assert counts == dict.fromkeys("abcd", 10)

    def test_people_judge_the_last_checkpoint_only(self, tmp_path):
        campaign = create_campaign(slug="steps", criteria=[CriterionSpec("Overall")])
        path = tmp_path / "outputs.jsonl"
        row = {"context_id": "c", "context": ["hi"], "system": "s", "total_iterations": 10}
        path.write_text("".join(json.dumps({**row, "iteration": i, "output": str(i)}) + "\n" for i in (10, 5)))
        import_outputs(campaign, path)
        assert [item.output.text for item in campaign.items.all()] == ["10"]


class TestSubmitting:
    def test_what_is_known_after_an_answer_is_what_would_be_read(self, campaign, bob):
        given = assignment.next_assignment(bob)
        with transaction.atomic():
            assignment.lock(bob)
            _, known = _submit(bob, given.pk, uuid.uuid4(), scores(campaign, 2, 1))
            assert known == read_history(bob) and known.held is None and known.main_done == 1

    def test_a_double_click_stores_one(self, campaign, bob):
        assigned, key = assignment.next_assignment(bob), uuid.uuid4()
        first = submit(bob, assigned.pk, key, scores(campaign, 4, 1))
        assert submit(bob, assigned.pk, key, scores(campaign, 4, 1)) == first
        assert LikertScore.objects.count() == 2 and Submission.objects.count() == 1

    def test_a_second_answer_from_another_tab_is_kept_as_surplus(self, campaign, bob):
        assigned = assignment.next_assignment(bob)
        submit(bob, assigned.pk, uuid.uuid4(), scores(campaign, 4, 1))
        second = submit(bob, assigned.pk, uuid.uuid4(), scores(campaign, 1, 0))
        assert second.is_surplus
        assert sorted(second.payload["scores"].values()) == [0, 1]
        assert set(LikertScore.objects.values_list("value", flat=True)) == {4.0, 1.0}

    @pytest.mark.parametrize(
        ("values", "message"),
        [((4,), "Please also score: Fluency."), ((6, 1), "from 1 to 5"), (("x", 1), "choose one of the points")],
    )
    def test_an_incomplete_or_impossible_answer_is_refused(self, campaign, bob, values, message):
        assigned = assignment.next_assignment(bob)
        with pytest.raises(Refused, match=message):
            submit(bob, assigned.pk, uuid.uuid4(), scores(campaign, *values))
        assert Submission.objects.count() == LikertScore.objects.count() == 0

    def test_nobody_answers_for_another(self, campaign, bob):
        assigned = assignment.next_assignment(bob)
        with pytest.raises(Refused, match="not assigned to you"):
            submit(person(campaign, "eve"), assigned.pk, uuid.uuid4(), scores(campaign, 1, 0))

    def test_a_key_belongs_to_one_answer(self, campaign, bob):
        eve, key = person(campaign, "eve"), uuid.uuid4()
        submit(bob, assignment.next_assignment(bob).pk, key, scores(campaign, 4, 1))
        with pytest.raises(Refused, match="somebody else's answer"):
            submit(eve, assignment.next_assignment(eve).pk, key, scores(campaign, 1, 0))

    @pytest.mark.parametrize(("swapped", "shown", "stored"), [(False, "left", "A"), (True, "left", "B"), (True, "tie", "tie")])
    def test_the_choice_is_stored_for_the_outputs_not_the_sides(self, tmp_path, swapped, shown, stored):
        campaign = make(tmp_path, pairwise=True, likert=False)
        bob = person(campaign, "bob")
        assigned = assignment.next_assignment(bob)
        Assignment.objects.update(swapped=swapped)
        submit(bob, assigned.pk, uuid.uuid4(), {"choice": shown})
        judgment = PairwiseJudgment.objects.get()
        assert (judgment.choice, judgment.shown_swapped, judgment.output_a) == (stored, swapped, assigned.item.output)

    def test_each_criterion_of_a_pair_is_judged_with_one_reason(self, tmp_path):
        campaign = make(tmp_path, pairwise=True, likert=False)
        Campaign.objects.update(pairwise_by_criterion=True)
        bob = person(Campaign.objects.get(), "bob")
        assigned = assignment.next_assignment(bob)
        Assignment.objects.update(swapped=True)
        overall, fluency = campaign.criteria.all()
        with pytest.raises(Refused, match="Please also judge: Fluency"):
            submit(bob, assigned.pk, uuid.uuid4(), {"choices": {overall.pk: "left"}})
        submit(
            bob, assigned.pk, uuid.uuid4(), {"choices": {str(overall.pk): "left", fluency.pk: "tie"}, "reason": " Shorter. "}
        )
        stored = PairwiseJudgment.objects.values_list("criterion__name", "choice", "reason")
        assert set(stored) == {("Overall", "B", "Shorter."), ("Fluency", "tie", "Shorter.")}

    def test_times_are_kept_as_sent(self, campaign, bob):
        assigned = assignment.next_assignment(bob)
        submit(bob, assigned.pk, uuid.uuid4(), scores(campaign, 4, 1), seconds=30.0, active_seconds=12.5)
        assert Submission.objects.values_list("seconds", "active_seconds").get() == (30.0, 12.5)


class TestRevising:
    def answered(self, campaign, bob, *values):
        assigned = assignment.next_assignment(bob)
        submit(bob, assigned.pk, uuid.uuid4(), scores(campaign, *values))
        return assigned

    def test_any_earlier_answer_is_replaced_and_the_old_one_kept(self, campaign, bob):
        first, second = self.answered(campaign, bob, 4, 1), self.answered(campaign, bob, 3, 0)
        in_hand, key = assignment.next_assignment(bob), uuid.uuid4()
        for _ in range(2):  # a re-sent request changes nothing more
            revise(bob, first.pk, key, scores(campaign, 2, 0))
        live = LikertScore.objects.counted().order_by("output_id", "criterion_id")
        assert set(live.filter(output=first.item.output).values_list("value", flat=True)) == {2, 0}
        assert set(live.filter(output=second.item.output).values_list("value", flat=True)) == {3, 0}
        assert LikertScore.objects.exclude(retracted_at=None).count() == 2 and Submission.objects.count() == 3
        assert Item.objects.get(pk=first.item_id).taken == 1
        assert assignment.next_assignment(bob) == in_hand

    def test_an_impossible_revision_leaves_the_old_answer(self, campaign, bob):
        first = self.answered(campaign, bob, 4, 1)
        with pytest.raises(Refused, match="from 1 to 5"):
            revise(bob, first.pk, uuid.uuid4(), scores(campaign, 9, 1))
        assert sorted(LikertScore.objects.counted().values_list("value", flat=True)) == [1, 4]

    def test_not_after_the_campaign_closed_nor_what_was_never_answered(self, campaign, bob):
        first, in_hand = self.answered(campaign, bob, 4, 1), assignment.next_assignment(bob)
        with pytest.raises(Refused, match="no answer of yours"):
            revise(bob, in_hand.pk, uuid.uuid4(), scores(campaign, 2, 0))
        set_status(campaign, Campaign.Status.CLOSED)
        bob = Annotator.objects.get(pk=bob.pk)
        with pytest.raises(Refused, match="You cannot change"):
            revise(bob, first.pk, uuid.uuid4(), scores(campaign, 2, 0))

    @pytest.mark.parametrize(
        ("purpose", "loud", "allowed"),
        [
            ("training", False, False),
            ("qualification", False, False),
            ("gold", True, False),
            ("gold", False, True),
            ("repeat", True, True),
        ],
    )
    def test_not_where_the_expected_answer_was_told(self, campaign, bob, purpose, loud, allowed):
        first = self.answered(campaign, bob, 4, 1)
        Assignment.objects.filter(pk=first.pk).update(purpose=purpose)
        Campaign.objects.update(gold_is_loud=loud)
        bob = Annotator.objects.get(pk=bob.pk)
        if allowed:
            assert revise(bob, first.pk, uuid.uuid4(), scores(campaign, 2, 0))
            assert set(LikertScore.objects.filter(retracted_at=None).values_list("purpose", flat=True)) == {purpose}
        else:
            with pytest.raises(Refused, match="seen the expected answer"):
                revise(bob, first.pk, uuid.uuid4(), scores(campaign, 2, 0))


class TestReporting:
    def test_a_skipped_item_goes_to_somebody_else_with_its_reason(self, campaign, bob):
        assigned = assignment.next_assignment(bob)
        skip(bob, assigned.pk, "In Finnish.")
        skip(bob, assigned.pk, "In Finnish.")  # a double click
        assert ItemReport.objects.values_list("kind", "reason").get() == ("skip", "In Finnish.")
        assert Item.objects.get(pk=assigned.item_id).taken == 0
        assert assignment.next_assignment(bob).item_id != assigned.item_id
        carol = person(campaign, "carol")
        while theirs := assignment.next_assignment(carol):
            submit(carol, theirs.pk, uuid.uuid4(), scores(campaign, 3, 1))
        assert carol.assignments.filter(item=assigned.item_id).exists()

    def test_a_flagged_item_stays_in_hand(self, campaign, bob):
        assigned = assignment.next_assignment(bob)
        flag(bob, assigned.pk, "Cut off.")
        flag(bob, assigned.pk, "Cut off in the middle.")
        assert ItemReport.objects.values_list("kind", "reason").get() == ("flag", "Cut off in the middle.")
        assert assignment.next_assignment(bob) == assigned

    @pytest.mark.parametrize(("reason", "message"), [("  ", "Please say why"), ("x" * 501, "longer than 500")])
    def test_a_reason_is_needed(self, campaign, bob, reason, message):
        assigned = assignment.next_assignment(bob)
        for report in (skip, flag):
            with pytest.raises(Refused, match=message):
                report(bob, assigned.pk, reason)
        assert ItemReport.objects.count() == 0 and assignment.next_assignment(bob) == assigned

    def test_an_answer_that_was_under_way_when_the_item_was_skipped_still_counts(self, campaign, bob):
        assigned = assignment.next_assignment(bob)
        skip(bob, assigned.pk, "Too long.")
        assert not submit(bob, assigned.pk, uuid.uuid4(), scores(campaign, 4, 1)).is_surplus
        assert Item.objects.get(pk=assigned.item_id).taken == 1

    def test_qualification_is_not_skipped(self, campaign, bob):
        assigned = assignment.next_assignment(bob)
        Assignment.objects.update(purpose="qualification")
        with pytest.raises(Refused, match="cannot skip"):
            skip(bob, assigned.pk, "Hard.")


class TestEndless:
    """Every answer is kept, so one person gives so many to one item, and each is so long."""

    @pytest.fixture(autouse=True)
    def _three(self, monkeypatch):
        monkeypatch.setattr("annotation.annotating.submissions.MOST_ANSWERS", 3)

    @pytest.mark.parametrize("way", ["changed", "taken back", "from another tab"])
    def test_one_item_is_answered_so_often(self, campaign, bob, way):
        assigned = assignment.next_assignment(bob)

        def again(n):
            if way == "taken back":
                undo_last(bob)
            act = revise if way == "changed" else submit
            act(bob, assigned.pk, uuid.uuid4(), scores(campaign, n, 1))

        submit(bob, assigned.pk, uuid.uuid4(), scores(campaign, 1, 1))
        again(2), again(3)
        before = set(LikertScore.objects.values_list("value", "retracted_at"))
        with pytest.raises(Refused, match="answered this item 3 times. The last answer stays"), transaction.atomic():
            again(4)
        assert Submission.objects.count() == 3 and set(LikertScore.objects.values_list("value", "retracted_at")) == before
        other = assignment.next_assignment(bob)
        assert other.pk != assigned.pk and not submit(bob, other.pk, uuid.uuid4(), scores(campaign, 1, 1)).is_surplus

    def test_an_answer_is_no_longer_than_its_questions(self, campaign, bob):
        assigned, answer = assignment.next_assignment(bob), scores(campaign, 1, 1)
        answer["scores"][10**9] = ["x" * 1000] * 100
        with pytest.raises(Refused, match="longer than 100000 characters"), transaction.atomic():
            submit(bob, assigned.pk, uuid.uuid4(), answer)
        assert not Submission.objects.exists()


class TestUndo:
    def test_undo_retracts_and_hands_the_item_back(self, campaign, bob):
        assigned = assignment.next_assignment(bob)
        submit(bob, assigned.pk, uuid.uuid4(), scores(campaign, 4, 1))
        shown_next = assignment.next_assignment(bob)
        assert undo_last(bob).pk == assigned.pk
        assert LikertScore.objects.filter(retracted_at=None).count() == 0 and LikertScore.objects.count() == 2
        assert assignment.next_assignment(bob).pk == assigned.pk
        assert Item.objects.get(pk=shown_next.item_id).taken == 0
        submit(bob, assigned.pk, uuid.uuid4(), scores(campaign, 2, 0))
        assert set(LikertScore.objects.filter(retracted_at=None).values_list("value", flat=True)) == {2.0, 0.0}
        assert Item.objects.get(pk=assigned.item_id).taken == 1

    def test_with_nothing_answered_there_is_nothing_to_undo(self, bob):
        assert undo_last(bob) is None

    def test_what_was_told_is_not_taken_back(self, campaign, bob):
        assigned = assignment.next_assignment(bob)
        submit(bob, assigned.pk, uuid.uuid4(), scores(campaign, 4, 1))
        Assignment.objects.update(purpose="training")
        with pytest.raises(Refused, match="seen the expected answer"):
            undo_last(bob)


class TestInvitations:
    def test_a_capped_link_admits_that_many_and_knows_who_is_in(self, campaign):
        invitation = invite(campaign, cap=1)
        alice = User.objects.create_user("alice")
        assert join(invitation.token, alice) == join(invitation.token, alice)
        with pytest.raises(Refused, match="limit of people"):
            join(invitation.token, User.objects.create_user("eve"))

    def test_a_guest_gets_an_account_nobody_can_log_in_to(self, campaign):
        user, annotator = join_as_guest(invite(campaign).token, "Zoe")
        assert not user.has_usable_password() and annotator.name == "annotator-1"

    def test_an_unknown_link_is_refused_and_leaves_no_guest(self, campaign):
        with pytest.raises(Refused, match="does not exist"):
            join_as_guest("nonsense")
        assert User.objects.count() == 0


class TestAssessing:
    def answers(self, campaign, rows):
        """rows: {annotator: values for the first outputs, in order}, for the criterion Overall."""
        overall = campaign.criteria.get(name="Overall")
        outputs = [item.output for item in campaign.items.order_by("output_id")]
        for name, values in rows.items():
            annotator = person(campaign, name)
            for output, value in zip(outputs, values):
                LikertScore.objects.create(annotator=annotator, output=output, criterion=overall, value=value)

    def test_outliers_stay_out_of_the_snapshot(self, campaign):
        # Output 1: 4 4 1 (median 4, MAD 0: the 1 goes). Output 2: 1 2 5 (median 2, MAD 1: 5 is 3 > 1.4826 away, goes).
        self.answers(campaign, {"bob": [4, 1], "carol": [4, 2], "dave": [1, 5]})
        snapshot = assess(campaign, level="interval")
        from annotation.snapshots import read

        kept = sorted((s["context"] + s["system"], s["annotator"], s["value"]) for s in read(snapshot).scores)
        assert [(annotator, value) for _, annotator, value in kept] == [
            ("annotator-1", 4),
            ("annotator-2", 4),
            ("annotator-1", 1),
            ("annotator-2", 2),
        ]
        assert as_dict(snapshot)["criteria"][0]["scores"] == 6 and as_dict(snapshot)["criteria"][0]["kept"] == 4

    def test_the_same_answers_under_the_same_rule_are_the_same_snapshot(self, campaign):
        self.answers(campaign, {"bob": [4, 1], "carol": [4, 2]})
        assert assess(campaign) == assess(campaign)
        assert assess(campaign, mad=2.0) != assess(campaign)

    def test_a_retracted_answer_is_not_assessed(self, campaign):
        self.answers(campaign, {"bob": [4, 1], "carol": [4, 2]})
        LikertScore.objects.filter(value=1).update(retracted_at=timezone.now())
        assert as_dict(assess(campaign))["criteria"][0]["scores"] == 3

    def test_one_annotator_gives_a_sentence_and_keeps_the_scores(self, campaign):
        self.answers(campaign, {"bob": [4, 1]})
        decision = assess(campaign).decisions.get()
        assert decision.verdict == "undefined" and "Only one rater" in decision.report["reason"]
        assert decision.snapshot.scores == 2

    def test_overruling_needs_a_reason_and_keeps_it(self, campaign, bob):
        self.answers(campaign, {"carol": [4, 1], "dave": [1, 4]})
        decision = assess(campaign).decisions.get()
        assert not decision.is_usable
        with pytest.raises(Refused, match="Give a reason"):
            overrule(decision, bob.user, "  ")
        overrule(decision, bob.user, "A pilot.")
        assert decision.is_usable and campaign.audit_events.first().detail["reason"] == "A pilot."

    def test_an_empty_campaign_is_refused(self, campaign):
        with pytest.raises(Refused, match="no scores and no judgments"):
            assess(campaign)
