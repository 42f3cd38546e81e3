"""A run's judged checkpoints as a curve, and what they say together, kept in the run's row."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from annotation.models import Context
from evaluator.judges.calibration import Head
from evaluator.judges.protocol import Preferences, by_order, differences
from evaluator.selection.advice import Advice, advice
from evaluator.selection.curve import ByPairs, ByUtility, Comparisons, Curve, curve_of
from evaluator.selection.health import length_controlled
from evaluator.selection.rules import Rules
from leaderboard.models import Run, RunCheckpoint, RunComparison

RULES = {"stop": "sequential", "streak_stop": "losing streak"}  # fields of Advice, and what they are called


def rules_of(run: Run) -> Rules:
    return Rules(**run.rules)


def judged(run: Run) -> list[RunCheckpoint]:
    """Those of which the judge said something, in the order of their steps."""
    return list(run.checkpoints.exclude(judged_at=None).filter(unjudged__lt=len(run.contexts)).order_by("step"))


def curve(run: Run, checkpoints: Sequence[RunCheckpoint]) -> Curve:
    """The judge gave each output a utility, or compared two."""
    groups = group_labels(run)
    comparisons: Comparisons
    if all(checkpoint.utilities is None for checkpoint in checkpoints):
        place = {checkpoint.pk: i for i, checkpoint in enumerate(checkpoints)}
        rows = RunComparison.objects.filter(later__in=place, earlier__in=place)
        said = rows.values_list("later", "earlier", "outcomes")
        comparisons = ByPairs({(place[a], place[b]): numbers(outcomes) for a, b, outcomes in said})
    else:
        comparisons = ByUtility(np.array([numbers(c.utilities or []) for c in checkpoints]), preferences(run.reading))
    return curve_of([c.step for c in checkpoints], comparisons, len(run.contexts), groups, run.total_steps)


def preferences(reading: dict[str, float] | None):
    """What utilities mean for each other: as it was fitted when the run's first checkpoint was judged, else their order."""
    if reading is None:
        return by_order
    head = Head(1.0, reading["theta"], reading["tie_threshold"])

    def of_two(a: np.ndarray, b: np.ndarray) -> Preferences:
        d = reading["scale"] * differences(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
        return head.preferences(d, np.zeros_like(d))

    return of_two


def group_labels(run: Run) -> list[str]:
    """(n,) of each of the run's contexts its group; one without a group is its own."""
    named = dict(Context.objects.filter(pk__in=run.contexts).values_list("pk", "group"))
    return [f"group {named[pk]}" if named.get(pk) else f"context {pk}" for pk in run.contexts]


def keep_verdict(run: Run) -> None:
    """Work the verdict out anew where more was judged since, and note advice that it gives for the first time."""
    run.refresh_from_db(fields=["total_steps", "verdict", "summary", "advice_given"])
    checkpoints = judged(run)
    if len(checkpoints) == run.summary.get("judged", 0):
        return
    seen, rules = curve(run, checkpoints), rules_of(run)
    found = advice(seen, rules)
    record = finite(asdict(found))
    controlled = length_controlled(seen, [checkpoint.lengths for checkpoint in checkpoints], rules.previous)
    for point, checkpoint, rate in zip(record["points"], checkpoints, controlled, strict=True):
        point |= {
            "degenerate": checkpoint.degenerate,
            "mean_length": sum(checkpoint.lengths) / len(checkpoint.lengths) if checkpoint.lengths else None,
            "length_controlled": finite(rate),
        }
    run.verdict = record
    run.summary = {
        "judged": len(checkpoints),
        "word": found.word,
        "stop": found.stop,
        "best_step": found.best.step,
        "among_best": len(found.best.not_worse),
        "strengths": [[point["step"], point["strength"] and round(point["strength"], 6)] for point in record["points"]],
    }
    run.advice_given = [*run.advice_given, *_new_advice(run.advice_given, found)]
    run.save(update_fields=["verdict", "summary", "advice_given"])


def _new_advice(given: Sequence[dict[str, Any]], found: Advice) -> list[dict[str, Any]]:
    """Whatever a rule says for the first time, or in another word than the last time."""
    newest = found.points[-1].step
    last = {entry["rule"]: entry["word"] for entry in given}
    said = {rule: found.word if rule == "sequential" else "stop" for field, rule in RULES.items() if getattr(found, field)}
    return [{"step": newest, "word": word, "rule": rule} for rule, word in said.items() if last.get(rule) != word]


def numbers(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def finite(value: Any) -> Any:
    """The same for JSON: what is no number is null."""
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
