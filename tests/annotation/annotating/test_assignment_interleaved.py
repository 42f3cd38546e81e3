"""Random campaigns, random people, random interleavings: what must hold after every step, whatever happened."""

from collections import Counter, defaultdict
from datetime import timedelta
from unittest import mock

import pytest
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from hypothesis import HealthCheck, Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from annotation.annotating import places
from annotation.annotating.assignment import next_assignment, progress
from annotation.annotating.consent import withdraw_annotator
from annotation.annotating.reports import skip
from annotation.annotating.undo import undo_last
from annotation.campaigns.items import recount, summarize
from annotation.models import Assignment, Item, LikertScore, PairwiseJudgment, Purpose, Submission
from tests.annotation.corpora import answer, campaign_of, person

OPEN, DONE = Assignment.Status.OPEN, Assignment.Status.DONE


class Annotating(RuleBasedStateMachine):
    """Each run is one transaction that is rolled back."""

    def __init__(self):
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.people, self.late, self.skipped, self.joined = [], [], set(), 0

    def teardown(self):
        try:
            if hasattr(self, "campaign"):
                self.everybody_works_on()
        finally:
            self._roll_back()

    def _roll_back(self):
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)

    @initialize(
        systems=st.integers(2, 4),
        contexts=st.integers(1, 4),
        kinds=st.sampled_from([(True, False), (False, True), (True, True)]),
        overlap=st.integers(1, 3),
        percent=st.sampled_from([0, 50, 100]),
        quota=st.sampled_from([None, None, 3, 8]),
        gold=st.sampled_from([0, 30]),
        repeats=st.sampled_from([0, 50]),
        seed=st.integers(0, 3),
    )
    def campaign_is_made(self, systems, contexts, kinds, overlap, percent, quota, gold, repeats, seed):
        self.campaign = campaign_of(
            systems,
            contexts,
            likert=kinds[0],
            pairwise=kinds[1],
            overlap=overlap,
            overlap_percent=percent,
            quota=quota,
            gold_percent=gold,
            repeat_percent=repeats,
            seed=seed,
        )
        if gold:
            self.campaign.items.filter(pk__in=list(self.campaign.items.values_list("pk", flat=True)[:2])).update(
                purpose=Purpose.GOLD, expected={"scores": {"Overall": [3]}, "choice": "tie"}
            )
            summarize(self.campaign)

    @precondition(lambda self: len(self.people) < 4)
    @rule()
    def somebody_joins(self):
        self.joined += 1
        self.people.append(person(self.campaign, f"annotator-{self.joined}"))

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def next_item(self, data):
        who = self._somebody(data)
        held = who.assignments.filter(status=OPEN).first()
        best = None if held else self._best_free(who)
        assigned = next_assignment(who)
        if held:
            assert assigned == held
        elif assigned is not None:
            assert (assigned.item_id, who.pk) not in self.skipped or assigned.purpose == Purpose.REPEAT
            if assigned.purpose == Purpose.EVALUATION and best is not None:
                assert self._cost_of(assigned.item) == best
            if assigned.purpose == Purpose.REPEAT:
                first = who.assignments.get(item=assigned.item, purpose=Purpose.EVALUATION)
                between = who.assignments.filter(pk__gt=first.pk, pk__lt=assigned.pk).count()
                assert first.status == DONE and first.swapped != assigned.swapped and between >= 5
        elif best is not None and who.campaign.quota is None:
            raise AssertionError("an item is free, and nothing was handed out")

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def answered(self, data):
        who = self._somebody(data)
        held = who.assignments.filter(status=OPEN).first()
        assume(held)
        before = Submission.objects.count()
        one = answer(who, held)
        assert answer(who, held, key=one.pk) == one  # sent twice
        assert Submission.objects.count() == before + 1 and not one.is_surplus

    @rule()
    def an_hour_passes(self):
        held = list(Assignment.objects.filter(status=OPEN))
        with mock.patch.object(places, "HOLD", timedelta(seconds=-1)):
            places.sweep(self.campaign)
        self.late += held
        assert not Assignment.objects.filter(status=OPEN).exists()

    @precondition(lambda self: self.late)
    @rule(data=st.data())
    def a_late_answer_comes(self, data):
        late = self.late.pop(data.draw(st.integers(0, len(self.late) - 1)))
        late.refresh_from_db()
        late.annotator.refresh_from_db()
        assume(late.annotator.withdrawn_at is None and late.status == Assignment.Status.EXPIRED)
        free = late.item.taken < late.item.places or late.purpose != Purpose.EVALUATION
        assert answer(late.annotator, late).is_surplus is not free

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def skipped(self, data):
        who = self._somebody(data)
        held = who.assignments.filter(status=OPEN).first()
        assume(held)
        skip(who, held.pk, "Odd.")
        self.skipped.add((held.item_id, who.pk))

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def undone(self, data):
        who = self._somebody(data)
        if reopened := undo_last(who):
            assert next_assignment(who).pk == reopened.pk

    @precondition(lambda self: len(self.people) > 2)
    @rule(data=st.data())
    def somebody_withdraws(self, data):
        who = self._somebody(data)
        withdraw_annotator(who)
        self.people.remove(who)

    @precondition(lambda self: hasattr(self, "campaign"))
    @invariant()
    def places_are_what_is_held_and_answered(self):
        placed, accepted = self._placed(), self._accepted()
        for pk, taken, swapped, room in self._items("pk", "taken", "taken_swapped", "places"):
            assert (taken, swapped) == (len(placed[pk]), sum(a.swapped for a in placed[pk]))
            assert taken <= room
            assert accepted[pk] == sum(a.status == DONE for a in placed[pk])

    def everybody_works_on(self):
        """Until nothing is left: then every item has as many answers as it has places, but for those that everybody who
        could still judge it has had. Counting everything afresh changes nothing."""
        for who in self.people:
            while assigned := next_assignment(who):
                answer(who, assigned)
            assert progress(who).left <= 0
        self.places_are_what_is_held_and_answered()
        accepted = self._accepted()
        for item in self.campaign.items.filter(purpose=Purpose.EVALUATION, taken__lt=F("places")):
            had = set(item.assignments.exclude(status=Assignment.Status.EXPIRED).values_list("annotator", flat=True))
            assert self.campaign.quota is not None or all(who.pk in had for who in self.people)
        assert sum(accepted.values()) == sum(taken for (taken,) in self._items("taken"))
        before = list(self._items("pk", "taken", "taken_swapped"))
        recount(self.campaign)
        assert list(self._items("pk", "taken", "taken_swapped")) == before

    def _items(self, *columns):
        return self.campaign.items.filter(purpose=Purpose.EVALUATION).order_by("pk").values_list(*columns)

    def _somebody(self, data):
        who = data.draw(st.sampled_from(self.people))
        who.refresh_from_db()
        return who

    def _placed(self) -> dict[int, list]:
        """The assignments that hold a place, by item."""
        answered = Submission.objects.filter(assignment=OuterRef("pk"), is_surplus=False, retracted_at=None)
        rows = Assignment.objects.filter(item__campaign=self.campaign, purpose="evaluation", annotator__withdrawn_at=None)
        placed = defaultdict(list)
        for row in rows.filter(Q(status=OPEN) | Q(Exists(answered), status=DONE)):
            placed[row.item_id].append(row)
        return placed

    def _accepted(self) -> Counter:
        """How many answers count, by item."""
        items = {(output, other): pk for pk, output, other in self._items("pk", "output", "other")}
        scored = LikertScore.objects.counted().values_list("output", flat=True)
        judged = PairwiseJudgment.objects.counted().values_list("output_a", "output_b")
        return Counter(items[key] for key in [*((output, None) for output in scored), *judged])

    def _best_free(self, who):
        """The least that a free item would break, by looking at every one of them."""
        self.before = Counter()
        for cell in self.campaign.drawn["cells"]:
            self.before.update(dict.fromkeys(self._systems(cell), 0))
        assignments = who.assignments.order_by("assigned_at", "pk").select_related("item")
        for had in assignments.filter(purpose=Purpose.EVALUATION, status__in=[OPEN, DONE]):
            self.before.update(self._systems(had.item.cell))
        self.last = assignments.last().item.context_id if assignments else None
        taken = set(assignments.exclude(status=Assignment.Status.EXPIRED).values_list("item", flat=True))
        free = [i for i in Item.objects.filter(campaign=self.campaign, purpose="evaluation") if i.taken < i.places]
        return min((self._cost_of(item) for item in free if item.pk not in taken), default=None)

    def _cost_of(self, item) -> tuple[bool, int]:
        """(same context as the last, by how much the person's counts of systems would differ beyond one)."""
        kind = item.cell.count(":")
        after = {key: count for key, count in self.before.items() if key[0] == kind}
        for key in self._systems(item.cell):
            after[key] += 1
        return item.context_id == self.last, max(0, max(after.values()) - min(after.values()) - 1)

    @staticmethod
    def _systems(cell: str) -> list[tuple[int, str]]:
        return [(cell.count(":"), system) for system in cell.split(":")]


@pytest.mark.django_db
def test_places_balance_and_answers_hold_in_any_order_of_events():
    # Not shrunk: that takes minutes, and a failing run is short enough to be read as it is.
    run_state_machine_as_test(
        Annotating,
        settings=settings(
            max_examples=10,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
            print_blob=True,
        ),
    )
