"""What a trainer reports of a checkpoint: stored once, whole or in parts, and judged when it is whole."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from annotation import jobs
from annotation.models import Context, Job
from core.errors import Refused, quoted
from leaderboard.models import Run, RunCheckpoint, RunOutput
from leaderboard.runs.registry import set_total

TASK = "leaderboard.tasks.judge_run"
MOST_CHECKPOINTS = 500  # of a run
MOST_PARTS = 100  # of a checkpoint
LONGEST_TEXT = 20_000  # characters: judges read the first few hundred words
LISTED = 5  # names that an error lists


class Conflict(Refused):
    """Something else is stored there already."""


@dataclass(frozen=True)
class Report:
    """outputs: {context's name: text}. parts: how many the checkpoint comes in; None: this is the whole of it."""

    step: int
    outputs: Mapping[str, str]
    log_probabilities: Mapping[str, float] = field(default_factory=dict)
    validation_loss: float | None = None
    total_steps: int | None = None
    parts: int | None = None


@dataclass(frozen=True)
class Received:
    """stored: how many outputs are new. missing: how many contexts have none yet. left_out: what was sent and is not kept."""

    checkpoint: RunCheckpoint
    is_new: bool
    stored: int
    missing: int
    job: Job | None
    left_out: list[str]

    @property
    def complete(self) -> bool:
        return not self.missing


@transaction.atomic
def receive(run: Run, report: Report, user=None) -> Received:
    """Store what is new of it, all or nothing, and have the checkpoint judged once it is whole. Raises Refused, or Conflict
    where the step has another text."""
    run = Run.objects.select_for_update(of=("self",), no_key=True).select_related("campaign", "job", "system").get(pk=run.pk)
    if run.closed_at:
        raise Conflict(f"Run {quoted(run.name)} is closed.")
    contexts = contexts_of(run)
    _check_contexts(run, report, contexts)
    checkpoint, is_new = _checkpoint(run, report)
    stored, left_out = _store(checkpoint, report, contexts)
    if not is_new and report.validation_loss not in (None, checkpoint.validation_loss):
        left_out += _loss(checkpoint, report.validation_loss)
    left_out += _count_total(run, report)
    missing = len(contexts) - checkpoint.outputs.count()
    if not missing and not checkpoint.digest:
        checkpoint.digest = digest_of(checkpoint, contexts)
        checkpoint.save(update_fields=["digest"])
    if not missing and checkpoint.judged_at is None:
        have_judged(run, user)
    return Received(checkpoint, is_new or bool(stored), stored, missing, run.job, left_out)


def _count_total(run: Run, report: Report) -> list[str]:
    """A total grows with what is reported. What is not kept of it."""
    if report.total_steps and report.total_steps < report.step and not run.total_steps:
        return [f"A total of {report.total_steps:,} steps is below step {report.step:,}, so it is not kept."]
    left_out = []
    if report.total_steps and report.total_steps < (run.total_steps or 0):
        left_out.append(f"The total stays {run.total_steps:,} steps.")
    total = max(report.total_steps or 0, run.total_steps or 0)
    if total and max(total, report.step) != run.total_steps:
        set_total(run, max(total, report.step))
    return left_out


def contexts_of(run: Run) -> dict[str, int]:
    """{name: id} in the run's order."""
    named = dict(Context.objects.filter(pk__in=run.contexts).values_list("pk", "key"))
    return {named[pk]: pk for pk in run.contexts if pk in named}


def have_judged(run: Run, user=None) -> None:
    """See that a job takes all that waits: the one that waits or runs already, else a new one. The run's row is locked."""
    if run.job is None or run.job.is_finished:
        run.job = jobs.enqueue(TASK, f"Judge the run {run.name}"[:200], campaign=run.campaign, user=user)
        run.save(update_fields=["job"])


def digest_of(checkpoint: RunCheckpoint, contexts: Mapping[str, int]) -> str:
    """SHA-256 of the outputs, by the names of their contexts in the run's order."""
    texts = dict(checkpoint.outputs.values_list("context_id", "text"))
    rows = [[name, texts[pk]] for name, pk in contexts.items()]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _check_contexts(run: Run, report: Report, contexts: Mapping[str, int]) -> None:
    if unknown := [name for name in report.outputs if name not in contexts]:
        raise Refused(f"{_listed(unknown)} no context of run {quoted(run.name)}, which has {len(contexts)}.")
    missing = [name for name in contexts if name not in report.outputs]
    if missing and report.parts is None:
        raise Refused(f"Outputs are missing for {len(missing)} of the run's {len(contexts)} contexts: {_names(missing)}.")
    if not report.outputs:
        raise Refused("A report has at least one output.")


def _listed(names: Sequence[str]) -> str:
    return f"{_names(names)} {'is' if len(names) == 1 else 'are'}"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(map(quoted, names[:LISTED])) + more


def _checkpoint(run: Run, report: Report) -> tuple[RunCheckpoint, bool]:
    known = run.checkpoints.filter(step=report.step).first()
    if known is None:
        if run.checkpoints.count() >= MOST_CHECKPOINTS:
            raise Refused(f"Run {quoted(run.name)} has {MOST_CHECKPOINTS} checkpoints, the most that it can have.")
        new = RunCheckpoint(run=run, step=report.step, parts=report.parts, validation_loss=report.validation_loss)
        new.save(force_insert=True)
        return new, True
    if not known.digest and report.parts is not None and known.parts not in (None, report.parts):
        raise Refused(f"Step {report.step} came in {known.parts} parts before, not {report.parts}.")
    return known, False


def _store(checkpoint: RunCheckpoint, report: Report, contexts: Mapping[str, int]) -> tuple[int, list[str]]:
    there = {pk: (text, said) for pk, text, said in checkpoint.outputs.values_list("context_id", "text", "log_probability")}
    new, other = [], 0
    for name, text in report.outputs.items():
        pk, said = contexts[name], report.log_probabilities.get(name)
        if pk not in there:
            new.append(RunOutput(checkpoint=checkpoint, context_id=pk, text=text, log_probability=said))
        elif there[pk][0] != text:
            raise Conflict(
                f"Step {report.step} has another output for {quoted(name)} already; what is stored stays. A new training needs "
                "a run of its own name."
            )
        else:
            other += said not in (None, there[pk][1])
    RunOutput.objects.bulk_create(new, batch_size=500)
    return len(new), [f"{other} log probabilities differ from those that came first, which stay."] if other else []


def _loss(checkpoint: RunCheckpoint, loss: float | None) -> list[str]:
    if checkpoint.validation_loss is not None:
        return [f"The validation loss stays {checkpoint.validation_loss:g}, as it came first; {loss:g} is not kept."]
    checkpoint.validation_loss = loss
    checkpoint.save(update_fields=["validation_loss"])
    return []
