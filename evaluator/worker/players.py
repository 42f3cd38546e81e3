"""A judge that is no comparator, at work on a campaign's outputs.

Its scores become answers as a comparator's do where it did not learn (`metaevaluation.refit`): scale and ties are fitted on the
pairs that people judged. A judge of pairs says A, tie or B itself.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from annotation.models import Campaign, Output, Reference, Snapshot
from annotation.snapshots import output_names
from core.errors import Refused
from evaluator.judge_tables import imports
from evaluator.judges import protocol
from evaluator.judges.comet import CometJudge
from evaluator.judges.endpoint import Endpoint, Price
from evaluator.judges.pairwise_model import LanguageModelJudge
from evaluator.judges.pointwise_model import LanguageModelScorer
from evaluator.judges.program import ProgramJudge, ProgramPairJudge
from evaluator.judges.protocol import (
    AskedVerdicts,
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
from evaluator.judges.texts import Referenced, kin_of, place_of
from evaluator.metaevaluation.card_figures import JudgedTexts
from evaluator.metaevaluation.refit import FIRST_PAIRS, refit_utilities
from evaluator.metrics.inputs import ModelSource, Training, turns_of
from evaluator.metrics.registry import build
from evaluator.models import Judge
from evaluator.offers import model_of, prompt_of
from evaluator.trainings.sources import referenced_outputs, text_in
from evaluator.worker.budget import RowMeter
from evaluator.worker.judge_tables.material import Material, material, metric_of, model_given
from evaluator.worker.jury import jury
from evaluator.worker.registration import json_ready
from evaluator.worker.replies import RowReplies

Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Said:
    """record: {name, reads: pointwise or pairwise, settings: what its answers depend on, unjudged: how many outputs,
    calibration: how far its stated probabilities are off before and after the refit}; refit: a `Refit` as a dict, or None."""

    verdicts: Verdicts
    record: dict[str, Any]
    refit: dict[str, Any] | None = None
    warning: str = ""


def said_of(
    judge: Judge,
    outputs: Sequence[Output],
    snapshot: Snapshot | None,
    criterion: str,
    seed: int = 0,
    report: Report | None = None,
) -> Said:
    """What the judge says of the outputs (contexts and systems selected with them). snapshot, criterion: whose judgments it is
    set beside. Raises Refused for what the judge lacks or refuses, and for a comparator, which `worker.comparators` asks."""
    campaign, name = judge.campaign, judge.name
    known = material(campaign, criterion, snapshot.digest) if snapshot else None
    texts = referenced_outputs(campaign, outputs)
    if judge.kind == Judge.Kind.IMPORTED:
        return _imported(campaign, name, outputs, known, seed)
    if judge.kind in (Judge.Kind.METRIC, Judge.Kind.MODEL_METRIC):
        player: protocol.Judge = metric(judge.settings, texts, known)
    else:
        player = at_work(judge, criterion, seed, known)
    settings = dict(getattr(player, "settings", {}))
    if player.kind == "pairwise":
        watch = (lambda done, said, _: report(done, said)) if report else None
        by_id = {output.pk: text for output, text in zip(outputs, texts, strict=True)}
        dear = getattr(player, "each_pair_costs", False)
        verdicts = AskedVerdicts(player, by_id, watch) if dear else verdicts_on(player, by_id, watch)
        if not dear and (check := getattr(player, "check", None)):
            check()
        return Said(verdicts, {"name": name, "reads": "pairwise", "settings": json_ready(settings), "unjudged": 0})
    beside = known.texts if known else []
    tell = (lambda done, said, _: report(done, said)) if report else None
    u = player.utilities([*texts, *beside], on_progress=tell)  # equal texts are measured once
    if check := getattr(player, "check", None):
        check()
    of_output = {output.pk: value for output, value in zip(outputs, u.tolist())}
    return _pointwise(name, settings, of_output, u[len(texts) :], known, seed, player)


def at_work(judge: Judge, criterion: str, seed: int = 0, known: Material | None = None) -> protocol.Judge:
    """What a command set up, as its row says; known: whose answers it may be shown as examples, by
    default those of the newest snapshot. Raises Refused where it cannot be loaded."""
    settings = judge.settings
    match judge.kind:
        case Judge.Kind.PROGRAM if "comet" in settings:
            return CometJudge(settings["comet"], settings["timeout"])
        case Judge.Kind.PROGRAM:
            player = ProgramPairJudge if settings["reads"] == "pairwise" else ProgramJudge
            return player(settings["command"], _references(judge.campaign), settings["timeout"], RowReplies(judge))
        case Judge.Kind.REWARD_MODEL:
            from evaluator.metrics.reward_model import RewardModel

            return RewardModel.load(settings["model"], RowReplies(judge))
        case Judge.Kind.LANGUAGE_MODEL:
            return language_model(judge, criterion, seed, known)
        case Judge.Kind.MODEL_METRIC:
            known = known or material(judge.campaign, criterion)
            return metric_of(known, judge.settings["metric"], model_named(judge.settings))
        case Judge.Kind.JURY:
            return jury(judge, criterion, seed, known, lambda row: at_work(row, criterion, seed, known), fitted)
        case _:
            raise Refused(f"A judge of the kind {judge.kind!r} is not asked this way.")


def language_model(
    judge: Judge, criterion: str, seed: int, known: Material | None = None, replies: RowReplies | None = None
) -> LanguageModelJudge | LanguageModelScorer:
    """It spends of its row's budget, and its replies are rows, so that no worker asks what another one asked. replies: by
    default all of the judge."""
    asked = judge.settings
    price = Price(*asked["price"])
    endpoint = Endpoint(
        asked["url"],
        os.environ.get(asked["key"], ""),
        meter=RowMeter(judge, price),
        timeout=asked.get("timeout", 120.0),
        connections=asked.get("connections", 1),
        rate=asked.get("rate"),
    )
    if judge.settings.get("examples") and known is None:
        known = material(judge.campaign, criterion)
    prompt = prompt_of(judge, criterion, seed, known.source if known else None)
    return model_of(judge, endpoint, prompt, seed, replies or RowReplies(judge), partial(_keep_profile, judge))


def _keep_profile(judge: Judge, record: dict[str, Any]) -> None:
    """What its server takes, so that the next run need not find it out again."""
    judge.settings = {**judge.settings, "server": record}
    if judge.pk:
        Judge.objects.filter(pk=judge.pk).update(settings=judge.settings)


def _references(campaign: Campaign) -> dict[str, list[str]]:
    """The campaign's references of each context, by its place."""
    found: dict[str, list[str]] = {}
    for reference in Reference.objects.filter(context__campaign=campaign).select_related("context"):
        found.setdefault(place_of(text_in(reference.context, reference.text)), []).append(reference.text)
    return found


def metric(settings: Mapping[str, Any], texts: Sequence[Referenced], known: Material | None) -> PointwiseJudge:
    """settings: of its row; texts: whose contexts it may count from, and learn from where nobody judged."""
    training = known.training if known else None
    if training is None and len(set(kin_of(texts))) > 1:
        training = Training.dealt(texts)
    name, model = settings["metric"], model_named(settings)
    given = model_given(name, model, known.models if known else {})
    return build(name, corpus=turns_of(texts), training=training, **given)


def model_named(settings: Mapping[str, Any]) -> ModelSource:
    return ModelSource(settings.get("model", ""), settings.get("pooling", ""))


def _imported(campaign: Campaign, name: str, outputs: Sequence[Output], known: Material | None, seed: int) -> Said:
    if of_pairs := imports.pairs_of(campaign, name):
        return _imported_pairs(name, outputs, of_pairs)
    given = dict(campaign.imported_scores.filter(judge__name=name).values_list("output_id", "value"))
    if not given:
        raise Refused(f"The judge {name!r} has no scores any more.")
    of_key = imports.scores_of(campaign, name)
    beside = np.array([of_key.get(key, np.nan) for key in known.source.keys] if known else [], dtype=float)
    digest = hashlib.sha256(json.dumps(sorted([*key, value] for key, value in of_key.items())).encode()).hexdigest()
    settings = {"imported": len(given), "sha256": digest}
    return _pointwise(name, settings, {o.pk: given.get(o.pk, np.nan) for o in outputs}, beside, known, seed)


def _imported_pairs(name: str, outputs: Sequence[Output], said: Mapping[tuple, tuple[float, float, float]]) -> Said:
    """What was not imported stays unjudged. Raises Refused where none of the pairs that may meet was compared."""
    a, b = meetings([output.context_id for output in outputs])
    names = [output_names(output, {})[0] for output in outputs]
    p = [said.get((names[i], names[j])) for i, j in zip(a, b)]
    missing = sum(one is None for one in p)
    if missing == len(p):
        raise Refused(f"The judge {name!r} compared none of the {len(p):,} pairs that may meet.")
    ids = [output.pk for output in outputs]
    place = {(min(ids[i], ids[j]), max(ids[i], ids[j])): row for row, (i, j) in enumerate(zip(a, b))}
    nothing = (np.nan, np.nan, np.nan)
    of_smaller = [one[:: 1 if ids[i] < ids[j] else -1] if one else nothing for one, i, j in zip(p, a, b)]
    verdicts = PairwiseVerdicts(place, Preferences.likeliest(np.array(of_smaller).reshape(-1, 3)))
    digest = hashlib.sha256(json.dumps(sorted([*map(list, pair), *one] for pair, one in said.items())).encode()).hexdigest()
    settings = {"imported": len(said) // 2, "sha256": digest}
    warning = f"{name} says nothing of {missing:,} of the {len(p):,} pairs that may meet; they do not count." if missing else ""
    return Said(verdicts, {"name": name, "reads": "pairwise", "settings": settings, "unjudged": 0}, warning=warning)


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
    record = {"name": name, "reads": "pointwise", "settings": settings, "unjudged": len(of_output) - len(utility)}
    used = dict(getattr(judge, "used", {}))
    found = fitted(beside, known, judge.preferences if judge else by_order, seed) if known else None
    if found is None:
        warning = f"People judged fewer than {FIRST_PAIRS} pairs that {name} judges too, so only equal scores are ties."
        verdicts = PointwiseVerdicts(utility, judge.preferences if judge else by_order, used)
        return Said(verdicts, json_ready(record), warning=warning)
    head, before, after = found
    verdicts = PointwiseVerdicts(utility, lambda a, b: head.preferences(differences(a, b)), used)
    record["calibration"] = {"as_it_came": before, "refitted": after}
    return Said(verdicts, json_ready(record), json_ready(asdict(head)))


def fitted(u: np.ndarray, known: Material, preferences: Callable[[np.ndarray, np.ndarray], Preferences], seed: int):
    """`refit_utilities` on the pairs that people judged; u (n,) utilities of `known.texts`, NaN for none."""
    source = known.source
    judged = JudgedTexts(source.texts, source.pairs, source.scores[:, 0]).take(np.flatnonzero(np.isfinite(u)))
    u = u[np.isfinite(u)]
    a, b = (np.array([getattr(pair, side) for pair in judged.pairs], dtype=int) for side in ("a", "b"))
    p = preferences(u[a], u[b]).probabilities
    return refit_utilities(differences(u[a], u[b]), p, judged, known.snapshot.name, seed)
