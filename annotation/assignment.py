"""Who judges what next. One function of the stored state, safe when many ask at once.

An item counts in `taken` the people who answered it or hold it now. It is handed out by a filtered update that
takes a free place or nothing, so it never goes to more than `places` people at once. An assignment that nobody
answered within HOLD gives its place back.
"""

import random
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Count, F
from django.utils import timezone

from annotation.models import Annotator, Assignment, Campaign, Item, LikertScore, Output, PairwiseJudgment

HOLD = timedelta(hours=1)


@dataclass(frozen=True)
class Progress:
    """done: items this person answered; total: those and the ones still open to them."""

    done: int
    total: int

    @property
    def left(self) -> int:
        return self.total - self.done


def playing_outputs(campaign: Campaign) -> list[Output]:
    """The outputs that people judge and that play on the board: of a system with checkpoints, its last one's."""
    outputs = list(
        Output.objects.filter(context__campaign=campaign, replaced_at=None, system__retired_at=None)
        .select_related("system", "checkpoint", "context")
        .order_by("context_id", "system_id", "sample", "id")
    )
    last: dict[int, tuple] = {}
    for output in outputs:
        if output.checkpoint:
            rank = (output.checkpoint.iteration or 0, output.checkpoint_id)
            last[output.system_id] = max(last.get(output.system_id, rank), rank)
    playing = []
    for output in outputs:
        rank = (output.checkpoint.iteration or 0, output.checkpoint_id) if output.checkpoint else None
        if rank == last.get(output.system_id):
            playing.append(output)
    return playing


def draw_items(campaign: Campaign) -> int:
    """Make the items that the campaign's protocol asks for and that are not there yet; returns how many.

    Likert: one item for each playing output. Pairwise: within a context the systems are shuffled into a ring and each
    meets its two neighbours, so every system is judged equally often. Positions are drawn from the campaign's seed.
    """
    campaign.refresh_from_db(fields=["likert", "pairwise", "seed"])
    outputs = playing_outputs(campaign)
    scored = set(campaign.items.filter(other=None).values_list("output_id", flat=True))
    pairs = campaign.items.exclude(other=None).select_related("output")
    paired_contexts = {item.output.context_id for item in pairs}
    new = []
    if campaign.likert:
        new += [Item(campaign=campaign, output=o) for o in outputs if o.pk not in scored]
    if campaign.pairwise:
        new += _rings(campaign, [o for o in outputs if o.sample == 0 and o.context_id not in paired_contexts])
    rng = random.Random(f"{campaign.seed}:{len(scored)}:{len(paired_contexts)}")
    rng.shuffle(new)
    start = campaign.items.count()
    taken = _already_judged(campaign)
    for position, item in enumerate(new, start=start):
        item.position, item.places = position, campaign.overlap
        item.taken = taken.get((item.output_id, item.other_id), 0)
    Item.objects.bulk_create(new, batch_size=500)
    recount(campaign)
    return len(new)


def _rings(campaign: Campaign, outputs: list[Output]) -> list[Item]:
    by_context: dict[int, list[Output]] = {}
    for output in outputs:
        by_context.setdefault(output.context_id, []).append(output)
    items = []
    for context, players in by_context.items():
        random.Random(f"{campaign.seed}:{context}").shuffle(players)
        ring = list(zip(players, players[1:] + players[:1])) if len(players) > 2 else [tuple(players)]
        for pair in ring:
            if len(pair) == 2:
                a, b = sorted(pair, key=_name_order)
                items.append(Item(campaign=campaign, output=a, other=b))
    return items


def _name_order(output: Output):
    """Pairs are stored in the order of the names, as imported judgments are."""
    checkpoint = output.checkpoint.name if output.checkpoint else ""
    return output.context.key, output.system.name, checkpoint, output.sample


def _already_judged(campaign: Campaign) -> dict[tuple, int]:
    """How many people already judged an output or a pair, by (output, other) ids; imported answers count."""
    scores = LikertScore.objects.counted().filter(criterion__campaign=campaign)
    counts = scores.order_by().values("output").annotate(people=Count("annotator", distinct=True))
    taken = {(row["output"], None): row["people"] for row in counts}
    judgments = PairwiseJudgment.objects.counted().filter(annotator__campaign=campaign)
    counts = judgments.order_by().values("output_a", "output_b").annotate(people=Count("annotator", distinct=True))
    return taken | {(row["output_a"], row["output_b"]): row["people"] for row in counts}


def recount(campaign: Campaign) -> None:
    """Bring `taken` in line with the stored answers and held assignments (after an import)."""
    judged = _already_judged(campaign)
    held = Assignment.objects.filter(item__campaign=campaign, status=Assignment.Status.OPEN).order_by()
    held = dict(held.values_list("item").annotate(people=Count("id")))
    changed = []
    for item in campaign.items.all():
        taken = judged.get((item.output_id, item.other_id), 0) + held.get(item.pk, 0)
        if taken != item.taken:
            item.taken = taken
            changed.append(item)
    Item.objects.bulk_update(changed, ["taken"], batch_size=500)


def open_assignment(annotator: Annotator) -> Assignment | None:
    return _whole(annotator.assignments.filter(status=Assignment.Status.OPEN)).first()


def _whole(assignments):
    return assignments.select_related(
        "item__output__context", "item__other", "item__output__system", "item__other__system"
    )


@transaction.atomic
def next_assignment(annotator: Annotator) -> Assignment | None:
    """The item in this person's hands, or the next free one; None where nothing is left or the campaign rests."""
    campaign = annotator.campaign
    if campaign.status != Campaign.Status.OPEN:
        return None
    Annotator.objects.select_for_update().get(pk=annotator.pk)  # two tabs of one person get the same item
    if current := open_assignment(annotator):
        return current
    _reclaim(campaign)
    free = campaign.items.filter(taken__lt=F("places")).exclude(assignments__annotator=annotator)
    for item_id in free.order_by("position").values_list("pk", flat=True)[:50]:
        if Item.objects.filter(pk=item_id, taken__lt=F("places")).update(taken=F("taken") + 1):
            swapped = random.Random(f"{campaign.seed}:{item_id}:{annotator.pk}").random() < 0.5
            made = Assignment.objects.create(
                item_id=item_id, annotator=annotator, swapped=swapped, assigned_at=timezone.now()
            )
            return _whole(Assignment.objects.filter(pk=made.pk)).get()
    return _reopened(annotator)


def _reopened(annotator: Annotator) -> Assignment | None:
    """An item this person let lapse, if it is still free: nobody is locked out by having been away."""
    lapsed = annotator.assignments.filter(status=Assignment.Status.EXPIRED, item__taken__lt=F("item__places"))
    for assignment in _whole(lapsed)[:50]:
        if Item.objects.filter(pk=assignment.item_id, taken__lt=F("places")).update(taken=F("taken") + 1):
            assignment.status, assignment.assigned_at = Assignment.Status.OPEN, timezone.now()
            assignment.save(update_fields=["status", "assigned_at"])
            return assignment
    return None


def _reclaim(campaign: Campaign) -> None:
    stale = Assignment.objects.filter(
        item__campaign=campaign, status=Assignment.Status.OPEN, assigned_at__lt=timezone.now() - HOLD
    )
    for pk, item in list(stale.values_list("pk", "item_id")):
        if Assignment.objects.filter(pk=pk, status=Assignment.Status.OPEN).update(status=Assignment.Status.EXPIRED):
            Item.objects.filter(pk=item).update(taken=F("taken") - 1)


def progress(annotator: Annotator) -> Progress:
    campaign = annotator.campaign
    done = annotator.assignments.filter(status=Assignment.Status.DONE).count()
    held = annotator.assignments.filter(status=Assignment.Status.OPEN).count()
    free = campaign.items.filter(taken__lt=F("places"))
    free = free.exclude(assignments__in=annotator.assignments.exclude(status=Assignment.Status.EXPIRED)).count()
    return Progress(done=done, total=done + held + free)
