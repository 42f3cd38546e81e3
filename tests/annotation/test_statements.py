"""A statement gives what its queryset gives, without building or compiling it again."""

import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.db.models import F

from annotation.access import ANNOTATOR, annotator_of
from annotation.annotating.assignment import next_assignment
from annotation.models import Annotator, Criterion, Item, LikertScore, Submission
from annotation.models.campaign import CRITERIA
from annotation.statements import Statement, changes, insert, rows_of
from tests.annotation.pages import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path, client):
    return World(tmp_path, client)


def test_rows_are_those_of_the_queryset(world):
    expected = list(Criterion.objects.filter(campaign=world.campaign).order_by())
    found = CRITERIA.all(world.campaign.pk)
    assert [vars(row) | {"_state": None} for row in found] == [vars(row) | {"_state": None} for row in expected]
    assert not found[0]._state.adding and CRITERIA.all(world.campaign.pk + 1) == []


def test_what_is_joined_deferred_and_annotated_comes_with_it(world, django_assert_num_queries):
    items = Statement(
        lambda campaign: (
            Item.objects.filter(campaign=campaign)
            .select_related("output", "other")
            .defer("output__metadata")
            .annotate(half=F("position") / 2)
            .order_by("position")
        ),
        arguments=1,
    )
    expected = list(items.build(world.campaign.pk))
    with django_assert_num_queries(1):
        found = items.all(world.campaign.pk)
        assert [(item.pk, item.output.text, item.other, item.half) for item in found] == [
            (item.pk, item.output.text, item.other, item.half) for item in expected
        ]
    with django_assert_num_queries(1):
        assert found[0].output.metadata == {}


def test_it_is_built_once(world):
    built = []

    def build(name):
        built.append(name)
        return Annotator.objects.filter(name=name)

    statement = Statement(build, arguments=1, texts=(0,))
    assert statement.first(world.annotator.name) == world.annotator and statement.first("nobody") is None
    assert len(built) == 1


def test_an_argument_that_is_no_value_of_the_query_is_an_error():
    with pytest.raises(ValueError, match="does not stand"):
        Statement(lambda campaign: Item.objects.order_by("pk"), arguments=1).all(1)


def test_the_annotator_comes_as_from_the_models(world, django_assert_num_queries):
    world.campaign.criteria.filter(name="Overall").update(cannot_say=True, anchors={"2": "ünusable"}, position=3)
    world.campaign.criteria.filter(name="Fluency").update(position=5)
    with django_assert_num_queries(1):
        annotator = annotator_of(world.bob, "talk")
        assert annotator.campaign == world.campaign and annotator.newest_consent is None
        asked = [vars(criterion) | {"_state": None} for criterion in annotator.campaign.asked]
        assert annotator.user == world.bob
    read = world.campaign.criteria.order_by("position", "pk")
    assert asked == [vars(criterion) | {"_state": None} for criterion in read] and asked[0]["anchors"] == {"2": "ünusable"}
    assert ANNOTATOR.first(world.charlie.pk, "talk") is None


class TestInsert:
    def test_rows_are_stored_as_django_stores_them(self, world, django_assert_num_queries):
        made = [Criterion(campaign=world.campaign, name=f"New {n}", low=1, high=3, anchors={"1": "ünusable"}) for n in range(3)]
        with django_assert_num_queries(1):
            insert(made)
        by_django = Criterion.objects.create(campaign=world.campaign, name="x", low=1, high=3, anchors={"1": "ünusable"})
        for row in made:
            stored = Criterion.objects.get(pk=row.pk)
            same = {"name": "x", "id": by_django.pk, "_state": None}
            assert vars(stored) | same == vars(Criterion.objects.get(pk=by_django.pk)) | same
            assert stored.name == row.name and not row._state.adding
        assert len({row.pk for row in made}) == 3

    def test_an_owner_is_stored_with_its_rows(self, world):
        assignment = next_assignment(world.annotator)
        owner = Submission(annotator=world.annotator, assignment=assignment, payload={})
        rows = [
            LikertScore(
                submission=owner, annotator=world.annotator, output=assignment.item.output, criterion=criterion, value=1
            )
            for criterion in world.campaign.criteria.all()
        ]
        insert(rows, owner)
        assert {row.pk for row in rows} == set(LikertScore.objects.filter(submission=owner.pk).values_list("pk", flat=True))
        assert Submission.objects.get() == owner and not owner._state.adding and len(rows) == 2

    def test_a_key_that_is_given_and_a_time_that_is_set_stay(self, world):
        made = Submission(annotator=world.annotator, assignment=next_assignment(world.annotator), payload={"scores": {"1": 2}})
        insert([made])
        stored = Submission.objects.get(pk=made.key)
        assert (stored.created_at, stored.payload, stored.retracted_at) == (made.created_at, {"scores": {"1": 2}}, None)


def test_tuples_are_those_of_the_queryset(world):
    criteria = Criterion.objects.filter(campaign=world.campaign).order_by("pk")
    names = Statement(
        lambda campaign: (
            Criterion.objects.filter(campaign=campaign)
            .order_by("pk")
            .values_list("name", "anchors", "campaign__title", "optional")
        ),
        arguments=1,
    )
    expected = [(row.name, row.anchors, world.campaign.title, row.optional) for row in criteria]
    assert names.all(world.campaign.pk) == expected and expected


def test_its_errors_are_djangos_and_undo_the_transaction(world):
    with pytest.raises(DatabaseError), transaction.atomic():
        changes("UPDATE annotation_annotator SET name = %s WHERE id = %s", ["renamed", world.annotator.pk])
        rows_of("SELECT nothing FROM nowhere", [])
    name = "SELECT name FROM annotation_annotator WHERE id = %s"
    assert rows_of(name, [world.annotator.pk]) == [(world.annotator.name,)]


def test_another_connection_gets_a_cursor_of_its_own(monkeypatch):
    with monkeypatch.context() as uncounted:
        uncounted.setattr(connections["default"], "execute_wrappers", [])  # whoever counts statements gets cursors of Django's
        assert rows_of("SELECT 1", []) == [(1,)]
        first = connection.kept_cursor
        assert rows_of("SELECT 1", []) == [(1,)] and connection.kept_cursor is first
        connection.cursor_is_of = None  # as where there is another one since
        assert rows_of("SELECT 1", []) == [(1,)] and connection.kept_cursor is not first
