"""Campaigns made straight in the database: some systems on some contexts, people, and answers."""

import uuid

from annotation.annotating.submissions import submit
from annotation.campaigns.items import draw_items
from annotation.models import Annotator, Assignment, Campaign, Context, Criterion, Output, System


def campaign_of(systems: int, contexts: int, slug="drawn", **settings) -> Campaign:
    campaign = Campaign.objects.create(slug=slug, title=slug, **settings)
    Criterion.objects.create(campaign=campaign, name="Overall")
    named = [System.objects.create(campaign=campaign, name=f"s{n}") for n in range(systems)]
    for n in range(contexts):
        context = Context.objects.create(campaign=campaign, key=f"c{n}", turns=["hi"])
        for system in named:
            Output.objects.create(context=context, system=system, text=f"{system.name} on {n}")
    draw_items(campaign)
    return campaign


def person(campaign: Campaign, name: str) -> Annotator:
    return Annotator.objects.create(campaign=campaign, name=name)


def answer(annotator: Annotator, assignment: Assignment, key=None):
    """A score in the middle of the scale, or a tie."""
    criterion = annotator.campaign.criteria.get()
    payload = {"choice": "tie"} if assignment.item.is_pair else {"scores": {criterion.pk: 3}}
    return submit(annotator, assignment.pk, key or uuid.uuid4(), payload)
