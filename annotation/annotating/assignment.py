"""Who judges what next: one function of the stored state, safe when many ask at once, at the same cost from the first
item to the last.

A person works through phases: the training items, then the qualification items, both in order, then the evaluation.
There the next item is one with a free place that they have not had, of the system (or pair of systems) that keeps their
counts of systems within one of each other, on another context than the last; where several would do, the first in the
drawn order. Where no free item keeps both rules, the one that breaks them least: another context first, then balance.
Gold items stand at seeded places among them; repeats of pairs come later, with the sides swapped.
The turns of a conversation come in their order. Who has begun one goes through it to its end before they begin another, and
gold items wait for that end. Others begin one that nobody is in the midst of, as long as there is one; what somebody left who
does not come back goes to others, once nobody holds a turn of it.
The items are drawn in annotation/campaigns/items.py; places are taken and given back in annotation/annotating/places.py.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction
from django.db.models import BooleanField, Exists, F, OuterRef, Q, TextField
from django.db.models.expressions import RawSQL
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone

from annotation.annotating import places
from annotation.annotating.history import Handed, History, fold_history, forget_tally, is_long, read_history
from annotation.annotating.pace import minutes_left
from annotation.annotating.qualification import decide
from annotation.campaigns.items import CONVERSATIONS, summarize
from annotation.design.balance import Ranked, ranked
from annotation.design.gold_and_repeats import REPEAT_GAP, gold_due, is_gold, repeat_is_due
from annotation.models import Annotator, Assignment, Campaign, Item, Purpose
from annotation.questions.ranked.kind import order_of
from annotation.statements import Statement, insert, rows_of
from core.rows import TURN

WINDOW = 200  # free items among which the least bad is looked for where none keeps both rules
NEAR = 100  # fewer items left than this are counted afresh every time
COUNTED = 2000  # more items left than this are not counted
SWEEP_EVERY = 10  # items of one person between two looks for assignments held too long; also when nothing is left
UNSEEN = ("system", "checkpoint", "context", "sample", "metadata", "replaced_at")  # of an output, by who judges it
Status = Assignment.Status
IS_NO_TURN = Q(conversation=None) | Q(turn=None) | Q(turns=None)  # by `_with_turns`

# Parts of every turn, where building the same from Q, F and Exists took longer than asking it.
FREE = """annotation_item.campaign_id = %s AND annotation_item.context_id <> %s AND annotation_item.purpose = 'evaluation'
    AND annotation_item.taken < annotation_item.places AND NOT EXISTS (
    SELECT 1 FROM annotation_assignment had
    WHERE had.item_id = annotation_item.id AND had.annotator_id = %s AND had.status <> 'expired' AND had.purpose <> 'repeat')"""
LEFT = f"SELECT COUNT(*) FROM (SELECT 1 FROM annotation_item WHERE {FREE} LIMIT {COUNTED}) counted"
STANDING = Statement(
    lambda annotator: (
        Annotator.objects.filter(pk=annotator)
        .select_for_update()
        .order_by()
        .values_list("tally", "has_qualified", "withdrawn_at")
    ),
    arguments=1,
)


class Phase(StrEnum):
    """Where a person stands. FINISHED: nothing is left for them, or their quota is reached."""

    TRAINING = "training"
    QUALIFICATION = "qualification"
    EVALUATION = "evaluation"
    FINISHED = "finished"
    NOT_QUALIFIED = "not qualified"


@dataclass(frozen=True)
class Progress:
    """done: items of this phase that the person answered; total: those and the ones still to come.

    Gold items and repeats count as the others, nothing tells them apart. With more than NEAR items to come (2,000 are
    counted at most) the total is an estimate that others' work lowers; below, it is exact but for the repeats.
    """

    done: int
    total: int
    phase: Phase = Phase.EVALUATION

    @property
    def left(self) -> int:
        return self.total - self.done


@dataclass(frozen=True)
class Turn:
    """What to put before a person now, and how far they are. assignment: None where there is nothing; see the phase.
    minutes: what is left, at their own pace; None where that is not known yet."""

    assignment: Assignment | None
    progress: Progress
    minutes: int | None = None


def next_assignment(annotator: Annotator) -> Assignment | None:
    """The item in this person's hands, or the next one; None where nothing is left for them or the campaign rests.

    The assignment comes with its item, context and outputs loaded. `progress` says why there is none.
    """
    return turn(annotator).assignment


def turn(annotator: Annotator, first: Callable[[], History | None] | None = None) -> Turn:
    """next_assignment and progress at once, for less than both.

    first: called before, in the same transaction, once the annotator's row is locked: the answer to the item before. It returns
    the history after it. None where that is to be read, as after a late answer that took a place: then the turn has a
    transaction of its own, since who holds one item must not wait for another. What it raises undoes the turn.
    """
    if annotator.campaign.status != Campaign.Status.OPEN or annotator.withdrawn_at:
        if first:
            with transaction.atomic():
                lock(annotator)
                first()
        return Turn(None, progress(annotator))
    assignment, history = _attempt(annotator, first) or _attempted(annotator)
    stale = (assignment is None or history.main % SWEEP_EVERY == 0) and places.sweep(annotator.campaign)
    if assignment is None and stale:
        assignment, history = _attempted(annotator)
    done = _progress(annotator, history)
    return Turn(assignment, done, minutes_left(history, done.left))


def progress(annotator: Annotator) -> Progress:
    """How far this person is in the phase they are in."""
    return _progress(annotator, read_history(annotator))


def _progress(annotator: Annotator, history: History) -> Progress:
    phase = _phase(annotator, history)
    if phase in (Phase.TRAINING, Phase.QUALIFICATION):
        done = history.done[phase.value] + history.skipped[phase.value]
        return Progress(done, annotator.campaign.drawn[phase.value], phase)
    if phase == Phase.NOT_QUALIFIED:
        return Progress(0, 0, phase)
    coming = _coming(annotator, history)
    if not coming and not history.held:
        phase = Phase.FINISHED
    return Progress(history.main_done, history.main + coming, phase)


@transaction.atomic
def _attempt(annotator: Annotator, first: Callable[[], History | None] | None) -> tuple[Assignment | None, History] | None:
    """None where there is no history after `first`."""
    lock(annotator)
    history = first() if first else read_history(annotator)
    return None if history is None else _handed(annotator, history)


@transaction.atomic
def _attempted(annotator: Annotator) -> tuple[Assignment | None, History]:
    lock(annotator)
    return _handed(annotator, read_history(annotator))


def _handed(annotator: Annotator, history: History) -> tuple[Assignment | None, History]:
    if history.held:
        whole = _with_texts(annotator.assignments, annotator.campaign.pairwise, "item__")
        return _with_context(whole.get(pk=history.held.pk)), history
    assignment = _choose(annotator, history)
    if assignment:
        item = assignment.item
        history.add(
            Handed(
                assignment.pk,
                assignment.status,
                assignment.purpose,
                item.pk,
                item.cell,
                item.context_id,
                assignment.assigned_at,
            )
        )
    return assignment, history


def lock(annotator: Annotator) -> None:
    """Two tabs of one person get the same item: the second waits here, and then sees what the first did."""
    standing = STANDING.first(annotator.pk)
    if standing is None:
        raise Annotator.DoesNotExist
    annotator.tally, annotator.has_qualified, annotator.withdrawn_at = standing


def _choose(annotator: Annotator, history: History) -> Assignment | None:
    campaign, phase = annotator.campaign, _phase(annotator, history)
    if phase in (Phase.TRAINING, Phase.QUALIFICATION):
        return _next_known(annotator, history, Purpose(phase.value))
    if phase != Phase.EVALUATION:
        return None
    if is_long(annotator, history):
        fold_history(annotator, history, _left(annotator))
    if campaign.drawn.get(CONVERSATIONS):
        assignment = _next_turn(annotator, history) or _gold_between(annotator, history) or _begin(annotator, history)
    else:
        assignment = _next_by_itself(annotator, history)
    if assignment is None and _estimated(annotator, history) > NEAR:  # others took it all since it was counted
        fold_history(annotator, history, 0)
    return assignment


def _next_by_itself(annotator: Annotator, history: History) -> Assignment | None:
    """Where no item waits for another."""
    campaign, assignment = annotator.campaign, None
    if is_gold(history.main, campaign.gold_percent, _seed(annotator)):
        assignment = _next_gold(annotator, history)
    if assignment is None and repeat_is_due(history.pairs, history.done[Purpose.REPEAT], campaign.repeat_percent):
        assignment = _repeat(annotator, history)
    if assignment is None:
        assignment = _next_in_file_order(annotator, history) if campaign.in_file_order else _next_in_balance(annotator, history)
    return assignment or _any_free(annotator, history)


def _next_turn(annotator: Annotator, history: History) -> Assignment | None:
    """What follows in the conversation that this person is in the midst of; None where that is none, or where another took
    their place while they were away."""
    judged = [handed for handed in history.recent if handed.purpose == Purpose.EVALUATION]
    if not judged:
        return None
    last = Item.objects.select_related("context").get(pk=max(judged, key=lambda handed: (handed.at, handed.pk)).item)
    if last.is_pair or (turn := last.context.turn) is None:
        return None
    places = (last.position, last.position + turn[1] - turn[0])  # of its turns from that one on (`items._by_conversation`)
    coming = Item.objects.filter(
        campaign=annotator.campaign_id, purpose=Purpose.EVALUATION, cell=last.cell, position__range=places
    )
    following = coming.exclude(_had(annotator)).order_by("position").values_list("pk", flat=True).first()
    return None if following is None else _place_alone(annotator, history, following)


def _gold_between(annotator: Annotator, history: History) -> Assignment | None:
    """A gold item that was due since the conversation began."""
    due = gold_due(history.main, annotator.campaign.gold_percent, _seed(annotator))
    handed = history.done[Purpose.GOLD] + history.skipped[Purpose.GOLD]
    return _next_gold(annotator, history) if due > handed else None


def _begin(annotator: Annotator, history: History) -> Assignment | None:
    """The first turn of a conversation, or the first that is left of one. Better one that the person's quota lets them end,
    then one that nobody is in the midst of, then in balance of the systems."""
    campaign = annotator.campaign
    quota = COUNTED if campaign.quota is None else campaign.quota - history.main
    excess = {} if campaign.in_file_order else {_text(entry): entry.excess for entry in _ranked_cells(annotator, history)}
    free = _with_turns(_free(annotator)).annotate(waits=Exists(_turn_before()))
    free = free.filter(IS_NO_TURN | Q(turn="1") | Q(waits=False)).order_by("position")
    rows = free.values_list("turns", "turn", "conversation", "cell", "position", "pk")
    after = -1
    while window := list(rows.filter(position__gt=after)[:WINDOW]):
        after = window[-1][4]
        others, own = _held_conversations(annotator)  # after the turns were read: who began one since then is seen
        held = others | own
        chosen = [row for row in window if row[1] == "1" or row[2:4] not in held]  # what others are on their way to is theirs
        chosen.sort(key=lambda row: (_to_come(row[0], row[1]) >= quota, row[2:4] in held, excess.get(row[3], 0), row[4]))
        for *_, pk in chosen:
            if assignment := _place_alone(annotator, history, pk):
                return assignment
    return None


def _to_come(turns: str | None, turn: str | None) -> int:
    """How many turns follow this one."""
    return int(turns) - int(turn) if turns and turn and turns.isdecimal() and turn.isdecimal() else 0


def _with_turns(items):
    """The items with what `Context.turn` says, as text; what is no turn may have other metadata under these names."""
    return items.annotate(**{name: Cast(KeyTextTransform(name, "context__metadata"), TextField()) for name in TURN})


def _held_conversations(annotator: Annotator) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """(conversation, cell) of the turns that others have in hand, and that this person has. Asked by people, of whom there are
    few; asked of each free turn, it took half a second with 1,200 turns."""
    held = Assignment.objects.filter(annotator__campaign=annotator.campaign_id, status=Status.OPEN, purpose=Purpose.EVALUATION)
    conversation = Cast(KeyTextTransform("conversation", "item__context__metadata"), TextField())
    rows = list(held.order_by().annotate(conversation=conversation).values_list("annotator", "conversation", "item__cell"))
    others = {(conversation, cell) for who, conversation, cell in rows if who != annotator.pk}
    return others, {(conversation, cell) for who, conversation, cell in rows if who == annotator.pk}


def _turn_before():
    """The turn before, where others may still begin there."""
    before = Item.objects.filter(campaign=OuterRef("campaign"), purpose=Purpose.EVALUATION, taken__lt=F("places"))
    return before.filter(position=OuterRef("position") - 1, cell=OuterRef("cell"))


def _phase(annotator: Annotator, history: History) -> Phase:
    campaign = annotator.campaign
    if not campaign.drawn:
        summarize(campaign)
    if not history.main:  # who is past the training stays so, whatever is added to it
        for phase, purpose in ((Phase.TRAINING, Purpose.TRAINING), (Phase.QUALIFICATION, Purpose.QUALIFICATION)):
            if history.done[purpose] + history.skipped[purpose] < campaign.drawn.get(purpose, 0):
                return phase
        if annotator.has_qualified is None and campaign.pass_mark is not None and campaign.drawn.get(Purpose.QUALIFICATION):
            decide(annotator)
    if annotator.has_qualified is False:
        return Phase.NOT_QUALIFIED
    return Phase.FINISHED if campaign.quota is not None and history.main >= campaign.quota else Phase.EVALUATION


def _next_known(annotator: Annotator, history: History, purpose: Purpose) -> Assignment | None:
    item = _known(annotator, purpose).order_by("position").first()
    return item and _hand(annotator, history, item, _coin(annotator, item))


def _next_gold(annotator: Annotator, history: History) -> Assignment | None:
    """One that this person has not had, drawn from the seed; on another context than the last, where there is one."""
    gold = list(_known(annotator, Purpose.GOLD).order_by("position").values_list("pk", "context_id"))
    elsewhere = [entry for entry in gold if entry[1] != history.last_context]
    if not gold:
        return None
    pk, _ = random.Random(f"{_seed(annotator)}:gold:{history.main}").choice(elsewhere or gold)
    item = _items(annotator).get(pk=pk)
    return _hand(annotator, history, item, _coin(annotator, item))


def _repeat(annotator: Annotator, history: History) -> Assignment | None:
    """An earlier pair of this person once more, sides swapped, with at least REPEAT_GAP items in between."""
    assignments = annotator.assignments
    earlier = assignments.filter(purpose=Purpose.EVALUATION, status=Status.DONE, item__other__isnull=False)
    earlier = earlier.exclude(pk__in=[handed.pk for handed in history.recent[-REPEAT_GAP:]])
    earlier = earlier.exclude(item__in=assignments.filter(purpose=Purpose.REPEAT).values("item"))
    candidates = list(earlier.exclude(item__context=history.last_context).order_by("-pk")[:WINDOW])
    if not candidates:
        return None
    chosen = random.Random(f"{_seed(annotator)}:repeat:{history.main}").choice(candidates)
    again = _items(annotator).get(pk=chosen.item_id)
    return _hand(annotator, history, again, not chosen.swapped, Purpose.REPEAT, chosen.order[::-1])


def _next_in_file_order(annotator: Annotator, history: History) -> Assignment | None:
    return _place_first(annotator, history, _free(annotator))


def _next_in_balance(annotator: Annotator, history: History) -> Assignment | None:
    """An item that keeps both rules, if one is free: of the best cell, else of any that is as good."""
    cells = _ranked_cells(annotator, history)
    if not cells:
        return None
    best, *as_good = [_text(entry) for entry in cells if entry.excess == cells[0].excess]
    of_cell = FIRST_OF_CELL[annotator.campaign.pairwise]
    item = of_cell.first(annotator.campaign_id, history.last_context or 0, annotator.pk, best)
    assignment = _place(annotator, history, item) if item else None
    if assignment is None and as_good:
        free = _free(annotator, besides=history.last_context)
        assignment = _place_first(annotator, history, free.filter(cell__in=as_good))
    return assignment


def _any_free(annotator: Annotator, history: History) -> Assignment | None:
    """The least bad of the first free items. Looks again for as long as others are quicker, and waits for them: an item
    of which somebody is just taking one place may have another."""
    excess = {_text(entry): entry.excess for entry in _ranked_cells(annotator, history)}
    free = _free(annotator).order_by("position").values_list("context_id", "cell", "position", "pk")
    while rows := list(free[:WINDOW]):
        rows.sort(key=lambda row: (row[0] == history.last_context, excess.get(row[1], 0), row[2]))
        for *_, pk in rows:
            if assignment := _place_alone(annotator, history, pk):
                return assignment
    return None


def _place_alone(annotator: Annotator, history: History, pk: int) -> Assignment | None:
    """Wait for the item's row, and hand it out if a place is free."""
    with transaction.atomic():
        assignment = _place(annotator, history, _items(annotator).select_for_update(of=("self",)).get(pk=pk))
        if assignment is None:
            transaction.set_rollback(True)  # nobody who waits for an item holds another one that somebody waits for
    return assignment


def _ranked_cells(annotator: Annotator, history: History) -> list[Ranked]:
    judged = {tuple(cell.split(":")): count for cell, count in history.cells.items()}
    cells = [tuple(cell.split(":")) for cell in annotator.campaign.drawn["cells"]]
    return ranked(cells, judged, f"{_seed(annotator)}:{history.main}")


def _text(entry: Ranked) -> str:
    return ":".join(entry.cell)


def _place_first(annotator: Annotator, history: History, items) -> Assignment | None:
    """The first of these items in the drawn order that nobody else is just taking."""
    item = _unlocked(items).first()
    return item and _place(annotator, history, item)


def _unlocked(items):
    return items.select_for_update(of=("self",), skip_locked=True).order_by("position")


def _place(annotator: Annotator, history: History, item: Item) -> Assignment | None:
    """Hand out the item, whose row is locked, if a place is free. The side that fewer of its people see comes next."""
    lapsed = _lapsed(annotator, history, item, item.purpose)
    swapped = 2 * item.taken_swapped < item.taken or (2 * item.taken_swapped == item.taken and item.starts_swapped)
    swapped = lapsed.swapped if lapsed else item.is_pair and swapped
    order = order_of(annotator.campaign.seed, item.position, item.size, item.taken, swapped)
    return _made(annotator, item, swapped, item.purpose, lapsed, order) if places.take(item, swapped) else None


def _hand(
    annotator: Annotator, history: History, item: Item, swapped: bool, purpose: str | None = None, order: str = ""
) -> Assignment:
    """Hand out an item that has no places: everybody gets it."""
    purpose = purpose or item.purpose
    return _made(annotator, item, item.is_pair and swapped, purpose, _lapsed(annotator, history, item, purpose), order)


def _lapsed(annotator: Annotator, history: History, item: Item, purpose: str) -> Assignment | None:
    """The person's own assignment of this item that expired. It keeps its sides: their old page may still answer it."""
    if not history.has_lapsed:
        return None
    return annotator.assignments.filter(item=item, purpose=purpose, status=Status.EXPIRED).first()


def _made(annotator: Annotator, item: Item, swapped: bool, purpose: str, lapsed: Assignment | None, order: str) -> Assignment:
    now = timezone.now()
    if lapsed is None:
        made = Assignment(annotator=annotator, item=item, purpose=purpose, swapped=swapped, order=order, assigned_at=now)
        insert([made])
        return _with_context(made)
    lapsed.item, lapsed.status, lapsed.assigned_at = item, Status.OPEN, now
    lapsed.save(update_fields=["status", "assigned_at"])
    forget_tally(annotator.pk)
    return _with_context(lapsed)


def _free(annotator: Annotator, besides: int | None = None):
    """The evaluation items with a free place that this person has not had; those they let lapse are open to them.
    besides: a context whose items are left out."""
    return _items(annotator).filter(RawSQL(FREE, (annotator.campaign_id, besides or 0, annotator.pk), BooleanField()))


def _first_of_cell(pairwise: bool) -> Statement[Item]:
    """Of (campaign, last context, annotator, cell), ids and a text: the first free item of the cell in the drawn order."""
    return Statement(
        lambda campaign, besides, annotator, cell: _unlocked(
            _with_texts(Item.objects, pairwise).filter(RawSQL(FREE, (campaign, besides, annotator), BooleanField()), cell=cell)
        )[:1],
        arguments=4,
        texts=(3,),
    )


FIRST_OF_CELL = {pairwise: _first_of_cell(pairwise) for pairwise in (False, True)}


def _known(annotator: Annotator, purpose: Purpose):
    return _items(annotator).filter(campaign=annotator.campaign_id, purpose=purpose).exclude(_had(annotator))


def _had(annotator: Annotator):
    had = Assignment.objects.filter(item=OuterRef("pk"), annotator=annotator).exclude(status=Status.EXPIRED)
    return Exists(had)


def _coming(annotator: Annotator, history: History) -> int:
    """Items of the main work that this person has still to be handed."""
    campaign = annotator.campaign
    coming = _estimated(annotator, history)
    if coming <= NEAR:
        coming = _left(annotator)
    gold = campaign.drawn.get(Purpose.GOLD, 0) - history.done[Purpose.GOLD] - history.skipped[Purpose.GOLD]
    if campaign.gold_percent < 100:
        coming += min(gold, coming * campaign.gold_percent // (100 - campaign.gold_percent))
    return coming if campaign.quota is None else min(coming, max(0, campaign.quota - history.main))


def _estimated(annotator: Annotator, history: History) -> int:
    """Evaluation items that are open to the person, as if nobody had taken one since they were counted."""
    return annotator.tally.get("left", 0) - (history.main - annotator.tally.get("left_at", 0))


def _left(annotator: Annotator) -> int:
    """Evaluation items that are open to the person now, COUNTED at most. Turns that others are on their way to are not."""
    if annotator.campaign.drawn.get(CONVERSATIONS):
        others, own = _held_conversations(annotator)
        rows = list(_with_turns(_free(annotator)).order_by().values_list("turns", "turn", "conversation", "cell")[:COUNTED])
        open_to_all = {row[2:] for row in rows if row[1] == "1"}
        return sum(None in row or row[2:] not in others or row[2:] in own | open_to_all for row in rows)
    return rows_of(LEFT, [annotator.campaign_id, 0, annotator.pk])[0][0]


def _coin(annotator: Annotator, item: Item) -> bool:
    return random.Random(f"{_seed(annotator)}:side:{item.position}").random() < 0.5


def _seed(annotator: Annotator) -> str:
    """Names, not keys: the same people get the same draws in another database."""
    return f"{annotator.campaign.seed}:{annotator.name}"


def _with_texts(rows, pairwise: bool, item: str = ""):
    """These rows, items or rows that have one, with what a page shows: neither the systems, which nobody who judges is to
    see, nor what else came with an output. item: the way to it, "item__"."""
    outputs = [f"{item}output", f"{item}other"] if pairwise else [f"{item}output"]
    return rows.select_related(f"{item}context", *outputs).defer(*(f"{o}__{field}" for o in outputs for field in UNSEEN))


def _items(annotator: Annotator):
    return _with_texts(Item.objects, annotator.campaign.pairwise)


def _with_context(assignment: Assignment) -> Assignment:
    """The outputs' context is the item's: not read twice."""
    item = assignment.item
    for output in item.texts:
        output.context = item.context
    return assignment
