"""What the rows say about each annotator."""

import uuid

import pytest
from django.utils import timezone

from annotation.assessment.annotator_review import annotators, to_check
from annotation.models import Assignment, Item, LikertScore, Output, PairwiseJudgment, Purpose, Submission, User
from annotation.people.accounts import add_annotator
from tests.annotation.pages import World, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def many(tmp_path, client):
    """Three careful judges of 72 outputs, and one who gives every output a three."""
    world = World(tmp_path, client, contexts=24)
    overall = world.campaign.criteria.get(name="Overall")
    people = [add_annotator(world.campaign, User.objects.create_user(name)) for name in ("ann", "ben", "cai", "dud")]
    for i, output in enumerate(Output.objects.order_by("pk")):
        for n, person in enumerate(people):
            value = 3 if n == 3 else min(5, 1 + i * 7 % 5 + (i // 5 % 4 == n))
            _answer(person, output, overall, value, seconds=2.0 if n == 3 else 20.0)
    return world, people


def _answer(person, output, criterion, value, seconds):
    item = Item.objects.get(output=output, other=None)
    now = timezone.now()
    assignment = Assignment.objects.create(
        item=item, annotator=person, status=Assignment.Status.DONE, assigned_at=now, completed_at=now
    )
    submission = Submission.objects.create(
        key=uuid.uuid4(), annotator=person, assignment=assignment, payload={}, active_seconds=seconds
    )
    LikertScore.objects.create(annotator=person, output=output, criterion=criterion, value=value, submission=submission)


def test_who_gives_every_output_a_three_in_no_time_stands_first(many):
    world, people = many
    figures = annotators(world.campaign)
    first = figures["people"][0]
    assert (first["name"], first["flagged"]) == (people[3].name, True)
    assert "The same answer to 100% of 72 items." in first["reasons"]
    assert any("72 of 72 items took under 6.7 s" in reason for reason in first["reasons"])
    assert not any(person["flagged"] for person in figures["people"][1:])
    assert (first["answers"], first["items"], first["seconds"], first["longest_run"]) == (72, 72, 2.0, 72)


def test_the_page_names_them_and_why(many):
    world, people = many
    page = text(world.sign_in(world.alice).get("quality/annotators/"))
    assert "The same answer to 100% of 72 items" in page and people[3].name in page
    assert "Influence on the ranking" in page and "Hydra-system" in page


def test_who_is_flagged_for_two_reasons_is_listed_once_with_both(many):
    """One who gives 5 to one system and 1 to the others, in no time, among seven people who score by another rule."""
    world, people = many
    overall = world.campaign.criteria.get(name="Overall")
    for name in ("eve", "fay", "gus", "hal"):
        person = add_annotator(world.campaign, User.objects.create_user(name))
        for i, output in enumerate(Output.objects.order_by("pk")):
            _answer(person, output, overall, 1 + i * 7 % 5, seconds=20.0)
    for score in LikertScore.objects.filter(annotator=people[3]).select_related("output__system"):
        score.value = 5 if score.output.system.name == "Hydra-system" else 1
        score.save()
    figures = annotators(world.campaign)
    assert [p["name"] for p in figures["people"] if p["flagged"]] == [people[3].name]
    assert [row["name"] for row in figures["influence"] if row["flagged"]] == [people[3].name]
    (card,) = to_check(figures)
    assert card["reasons"] and card["influence"]["largest"] > 0
    page = text(world.sign_in(world.alice).get("quality/annotators/"))
    to_be_checked = page.partition("Annotators to check")[2].partition("Agreement with the others")[0]
    assert to_be_checked.count(people[3].name) == 1
    assert "items took under" in to_be_checked and "Changes the ratings of systems by up to" in to_be_checked


def test_who_is_flagged_for_influence_alone_is_listed_after_the_others():
    people = [{"name": name, "flagged": name == "cai", "reasons": []} for name in ("ann", "ben", "cai")]
    influence = [{"name": name, "flagged": name != "cai"} for name in ("ben", "ann", "cai")]
    found = to_check({"people": people, "influence": influence})
    assert [(card["name"], card["influence"]) for card in found] == [
        ("cai", None),
        ("ben", influence[0]),
        ("ann", influence[1]),
    ]


def test_who_withdrew_is_not_shown_and_counts_for_nobody(many):
    world, people = many
    type(people[3]).objects.filter(pk=people[3].pk).update(withdrawn_at=timezone.now())
    figures = annotators(world.campaign)
    assert people[3].name not in [person["name"] for person in figures["people"]]
    assert [person["reasons"] for person in figures["people"]] == [[], [], []]


@pytest.fixture
def pairs(tmp_path, client):
    """One person's judgments of pairs: (choice, shown swapped)."""
    world = World(tmp_path, client, contexts=8, likert=False, pairwise=True)
    person = add_annotator(world.campaign, User.objects.create_user("ann"))

    def judged(choices, purpose=Purpose.EVALUATION):
        for item, (choice, swapped) in zip(world.campaign.items.order_by("pk"), choices):
            PairwiseJudgment.objects.create(
                annotator=person,
                output_a=item.output,
                output_b=item.other,
                choice=choice,
                shown_swapped=swapped,
                purpose=purpose,
            )
        return annotators(world.campaign)["people"][0]

    return judged


def test_left_is_where_the_output_stood_and_not_how_it_is_stored(pairs):
    # A shown unswapped stands on the left, B shown swapped too; a tie is on no side; an unknown order does not count.
    figures = pairs([("A", False), ("B", True), ("A", True), ("tie", False), ("B", None)])
    assert (figures["left"], figures["right"]) == (2, 1)


def test_repeats_compare_the_stored_choice_whatever_side_was_shown(pairs):
    pairs([("A", False), ("B", True), ("tie", False)])
    figures = pairs([("A", True), ("A", False), ("tie", True)], purpose=Purpose.REPEAT)
    assert (figures["repeats"], figures["repeats_same"]) == (3, 2)
    assert figures["answers"] == 3  # repeats are no answers of their own


def test_gold_is_what_the_item_expects(many):
    world, people = many
    overall = world.campaign.criteria.get(name="Overall")
    item = Item.objects.filter(other=None).first()
    Item.objects.filter(pk=item.pk).update(purpose=Purpose.GOLD, expected={"scores": {"Overall": [4, 5]}})
    for person, value in zip(people, (5, 4, 2)):
        assignment = Assignment.objects.get(item=item, annotator=person)
        submission = Submission.objects.get(assignment=assignment)
        LikertScore.objects.filter(submission=submission).update(value=value, purpose=Purpose.GOLD, criterion=overall)
    figures = {person["name"]: (person["gold"], person["gold_right"]) for person in annotators(world.campaign)["people"]}
    assert [figures[person.name] for person in people] == [(1, 1), (1, 1), (1, 0), (0, 0)]


def test_a_campaign_without_answers_has_nobody_to_show(world):
    figures = annotators(world.campaign)
    assert (figures["people"], figures["influence"], len(figures["systems"])) == ([], [], 3)
    assert "Nobody has answered yet" in text(world.sign_in(world.alice).get("quality/annotators/"))
