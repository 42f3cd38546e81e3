"""From the stored answers to decisions about each criterion, and a snapshot of what is accepted."""

import numpy as np
from django.db import transaction

from annotation.errors import Refused
from annotation.models import (
    AuditEvent,
    Campaign,
    Criterion,
    LikertScore,
    Output,
    PairwiseJudgment,
    QualityDecision,
    Snapshot,
)
from annotation.outcome import Outcome
from annotation.quality.report import assess_judgments, assess_scores
from annotation.snapshots import SnapshotContent, write

LEVELS = ("ordinal", "interval", "nominal", "ratio")
CODES = {Outcome.A.value: 0, Outcome.TIE.value: 1, Outcome.B.value: 2}


def latest_snapshot(campaign: Campaign) -> Snapshot | None:
    """Its row; its content, which may be large, is read where it is asked for."""
    return campaign.snapshots.defer("content").order_by("-created_at", "-id").first()


@transaction.atomic
def assess(campaign: Campaign, mad=1.0, level="ordinal", on_zero_mad="drop", user=None) -> Snapshot:
    """Filter the scores, decide on each criterion, freeze what was kept. The same answers under the same rule give
    the same snapshot again. Raises Refused where there is nothing to assess or the rule is not one."""
    if level not in LEVELS:
        raise Refused(f"The level must be one of {', '.join(LEVELS)}, not {level!r}.")
    if not mad > 0 or not np.isfinite(mad):
        raise Refused("The MAD threshold must be a number above zero.")
    if on_zero_mad not in ("drop", "keep"):
        raise Refused("Where the MAD is zero, scores off the median are dropped ('drop') or kept ('keep').")
    rule = {"mad": float(mad), "level": level, "on_zero_mad": on_zero_mad, "seed": campaign.seed}
    content, reports, used = SnapshotContent(rule=rule), [], set()
    for criterion in campaign.criteria.all():
        report, kept = _assess_criterion(criterion, rule)
        if report is not None:
            reports.append((criterion, report))
            content.criteria.append({"name": criterion.name, "low": criterion.low, "high": criterion.high})
            content.scores += kept
            used.update(row.pop("output_id") for row in kept)
    report, judgments = _assess_pairs(campaign, rule)
    if report is not None:
        reports.append((None, report))
        used.update(pk for row in judgments for pk in row.pop("output_ids"))
        content.judgments = judgments
    if not reports:
        raise Refused(f"Campaign {campaign.slug!r} has no scores and no judgments yet; there is nothing to assess.")
    _add_texts(content, used)
    return _freeze(campaign, content, reports, user)


def _assess_criterion(criterion: Criterion, rule: dict):
    """(report, rows of the kept scores), or (None, []) where nobody scored. The matrix is annotators x outputs."""
    live = LikertScore.objects.counted().filter(criterion=criterion).order_by("annotator_id", "output_id")
    rows = list(live.values_list("annotator_id", "output_id", "value"))
    if not rows:
        return None, []
    annotators, rater = np.unique([r[0] for r in rows], return_inverse=True)
    outputs, unit = np.unique([r[1] for r in rows], return_inverse=True)
    scores = np.full((len(annotators), len(outputs)), np.nan)
    scores[rater, unit] = [r[2] for r in rows]
    report = assess_scores(
        scores, level=rule["level"], threshold=rule["mad"], on_zero_mad=rule["on_zero_mad"], seed=rule["seed"]
    )
    names = dict(criterion.campaign.annotators.values_list("pk", "name"))
    keys = _output_keys(criterion.campaign)
    kept = [
        {**keys[output], "criterion": criterion.name, "annotator": names[annotator], "value": value, "output_id": output}
        for (annotator, output, value), r, u in zip(rows, rater, unit)
        if report.keep[r, u]
    ]
    return report.as_dict(), kept


def _assess_pairs(campaign: Campaign, rule: dict):
    live = PairwiseJudgment.objects.counted().filter(annotator__campaign=campaign, criterion=None)
    rows = list(live.order_by("annotator_id", "id").values_list("annotator_id", "output_a_id", "output_b_id", "choice"))
    if not rows:
        return None, []
    annotators = {pk: i for i, pk in enumerate(sorted({r[0] for r in rows}))}
    pairs = {pair: i for i, pair in enumerate(sorted({(r[1], r[2]) for r in rows}))}
    choices = np.full((len(annotators), len(pairs)), np.nan)
    for annotator, a, b, choice in rows:
        choices[annotators[annotator], pairs[a, b]] = CODES[choice]
    names = dict(campaign.annotators.values_list("pk", "name"))
    keys = _output_keys(campaign)
    place = {pk: [k["system"], k["checkpoint"], k["sample"]] for pk, k in keys.items()}
    kept = [
        {
            "context": keys[a]["context"], "a": place[a], "b": place[b],
            "annotator": names[annotator], "choice": choice, "output_ids": (a, b),
        }
        for annotator, a, b, choice in rows
    ]  # fmt: skip
    return assess_judgments(choices, seed=rule["seed"]).as_dict(), kept


def _output_keys(campaign: Campaign) -> dict[int, dict]:
    found = Output.objects.filter(context__campaign=campaign).values_list(
        "pk", "context__key", "system__name", "checkpoint__name", "sample"
    )
    return {
        pk: {"context": context, "system": system, "checkpoint": checkpoint or "", "sample": sample}
        for pk, context, system, checkpoint, sample in found
    }


def _add_texts(content: SnapshotContent, used: set[int]) -> None:
    """The outputs that somebody judged, with their contexts."""
    used = list(used)
    for start in range(0, len(used), 500):  # SQLite takes a limited number of parameters
        part = Output.objects.filter(pk__in=used[start : start + 500])
        for output in part.select_related("context", "system", "checkpoint"):
            content.contexts[output.context.key] = output.context.turns
            content.outputs.append(
                {
                    "context": output.context.key, "system": output.system.name, "sample": output.sample,
                    "checkpoint": output.checkpoint.name if output.checkpoint else "",
                    "text": output.text, "human": output.system.is_human,
                }
            )  # fmt: skip


def _freeze(campaign: Campaign, content: SnapshotContent, reports, user) -> Snapshot:
    digest, data = write(content)
    known = campaign.snapshots.filter(digest=digest).first()
    if known is not None:
        return known
    names = {row["annotator"] for row in [*content.scores, *content.judgments]}
    simulated = set(campaign.annotators.filter(is_simulated=True).values_list("name", flat=True))
    snapshot = Snapshot.objects.create(
        campaign=campaign, digest=digest, content=data, rule=content.rule, scores=len(content.scores),
        judgments=len(content.judgments), is_simulated=bool(names & simulated), created_by=user,
    )  # fmt: skip
    for criterion, report in reports:
        QualityDecision.objects.create(snapshot=snapshot, criterion=criterion, verdict=report["verdict"], report=report)
    detail = {"snapshot": snapshot.name, "rule": content.rule}
    AuditEvent.objects.create(campaign=campaign, user=user, action="snapshot frozen", detail=detail)
    return snapshot


def as_dict(snapshot: Snapshot) -> dict:
    """What assess_quality prints: the snapshot and every decision in it."""
    criteria, pairwise = [], None
    for decision in snapshot.decisions.select_related("criterion"):
        report = {**decision.report, "overruled": decision.overrule_reason or None}
        if decision.criterion is None:
            pairwise = report
        else:
            criteria.append({"name": decision.criterion.name, "level": snapshot.rule["level"], **report})
    return {
        "snapshot": snapshot.name, "digest": snapshot.digest, "rule": snapshot.rule,
        "simulated": snapshot.is_simulated, "criteria": criteria, "pairwise": pairwise,
    }  # fmt: skip
