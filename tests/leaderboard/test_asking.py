"""Which pairs people judge next: the order follows what they would tell; nobody's work is touched."""

import numpy as np
import pytest

from annotation.drawing import draw_items
from annotation.errors import Refused
from annotation.models import AuditEvent, Campaign, Job
from evaluator import tasks as training
from evaluator.comparator.head import probabilities
from evaluator.services import start_training
from leaderboard import asking, tasks
from tests.evaluator.world import recipe

pytestmark = pytest.mark.django_db
PAGE = "/c/talk/leaderboard/"


class Says:
    """A comparator that is sure of every pair but those on one context."""

    def __init__(self, unsure: set[int]):
        self.unsure = unsure

    def __call__(self, version, outputs):
        return self

    def probabilities(self, a, b):
        differences = np.array([0.0 if one in self.unsure and other in self.unsure else 6.0 for one, other in zip(a, b)])
        return probabilities(differences, 0.5)


@pytest.fixture
def campaign(world) -> Campaign:
    """With pairs to judge, and a comparator that serves."""
    training.run(start_training([world.campaign], foreground=True, recipe=recipe(epochs=1)).job_id)
    Campaign.objects.filter(pk=world.campaign.pk).update(pairwise=True)
    world.campaign.refresh_from_db()
    draw_items(world.campaign)
    return world.campaign


def pairs(campaign):
    return campaign.items.exclude(other=None).order_by("position")


def test_where_the_comparator_is_unsure_comes_first(campaign):
    before = list(pairs(campaign).values_list("position", flat=True))
    last = pairs(campaign).last().context
    result = asking.reorder(campaign, Says(set(last.outputs.values_list("pk", flat=True))))
    there = pairs(campaign).filter(context=last).count()
    assert result == {"pairs": len(before), "left to the comparator": len(before) - there}
    assert {item.context for item in pairs(campaign)[:there]} == {last}
    assert list(pairs(campaign).values_list("position", flat=True)) == before
    assert AuditEvent.objects.filter(action="pairs put in order of worth").count() == 1


def test_what_somebody_has_begun_keeps_its_place(campaign):
    begun, *others = pairs(campaign)
    campaign.items.filter(pk=begun.pk).update(taken=1)
    asking.reorder(campaign, Says(set(others[-1].context.outputs.values_list("pk", flat=True))))
    assert pairs(campaign).first().pk == begun.pk and pairs(campaign)[1].context == others[-1].context


def test_a_real_comparator_orders_them_in_its_job(world, campaign):
    assert world.post(world.charlie, PAGE + "ask/").status_code == 404
    world.post(world.alice, PAGE + "ask/")
    job = Job.objects.get(task=asking.TASK)
    tasks.ask(str(job.pk))
    job.refresh_from_db()
    assert job.status == Job.Status.DONE and "pairs in order" in job.message
    assert "Ask people first where it tells most" in world.get(world.alice, PAGE).content.decode()


def test_without_a_comparator_or_open_pairs_it_is_refused(world, campaign):
    pairs(campaign).update(taken=1)
    with pytest.raises(Refused, match="No pair of campaign 'talk' is left"):
        asking.start(campaign)
    campaign.promotions.all().delete()
    with pytest.raises(Refused, match="No comparator serves campaign 'talk' yet"):
        asking.start(campaign)
