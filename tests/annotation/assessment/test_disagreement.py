"""What people disagree about is settled by somebody, and snapshots follow."""

import pytest

from annotation.assessment.adjudication import adjudicate
from annotation.assessment.assess import assess
from annotation.assessment.disagreement import open_disagreements
from annotation.models import Adjudication, AuditEvent, LikertScore, Output, PairwiseJudgment, User
from annotation.people.accounts import add_annotator
from annotation.snapshots import read
from core.errors import Refused
from tests.annotation.pages import World, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def split(world):
    """Two people agree on everything but the first output, which gets a 1 and a 5."""
    overall = world.campaign.criteria.get(name="Overall")
    for n in range(2):
        person = add_annotator(world.campaign, User.objects.create_user(f"judge{n}"))
        for i, output in enumerate(Output.objects.order_by("pk")):
            value = (1, 5)[n] if i == 0 else 1 + i % 5
            LikertScore.objects.create(annotator=person, output=output, criterion=overall, value=value)
    return world


def settle(world, believed, reason="It answers the question."):
    (one,) = open_disagreements(world.campaign, 1.0, "drop")
    return adjudicate(world.campaign, world.alice, one.criterion.pk, one.unit, None, believed, reason)


def kept(world):
    rows = read(assess(world.campaign)).scores
    return [row["value"] for row in rows if (row["context"], row["system"]) == ("c0", "Hydra-system")]


def test_the_queue_holds_what_the_filter_leaves_wide_apart(split):
    # Two scores, 1 and 5: median 3, MAD 2, both within 1.4826 x 2, so both stay; 4 of a scale of 4 apart.
    (one,) = open_disagreements(split.campaign, 1.0, "drop")
    assert (one.spread, one.options, one.unit) == (1.0, [1.0, 5.0], Output.objects.order_by("pk").first().pk)


def test_a_snapshot_keeps_the_answers_that_are_believed(split):
    before = assess(split.campaign)
    assert sorted(kept(split)) == [1.0, 5.0]
    settle(split, "5")
    after = assess(split.campaign)
    assert kept(split) == [5.0]
    assert after != before and after.rule["adjudicated"] == 1
    assert LikertScore.objects.count() == 12  # the answers themselves stay
    assert open_disagreements(split.campaign, 1.0, "drop") == []
    assert after.decisions.get().report["alpha_after"] == before.decisions.get().report["alpha_after"]


def test_letting_all_stand_settles_it_too(split):
    settle(split, "", "A matter of taste.")
    assert sorted(kept(split)) == [1.0, 5.0]
    assert open_disagreements(split.campaign, 1.0, "drop") == []


@pytest.mark.parametrize(
    ("believed", "reason", "sentence"),
    [("5", " ", "Give a reason"), ("3", "x", "one of the answers"), ("A", "x", "one of the")],
)
def test_what_nobody_said_and_no_reason_are_refused(split, believed, reason, sentence):
    with pytest.raises(Refused, match=sentence):
        settle(split, believed, reason)
    assert Adjudication.objects.count() == 0 and not AuditEvent.objects.filter(action="disagreement settled").exists()


def test_pairs_are_settled_alike(tmp_path, client):
    world = World(tmp_path, client, contexts=1, likert=False, pairwise=True)
    item = world.campaign.items.first()
    for n, choice in enumerate(("A", "B", "tie")):
        person = add_annotator(world.campaign, User.objects.create_user(f"judge{n}"))
        PairwiseJudgment.objects.create(annotator=person, output_a=item.output, output_b=item.other, choice=choice)
    (one,) = open_disagreements(world.campaign, 1.0, "drop")
    assert (one.criterion, one.options) == (None, ["A", "B", "tie"])
    adjudicate(world.campaign, world.alice, None, *one.unit, "tie", "Equally good.")
    assert [row["choice"] for row in read(assess(world.campaign)).judgments] == ["tie"]


def test_the_same_pair_is_settled_on_each_criterion_apart(tmp_path, client):
    world = World(tmp_path, client, contexts=1, likert=False, pairwise=True, pairwise_by_criterion=True)
    item, criteria = world.campaign.items.first(), list(world.campaign.criteria.all())
    for n, choice in enumerate("AB"):
        person = add_annotator(world.campaign, User.objects.create_user(f"judge{n}"))
        for criterion in criteria:
            PairwiseJudgment.objects.create(
                annotator=person, output_a=item.output, output_b=item.other, choice=choice, criterion=criterion
            )
    for one, believed in zip(open_disagreements(world.campaign, 1.0, "drop"), "AB"):
        adjudicate(world.campaign, world.alice, one.criterion.pk, *one.unit, believed, "Seen.")
    kept = {row["criterion"]: row["choice"] for row in read(assess(world.campaign)).criterion_judgments}
    assert kept == {criteria[0].name: "A", criteria[1].name: "B"}


class TestPage:
    def test_a_researcher_settles_it_there(self, split):
        page = text(split.sign_in(split.alice).get("quality/disagreement/"))
        assert "1 open" in page and "Reply 0 to 0" in page
        (one,) = open_disagreements(split.campaign, 1.0, "drop")
        split.post("quality/disagreement/settle/", {"key": one.key, "believed": "5", "reason": "It answers."})
        assert Adjudication.objects.get().decided_by == split.alice
        page = text(split.get("quality/disagreement/"))
        assert "Nothing is open" in page and "It answers." in page

    def test_nonsense_is_answered_with_a_sentence(self, split):
        split.sign_in(split.alice)
        for key, sentence in (("x", "has nothing to decide"), ("0-99999-0", "Nobody has answered this")):
            sent = {"key": key, "believed": "5", "reason": "r"}
            assert sentence in text(split.post("quality/disagreement/settle/", sent, follow=True))

    def test_only_for_researchers(self, split):
        for user in (split.bob, split.charlie):
            split.sign_in(user)
            assert split.get("quality/disagreement/").status_code == 404
            assert split.post("quality/disagreement/settle/", {}).status_code == 404
            assert split.get("quality/study/").status_code == 404
