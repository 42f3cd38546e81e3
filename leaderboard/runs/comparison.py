"""Choice among settings: the best checkpoints of several runs against each other, and what else would have chosen."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from django.db.models import Avg, Min

from annotation.models import Campaign
from core.errors import Refused, quoted
from evaluator.selection.advice import of_whom
from evaluator.selection.best_checkpoint import is_known
from evaluator.selection.candidates import choice
from evaluator.selection.curve import ByUtility, curve_of
from leaderboard.models import Run, RunCheckpoint
from leaderboard.runs.alternatives import by_metrics
from leaderboard.runs.curve import finite, group_labels, numbers, preferences
from leaderboard.runs.judgments import RunJudge
from leaderboard.runs.overview import run_named
from leaderboard.runs.registry import warning_of

MOST = 50  # runs
FAVOURED = (
    "Each run's best checkpoint was chosen by the same judge on the same contexts, so a run with many checkpoints alike is"
    " favoured a little."
)


def compare(
    campaign: Campaign,
    names: Sequence[str],
    metric: Callable[[Run, str], RunJudge] | None = None,
    progress: Callable[[str], None] = lambda said: None,
) -> dict[str, Any]:
    """{judge, contexts: how many all of them answered, runs: the likeliest best first, not_worse: names among which the best is
    with 95% probability, others: what else would have chosen, said}. metric: a metric by its name, where those are asked too.
    Raises Refused; Http404 where a run is not there."""
    runs = [run_named(campaign, name) for name in dict.fromkeys(names)]
    if not 2 <= len(runs) <= MOST:
        raise Refused(f"From 2 to {MOST} runs are compared, not {len(runs)}.")
    best = [_best(run) for run in runs]
    _check_judge(runs, best)
    shared = [pk for pk in runs[0].contexts if all(pk in set(run.contexts) for run in runs[1:])]
    if not shared:
        raise Refused("These runs have no context in common.")
    label = dict(zip(runs[0].contexts, group_labels(runs[0]), strict=True))
    utilities = np.array([_on(run, checkpoint, shared) for run, checkpoint in zip(runs, best, strict=True)])  # (r, n)
    curve = curve_of(
        range(len(runs)), ByUtility(utilities, preferences(runs[0].reading)), len(shared), [label[pk] for pk in shared]
    )
    found = choice([run.name for run in runs], curve, runs[0].rules["seed"])
    step = {run.name: checkpoint.step for run, checkpoint in zip(runs, best, strict=True)}
    return {
        "judge": runs[0].judge.name,
        "contexts": len(shared),
        "runs": [finite(asdict(one)) | {"step": step[one.name]} for one in found.candidates],
        "not_worse": found.not_worse,
        "others": _others(runs, best) + (by_metrics(runs, best, shared, metric, progress) if metric else []),
        "said": [
            *dict.fromkeys(warning for run in runs if (warning := warning_of(run))),
            *_unlike(best),
            *_not_known(runs),
            *_unjudged(runs, best),
            *of_whom(curve),
            FAVOURED,
        ],
    }


def _best(run: Run) -> RunCheckpoint:
    step = (run.summary or {}).get("best_step")
    if step is None:
        raise Refused(f"Nothing of run {quoted(run.name)} is judged yet.")
    return run.checkpoints.get(step=step)


def _check_judge(runs: Sequence[Run], best: Sequence[RunCheckpoint]) -> None:
    first = runs[0]
    for run in runs[1:]:
        if run.judge_id != first.judge_id:
            raise Refused(
                f"Run {quoted(run.name)} is judged by {run.judge.name}, and {quoted(first.name)} by {first.judge.name}."
            )
    if any(checkpoint.utilities is None for checkpoint in best):
        raise Refused(f"{first.judge.name} reads two outputs together, and was not asked about outputs of two runs.")


def _unlike(best: Sequence[RunCheckpoint]) -> list[str]:
    """Where the judge read some runs otherwise than others."""
    alike = all(checkpoint.judge == best[0].judge for checkpoint in best)
    return [] if alike else ["The judge read these runs with different settings or references, so they compare badly."]


def _not_known(runs: Sequence[Run]) -> list[str]:
    """Where a run's page names no best checkpoint."""
    names = [run.name for run in runs if not is_known(run.summary["among_best"], run.summary["judged"])]
    return [f"No best checkpoint is known of {', '.join(names)}: the likeliest one is compared."] if names else []


def _unjudged(runs: Sequence[Run], best: Sequence[RunCheckpoint]) -> list[str]:
    silent = [(run.name, one) for run, one in zip(runs, best, strict=True) if one.unjudged]
    return [f"Of {name} at step {one.step}, outputs of which the judge said nothing: {one.unjudged}." for name, one in silent]


def _on(run: Run, checkpoint: RunCheckpoint, contexts: Sequence[int]) -> np.ndarray:
    of_context = dict(zip(run.contexts, numbers(checkpoint.utilities or []).tolist(), strict=True))
    return np.array([of_context[pk] for pk in contexts])


def _others(runs: Sequence[Run], best: Sequence[RunCheckpoint]) -> list[dict[str, Any]]:
    """What would have chosen without a judge, as far as the trainers sent it: the lowest validation loss that a run had, and
    the highest mean log probability of the outputs of its best checkpoint."""
    losses = {run.name: run.checkpoints.aggregate(least=Min("validation_loss"))["least"] for run in runs}
    chances = {
        run.name: checkpoint.outputs.aggregate(mean=Avg("log_probability"))["mean"]
        for run, checkpoint in zip(runs, best, strict=True)
    }
    return [_other("validation loss", losses, min), _other("mean log probability", chances, max)]


def _other(by: str, values: dict[str, float | None], best) -> dict[str, Any]:
    known = {name: value for name, value in values.items() if value is not None}
    return {"by": by, "choice": best(known, key=known.__getitem__) if known else None, "values": values}
