"""A checkpoint of a run becomes a system's: it plays on the board, or people compare it with another one."""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max

from annotation.campaigns.items import new_item, summarize
from annotation.data.importer import import_outputs
from annotation.models import AuditEvent, Campaign, Checkpoint, Item, Output, Purpose, System
from core.errors import Refused, quoted
from leaderboard.models import Run, RunCheckpoint
from leaderboard.systems import let_play, must_be_free, rate_again

PAIRS = 50  # that people are asked about two checkpoints


@dataclass(frozen=True)
class Chosen:
    """systems: what plays now. outputs, items: how many are new. pairs: that people are asked, of two checkpoints. said: what
    else must be known."""

    systems: list[str]
    outputs: int
    items: int
    pairs: int
    said: list[str]


@transaction.atomic
def for_board(run: Run, step: int, user=None) -> Chosen:
    """The checkpoint plays as the system that has the run's name, on people's board, on judges' and in what people are asked.
    Raises Refused for one that is not whole."""
    run, campaign = _locked(run)
    chosen = _whole(run, step)
    before = campaign.items.count()
    if run.system is None:
        must_be_free(campaign, run.name)
    elif run.system.retired_at:
        raise Refused(f"System {run.system.name!r} is retired; bring it back first.")
    new, checkpoint = _import(run, chosen, run.system.name if run.system else run.name, run.contexts, user)
    if run.system is None:
        run.system = checkpoint.system
        run.save(update_fields=["system"])
    let_play(checkpoint, user)
    RunCheckpoint.objects.filter(pk=chosen.pk).update(checkpoint=checkpoint)
    _audit(run, "run's checkpoint chosen", user, step=step)
    return Chosen([checkpoint.system.name], new, campaign.items.count() - before, 0, [])


@transaction.atomic
def for_people(run: Run, step: int, beside: int, user=None) -> Chosen:
    """People are asked next about PAIRS pairs of two checkpoints. Each becomes a system of its own with these outputs, since of
    one system only one checkpoint is judged. Raises Refused."""
    run, campaign = _locked(run)
    if step == beside:
        raise Refused("Two different steps are compared.")
    if not campaign.pairwise:
        raise Refused(f"Campaign {campaign.slug!r} asks people for no judgments of pairs; its design sets that.")
    if campaign.status == Campaign.Status.CLOSED:
        raise Refused(f"Campaign {campaign.slug!r} is closed, so nobody would be asked.")
    both, before = [_whole(run, one) for one in sorted((step, beside))], campaign.items.count()
    contexts, alike = _drawn(run, both)
    if not contexts:
        raise Refused(f"The checkpoints at {both[0].step:,} and {both[1].step:,} wrote the same everywhere.")
    made, new = [], 0
    for chosen in both:
        name = _asked_about(run, chosen.step)
        if not _is_own(campaign, name, chosen):
            must_be_free(campaign, name)
        stored, checkpoint = _import(run, chosen, name, contexts, user)
        made.append(checkpoint)
        new += stored
    pairs = _ask_next(campaign, made, contexts)
    rate_again(campaign, user)
    _audit(run, "people asked about two checkpoints", user, steps=[one.step for one in both], pairs=pairs)
    same = f"{alike} of the run's {len(run.contexts)} contexts have the same text at both steps; nobody is asked about them."
    return Chosen([c.system.name for c in made], new, campaign.items.count() - before, pairs, [same] if alike else [])


def systems_of(run: Run) -> list[str]:
    """Names of the systems that its checkpoints are in the campaign, the retired ones left out."""
    names = [_asked_about(run, step) for step in run.checkpoints.order_by("step").values_list("step", flat=True)]
    there = set(run.campaign.systems.filter(name__in=names, retired_at=None).values_list("name", flat=True))
    own = [run.system.name] if run.system and not run.system.retired_at else []
    return [*own, *(name for name in names if name in there)]


def _asked_about(run: Run, step: int) -> str:
    return f"{run.name} step-{step}"


def _locked(run: Run) -> tuple[Run, Campaign]:
    """As they are now; who chooses at the same time waits."""
    campaign = Campaign.objects.select_for_update().get(pk=run.campaign_id)
    return Run.objects.select_related("system").get(pk=run.pk), campaign


def _whole(run: Run, step: int) -> RunCheckpoint:
    found = run.checkpoints.filter(step=step).first()
    if found is None:
        raise Refused(f"Run {quoted(run.name)} has no checkpoint at step {step}.")
    if not found.digest:
        missing = len(run.contexts) - found.outputs.count()
        raise Refused(f"Step {step} of run {quoted(run.name)} is not whole: {missing} outputs have not come.")
    return found


def _import(run: Run, chosen: RunCheckpoint, system: str, contexts: Sequence[int], user) -> tuple[int, Checkpoint]:
    """As a file with these rows would be imported. (how many outputs are new, the checkpoint)"""
    name = f"step-{chosen.step}"
    fields = {"checkpoint": name, "iteration": chosen.step}
    if run.total_steps:
        fields["total_iterations"] = run.total_steps
    outputs = chosen.outputs.filter(context__in=contexts).order_by("context").values_list("context__key", "text")
    lines = "".join(json.dumps({"context_id": key, "output": text} | fields) + "\n" for key, text in outputs)
    file = f"run {run.name}, {name}.jsonl"
    source = io.BytesIO(lines.encode("ascii"))
    done = import_outputs(run.campaign, source, file, user=user, system=system, spellings_apart=True)
    checkpoint = Checkpoint.objects.select_related("system__campaign").get(
        system__campaign=run.campaign, system__name=system, name=name
    )
    return done.new.get("outputs", 0), checkpoint


def _drawn(run: Run, both: Sequence[RunCheckpoint]) -> tuple[list[int], int]:
    """(ids of PAIRS contexts of those where the two differ, drawn by hash; how many do not differ)"""
    one, other = (dict(checkpoint.outputs.values_list("context_id", "text")) for checkpoint in both)
    apart = [pk for pk in run.contexts if one[pk] != other[pk]]
    seed = f"{run.name}:{both[0].step}:{both[1].step}"
    by_hash = sorted(apart, key=lambda pk: hashlib.sha256(f"{seed}:{pk}".encode("utf-8", "surrogatepass")).hexdigest())
    return sorted(by_hash[:PAIRS]), len(run.contexts) - len(apart)


def _is_own(campaign: Campaign, name: str, chosen: RunCheckpoint) -> bool:
    """Was a system of this name made when people were asked before?"""
    system = System.objects.filter(campaign=campaign, name=name).first()
    return system is not None and list(system.checkpoints.values_list("name", flat=True)) == [f"step-{chosen.step}"]


def _ask_next(campaign: Campaign, both: Sequence[Checkpoint], contexts: Sequence[int]) -> int:
    """Items about the two in these contexts, before all others that nobody has begun; returns how many there are."""
    of_context: dict[int, list[Output]] = {}
    outputs = Output.objects.filter(checkpoint__in=both, context__in=contexts, replaced_at=None)
    for output in outputs.select_related("system", "context").order_by("context", "checkpoint__iteration"):
        of_context.setdefault(output.context_id, []).append(output)
    last = campaign.items.aggregate(last=Max("position"))["last"]
    there = set(campaign.items.filter(other__isnull=False).values_list("output_id", "other_id"))
    fresh = []
    for i, pair in enumerate(of_context.values(), start=0 if last is None else last + 1):
        item = new_item(campaign, *pair, position=i, places=campaign.overlap, starts_swapped=bool(i % 2))
        if (item.output_id, item.other_id) not in there:
            fresh.append(item)
    Item.objects.bulk_create(fresh, batch_size=500)
    ids = {pk for pair in of_context.values() for pk in (pair[0].pk, pair[1].pk)}
    waiting = list(campaign.items.filter(purpose=Purpose.EVALUATION, taken=0, places__gt=0).order_by("position"))
    first = [item for item in waiting if item.output_id in ids and item.other_id in ids]
    order = [*first, *(item for item in waiting if item not in first)]
    for item, position in zip(order, sorted(item.position for item in waiting), strict=True):
        item.position = position
    Item.objects.bulk_update(order, ["position"], batch_size=500)
    summarize(campaign)
    return len(first)


def _audit(run: Run, action: str, user, **detail) -> None:
    AuditEvent.objects.create(campaign=run.campaign, user=user, action=action, detail={"run": run.name, **detail})
