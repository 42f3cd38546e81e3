"""Which outputs of a system count, where it has checkpoints: one rule for people's items and for the leaderboard."""

from collections.abc import Iterable

from annotation.models import Output


def of_newest_checkpoints(outputs: Iterable[Output]) -> list[Output]:
    """Of each system the outputs of its newest checkpoint, in the given order; of a system without checkpoints, all.

    Checkpoints are ordered by training iteration; one whose iteration is unknown comes before all others, and of equals
    the one entered last is the newest. The outputs come with their checkpoints.
    """
    outputs = list(outputs)
    newest: dict[int, tuple[int, int, int]] = {}
    for output in outputs:
        newest[output.system_id] = max(newest.get(output.system_id, _age(output)), _age(output))
    return [output for output in outputs if _age(output) == newest[output.system_id]]


def _age(output: Output) -> tuple[int, int, int]:
    """Rises with training: no checkpoint, a checkpoint without iteration, then by iteration."""
    if output.checkpoint is None:
        return (0, 0, 0)
    iteration, pk = output.checkpoint.iteration, output.checkpoint.pk
    return (1, 0, pk) if iteration is None else (2, iteration, pk)
