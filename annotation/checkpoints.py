"""Which outputs of a system count, where it has checkpoints: one rule for people's items and for the leaderboard."""

from collections.abc import Iterable

from django.db.models import Q

from annotation.models import Campaign, Output

Age = tuple[int, float, float]


def of_newest_checkpoints(outputs: Iterable[Output]) -> list[Output]:
    """Of each system the outputs of its newest checkpoint, in the given order; of a system without checkpoints, all.

    Checkpoints are ordered by training iteration; one whose iteration is unknown comes before all others, and of equals
    the one entered last is the newest. The outputs come with their checkpoints.
    """
    outputs = list(outputs)
    newest: dict[int, Age] = {}
    for output in outputs:
        key = output.system_id or id(output.system)  # a system that is not stored yet
        newest[key] = max(newest.get(key, _age_of(output)), _age_of(output))
    return [output for output in outputs if _age_of(output) == newest[output.system_id or id(output.system)]]


def older(campaign: Campaign, side: str) -> Q:
    """Which rows are about an output of an older checkpoint than its system's newest. side: the rows' name for the output."""
    live = Output.objects.filter(context__campaign=campaign, replaced_at=None).order_by()
    rows = live.values_list("system_id", "checkpoint_id", "checkpoint__iteration").distinct()
    ages: dict[int, dict[int | None, Age]] = {}
    for system, checkpoint, iteration in rows:
        ages.setdefault(system, {})[checkpoint] = _age(checkpoint, iteration)
    condition = Q(pk__in=[])
    for system, of_system in ages.items():
        newest = max(of_system, key=of_system.__getitem__)
        if len(of_system) > 1:
            condition |= Q(**{f"{side}__system": system}) & ~Q(**{f"{side}__checkpoint": newest})
    return condition


def _age_of(output: Output) -> Age:
    checkpoint = output.checkpoint
    return (0, 0, 0) if checkpoint is None else _age(checkpoint.pk or float("inf"), checkpoint.iteration)  # inf: about to come


def _age(checkpoint: float | None, iteration: int | None) -> Age:
    """Rises with training: no checkpoint, a checkpoint without iteration, then by iteration."""
    if checkpoint is None:
        return (0, 0, 0)
    return (1, 0, checkpoint) if iteration is None else (2, iteration, checkpoint)
