"""Outputs as rows that the importer reads back: the texts that are there now, with what belongs to them."""

from collections.abc import Iterator
from typing import Any

from annotation.models import Campaign, Checkpoint, Item, Output, Purpose, Reference

COLUMNS = [
    "context_id",
    "context",
    "group",
    "system",
    "human_written",
    "system_cost",
    "system_cost_unit",
    "checkpoint",
    "iteration",
    "total_iterations",
    "chosen_at",
    "sample",
    "output",
    "references",
    "metadata",
    "published",
    "purpose",
    "expected",
]


def exported_outputs(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """A row for each output, in the order in which they came; not those that were replaced. Of a known answer, its purpose and
    what is expected; those of pairs stay with the whole campaign."""
    known = {
        item.output_id: item for item in campaign.items.filter(other=None).exclude(purpose=Purpose.EVALUATION).order_by("pk")
    }
    references: dict[int, list[str]] = {}
    of_campaign = Reference.objects.filter(context__campaign=campaign).order_by("context_id", "number")
    for context, text in of_campaign.values_list("context_id", "text"):
        references.setdefault(context, []).append(text)
    has_costs = campaign.systems.exclude(cost=None).exists()
    is_chosen = Checkpoint.objects.filter(system__campaign=campaign).exclude(chosen_at=None).exists()
    outputs = Output.objects.filter(context__campaign=campaign, replaced_at=None)
    for output in outputs.select_related("context", "system", "checkpoint").order_by("pk").iterator(chunk_size=2000):
        chosen = {"chosen_at": _chosen_at(output.checkpoint)} if is_chosen else {}
        costs = {"system_cost": output.system.cost, "system_cost_unit": output.system.cost_unit or None} if has_costs else {}
        yield {**_row(output, references), **costs, **chosen, **_known(known.get(output.pk))}


def _chosen_at(checkpoint: Checkpoint | None) -> str | None:
    return checkpoint.chosen_at.isoformat() if checkpoint and checkpoint.chosen_at else None


def _row(output: Output, references: dict[int, list[str]]) -> dict[str, Any]:
    context, checkpoint = output.context, output.checkpoint
    return {
        "context_id": context.key,
        "context": context.turns,
        "group": context.group or None,
        "system": output.system.name,
        "human_written": output.system.is_human,
        "checkpoint": checkpoint.name if checkpoint else None,
        "iteration": checkpoint.iteration if checkpoint else None,
        "total_iterations": checkpoint.total_iterations if checkpoint else None,
        "sample": output.sample,
        "output": output.text,
        "references": references.get(context.pk) or None,
        "metadata": context.metadata or None,
        "published": output.metadata or None,
    }


def _known(item: Item | None) -> dict[str, Any]:
    return {"purpose": item and item.purpose, "expected": item and item.expected}
