"""Who judges what next: phases, gold items, repeats, sides, quota, many people at once."""

import threading
import uuid
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.annotating import places, submissions
from annotation.annotating.assignment import Phase, _any_free, next_assignment, progress, turn
from annotation.annotating.consent import withdraw_annotator
from annotation.annotating.history import Handed, History
from annotation.annotating.places import HOLD
from annotation.annotating.reports import skip
from annotation.campaigns.items import KnownAnswer, draw_items, set_known_answers
from annotation.models import Annotator, Assignment, Campaign, LikertScore, Output, Purpose
from core.errors import Refused
from tests.annotation.corpora import answer, campaign_of, person


def work(annotator: Annotator, items: int | None = None) -> list[Assignment]:
    """The next so many items (None: all there are), answered."""
    done = []
    while items is None or len(done) < items:
        assigned = next_assignment(annotator)
        if assigned is None:
            break
        answer(annotator, assigned)
        done.append(assigned)
    return done


def known(campaign: Campaign, purpose: str, number: int, right: int = 3) -> None:
    """The first outputs that are still evaluated get a known answer; `answer` always gives 3."""
    items = campaign.items.filter(purpose="evaluation", other=None)[:number]
    set_known_answers(campaign, purpose, [KnownAnswer(item.output, {"scores": {"Overall": [right]}}) for item in items])


@pytest.mark.django_db
class TestBalance:
    def test_systems_stay_within_one_and_contexts_change(self):
        campaign = campaign_of(4, 12, pairwise=True, overlap=2)
        assigned = work(person(campaign, "annotator-1"), 30)
        systems = {cell for item in campaign.items.all() for cell in item.cell.split(":")}
        seen = {kind: Counter(dict.fromkeys(systems, 0)) for kind in (False, True)}
        for before, now in zip([None, *assigned], assigned):
            assert before is None or before.item.context_id != now.item.context_id
            counts = seen[":" in now.item.cell]
            counts.update(now.item.cell.split(":"))
            assert max(counts.values()) - min(counts.values()) <= 1

    def test_the_sides_of_every_pair_and_system_are_balanced_when_all_is_done(self):
        campaign = campaign_of(4, 6, likert=False, pairwise=True, overlap=3)
        people = [person(campaign, f"annotator-{n}") for n in range(4)]
        while any([work(who, 1) for who in people]):
            pass
        left, pairs = Counter(), Counter()
        for assigned in Assignment.objects.select_related("item"):
            one, other = assigned.item.cell.split(":")
            left.update({one: -1, other: 1} if assigned.swapped else {one: 1, other: -1})
            pairs[assigned.item.cell] += -1 if assigned.swapped else 1
        assert Assignment.objects.count() == 24 * 3
        assert max(map(abs, left.values())) <= 1 and max(map(abs, pairs.values())) <= 1

    def test_file_order_hands_out_in_the_order_of_the_file(self):
        campaign = campaign_of(2, 3, in_file_order=True)
        assigned = work(person(campaign, "annotator-1"))
        assert [a.item.output.text for a in assigned] == [f"s{s} on {c}" for c in range(3) for s in range(2)]

    def test_two_databases_would_hand_out_the_same(self):
        orders = []
        for slug in ("one", "two"):  # other primary keys, the same names and seed
            campaign = campaign_of(3, 5, slug=slug, pairwise=True, seed=7)
            orders.append([(i.context.key, i.output.text, i.places, i.starts_swapped) for i in campaign.items.all()])
        assert orders[0] == orders[1]

    def test_more_outputs_later_add_items_and_leave_the_old_ones(self):
        campaign = campaign_of(3, 2, pairwise=True)
        before = list(campaign.items.values_list("pk", "position", "cell"))
        context = campaign.contexts.create(key="late", turns=["hi"])
        for system in campaign.systems.all():
            Output.objects.create(context=context, system=system, text="x")
        assert draw_items(campaign) == 6
        assert list(campaign.items.values_list("pk", "position", "cell"))[:12] == before
        assert draw_items(campaign) == 0


@pytest.mark.django_db
class TestPhases:
    def test_training_then_qualification_then_the_work(self):
        campaign = campaign_of(3, 4, pass_mark=50)
        known(campaign, "training", 2)
        known(campaign, "qualification", 2)
        bob = person(campaign, "annotator-1")
        assert progress(bob).phase == Phase.TRAINING and progress(bob).total == 2
        purposes = [assigned.purpose for assigned in work(bob)]
        assert purposes == ["training"] * 2 + ["qualification"] * 2 + ["evaluation"] * 8
        bob.refresh_from_db()
        assert bob.has_qualified is True and progress(bob).phase == Phase.FINISHED and progress(bob).done == 8
        assert LikertScore.objects.counted().count() == 8

    def test_who_misses_the_pass_mark_gets_nothing_more(self):
        campaign = campaign_of(3, 4, pass_mark=60)
        known(campaign, "qualification", 1)
        known(campaign, "qualification", 1, right=5)
        bob = person(campaign, "annotator-1")
        assert len(work(bob)) == 2
        bob.refresh_from_db()
        assert bob.has_qualified is False and progress(bob).phase == Phase.NOT_QUALIFIED and progress(bob).left == 0

    def test_without_a_pass_mark_nobody_is_turned_away(self):
        campaign = campaign_of(3, 4)
        known(campaign, "qualification", 2, right=5)
        assert len(work(person(campaign, "annotator-1"))) == 12

    def test_everybody_gets_the_training_items(self):
        campaign = campaign_of(2, 3, overlap=1)
        known(campaign, "training", 2)
        for name in ("annotator-1", "annotator-2", "annotator-3"):
            assert [assigned.purpose for assigned in work(person(campaign, name), 2)] == ["training"] * 2

    def test_an_item_somebody_was_handed_stays_what_it_is(self):
        campaign = campaign_of(2, 2)
        assigned = next_assignment(person(campaign, "annotator-1"))
        with pytest.raises(Refused, match="can't become a gold item"):
            set_known_answers(campaign, "gold", [KnownAnswer(assigned.item.output, {"scores": {"Overall": [3]}})])
        assert not campaign.items.exclude(purpose=Purpose.EVALUATION).exists()


@pytest.mark.django_db
class TestGoldAndRepeats:
    def test_the_share_of_gold_holds_and_its_places_differ(self):
        campaign = campaign_of(3, 20, gold_percent=20)
        known(campaign, "gold", 10)
        places = []
        for n in range(3):
            purposes = [assigned.purpose for assigned in work(person(campaign, f"annotator-{n}"), 40)]
            assert purposes.count("gold") == 8  # one in each stretch of five
            places.append(tuple(i for i, purpose in enumerate(purposes) if purpose == "gold"))
        assert len(set(places)) == 3

    def test_when_the_gold_is_used_up_the_work_goes_on(self):
        campaign = campaign_of(2, 10, gold_percent=50)
        known(campaign, "gold", 2)
        purposes = [assigned.purpose for assigned in work(person(campaign, "annotator-1"))]
        assert Counter(purposes) == {"evaluation": 18, "gold": 2}

    def test_a_share_of_the_pairs_comes_again_swapped_and_later(self):
        campaign = campaign_of(4, 10, likert=False, pairwise=True, overlap=1, repeat_percent=10)
        assigned = work(person(campaign, "annotator-1"))
        first = {g.item_id: (i, g.swapped) for i, g in enumerate(assigned) if g.purpose == Purpose.EVALUATION}
        repeats = [(i, g) for i, g in enumerate(assigned) if g.purpose == Purpose.REPEAT]
        assert len(first) == 40 and len(repeats) == 4
        for i, repeat in repeats:
            place, swapped = first[repeat.item_id]
            assert i - place > 5 and repeat.swapped is not swapped


@pytest.mark.django_db
class TestEnding:
    def test_the_quota_counts_everything_but_the_training(self):
        campaign = campaign_of(3, 10, quota=7, gold_percent=30)
        known(campaign, "training", 2)
        known(campaign, "gold", 5)
        bob = person(campaign, "annotator-1")
        assert Counter(assigned.purpose for assigned in work(bob)) == {"training": 2, "evaluation": 5, "gold": 2}
        assert progress(bob) == turn(bob).progress and progress(bob).phase == Phase.FINISHED and progress(bob).total == 7

    def test_a_skipped_item_is_never_theirs_again(self):
        campaign = campaign_of(2, 2, overlap=1)
        bob, carol = person(campaign, "annotator-1"), person(campaign, "annotator-2")
        skipped = next_assignment(bob)
        skip(bob, skipped.pk, "Odd.")
        assert skipped.item_id not in {assigned.item_id for assigned in work(bob)}
        assert [assigned.item_id for assigned in work(carol)] == [skipped.item_id]

    def test_what_was_held_too_long_comes_back_to_whoever_is_there(self):
        campaign = campaign_of(2, 2, overlap=1)
        bob = person(campaign, "annotator-1")
        held = next_assignment(bob)
        Assignment.objects.update(assigned_at=timezone.now() - HOLD - timedelta(minutes=1))
        assert len(work(person(campaign, "annotator-2"))) == 4
        assert next_assignment(bob) is None
        assert Assignment.objects.get(pk=held.pk).status == Assignment.Status.EXPIRED

    def test_withdrawing_frees_what_was_answered(self):
        campaign = campaign_of(2, 2, overlap=1)
        bob = person(campaign, "annotator-1")
        work(bob, 3)
        withdraw_annotator(bob)
        assert next_assignment(bob) is None
        assert len(work(person(campaign, "annotator-2"))) == 4
        assert LikertScore.objects.counted().count() == 4


@pytest.mark.django_db
class TestCost:
    def test_a_turn_costs_the_same_number_of_queries_early_and_late(self, django_assert_num_queries):
        campaign = campaign_of(4, 60, overlap=1)
        bob = person(campaign, "annotator-1")
        work(bob, 1)
        with django_assert_num_queries(5 + 2):  # lock, history, item, place, assignment; the savepoint
            turn(bob)
        work(bob, 122)
        with django_assert_num_queries(5 + 2):
            turn(bob)
        work(bob, 2)
        with django_assert_num_queries(5 + 2 + 2):  # every tenth: what is left is counted, the older ones are summed
            turn(bob)

    def test_who_finds_nothing_left_has_finished_however_much_there_was_before(self):
        campaign = campaign_of(2, 80, overlap=1)  # more than is counted afresh each time
        bob, others = person(campaign, "annotator-1"), person(campaign, "annotator-2")
        work(bob, 2)
        assert progress(bob).total == 160 and len(work(others)) == 158
        assert turn(bob).assignment is None and progress(bob).phase == Phase.FINISHED and progress(bob).total == 2

    def test_counting_is_only_a_summary(self):
        campaign = campaign_of(3, 30, overlap=1, gold_percent=10)
        known(campaign, "gold", 5)
        bob = person(campaign, "annotator-1")
        work(bob, 40)
        bob.refresh_from_db()
        assert bob.tally["upto"] > 0
        summed = progress(bob)
        Annotator.objects.update(tally={})
        bob.refresh_from_db()
        assert progress(bob) == summed


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets one write at a time; the embedded one is in memory here")
@pytest.mark.django_db(transaction=True)
class TestManyAtOnce:
    def test_no_place_is_taken_twice_and_none_is_left(self):
        campaign = campaign_of(3, 8, pairwise=True, overlap=2)
        people = [person(campaign, f"annotator-{n}") for n in range(6)]
        assert not self.at_once(work, [(who,) for who in people for _ in range(2)])  # two tabs each
        assert set(campaign.items.values_list("taken", flat=True)) == {2}
        assert Assignment.objects.filter(status="done").count() == campaign.items.count() * 2

    def test_two_who_lost_the_race_for_an_item_do_not_wait_for_each_other(self, monkeypatch):
        campaign = campaign_of(1, 2)
        first, second = campaign.items.order_by("position")
        take, both, lost, handed = places.take, threading.Barrier(2, timeout=10), set(), {}

        def late(item, swapped):
            """Each has locked an item, and another was quicker."""
            if (me := threading.get_ident()) in lost:
                return take(item, swapped)
            lost.add(me)
            both.wait()
            return False

        @transaction.atomic
        def judge(who, last):
            before = Handed(0, "done", "evaluation", 0, "", last.context_id, timezone.now())
            handed[who.name] = _any_free(who, History(recent=[before])).item

        monkeypatch.setattr(places, "take", late)
        ann, bob = person(campaign, "annotator-1"), person(campaign, "annotator-2")
        assert self.at_once(judge, [(ann, second), (bob, first)]) == []  # once a deadlock: ann held the first, bob the second
        assert handed == {ann.name: second, bob.name: first}

    def test_two_late_answers_that_take_places_do_not_wait_for_each_other(self, monkeypatch):
        campaign = campaign_of(1, 2, overlap=2)
        take, both, took = places.take, threading.Barrier(2, timeout=10), set()

        def first_of_both(item, swapped):
            """Each answer holds its item before the next one is looked for."""
            taken = take(item, swapped)
            if (me := threading.get_ident()) not in took:
                took.add(me)
                both.wait()
            return taken

        def late_answer(who, item):
            late = Assignment.objects.create(annotator=who, item=item, status="expired", assigned_at=timezone.now())
            scores = {"scores": {criterion.pk: 3 for criterion in campaign.criteria.all()}}
            handed[who.name] = submissions.submit_and_go_on(who, late.pk, uuid.uuid4(), scores)[1].assignment.item

        monkeypatch.setattr(places, "take", first_of_both)
        (first, second), handed = campaign.items.order_by("position"), {}
        ann, bob = person(campaign, "annotator-1"), person(campaign, "annotator-2")
        assert (
            self.at_once(late_answer, [(ann, first), (bob, second)]) == []
        )  # once a deadlock: each waited for the other's item
        assert handed == {ann.name: second, bob.name: first}
        assert set(campaign.items.values_list("taken", flat=True)) == {2}

    def at_once(self, do, calls: list[tuple]) -> list[Exception]:
        """What they raise, each in a thread of its own."""
        errors = []

        def called(*arguments):
            try:
                do(*arguments)
            except Exception as error:
                errors.append(error)
            finally:
                connection.close()

        threads = [threading.Thread(target=called, args=arguments) for arguments in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return errors
