"""Which pairs people judge next: the order follows what they would tell; nobody's work is touched."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from annotation import snapshots
from annotation.campaigns.items import draw_items
from annotation.models import AuditEvent, Campaign, Job
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator.versions.registry import comparator_in_use
from leaderboard import tasks
from leaderboard.rating.pairing import order_to_ask
from leaderboard.tournaments import active_selection, people_games

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
PAGE = "/c/talk/leaderboard/"
RECIPE = {"epochs": 1}


@pytest.fixture
def campaign(world, comparator) -> Campaign:
    """With pairs to judge, and a comparator in use."""
    Campaign.objects.filter(pk=world.campaign.pk).update(pairwise=True)
    world.campaign.refresh_from_db()
    draw_items(world.campaign)
    return world.campaign


def pairs(campaign):
    return campaign.items.exclude(other=None).order_by("position")


def test_what_tells_most_of_the_systems_comes_first(campaign, monkeypatch):
    before = list(pairs(campaign))
    monkeypatch.setattr(active_selection, "order_to_ask", lambda n, games, first, second, seed: np.arange(len(first))[::-1])
    assert active_selection.for_the_systems(campaign) == {"pairs": len(before)}
    assert [item.pk for item in pairs(campaign)] == [item.pk for item in before[::-1]]
    assert [item.position for item in pairs(campaign)] == [item.position for item in before]
    assert AuditEvent.objects.get(action="pairs put in order of worth").detail == {"pairs": len(before)}


def test_what_the_members_differ_on_comes_first_for_the_comparator(campaign):
    before = list(pairs(campaign))

    def apart(version, outputs_a, outputs_b):
        assert [(a.pk, b.pk) for a, b in zip(outputs_a, outputs_b)] == [(item.output_id, item.other_id) for item in before]
        return np.arange(len(outputs_a)) % 3  # the third, the sixth, ...

    assert active_selection.for_the_comparator(campaign, apart) == {"pairs": len(before)}
    expected = [item.pk for k in (2, 1, 0) for item in before[k::3]]
    assert list(pairs(campaign).values_list("pk", flat=True)) == expected
    assert AuditEvent.objects.filter(action="pairs put in order of teaching").count() == 1


def test_judged_pairs_count_whatever_criterion_the_comparator_learnt(world, campaign, monkeypatch):
    seen = []
    monkeypatch.setattr(
        active_selection, "order_to_ask", lambda n, games, *rest: seen.append(games) or order_to_ask(n, games, *rest)
    )
    active_selection.for_the_systems(campaign)
    content = snapshots.read(latest_snapshot(campaign))
    assert comparator_in_use(campaign).criterion and not content.judgments  # it learnt from scores, nobody has judged a pair
    item = pairs(campaign).first()
    names = {side: [output.system.name, "", output.sample] for side, output in (("a", item.output), ("b", item.other))}
    judged = replace(content, judgments=[{"context": item.context.key, "choice": "A", "annotator": "Ann", **names}])
    monkeypatch.setattr(people_games, "_assessed", lambda snapshot: (judged, {}))
    active_selection.for_the_systems(campaign)
    assert len(seen[1]) == len(seen[0]) + 1


def test_what_somebody_has_begun_keeps_its_place(campaign, monkeypatch):
    begun, *others = pairs(campaign)
    campaign.items.filter(pk=begun.pk).update(taken=1)
    monkeypatch.setattr(active_selection, "order_to_ask", lambda n, games, first, second, seed: np.arange(len(first))[::-1])
    active_selection.for_the_systems(campaign)
    assert pairs(campaign).first().pk == begun.pk and pairs(campaign)[1].pk == others[-1].pk


def test_a_real_comparator_orders_them_in_its_job(world, campaign):
    assert world.post(world.charlie, PAGE + "ask/").status_code == 404
    world.post(world.alice, PAGE + "ask/")
    job = Job.objects.get(task=active_selection.TASKS["systems"])
    tasks.ask(str(job.pk))
    job.refresh_from_db()
    assert job.status == Job.Status.DONE and "pairs reordered" in job.message
    world.post(world.alice, PAGE + "ask/", {"comparator": ""})
    other = Job.objects.get(task=active_selection.TASKS["comparator"])
    order = list(pairs(campaign).values_list("pk", flat=True))
    tasks.ask_to_teach(str(other.pk))
    other.refresh_from_db()
    assert other.status == Job.Status.DONE and "members disagree most" in other.message
    assert list(pairs(campaign).values_list("pk", flat=True)) != order
    page = world.get(world.alice, PAGE + "play/").content.decode()
    assert "Queue the most informative pairs next" in page and "Queue the pairs that teach the comparator most" in page


def test_without_a_comparator_or_open_pairs_it_is_refused(world, campaign):
    pairs(campaign).update(taken=1)
    with pytest.raises(Refused, match="started every pair of campaign 'talk', so there is nothing to reorder"):
        active_selection.start(campaign)
    campaign.promotions.all().delete()
    with pytest.raises(Refused, match="'talk' has no comparator in use yet"):
        active_selection.start(campaign, goal="comparator")


def test_the_order_of_the_systems_needs_no_comparator(campaign):
    campaign.promotions.all().delete()
    job = active_selection.start(campaign, foreground=True)
    assert tasks.order_pairs(job.pk) == {"pairs": pairs(campaign).count()}


def test_one_member_differs_from_nobody(campaign, monkeypatch):
    from evaluator.worker import comparators

    monkeypatch.setattr(comparators, "load", lambda version: SimpleNamespace(models=["one"]))
    with pytest.raises(Refused, match="has only one member"):
        active_selection.for_the_comparator(campaign, comparators.disagreement)
    assert not AuditEvent.objects.filter(action="pairs put in order of teaching").exists()
