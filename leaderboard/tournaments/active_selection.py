"""Which pairs people judge next, of those that nobody has begun: those that tell most about the order of the systems, where no
comparator has a say; or those that would teach the comparator most.

Only the order of items changes; the balance of the design stands above it (a person still meets every system equally often),
unless the campaign hands items out in their order.
"""

from collections.abc import Callable, Sequence

import numpy as np
from django.db import transaction

from annotation import jobs
from annotation.models import AuditEvent, Campaign, Item, Job, Output, Purpose, Snapshot
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator.models import ComparatorVersion
from evaluator.versions.registry import comparator_in_use
from evaluator.versions.selectors import basis
from leaderboard.rating.games import Games
from leaderboard.rating.pairing import order_to_ask
from leaderboard.tournaments.entrants import Entrants, current_entrants
from leaderboard.tournaments.people_games import people_games
from leaderboard.tournaments.rate import between_systems

TASKS = {"systems": "leaderboard.tasks.ask", "comparator": "leaderboard.tasks.ask_to_teach"}  # by what the order is for
TITLES = {"systems": "Queue the most informative pairs next", "comparator": "Queue the pairs that teach the comparator most"}
IN_ORDER = {"systems": "pairs put in order of worth", "comparator": "pairs put in order of teaching"}  # in the audit

Apart = Callable[[ComparatorVersion, Sequence[Output], Sequence[Output]], np.ndarray]


def start(campaign: Campaign, user=None, foreground: bool = False, goal: str = "systems") -> Job:
    """Queue the reordering; goal: "systems", or "comparator", the one in use when it runs."""
    if goal == "comparator" and comparator_in_use(campaign) is None:
        raise Refused(f"Campaign {campaign.slug!r} has no comparator in use yet, so no pairs can teach it.")
    if not _open_pairs(campaign).exists():
        raise Refused(f"Somebody has started every pair of campaign {campaign.slug!r}, so there is nothing to reorder.")
    title = f"{TITLES[goal]}, on {campaign.slug}"[:200]
    return jobs.enqueue(TASKS[goal], title, campaign=campaign, user=user, foreground=foreground)


def had_a_say(campaign: Campaign, snapshot: Snapshot) -> str:
    """Whether a comparator had a say in what people had judged by the snapshot, one sentence; empty: it had none."""
    asked = campaign.audit_events.filter(action__in=IN_ORDER.values(), created_at__lt=snapshot.created_at)
    if not asked.filter(detail__has_key="comparator").exists():
        return ""
    return (
        "A comparator chose which pairs people judged first. Until all pairs are judged, differences may look smaller than they"
        " are, and intervals hold the truth less often than they say: in simulations with a good comparator, differences were"
        " 14 to 24% too small, and 95% intervals held the truth in 87%."
    )


def for_the_systems(campaign: Campaign, user=None) -> dict:
    """Put the open pairs in the order of what they tell of the systems, by people's answers so far; {"pairs": how many}. Which
    outputs of two systems come first is left to chance, so that no judge bends people's boards."""
    there = current_entrants(campaign)
    ids = _open_of(campaign, there)
    if not ids:
        return {"pairs": 0}
    number = {output.pk: i for i, output in enumerate(there.outputs)}
    first, second = (there.system_of[[number[pair[side]] for pair in ids]] for side in (1, 2))
    order = order_to_ask(len(there.systems), _people(campaign, there), first, second, campaign.seed)
    result = {"pairs": len(ids)}
    _place(campaign, [ids[i][0] for i in order], "systems", result, user)
    return result


def for_the_comparator(campaign: Campaign, apart: Apart, user=None) -> dict:
    """Put the open pairs first on which the members of the comparator differ most: query by committee (Seung, Opper &
    Sompolinsky 1992), with the standard deviation of the members' differences as disagreement; {"pairs": how many}."""
    version = comparator_in_use(campaign)
    if version is None:
        raise Refused(f"Campaign {campaign.slug!r} no longer has a comparator in use.")
    ids = _open_of(campaign, current_entrants(campaign))
    if not ids:
        return {"pairs": 0}
    outputs = _outputs(ids)
    differ = apart(version, *([outputs[pair[side]] for pair in ids] for side in (1, 2)))  # (pairs,)
    order = np.argsort(-differ, kind="stable")
    result = {"pairs": len(ids)}
    _place(campaign, [ids[i][0] for i in order], "comparator", {"comparator": version.name, **result}, user)
    return result


def _open_of(campaign: Campaign, there: Entrants) -> list[tuple[int, int, int]]:
    """The open pairs of what plays: (item, output, output) each."""
    plays = {output.pk for output in there.outputs}
    return [pair for pair in _open_pairs(campaign).values_list("pk", "output", "other") if {*pair[1:]} <= plays]


def _outputs(pairs: list[tuple[int, int, int]]) -> dict[int, Output]:
    """By id, with their contexts."""
    return Output.objects.select_related("context").in_bulk({pk for pair in pairs for pk in pair[1:]})


def _open_pairs(campaign: Campaign):
    """Pairs that nobody has judged or holds; rankings of several are in no order of theirs."""
    pairs = campaign.items.filter(purpose=Purpose.EVALUATION, other__isnull=False, further=[], taken=0, places__gt=0)
    return pairs.order_by("position")


def _people(campaign: Campaign, there: Entrants) -> Games:
    """People's games so far, between systems: of pairs, and of the scores by the criterion that counts."""
    snapshot = latest_snapshot(campaign)
    if snapshot is None:
        return between_systems(there, people_games(there, None, "", campaign.seed))
    try:
        criterion = basis(snapshot).criterion
    except Refused:  # pairs judged by criterion alone
        criterion = ""
    games = people_games(there, snapshot, "", campaign.seed)
    return between_systems(there, games.then(people_games(there, snapshot, criterion, campaign.seed)) if criterion else games)


def _place(campaign: Campaign, order: list[int], goal: str, detail: dict, user) -> None:
    """The same positions, taken in the new order; an item that somebody began meanwhile keeps its own."""
    with transaction.atomic():
        open_now = dict(_open_pairs(campaign).select_for_update().values_list("pk", "position"))
        order = [pk for pk in order if pk in open_now]
        positions = sorted(open_now[pk] for pk in order)
        moved = [Item(pk=pk, position=position) for pk, position in zip(order, positions)]
        Item.objects.bulk_update(moved, ["position"], batch_size=500)
        AuditEvent.objects.create(campaign=campaign, user=user, action=IN_ORDER[goal], detail=detail)
