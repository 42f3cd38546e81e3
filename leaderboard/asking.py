"""Which pairs people judge next: those that tell most about the order come first; what the comparator is sure of, last.

Only the order of items changes in which nobody has begun; the balance of the design stands above it (a person still meets
every system equally often), unless the campaign hands items out in their order.
"""

from collections.abc import Callable, Iterable

import numpy as np
from django.db import transaction

from annotation import jobs, snapshots
from annotation.assessment import latest_snapshot
from annotation.errors import Refused
from annotation.models import AuditEvent, Campaign, Item, Job, Output, Purpose
from evaluator.models import ComparatorVersion
from evaluator.registry import serving
from leaderboard.answers import people_games
from leaderboard.field import Field, field
from leaderboard.rated import between_systems
from leaderboard.rating.games import Games
from leaderboard.rating.pairing import order_to_ask

TASK = "leaderboard.tasks.ask"


def start(campaign: Campaign, user=None, foreground: bool = False) -> Job:
    """Queue the reordering, with the comparator that serves when it runs."""
    if serving(campaign) is None:
        raise Refused(f"No comparator serves campaign {campaign.slug!r} yet, so nothing says where it is unsure.")
    if not _open_pairs(campaign).exists():
        raise Refused(f"No pair of campaign {campaign.slug!r} is left that nobody has begun.")
    title = f"Ask people first where it tells most, on {campaign.slug}"[:200]
    return jobs.enqueue(TASK, title, campaign=campaign, user=user, foreground=foreground)


def reorder(campaign: Campaign, judging: Callable[[ComparatorVersion, Iterable[Output]], object], user=None) -> dict:
    """Put the open pairs in the order of their worth; {"pairs": how many, "left to the comparator": of worth 0}."""
    version = serving(campaign)
    if version is None:
        raise Refused(f"No comparator serves campaign {campaign.slug!r} any more.")
    there = field(campaign)
    number = {output.pk: i for i, output in enumerate(there.outputs)}
    ids = [pair for pair in _open_pairs(campaign).values_list("pk", "output", "other") if {*pair[1:]} <= number.keys()]
    if not ids:
        return {"pairs": 0, "left to the comparator": 0}
    outputs = Output.objects.filter(pk__in={pk for pair in ids for pk in pair[1:]}).select_related("context")
    said = judging(version, outputs)
    first, second = (np.array([number[pair[side]] for pair in ids]) for side in (1, 2))
    chances = said.probabilities([pair[1] for pair in ids], [pair[2] for pair in ids])
    systems = there.system_of
    people = _people(campaign, there, version.criterion)
    order, left = order_to_ask(len(there.systems), people, systems[first], systems[second], chances, campaign.seed)
    with transaction.atomic():
        _place_in(campaign, [ids[i][0] for i in order])
        result = {"pairs": len(ids), "left to the comparator": left}
        detail = {"comparator": version.name, **result}
        AuditEvent.objects.create(campaign=campaign, user=user, action="pairs put in order of worth", detail=detail)
    return result


def _open_pairs(campaign: Campaign):
    """Pairs that nobody has judged or holds."""
    pairs = campaign.items.filter(purpose=Purpose.EVALUATION, other__isnull=False, taken=0, places__gt=0)
    return pairs.order_by("position")


def _people(campaign: Campaign, there: Field, criterion: str) -> Games:
    """People's accepted games so far, between systems; of the criterion that the comparator learned, else of pairs."""
    snapshot = latest_snapshot(campaign)
    content = snapshots.read(snapshot) if snapshot else None
    return between_systems(there, people_games(there, content, criterion, campaign.seed))


def _place_in(campaign: Campaign, order: list[int]) -> None:
    """The same positions, taken in the new order; an item that somebody began meanwhile keeps its own."""
    open_now = dict(_open_pairs(campaign).select_for_update().values_list("pk", "position"))
    order = [pk for pk in order if pk in open_now]
    positions = sorted(open_now[pk] for pk in order)
    moved = [Item(pk=pk, position=position) for pk, position in zip(order, positions)]
    Item.objects.bulk_update(moved, ["position"], batch_size=500)
