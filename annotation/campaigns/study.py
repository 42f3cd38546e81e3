"""Setting up a protocol study: which outputs are asked about in both ways, and against which four others."""

import random

from django.db import transaction

from annotation.campaigns.items import new_item, playing_outputs, recount
from annotation.models import AuditEvent, Campaign, Item, Output, User
from annotation.quality.protocols import AGAINST
from core.errors import Refused


@transaction.atomic
def design_study(campaign: Campaign, user: User | None, outputs: int) -> int:
    """Draw so many outputs, one a context, the systems in turn, and make the items that are not there yet: each to be
    scored, and to be compared with four others of its context. Drawn from the campaign's seed; returns the new items."""
    by_context: dict[int, list[Output]] = {}
    for output in playing_outputs(campaign):
        if output.sample == 0:
            by_context.setdefault(output.context_id, []).append(output)
    contexts = [context for context, candidates in sorted(by_context.items()) if len(candidates) > AGAINST]
    if not campaign.criteria.exists():
        raise Refused("The campaign has no criteria. Add one first.")
    if not contexts:
        raise Refused(f"A study needs contexts with at least {AGAINST + 1} outputs: one to judge and four to compare it with.")
    if not 2 <= outputs <= len(contexts):
        raise Refused(f"Choose from 2 to {len(contexts)} outputs: one for each context that has enough of them.")
    rng = random.Random(f"study:{campaign.seed}")
    rng.shuffle(contexts)
    present = {(item.output_id, item.other_id) for item in campaign.items.all()}
    position = 1 + max((item.position for item in campaign.items.all()), default=-1)
    new: list[Item] = []
    for turn, context in enumerate(contexts[:outputs]):
        players = sorted(by_context[context], key=lambda output: output.system.name)
        target = players.pop(turn % len(players))
        for other in (None, *rng.sample(players, AGAINST)):
            item = new_item(campaign, target, other, position=position + len(new), places=campaign.overlap)
            if (item.output_id, item.other_id) not in present:
                new.append(item)
    Item.objects.bulk_create(new, batch_size=500)
    recount(campaign)
    detail = {"outputs": outputs, "items": len(new), "seed": campaign.seed}
    AuditEvent.objects.create(campaign=campaign, user=user, action="protocol study designed", detail=detail)
    return len(new)
