"""Frozen judgments: what changed between two, what became of them, and which is the newest."""

import importlib

import pytest
from django.apps import apps
from django.db.models import F

from annotation.annotating.consent import withdraw_annotator
from annotation.assessment import calculations
from annotation.assessment.assess import as_dict, assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.models import AuditEvent, LikertScore, PairwiseJudgment, Snapshot, User
from annotation.people.accounts import add_annotator
from annotation.snapshots import SnapshotContent, difference, holds, latest_snapshot, read, write
from annotation.tasks import calculate
from core.errors import Refused
from evaluator.versions.selectors import basis, lenders
from tests.annotation.pages import World, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(scored):
    """(world, before, after): one score changed, one came back that the stricter filter had dropped."""
    before = assess(scored.campaign, 1.0, "interval", "drop")
    LikertScore.objects.filter(annotator__user__username="judge1", output__text="Reply 1 to 0").update(value=4)
    return scored, before, assess(scored.campaign, 9.0, "interval", "keep")


def test_the_difference_tells_gone_new_and_changed_apart(two):
    world, before, after = two
    changes = difference(before, after)
    assert (changes.gone["scores"], changes.come["scores"]) == (0, 1)  # judge0's 5 is kept now
    assert [(row["before"], row["after"], row["context"]) for row in changes.changed] == [(3.0, 4.0, "c0")]
    assert list(changes.people.values()) == [(0, 1)]
    assert dict((name, (a, b)) for name, a, b in changes.rule) == {"mad": (1.0, 9.0), "on_zero_mad": ("drop", "keep")}
    back = difference(after, before)
    assert (back.gone["scores"], back.come["scores"]) == (1, 0)


def test_a_snapshot_does_not_differ_from_itself(two):
    _, before, _ = two
    changes = difference(before, before)
    assert not (changes.rule or changes.people or changes.changed or any(changes.gone.values()) or any(changes.come.values()))


def test_the_page_shows_it_to_researchers_alone(two):
    world, before, after = two
    address = f"snapshots/{after.name}/difference/"
    page = text(world.sign_in(world.alice).get(address, data={"from": before.digest}))
    assert "1.0 → 9.0" in page and "Changed answers" in page
    assert "Show the difference" in text(world.get(f"snapshots/{after.name}/"))
    assert world.get(address).status_code == 404
    for user in (world.bob, world.charlie):
        assert world.sign_in(user).get(address, data={"from": before.digest}).status_code == 404


def test_a_worker_compares_large_ones(two, monkeypatch):
    world, before, after = two
    monkeypatch.setattr(calculations, "AT_ONCE", 0)
    since = f"/api/campaigns/talk/snapshots/{after.digest}/since/{before.digest}/"
    asked = world.sign_in(world.alice).client.get(since)
    assert asked.status_code == 202
    assert "Changed answers" not in text(world.get(f"snapshots/{after.name}/difference/", data={"from": before.digest}))
    calculate(asked.json()["job"])
    assert world.client.get(since).json()["changed"][0]["before"] == 3.0
    assert "Changed answers" in text(world.get(f"snapshots/{after.name}/difference/", data={"from": before.digest}))


def test_a_withdrawn_annotator_marks_it_on_every_page_and_in_the_command(two):
    world, before, after = two
    annotator = world.campaign.annotators.get(user__username="judge2")
    withdraw_annotator(annotator)
    words = f"{annotator.name} withdrew after it was frozen."
    assert words in text(world.sign_in(world.alice).get(f"snapshots/{before.name}/"))
    assert words in text(world.get("quality/")) and "1 mark" in text(world.get("quality/"))
    assert as_dict(after)["marks"] == [words]
    without = assess(world.campaign, 9.0, "interval", "keep")
    assert difference(after, without).people == {annotator.name: (6, 0)}
    assert as_dict(without)["marks"] == []


def test_pairs_judged_on_a_criterion_have_their_own_decision_and_lines(tmp_path, client):
    world = World(tmp_path, client, contexts=4, likert=False, pairwise=True, pairwise_by_criterion=True)
    fluency = world.campaign.criteria.get(name="Fluency")
    for n in range(2):
        person = add_annotator(world.campaign, User.objects.create_user(f"judge{n}"))
        for i, item in enumerate(world.campaign.items.exclude(other=None)):
            PairwiseJudgment.objects.create(
                annotator=person, output_a=item.output, output_b=item.other, criterion=fluency, choice="AB"[i % 2]
            )
    snapshot = assess(world.campaign)
    decision = snapshot.decisions.get()
    assert (decision.what, decision.on_pairs, decision.report["alpha"]) == ("Fluency (pairs)", True, 1.0)
    content = read(snapshot)
    assert content.judgments == [] and len(content.criterion_judgments) == snapshot.judgments == 24
    assert {row["criterion"] for row in content.criterion_judgments} == {"Fluency"}
    judges = {row["annotator"] for row in content.criterion_judgments}
    assert len(judges) == 2 and all(holds(snapshot, "annotator", [name]) for name in judges)
    (decision,) = as_dict(snapshot)["pairwise_by_criterion"]
    assert (decision["name"], decision["judgments"]) == ("Fluency", 24)
    world.sign_in(world.alice)
    for path in ("quality/", "quality/preview/", "quality/annotators/", "quality/report/", f"snapshots/{snapshot.name}/"):
        assert "Fluency" in text(world.get(path)) or "annotators" in path, path
    with pytest.raises(Refused, match="by criterion only"):
        basis(snapshot)


class TestAcceptedAgain:
    """An earlier filter accepted anew: the same snapshot, and the newest."""

    def test_it_is_what_trainings_boards_and_lenders_take(self, scored):
        campaign, user = scored.campaign, scored.alice
        first = assess(campaign, 1.0, "interval", "drop", user)
        second = assess(campaign, 9.0, "interval", "keep", user)
        assert latest_snapshot(campaign) == second
        assert assess(campaign, 1.0, "interval", "drop", user) == first
        assert latest_snapshot(campaign) == campaign.snapshots.first() == first and campaign.snapshots.count() == 2
        other = create_campaign(slug="other", title="Other", criteria=[CriterionSpec("Overall")], user=user)
        assert lenders(other, User.objects.create_user("root", is_staff=True)) == [first]
        done = AuditEvent.objects.filter(action="snapshot accepted again").get()
        assert (done.user, done.detail) == (user, {"snapshot": first.name, "rule": first.rule})

    def test_the_page_shows_it_first_and_offers_its_filter(self, two):
        world, _, after = two
        rule = {"mad": 1.0, "level": "interval", "on_zero_mad": "drop"}
        world.sign_in(world.alice).post("quality/", data=rule)
        world.post("quality/", data=rule | {"mad": 9.0, "on_zero_mad": "keep"})
        page = text(world.get("quality/"))
        assert f'Newest snapshot: <a href="/c/talk/snapshots/{after.name}/">' in page
        assert 'value="9.0"' in page and "last accepted" in text(world.get(f"snapshots/{after.name}/"))

    def test_those_from_before_count_as_accepted_when_they_were_made(self, two):
        _, before, after = two
        Snapshot.objects.update(accepted_at=after.accepted_at)
        importlib.import_module("annotation.migrations.0012_snapshot_accepted_at").accepted_when_made(apps, None)
        assert Snapshot.objects.filter(accepted_at=F("created_at")).count() == 2


def test_whose_rows_it_holds_is_told_by_whole_names():
    """Also of names with quotation marks, and not by a text that reads like a row."""
    row = {"context": "c", "checkpoint": "", "sample": 0, "criterion": "Overall", "value": 3}
    texts = {**{name: row[name] for name in ("context", "checkpoint", "sample")}, "text": '"annotator":"Bob"', "human": False}
    people, systems = ("Ann", 'Zoë "Z"'), ("bee", "ape 2")
    scores = [{**row, "annotator": person, "system": system} for person in people for system in systems]
    content = SnapshotContent(
        contexts={"c": ['"system":"cat"']}, scores=scores, outputs=[{**texts, "system": s} for s in systems]
    )
    digest, packed = write(content)
    snapshot = Snapshot(digest=digest, content=packed)
    assert all(holds(snapshot, "annotator", [name]) for name in people) and all(holds(snapshot, "system", [s]) for s in systems)
    assert not any(holds(snapshot, "annotator", [name]) for name in ("Bob", "An", "Z", "bee"))
    assert not holds(snapshot, "system", ["cat", "ape", "Ann"]) and holds(snapshot, "system", ["cat", "bee"])
