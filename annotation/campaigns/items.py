"""The items of a campaign: drawn from its protocol and seed (annotation/design), counted, given known answers."""

from collections import defaultdict
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace

from django.db import connection, transaction
from django.db.models import Count, F, Q

from annotation.checkpoints import of_newest_checkpoints, older
from annotation.design.draw import Design, DrawnItem, draw
from annotation.models import Assignment, Campaign, Item, Output, Purpose
from annotation.outcome import Outcome
from annotation.questions.store import people_by_set, people_by_unit
from core.errors import Refused
from core.rows import TURN

BATCH = 500
MANY = 100  # items that come at once
CONVERSATIONS = "conversations"  # in `Campaign.drawn`: are there turns of conversations?


def playing_outputs(campaign: Campaign) -> list[Output]:
    """The outputs that people judge and that play on the board: of a system with checkpoints, its newest one's. Outputs whose
    judgment is known (gold, training, qualification) do not play."""
    known = known_outputs(campaign)
    live = Output.objects.filter(context__campaign=campaign, replaced_at=None, system__retired_at=None).order_by()
    outputs = live.select_related("system", "checkpoint", "context")
    return of_playing(output for output in outputs if output.pk not in known)


def known_outputs(campaign: Campaign) -> set[int]:
    """Ids. Asked for each output in the database, this took minutes for 30,000 outputs with 60,000 items."""
    items = campaign.items.exclude(purpose=Purpose.EVALUATION).order_by()
    return {pk for pair in items.values_list("output_id", "other_id") for pk in pair if pk is not None}


def of_playing(outputs: Iterable[Output]) -> list[Output]:
    """Those of the newest checkpoints, in the order of the campaign's contexts, then systems."""
    return of_newest_checkpoints(sorted(outputs, key=lambda o: (o.context_id, o.system_id, o.sample, o.pk)))


def design_of(campaign: Campaign) -> Design:
    return Design(
        seed=campaign.seed,
        likert=campaign.likert,
        pairwise=campaign.pairwise,
        pair_design=campaign.pair_design,
        pairs=campaign.pairs,
        at_once=campaign.outputs_at_once,
        overlap=campaign.overlap,
        overlap_percent=campaign.overlap_percent,
        in_file_order=campaign.in_file_order,
    )


def new_item(campaign: Campaign, *about: Output | None, **fields) -> Item:
    """An unsaved item about this output, this pair, or these several, in the stored order (by the systems' names)."""
    outputs = sorted((output for output in about if output), key=lambda output: (output.system.name, output.sample))
    output, other, *further = [*outputs, None] if len(outputs) == 1 else outputs
    return Item(
        campaign=campaign,
        output=output,
        other=other,
        further=[one.pk for one in further if one],
        context_id=outputs[0].context_id,
        cell=":".join(str(output.system_id) for output in outputs),
        **fields,
    )


def load_further(items: Iterable[Item]) -> list[Item]:
    """The same, with the third output of each and those that follow it loaded at once, with their systems."""
    items = list(items)
    related = Output.objects.select_related("system", "checkpoint")
    outputs = related.in_bulk({pk for item in items for pk in item.further}) if any(item.further for item in items) else {}
    for item in items:
        item.further_outputs = [outputs[pk] for pk in item.further]
    return items


def _about(item: Item) -> tuple[int | None, ...]:
    """Ids of all its outputs; the second of a single one is None."""
    return item.output_id, item.other_id, *item.further


@transaction.atomic
def draw_items(campaign: Campaign) -> int:
    """Make the items that the campaign's protocol asks for and that are not there yet; returns how many.

    Contexts that have pairs already keep them; the new items come after the old ones. The same corpus, brought in the
    same steps, gives the same items in any database (annotation/design/draw.py).
    """
    new = new_items(campaign, playing_outputs(campaign))
    Item.objects.bulk_create(new, batch_size=BATCH)
    settle(campaign, len(new))
    return len(new)


def settle(campaign: Campaign, new: int) -> None:
    """What is to be done once so many new items are stored."""
    recount(campaign)
    close_gone(campaign)
    if new >= MANY:
        transaction.on_commit(_tell_planner, robust=True)


def _tell_planner() -> None:
    """PostgreSQL looks at what has come in a minute or two by itself. Until then it would choose items by the wrong index."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE annotation_context, annotation_output, annotation_item")


def new_items(campaign: Campaign, playing: list[Output]) -> list[Item]:
    """What `draw_items` makes, unsaved, where these outputs play (`of_playing`), which have their keys."""
    campaign.refresh_from_db()
    outputs = {(o.context.key, o.system.name, o.sample): o for o in playing}
    items = list(campaign.items.order_by().values_list("output_id", "other_id", "context__key", "position"))
    scored = {output for output, other, _, _ in items if other is None}
    pairs = [context for _, other, context, _ in items if other is not None]
    again, still = _following(campaign, playing)
    design = design_of(campaign)
    if design.pairs is not None:
        design = replace(design, pairs=max(0, design.pairs - still - len(again)))
    drawn = draw(
        list(outputs), design, scored={key for key, output in outputs.items() if output.pk in scored}, paired=set(pairs)
    )
    start = 1 + max((position for *_, position in items), default=-1)
    new = []
    for position, item in enumerate(_by_conversation(drawn, outputs), start=start):
        about = [outputs[item.context, system, item.sample] for system in item.cell]
        new.append(new_item(campaign, *about, position=position, places=item.places, starts_swapped=item.swapped))
    for position, there in enumerate(again, start=start + len(new)):
        there.position = position
    return new + again


def _by_conversation(drawn: list[DrawnItem], outputs: dict[tuple, Output]) -> list[DrawnItem]:
    """The same, but the turns of a system's conversation stand one after the other, from the place of the one drawn first, and
    as many people are to judge each as that one."""
    together: dict[tuple, list[DrawnItem]] = defaultdict(list)
    turn_of = {item: outputs[item.context, item.a, item.sample].context for item in drawn if item.b is None}
    for item in drawn:
        context = turn_of.get(item)
        key = (context.metadata["conversation"], item.a, item.sample) if context and context.turn else (item,)
        together[key].append(item)
    in_order = []
    for first, *others in together.values():
        turns = sorted([first, *others], key=lambda item: turn_of[item].turn or (0, 0)) if others else [first]
        in_order += [replace(item, places=first.places) for item in turns]
    return in_order


def _following(campaign: Campaign, playing: list[Output]) -> tuple[list[Item], int]:
    """(for each pair or ranking with an output that plays no more, the same systems' one of today, how many still play)"""
    ids, now = {o.pk for o in playing}, {(o.context_id, o.system_id): o for o in playing if o.sample == 0}
    pairs = campaign.items.filter(purpose=Purpose.EVALUATION, other__isnull=False).order_by("-position")
    there = {_about(item) for item in pairs}
    again, still = [], 0
    for item in pairs:  # the newest of several about the same systems comes first
        if ids.issuperset(_about(item)):
            still += 1
            continue
        today = [now.get((item.context_id, int(system))) for system in item.cell.split(":")]
        if None in today:
            continue
        fresh = new_item(campaign, *today, places=item.places or campaign.overlap, starts_swapped=item.starts_swapped)
        if _about(fresh) not in there:
            there.add(_about(fresh))
            again.append(fresh)
    return again[::-1], still


@dataclass(frozen=True)
class KnownAnswer:
    """expected: see Item.expected. other: the second output of a pair, whose choice "A" means `output`."""

    output: Output
    expected: dict
    other: Output | None = None


@transaction.atomic
def set_known_answers(campaign: Campaign, purpose: str, answers: Iterable[KnownAnswer]) -> int:
    """Make these outputs and pairs gold, training or qualification items; returns how many. They are evaluated no more.

    Training and qualification items come to everybody in the order given. Raises Refused where the purpose has no known
    answers, or somebody has been handed the item for another purpose already.
    """
    if purpose not in (Purpose.GOLD, Purpose.TRAINING, Purpose.QUALIFICATION):
        raise Refused("Only gold, training and qualification items have known answers.")
    items = {(item.output_id, item.other_id): item for item in campaign.items.all()}
    position = 1 + max((item.position for item in items.values()), default=-1)
    made = 0
    for answer in answers:
        fresh = new_item(campaign, answer.output, answer.other)
        expected = answer.expected if fresh.output_id == answer.output.pk else mirrored(answer.expected)
        item = items.get((fresh.output_id, fresh.other_id), fresh)
        if item.pk and item.purpose != purpose and item.assignments.exists():
            raise Refused(f"{item} has already been shown to somebody, so it can't become a {purpose} item.")
        item.purpose, item.expected, item.position = purpose, expected, position + made
        item.save()
        made += 1
    summarize(campaign)
    return made


def mirrored(expected: dict) -> dict:
    """The same answer for the pair in the other order."""
    mirrored = dict(expected)
    if expected.get("choice"):
        mirrored["choice"] = Outcome(expected["choice"]).swap().value
    if expected.get("choices"):
        mirrored["choices"] = {name: Outcome(choice).swap().value for name, choice in expected["choices"].items()}
    return mirrored


def recount(campaign: Campaign) -> None:
    """Bring the taken places and the summary in line with what is stored (after an import, or items made by hand)."""
    judged: dict[tuple[int | None, ...], tuple[int, int]] = dict(people_by_unit(campaign).items())
    held = Assignment.objects.filter(
        item__campaign=campaign, status=Assignment.Status.OPEN, purpose=Purpose.EVALUATION
    ).order_by()
    counts = held.values_list("item").annotate(people=Count("id"), swapped=Count("id", filter=Q(swapped=True)))
    holdings = {item: (people, swapped) for item, people, swapped in counts}
    changed = []
    items = campaign.items.filter(purpose=Purpose.EVALUATION).order_by()
    judged |= _people_of_several(campaign)
    rows = items.values_list("pk", "output_id", "other_id", "further", "taken", "taken_swapped")
    for pk, output, other, further, *said in rows:
        answered, holding = judged.get((output, other, *further), (0, 0)), holdings.get(pk, (0, 0))
        taken, taken_swapped = answered[0] + holding[0], answered[1] + holding[1]
        if [taken, taken_swapped] != said:
            changed.append(Item(pk=pk, taken=taken, taken_swapped=taken_swapped))
    Item.objects.bulk_update(changed, ["taken", "taken_swapped"], batch_size=BATCH)
    summarize(campaign)


def _people_of_several(campaign: Campaign) -> dict[tuple[int | None, ...], tuple[int, int]]:
    """{ids of the outputs of an item with several: (people who answered it, those who saw it swapped)}"""
    items = {item.pk: item for item in campaign.items.filter(purpose=Purpose.EVALUATION).exclude(further=[])}
    if not items:
        return {}
    ranked, swapped = people_by_set(campaign), defaultdict(set)
    handed = Assignment.objects.filter(item__in=items, swapped=True, purpose=Purpose.EVALUATION).order_by()
    for item, annotator in handed.values_list("item", "annotator"):
        swapped[item].add(annotator)
    people = {pk: ranked.get(frozenset(_about(item)), set()) for pk, item in items.items()}  # type: ignore[arg-type]
    return {_about(items[pk]): (len(who), len(who & swapped[pk])) for pk, who in people.items()}


def close_gone(campaign: Campaign) -> None:
    """Hand out no more items whose outputs were replaced or are of an older checkpoint, or whose system is retired. Those
    nobody has begun go; who holds one may answer it."""
    items = gone(campaign)
    if items.exists():
        items.filter(taken=0, assignments=None).delete()
        items.update(places=F("taken"))
    summarize(campaign)


def gone(campaign: Campaign):
    """Items of people's work that are about what plays no more."""
    return campaign.items.filter(_gone(campaign), purpose=Purpose.EVALUATION)


def _gone(campaign: Campaign) -> Q:
    about = older(campaign, "output") | older(campaign, "other")
    for side in ("output", "other"):
        about |= Q(**{f"{side}__replaced_at__isnull": False}) | Q(**{f"{side}__system__retired_at__isnull": False})
    several = dict(campaign.items.filter(purpose=Purpose.EVALUATION).exclude(further=[]).values_list("pk", "further"))
    if several:
        playing = {output.pk for output in playing_outputs(campaign)}
        about |= Q(pk__in=[pk for pk, further in several.items() if not playing.issuperset(further)])
    return about


def close_again(*items: int) -> None:
    """Where places of these items of one campaign were given back: nobody else gets one that is about what plays no more."""
    if campaign := Campaign.objects.filter(items__in=items[:1]).first():
        Item.objects.filter(_gone(campaign), pk__in=items).update(places=F("taken"))


def superseded(campaign: Campaign, outputs: Set[int]) -> tuple[int, int]:
    """Of the items about these outputs: (how many nobody has begun, how many somebody has)."""
    items = campaign.items.filter(purpose=Purpose.EVALUATION).order_by()
    begun = items.filter(~Q(taken=0) | Q(assignments__isnull=False)).values_list("pk", flat=True)
    rows = items.values_list("pk", "output_id", "other_id", "further")
    about = [pk for pk, *sides, further in rows if not outputs.isdisjoint([*sides, *further])]
    of_begun = len(set(begun).intersection(about))
    return len(about) - of_begun, of_begun


def summarize(campaign: Campaign) -> None:
    """Write down which cells and how many items of each purpose there are, so that handing out need not look."""
    items = campaign.items.order_by()
    campaign.drawn = {
        **dict(items.values_list("purpose").annotate(Count("id"))),
        "cells": sorted(items.filter(purpose=Purpose.EVALUATION).values_list("cell", flat=True).distinct()),
    }
    if items.filter(purpose=Purpose.EVALUATION, context__metadata__has_keys=TURN).exists():
        campaign.drawn[CONVERSATIONS] = True
    Campaign.objects.filter(pk=campaign.pk).update(drawn=campaign.drawn)
