"""A judge that is no comparator, at work on a campaign's outputs: a metric, imported scores, or one that the caller brings.

Its scores become answers as a comparator's do where it did not learn (`metaevaluation.refit`): scale and ties are fitted on the
pairs that people judged. A judge of pairs says A, tie or B itself.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign, Output, Reference, Snapshot
from annotation.snapshots import output_names
from core.errors import Refused
from evaluator.judge_tables import imports
from evaluator.judges.protocol import (
    AskedVerdicts,
    Judge,
    PairwiseVerdicts,
    PointwiseJudge,
    PointwiseVerdicts,
    Preferences,
    Verdicts,
    by_order,
    differences,
    meetings,
    verdicts_on,
)
from evaluator.judges.texts import Referenced, context_key, referenced
from evaluator.metaevaluation.card_figures import Judged
from evaluator.metaevaluation.refit import FIRST_PAIRS, refit_utilities
from evaluator.metrics.inputs import Training, turns_of
from evaluator.metrics.registry import METRICS, build
from evaluator.worker.judge import text_of
from evaluator.worker.judge_evaluation import Material, material
from evaluator.worker.registration import json_ready

Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Said:
    """record: {name, kind, settings: what its answers depend on, unjudged: how many outputs, calibration: how far its stated
    probabilities are off before and after the refit}; refit: a `Refit` as a dict, None where there is none."""

    verdicts: Verdicts
    record: dict[str, Any]
    refit: dict[str, Any] | None = None
    warning: str = ""


def said_of(
    campaign: Campaign,
    name: str,
    outputs: Sequence[Output],
    snapshot: Snapshot | None,
    criterion: str,
    seed: int = 0,
    report: Report | None = None,
    brought: Judge | None = None,
) -> Said:
    """What the judge says of the outputs (contexts and systems selected with them). snapshot, criterion: whose judgments it is
    set beside. Raises Refused for a name that nobody knows, and for what the judge lacks or refuses."""
    known = material(campaign, criterion, snapshot.digest) if snapshot else None
    texts = referenced_outputs(campaign, outputs)
    if brought is None and name not in METRICS:
        return _imported(campaign, name, outputs, known, seed)
    judge = brought or _metric(name, texts, known)
    settings = dict(getattr(judge, "settings", {}))
    if judge.kind == "pairwise":
        watch = (lambda done, said, _: report(done, said)) if report else None
        by_id = {output.pk: text for output, text in zip(outputs, texts, strict=True)}
        dear = getattr(judge, "each_pair_costs", False)
        verdicts = AskedVerdicts(judge, by_id, watch) if dear else verdicts_on(judge, by_id, watch)
        return Said(verdicts, {"name": name, "kind": "pairwise", "settings": json_ready(settings), "unjudged": 0})
    beside = known.texts if known else []
    u = judge.utilities([*texts, *beside], on_progress=None)  # equal texts are measured once
    of_output = {output.pk: value for output, value in zip(outputs, u.tolist())}
    return _pointwise(name, settings, of_output, u[len(texts) :], known, seed, judge)


def referenced_outputs(campaign: Campaign, outputs: Sequence[Output]) -> list[Referenced]:
    """(n,) the outputs' texts with their references: the campaign's of the context, and what people wrote for it."""
    given: dict[int, list[str]] = {}
    for context, text in Reference.objects.filter(context__campaign=campaign).values_list("context_id", "text"):
        given.setdefault(context, []).append(text)
    human = [output.system.is_human for output in outputs]
    return referenced([text_of(output) for output in outputs], human, [given.get(o.context_id, []) for o in outputs])


def _metric(name: str, texts: Sequence[Referenced], known: Material | None) -> PointwiseJudge:
    training = known.training if known else None
    if training is None and len({context_key(text.context) for text in texts}) > 1:
        training = Training.dealt(texts)
    return build(name, corpus=turns_of(texts), training=training)


def _imported(campaign: Campaign, name: str, outputs: Sequence[Output], known: Material | None, seed: int) -> Said:
    if of_pairs := imports.pairs_of(campaign, name):
        return _imported_pairs(name, outputs, of_pairs)
    given = dict(campaign.imported_scores.filter(judge=name).values_list("output_id", "value"))
    if not given:
        raise Refused(f"There is no judge {name!r} here. A judge that a command provides can play only with that command.")
    of_key = imports.scores_of(campaign, name)
    beside = np.array([of_key.get(key, np.nan) for key in known.source.keys] if known else [], dtype=float)
    digest = hashlib.sha256(json.dumps(sorted([*key, value] for key, value in of_key.items())).encode()).hexdigest()
    settings = {"imported": len(given), "sha256": digest}
    return _pointwise(name, settings, {o.pk: given.get(o.pk, np.nan) for o in outputs}, beside, known, seed)


def _imported_pairs(name: str, outputs: Sequence[Output], said: Mapping[tuple, tuple[float, float, float]]) -> Said:
    """Raises Refused where two outputs may meet that the judge did not compare."""
    a, b = meetings([output.context_id for output in outputs])
    names = [output_names(output, {})[0] for output in outputs]
    p = [said.get((names[i], names[j])) for i, j in zip(a, b)]
    if missing := sum(one is None for one in p):
        raise Refused(f"The judge {name!r} did not compare {missing:,} of the {len(p):,} pairs that may meet.")
    ids = [output.pk for output in outputs]
    place = {(min(ids[i], ids[j]), max(ids[i], ids[j])): row for row, (i, j) in enumerate(zip(a, b))}
    of_smaller = [one if ids[i] < ids[j] else one[::-1] for one, i, j in zip(p, a, b) if one is not None]
    verdicts = PairwiseVerdicts(place, Preferences.likeliest(np.array(of_smaller).reshape(-1, 3)))
    digest = hashlib.sha256(json.dumps(sorted([*map(list, pair), *one] for pair, one in said.items())).encode()).hexdigest()
    settings = {"imported": len(said) // 2, "sha256": digest}
    return Said(verdicts, {"name": name, "kind": "pairwise", "settings": settings, "unjudged": 0})


def _pointwise(
    name: str,
    settings: dict[str, Any],
    of_output: Mapping[int, float],
    beside: np.ndarray,
    known: Material | None,
    seed: int,
    judge: PointwiseJudge | None = None,
) -> Said:
    """of_output: utilities by an output's id, NaN for none; beside: (n,) the same of the texts that people judged."""
    utility = {pk: value for pk, value in of_output.items() if np.isfinite(value)}
    if not utility:
        raise Refused(f"The judge {name!r} has no scores for the outputs that play.")
    record = {"name": name, "kind": "pointwise", "settings": settings, "unjudged": len(of_output) - len(utility)}
    found = _refit(beside, known, judge.preferences if judge else by_order, seed) if known else None
    if found is None:
        warning = f"People judged fewer than {FIRST_PAIRS} pairs that {name} judges too, so only equal scores are ties."
        verdicts = PointwiseVerdicts(utility, judge.preferences if judge else by_order)
        return Said(verdicts, json_ready(record), warning=warning)
    head, before, after = found
    verdicts = PointwiseVerdicts(utility, lambda a, b: head.preferences(differences(a, b)))
    record["calibration"] = {"as_it_came": before, "refitted": after}
    return Said(verdicts, json_ready(record), json_ready(asdict(head)))


def _refit(u: np.ndarray, known: Material, preferences: Callable[[np.ndarray, np.ndarray], Preferences], seed: int):
    source = known.source
    judged = Judged(source.texts, source.pairs, source.scores[:, 0]).take(np.flatnonzero(np.isfinite(u)))
    u = u[np.isfinite(u)]
    a, b = (np.array([getattr(pair, side) for pair in judged.pairs], dtype=int) for side in ("a", "b"))
    p = preferences(u[a], u[b]).probabilities
    return refit_utilities(differences(u[a], u[b]), p, judged, known.snapshot.name, seed)
