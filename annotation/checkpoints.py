"""Which outputs of a system count, where it has checkpoints: one rule for people's items and for the leaderboard."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q

from annotation.models import Campaign, Output

Age = tuple[int, float, float]


def of_newest_checkpoints(outputs: Iterable[Output], then: datetime | None = None) -> list[Output]:
    """Of each system the outputs of its newest checkpoint, in the given order; of a system without checkpoints, all.

    A checkpoint that somebody chose counts as newer than all others, and of several the one chosen last. The others are
    ordered by training iteration; one whose iteration is unknown comes before all others, and of equals the one entered last is
    the newest. The outputs come with their checkpoints. then: as it was at that moment, before later choices.
    """
    outputs = list(outputs)
    newest: dict[int, Age] = {}
    for output in outputs:
        key = output.system_id or id(output.system)  # a system that is not stored yet
        newest[key] = max(newest.get(key, _age_of(output, then)), _age_of(output, then))
    return [output for output in outputs if _age_of(output, then) == newest[output.system_id or id(output.system)]]


def older(campaign: Campaign, side: str) -> Q:
    """Which rows are about an output of an older checkpoint than its system's newest. side: the rows' name for the output."""
    live = Output.objects.filter(context__campaign=campaign, replaced_at=None).order_by()
    rows = live.values_list("system_id", "checkpoint_id", "checkpoint__iteration", "checkpoint__chosen_at").distinct()
    ages: dict[int, dict[int | None, Age]] = {}
    for system, checkpoint, iteration, chosen_at in rows:
        ages.setdefault(system, {})[checkpoint] = _age(checkpoint, iteration, chosen_at)
    condition = Q(pk__in=[])
    for system, of_system in ages.items():
        newest = max(of_system, key=of_system.__getitem__)
        if len(of_system) > 1:
            condition |= Q(**{f"{side}__system": system}) & ~Q(**{f"{side}__checkpoint": newest})
    return condition


def _age_of(output: Output, then: datetime | None) -> Age:
    checkpoint = output.checkpoint
    if checkpoint is None:
        return (0, 0, 0)
    chosen_at = None if then and checkpoint.chosen_at and checkpoint.chosen_at > then else checkpoint.chosen_at
    return _age(checkpoint.pk or float("inf"), checkpoint.iteration, chosen_at)  # inf: about to come


def _age(checkpoint: float | None, iteration: int | None, chosen_at: datetime | None) -> Age:
    """Rises with training: no checkpoint, a checkpoint without iteration, then by iteration; above them what was chosen."""
    if checkpoint is None:
        return (0, 0, 0)
    if chosen_at is not None:
        return (3, chosen_at.timestamp(), checkpoint)
    return (1, 0, checkpoint) if iteration is None else (2, iteration, checkpoint)
