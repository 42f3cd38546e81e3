"""A run's checkpoints before its judge: one job takes all that wait, in the order of their steps, each once."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation import jobs
from annotation.models import Context
from evaluator.judges.degenerate_outputs import degenerate_shares
from evaluator.judges.texts import Text
from evaluator.selection.rules import asked_of
from evaluator.trainings.sources import text_in
from leaderboard.models import Run, RunCheckpoint, RunComparison
from leaderboard.runs.curve import finite, judged, keep_verdict, rules_of

EVERY = 5.0  # seconds between two verdicts while more waits


class Written(NamedTuple):
    """One output of a run: what a judge may read of it."""

    context: int  # its id
    text: Text
    log_probability: float | None


class RunJudge(Protocol):
    """A judge at work on texts that are no outputs of the campaign (`evaluator.worker.new_texts`)."""

    @property
    def reads_pairs(self) -> bool: ...

    reading: dict[str, float] | None  # how two utilities become an answer; None: by their order
    record: dict[str, Any]  # {name, digest, settings}
    warning: str

    def utilities(self, written: Sequence[Written], report: Callable[[float, str], None]) -> np.ndarray:
        """(n,) NaN where it says nothing"""
        ...

    def outcomes(
        self, later: Sequence[Written], earlier: Sequence[Written], report: Callable[[float, str], None]
    ) -> np.ndarray:
        """(n,) 1 where the later is better, 0 for a tie, -1 where the earlier is"""
        ...


def judge_waiting(claim: jobs.Claim, load: Callable[[Run], RunJudge]) -> int:
    """Judge what waits until nothing does; returns how many. A worker that dies leaves what is judged, and another goes on."""
    run = Run.objects.select_related("judge__version", "judge__campaign", "campaign").filter(job=claim.job.pk).first()
    if run is None:  # another job took its place after this one had failed
        return 0
    done, judge, looked = 0, None, time.monotonic()
    while True:
        checkpoint = waiting_of(run).first()
        if checkpoint is None or time.monotonic() - looked > EVERY:
            keep_verdict(run)
            looked = time.monotonic()
        if checkpoint is None:
            if _released(run, claim):
                return done
            continue
        if judge is None:
            claim.report(0.0, f"Loading {run.judge.name}")
            judge = load(run)
            _settle(run, judge)
        _judge(run, checkpoint, judge, claim)
        done += 1
        claim.report(0.0, f"{done} judged")  # raises Cancelled where the job is somebody else's now


def _released(run: Run, claim: jobs.Claim) -> bool:
    """Has the run no job any more, since nothing waits? The next report makes one. False where one came meanwhile."""
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.job_id == claim.job.pk:
            if waiting_of(run).exists():
                return False
            Run.objects.filter(pk=run.pk).update(job=None)
    return True


def waiting_of(run: Run):
    """Whole and not judged, in the order of their steps."""
    return run.checkpoints.filter(judged_at=None).exclude(digest="").order_by("step")


def _settle(run: Run, judge: RunJudge) -> None:
    """What the first judging finds out stays: how utilities become answers, and what is said about the judge. One that reads
    something else later is said."""
    warning, last = judge.warning, run.checkpoints.exclude(judged_at=None).order_by("judged_at").last()
    if last is None:
        run.reading = judge.reading
    elif last.judge != judge.record:
        warning = f"After step {last.step} was judged, {run.judge.name} reads other references or settings than before."
    if warning and warning not in run.warning:
        run.warning = f"{run.warning} {warning}".strip()
    run.save(update_fields=["reading", "warning"])


def _judge(run: Run, checkpoint: RunCheckpoint, judge: RunJudge, claim: jobs.Claim) -> None:
    begun, outputs = time.monotonic(), written(run, checkpoint)

    def report(share: float, message: str) -> None:
        claim.report(share, f"Step {checkpoint.step}: {message}")

    if judge.reads_pairs:
        unjudged = _compare(run, checkpoint, judge, outputs, report)
    else:
        utilities = judge.utilities(outputs, report)  # (n,)
        unjudged = int((~np.isfinite(utilities)).sum())
        checkpoint.utilities = finite(utilities.tolist())
    texts = [one.text for one in outputs]
    checkpoint.judged_at, checkpoint.seconds = timezone.now(), round(time.monotonic() - begun, 3)
    checkpoint.judge, checkpoint.unjudged = judge.record, unjudged
    checkpoint.lengths = [len(text.output) for text in texts]
    checkpoint.degenerate = float(degenerate_shares(texts).mean())
    checkpoint.save()


def _compare(run: Run, new: RunCheckpoint, judge: RunJudge, outputs: Sequence[Written], report) -> int:
    """Ask about the earlier checkpoints that `asked_of` names; of a step that comes late, about the later ones that would have
    named it. Answers are kept one by one, so that nothing is asked twice. Returns how many outputs nothing is known of."""
    row = sorted([*judged(run), new], key=lambda checkpoint: checkpoint.step)
    at, rules = row.index(new), rules_of(run)
    steps = [checkpoint.step for checkpoint in row]
    best = run.summary.get("best_step")
    known = steps.index(best) if best in steps and steps.index(best) < at else None
    pairs = [(at, earlier) for earlier in asked_of(at, rules, known)]
    pairs += [(later, at) for later in range(at + 1, len(row)) if at in asked_of(later, rules)]
    there = set(RunComparison.objects.filter(later__run=run).values_list("later", "earlier"))
    for done, (later, earlier) in enumerate(pairs):
        if (row[later].pk, row[earlier].pk) in there:
            continue
        sides = [outputs if place == at else written(run, row[place]) for place in (later, earlier)]
        watch = lambda share, message, done=done: report((done + share) / len(pairs), message)
        said = judge.outcomes(sides[0], sides[1], watch)  # (n,)
        RunComparison.objects.create(later=row[later], earlier=row[earlier], outcomes=finite(said.astype(float).tolist()))
    return 0


def written(run: Run, checkpoint: RunCheckpoint) -> list[Written]:
    """(n,) in the order of the run's contexts."""
    empty = {context.pk: text_in(context, "") for context in Context.objects.filter(pk__in=run.contexts)}
    rows = {pk: (text, said) for pk, text, said in checkpoint.outputs.values_list("context_id", "text", "log_probability")}
    return [Written(pk, Text(empty[pk].context, rows[pk][0], group=empty[pk].group), rows[pk][1]) for pk in run.contexts]
