"""From the stored answers to decisions about each criterion, and a snapshot of what is accepted.

`work_out_assessment` stores nothing; `assess` works it out and freezes it. A page shows the first before anybody
asks for the second.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.assessment import snapshot_contents
from annotation.assessment.asked_for import aims
from annotation.assessment.dependence import group_copies
from annotation.assessment.tables import Systems, Table, reliability_of, systems_of, tables_of
from annotation.models import Adjudication, AuditEvent, Campaign, Criterion, Output, QualityDecision, Snapshot, User
from annotation.outcome import CHOICES, Outcome
from annotation.quality.errors import UndefinedAgreement
from annotation.quality.krippendorff import Level
from annotation.quality.more_judgments import in_groups
from annotation.quality.reliability import Reliability
from annotation.quality.report import JudgmentReport, ScoreReport, decided
from annotation.quality.verdict import Asks, Rule
from annotation.questions import registry, store
from annotation.questions.kind import AgreementRule, Question
from annotation.questions.strength import BESIDE
from annotation.snapshots import SnapshotContent, write
from core.errors import Refused

MOST_POINTS = 1_000  # of a scale whose points are known; of a finer one, those that were given
VERDICTS = ("", Rule.ZHAO.value)
LEVELS = ("ordinal", "interval", "nominal", "ratio")


@dataclass(frozen=True)
class AssessedQuestion:
    """The answers to one question, what is known about their agreement, and which of them are kept."""

    question: Question
    table: Table
    report: ScoreReport | JudgmentReport
    keep: np.ndarray  # bool like table.values: after the filter and the adjudications

    @property
    def criterion(self) -> Criterion | None:
        """None: pairs on the whole."""
        return self.question.criterion

    @property
    def on_pairs(self) -> bool:
        return self.question.on_pairs

    @property
    def name(self) -> str:
        """What was judged, as QualityDecision.what."""
        return self.question.name

    @property
    def asked_only(self) -> str:
        """Its condition in words, empty without one."""
        return self.question.asked_only

    @property
    def reversal(self) -> float | None:
        return self.question.kind.reversal

    def level(self, of_rule: Level) -> Level:
        """At which agreement is measured."""
        return self.question.kind.level(of_rule)


@dataclass(frozen=True)
class Assessment:
    """What a rule makes of the answers. digest: the snapshot's, if it were frozen now; begun: before the first was read."""

    rule: dict
    questions: list[AssessedQuestion]
    content: SnapshotContent
    digest: str
    data: bytes
    begun: datetime


def checked_rule(campaign: Campaign, mad=1.0, level="ordinal", on_zero_mad="drop", verdict="") -> dict:
    """The rule as it is stored; Refused with a sentence where it is not one. mad: None is no filter. verdict: "" for what fits
    each question, or "zhao-2020". What a question asks for stands in it where that is not one truth."""
    if level not in LEVELS:
        raise Refused(f"The level must be one of {', '.join(LEVELS)}, not {level!r}.")
    if mad is not None and (not mad > 0 or not np.isfinite(mad)):
        raise Refused("The MAD threshold must be a number above zero.")
    if on_zero_mad not in ("drop", "keep"):
        raise Refused("on_zero_mad must be 'drop' (drop scores off the median if the MAD is zero) or 'keep'.")
    if verdict not in VERDICTS:
        raise Refused(f"The verdict must be one of {', '.join(map(repr, VERDICTS))}, not {verdict!r}.")
    rule = {"mad": None if mad is None else float(mad), "level": level, "on_zero_mad": on_zero_mad, "seed": campaign.seed}
    adjudicated = campaign.adjudications.count()
    return rule | ({"adjudicated": adjudicated} if adjudicated else {}) | ({"verdict": verdict} if verdict else {})


def work_out_assessment(campaign: Campaign, mad=1.0, level="ordinal", on_zero_mad="drop", verdict="") -> Assessment:
    """Everything that freezing would store. Raises Refused where there is nothing to assess."""
    begun = timezone.now()
    rule, questions = assess_questions(campaign, mad, level, on_zero_mad, verdict)
    content = _content(campaign, rule, questions)
    return Assessment(rule, questions, content, *write(content), begun)


def assess_questions(
    campaign: Campaign, mad=1.0, level="ordinal", on_zero_mad="drop", verdict=""
) -> tuple[dict, list[AssessedQuestion]]:
    """The rule, and every question with its answers filtered, their agreement measured, and the verdict."""
    rule = checked_rule(campaign, mad, level, on_zero_mad, verdict)
    believed, systems = _believed(campaign), systems_of(campaign)
    tables, is_grouped = list(tables_of(campaign)), campaign.has_groups
    aim = aims(campaign, [question for question, _ in tables])
    taste = sorted(name for name, one in aim.items() if one.asks == Asks.TASTE)
    rule |= {"taste": taste} if taste else {}
    questions = []
    for question, table in tables:
        threshold = rule["mad"] if question.criterion is None else threshold_of(question.criterion, rule["mad"])
        measured = AgreementRule(rule["level"], threshold, on_zero_mad, rule["seed"], points_of(question.criterion))
        report = question.kind.assess(table.degrees, measured)
        report = replace(report, own=question.kind.own_agreement(store.to(campaign, question).counted(), rule["seed"]))
        reliability, why = _reliability(table, systems, rule["seed"])
        report = decided(report, aim[question.name].asks, reliability, why, as_zhao=verdict == Rule.ZHAO)
        if is_grouped:
            report = replace(report, outlook=tuple(map(in_groups, report.outlook)))
        if question.asked_only:
            report = replace(report, reason=f"{report.reason} It was {question.asked_only}.")
        kept = getattr(report, "keep", None)
        keep = _adjudicated(table, question.key, ~np.isnan(table.values) if kept is None else kept, believed)
        questions.append(AssessedQuestion(question, table, report, keep))
    if not questions:
        raise Refused(f"Campaign {campaign.slug!r} has no scores and no judgments yet; there is nothing to assess.")
    return rule, questions


def _reliability(table: Table, systems: Systems, seed: int) -> tuple[Reliability | None, str]:
    """Of the systems' means, or why there is none."""
    try:
        return reliability_of(table, systems, seed), ""
    except UndefinedAgreement as error:
        return None, str(error)


def points_of(criterion: Criterion | None) -> Sequence[float]:
    """Of a criterion's scale, as far as they are few enough to be points."""
    if criterion is None or criterion.high - criterion.low >= MOST_POINTS:
        return ()
    return range(criterion.low, criterion.high + 1)


def threshold_of(criterion: Criterion, mad: float | None) -> float | None:
    """The filter's threshold on this criterion; None keeps all scores. Two points have no outliers: the median of three or more
    scores is one of them, and the filter would drop every vote of the minority."""
    return None if criterion.high - criterion.low <= 1 else mad


@transaction.atomic
def assess(
    campaign: Campaign, mad=1.0, level="ordinal", on_zero_mad="drop", user=None, seen: str | None = None, verdict=""
) -> Snapshot:
    """Decide on each criterion and freeze what is kept. The same answers under the same rule give the same snapshot, which
    is then the newest again.

    seen: the digest that a preview showed; Refused where the answers have changed since.
    """
    group_copies(campaign, user)
    assessment = work_out_assessment(campaign, mad, level, on_zero_mad, verdict)
    if seen is not None and seen != assessment.digest:
        raise Refused("Answers were added or withdrawn since you opened this page. Check the preview again before you accept.")
    return _freeze(campaign, assessment, user)


def accepted_by(campaign: Campaign, user: int, **settings) -> dict:
    """What a worker does for who accepts the rule (`acceptance`): plain JSON, the snapshot's digest."""
    return {"digest": assess(campaign, **settings, user=User.objects.filter(pk=user).first()).digest}


def _believed(campaign: Campaign) -> dict[tuple, float]:
    """{(criterion id or None, unit): the value to believe} of the adjudications that chose one."""
    values: dict[tuple, float] = {}
    for one in Adjudication.objects.filter(campaign=campaign):
        if one.other_id and one.choice:
            values[one.criterion_id, (one.output_id, one.other_id)] = Outcome(one.choice).code
        elif one.value is not None:
            values[one.criterion_id, one.output_id] = one.value
    return values


def _adjudicated(table: Table, criterion: int | None, keep: np.ndarray, believed: dict[tuple, float]) -> np.ndarray:
    """keep, and where somebody adjudicated, exactly the answers that give the believed value."""
    keep = keep.copy()
    for column, unit in enumerate(table.units):
        if (criterion, unit) in believed:
            keep[:, column] = table.values[:, column] == believed[criterion, unit]
    return keep


def _content(campaign: Campaign, rule: dict, questions: list[AssessedQuestion]) -> SnapshotContent:
    content = SnapshotContent(rule=rule)
    names = dict(campaign.annotators.values_list("pk", "name"))
    keys = _output_keys(campaign)
    place = {pk: [k["system"], k["checkpoint"], k["sample"]] for pk, k in keys.items()}
    used = set()
    beside = store.beside_choices(campaign, BESIDE)
    for question in questions:
        table = question.table
        for i, j in np.argwhere(question.keep):
            unit, annotator, value = table.units[j], names[table.annotators[i]], float(table.values[i, j])
            if question.on_pairs:
                a, b = unit
                row = {"context": keys[a]["context"], "a": place[a], "b": place[b], "annotator": annotator}
                row["choice"] = CHOICES[int(value)]
                row |= beside.get((table.annotators[i], a, b, question.question.key), {})
                if question.criterion is None:
                    content.judgments.append(row)
                else:
                    content.criterion_judgments.append(row | {"criterion": question.criterion.name})
                used.update(unit)
            else:
                assert question.criterion is not None, "scores are by criterion"
                row = {"criterion": question.criterion.name, "annotator": annotator, "value": value}
                content.scores.append(keys[unit] | row)
                used.add(unit)
    for criterion in dict.fromkeys(q.criterion for q in questions if q.criterion):
        content.criteria.append(_criterion_row(criterion))
    _add_unsaid(campaign, content, keys, place, names)
    _add_texts(content, used)
    return content


def _criterion_row(criterion: Criterion) -> dict:
    """What a scale has always had, and of the rest what is not as usual: the same answers keep their hash."""
    row: dict = {"name": criterion.name, "low": criterion.low, "high": criterion.high}
    usual = Criterion()
    beside = ("kind", "best", "cannot_say", "optional", "settings", "asked_if")
    return row | {f: getattr(criterion, f) for f in beside if getattr(criterion, f) != getattr(usual, f)}


def _add_unsaid(campaign: Campaign, content: SnapshotContent, keys: dict, place: dict, names: dict) -> None:
    """Who could not say: no answer that counts, and kept all the same."""
    about_outputs, about_pairs = (rows.given().filter(cannot_say=True) for rows in store.both(campaign))
    for output, annotator, criterion in about_outputs.values_list("output_id", "annotator_id", "criterion__name"):
        content.unsaid.append({**keys[output], "criterion": criterion, "annotator": names[annotator]})
    for a, b, annotator, criterion in about_pairs.values_list("output_a_id", "output_b_id", "annotator_id", "criterion__name"):
        row = {"context": keys[a]["context"], "a": place[a], "b": place[b], "annotator": names[annotator]}
        content.unsaid.append(row | ({"criterion": criterion} if criterion else {}))


def _output_keys(campaign: Campaign) -> dict[int, dict]:
    rows = Output.objects.filter(context__campaign=campaign).values_list(
        "pk", "context__key", "system__name", "checkpoint__name", "sample"
    )
    return {
        pk: {"context": context, "system": system, "checkpoint": checkpoint or "", "sample": sample}
        for pk, context, system, checkpoint, sample in rows
    }


def _add_texts(content: SnapshotContent, used: set[int]) -> None:
    """The outputs that somebody judged, with their contexts."""
    outputs = list(used)
    for start in range(0, len(outputs), 500):  # SQLite takes a limited number of parameters
        part = Output.objects.filter(pk__in=outputs[start : start + 500])
        for output in part.select_related("context", "system", "checkpoint"):
            content.contexts[output.context.key] = output.context.turns
            content.outputs.append(
                {
                    "context": output.context.key,
                    "system": output.system.name,
                    "sample": output.sample,
                    "checkpoint": output.checkpoint.name if output.checkpoint else "",
                    "text": output.text,
                    "human": output.system.is_human,
                }
            )


def _freeze(campaign: Campaign, assessment: Assessment, user) -> Snapshot:
    known = campaign.snapshots.filter(digest=assessment.digest).first()
    if known is not None:
        known.accepted_at = assessment.begun
        known.save(update_fields=["accepted_at"])
        _record(known, "snapshot accepted again", user)
        return known
    content = assessment.content
    judgments = [*content.judgments, *content.criterion_judgments]
    names = {row["annotator"] for row in [*content.scores, *judgments]}
    simulated = set(campaign.annotators.filter(is_simulated=True).values_list("name", flat=True))
    snapshot = Snapshot.objects.create(
        campaign=campaign,
        digest=assessment.digest,
        content=assessment.data,
        rule=content.rule,
        scores=len(content.scores),
        judgments=len(judgments),
        is_simulated=bool(names & simulated),
        created_by=user,
        accepted_at=assessment.begun,
    )
    for question in assessment.questions:
        report = question.report.as_dict()
        QualityDecision.objects.create(
            snapshot=snapshot,
            criterion=question.criterion,
            on_pairs=question.on_pairs and question.criterion is not None,
            verdict=report["verdict"],
            report=report,
        )
    snapshot_contents.freeze(campaign, snapshot, assessment)
    _record(snapshot, "snapshot frozen", user)
    return snapshot


def _record(snapshot: Snapshot, action: str, user) -> None:
    detail = {"snapshot": snapshot.name, "rule": snapshot.rule}
    AuditEvent.objects.create(campaign=snapshot.campaign, user=user, action=action, detail=detail)


def as_dict(snapshot: Snapshot) -> dict:
    """What assess_quality prints: the snapshot and every decision in it."""
    criteria, pairwise, by_criterion = [], None, []
    for decision in snapshot.decisions.select_related("criterion"):
        report = {**decision.report, "overruled": decision.overrule_reason or None}
        if decision.criterion is None:
            pairwise = report
        elif decision.on_pairs:
            by_criterion.append({"name": decision.criterion.name, **report})
        else:
            level = registry.about_output(decision.criterion).kind.level(snapshot.rule["level"])
            criteria.append({"name": decision.criterion.name, "level": level, **report})
    return {
        "snapshot": snapshot.name,
        "digest": snapshot.digest,
        "rule": snapshot.rule,
        "simulated": snapshot.is_simulated,
        "criteria": criteria,
        "pairwise": pairwise,
        "pairwise_by_criterion": by_criterion,
        "marks": list(snapshot.marks.values_list("reason", flat=True)),
    }
