"""What is shown of runs: one by one, as a list, as CSV. Reads what the worker kept, and works nothing out."""

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Max, Q
from django.http import Http404

from annotation.data.spreadsheets import without_formulas
from annotation.models import Campaign, Context, Job
from core.errors import Refused
from core.version import code_version
from evaluator.selection.best_checkpoint import is_known
from leaderboard.models import Run, RunOutput
from leaderboard.runs import costs
from leaderboard.runs.judgments import waiting_of
from leaderboard.runs.registry import plain_name, warning_of

PAGE = 20  # contexts whose texts are shown together
NOTHING: dict[str, Any] = {  # before anything is judged
    "word": "open",
    "stop": False,
    "streak_stop": False,
    "looks": 0,
    "slope": None,
    "best": None,
    "points": [],
}


def run_named(campaign: Campaign, name: str) -> Run:
    """Raises Http404."""
    try:
        name = plain_name(name)
    except Refused:
        raise Http404 from None
    related = ("campaign", "judge__version", "judge__campaign", "job", "system", "snapshot", "created_by")
    run = campaign.runs.select_related(*related).filter(name=name).first()
    if run is None:
        raise Http404
    return run


def of_campaign(campaign: Campaign):
    """The campaign's runs, newest first, with what `row` reads."""
    waits = Q(checkpoints__judged_at=None) & ~Q(checkpoints__digest="")
    runs = campaign.runs.select_related("judge__version", "judge__campaign").defer(
        "verdict", "contexts", "settings", "advice_given"
    )
    counts = {
        "reported": Count("checkpoints"),
        "newest": Max("checkpoints__step"),
        "reported_at": Max("checkpoints__received_at"),
        "waiting": Count("checkpoints", filter=waits),
    }
    return runs.annotate(**counts).order_by("-created_at", "-pk")


def row(run: Any) -> dict[str, Any]:
    """One of `of_campaign`, as a list shows it."""
    summary = run.summary or {}
    return {
        "name": run.name,
        "judge": run.judge.name,
        "warning": warning_of(run),
        "checkpoints": run.reported,
        "newest_step": run.newest,
        "total_steps": run.total_steps,
        "word": summary.get("word", NOTHING["word"]),
        "stop": summary.get("stop", False),
        "best_step": summary.get("best_step"),
        "best_known": is_known(summary.get("among_best", 0), summary.get("judged", 0)),
        "strengths": summary.get("strengths", []),
        "waiting": run.waiting,
        "reported_at": run.reported_at,
        "closed_at": run.closed_at,
        "created_at": run.created_at,
    }


def of_run(run: Run) -> dict[str, Any]:
    """The whole of one: verdict, points, what waits, and what it takes to get the same again."""
    verdict = run.verdict or NOTHING
    slope = {name: verdict[name] for name in ("low", "high")} if run.verdict else None
    return {
        "name": run.name,
        "campaign": run.campaign.slug,
        "judge": {"name": run.judge.name, "kind": run.judge.kind, "warning": warning_of(run), "cost": costs.of_run(run)},
        "criterion": run.criterion,
        "contexts": len(run.contexts),
        "total_steps": run.total_steps,
        "settings": run.settings,
        "rules": run.rules,
        "created_at": run.created_at,
        "closed_at": run.closed_at,
        "system": run.system.name if run.system else None,
        **{name: verdict[name] for name in ("word", "stop", "streak_stop", "looks", "best")},
        "best_known": bool(verdict["best"]) and is_known(len(verdict["best"]["not_worse"]), len(verdict["points"])),
        "said": said(run),
        "slope": slope and {"estimate": verdict["slope"], **slope, "per": run.rules["per"]},
        "points": _points(run, verdict["points"]),
        "waiting": waiting_of(run).count(),
        "incomplete": _incomplete(run),
        "job": _job(run.job),
        "advice_given": run.advice_given,
        "provenance": _provenance(run),
    }


def said(run: Run) -> list[str]:
    """Sentences: first why the judge is not above every doubt, last what is in the way."""
    verdict, warning = run.verdict or {}, warning_of(run)
    lines = [*([warning] if warning else []), *verdict.get("said", [])]
    unjudged = dict(run.checkpoints.filter(unjudged__gt=0).values_list("step", "unjudged"))
    if unjudged:
        most = max(unjudged.values())
        lines.append(f"{run.judge.name} said nothing of some outputs at {len(unjudged)} checkpoints, at most {most} at one.")
    if run.job and run.job.status == Job.Status.FAILED:
        lines.append(f"Judging failed, and goes on with the next report: {run.job.error}")
    return lines


def _points(run: Run, points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = {checkpoint.step: checkpoint for checkpoint in run.checkpoints.defer("utilities", "lengths").all()}
    return [
        point
        | {
            "validation_loss": rows[point["step"]].validation_loss,
            "unjudged": rows[point["step"]].unjudged,
            "chosen": rows[point["step"]].checkpoint_id is not None,
            "received_at": rows[point["step"]].received_at,
            "judged_at": rows[point["step"]].judged_at,
            "seconds": rows[point["step"]].seconds,
        }
        for point in points
    ]


def _incomplete(run: Run) -> list[dict[str, int]]:
    rows = run.checkpoints.filter(digest="").annotate(there=Count("outputs")).values_list("step", "there")
    return [{"step": step, "missing": len(run.contexts) - there} for step, there in rows.order_by("step")]


def _job(job: Job | None) -> dict[str, Any] | None:
    fields = ("id", "status", "progress", "message", "error")
    return {name: getattr(job, name) for name in fields} if job else None


def _provenance(run: Run) -> dict[str, Any]:
    keys = dict(Context.objects.filter(pk__in=run.contexts).values_list("pk", "key"))
    names = [keys[pk] for pk in run.contexts if pk in keys]
    return {
        "judge": run.judge.name,
        "judge_digest": run.judge_digest,
        "snapshot": run.snapshot.name if run.snapshot else None,
        "seed": run.rules["seed"],
        "code": code_version(),
        "contexts_sha256": hashlib.sha256(json.dumps(names).encode()).hexdigest(),
        "checkpoints": {str(step): digest for step, digest in run.checkpoints.values_list("step", "digest")},
    }


def as_csv(run: Run) -> str:
    """A row for each judged checkpoint; in every row who judged, by which rules, and what must be said."""
    whole = of_run(run)
    made = {
        "run": run.name,
        "campaign": run.campaign.slug,
        "judge": run.judge.name,
        "judge_digest": run.judge_digest,
        "criterion": run.criterion,
        "snapshot": whole["provenance"]["snapshot"],
        "contexts": len(run.contexts),
        "contexts_sha256": whole["provenance"]["contexts_sha256"],
        "total_steps": run.total_steps,
        **{f"rule_{name}": value for name, value in run.rules.items()},
        "word": whole["word"],
        "best_step": whole["best"] and whole["best"]["step"],
        "best_known": whole["best_known"],
        "code": whole["provenance"]["code"],
        "warnings": " ".join(whole["said"]),
    }
    out = io.StringIO()
    rows = [{**point, **made} for point in whole["points"]]
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["step", *made])
    writer.writeheader()
    writer.writerows(map(without_formulas, rows))
    return out.getvalue()


def texts(run: Run, steps: Sequence[int], page: int = 1) -> dict[str, Any]:
    """What some checkpoints wrote, side by side: {"rows": [{context_id, turns, texts: {step: text}}], "page", "pages"}. Raises
    Http404 for a page or a step that is not there."""
    pages = max(1, -(-len(run.contexts) // PAGE))
    if not 1 <= page <= pages or run.checkpoints.filter(step__in=steps).count() != len(set(steps)):
        raise Http404
    wanted = run.contexts[(page - 1) * PAGE : page * PAGE]
    contexts = Context.objects.filter(pk__in=wanted).in_bulk()
    found: dict[int, dict[int, str]] = {}
    outputs = RunOutput.objects.filter(checkpoint__run=run, checkpoint__step__in=steps, context__in=wanted)
    for pk, step, text in outputs.values_list("context_id", "checkpoint__step", "text"):
        found.setdefault(pk, {})[step] = text
    rows = [
        {"context_id": contexts[pk].key, "turns": contexts[pk].turns, "texts": found.get(pk, {})}
        for pk in wanted
        if pk in contexts
    ]
    return {"rows": rows, "page": page, "pages": pages}
