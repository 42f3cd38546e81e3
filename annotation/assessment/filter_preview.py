"""What a filter would do, before anybody decides: who and what it drops, alpha before, after and by chance, and which
systems change rank. Nothing is stored but the figures themselves."""

import numpy as np

from annotation.assessment.assess import AssessedQuestion, work_out_assessment
from annotation.assessment.dependence import notes
from annotation.assessment.tables import Systems, Table, ratings_of, systems_of
from annotation.models import Campaign
from annotation.quality.people.influence import ranks

DROPPED_SHOWN = 100


def preview(campaign: Campaign, mad: float | None, level: str, on_zero_mad: str, verdict: str = "") -> dict:
    """Plain JSON: {digest, rule, scores, judgments, dependence: what is not independent, questions: one for each criterion and
    for the pairs}."""
    assessment = work_out_assessment(campaign, mad, level, on_zero_mad, verdict)
    content, systems = assessment.content, systems_of(campaign)
    names = dict(campaign.annotators.values_list("pk", "name"))
    return {
        "digest": assessment.digest,
        "rule": assessment.rule,
        "scores": len(content.scores),
        "judgments": len(content.judgments) + len(content.criterion_judgments),
        "dependence": [note.as_dict() for note in notes(campaign)],
        "questions": [_question(question, systems, names) for question in assessment.questions],
    }


def _question(question: AssessedQuestion, systems: Systems, names: dict[int, str]) -> dict:
    table = question.table
    answered = ~np.isnan(table.values)
    dropped = answered & ~question.keep
    return {
        "name": question.name,
        "asked_only": question.asked_only,
        "on_pairs": question.on_pairs,
        "report": question.report.as_dict(),
        "given": int(answered.sum()),
        "dropped": int(dropped.sum()),
        "people": _people(table, answered, dropped, names),
        "answers": [] if question.on_pairs else _furthest(table, dropped, names),
        "systems": _systems(table, question.keep, systems),
    }


def _people(table: Table, answered, dropped, names) -> list[dict]:
    """Each annotator with how many of their answers are dropped, the largest share first."""
    rows = [
        {"name": names[pk], "given": int(answered[i].sum()), "dropped": int(dropped[i].sum())}
        for i, pk in enumerate(table.annotators)
    ]
    return sorted(rows, key=lambda row: (-row["dropped"] / max(row["given"], 1), row["name"]))


def _furthest(table: Table, dropped, names) -> list[dict]:
    """The dropped scores that lie furthest from their output's median."""
    distance = np.where(dropped, np.abs(table.values - _medians(table.values)), -1.0)
    order = np.argsort(-distance, axis=None, kind="stable")[: min(DROPPED_SHOWN, int(dropped.sum()))]
    return [
        {
            "output": table.units[j],
            "annotator": names[table.annotators[i]],
            "value": float(table.values[i, j]),
            "others": sorted(float(v) for v in np.delete(table.values[:, j], i) if v == v),
        }
        for i, j in (np.unravel_index(place, distance.shape) for place in order)
    ]


def _medians(values: np.ndarray) -> np.ndarray:
    """Each unit's median: (annotators, units) -> (units,). Every unit of a table has an answer."""
    return np.nanmedian(values, axis=0)


def _systems(table: Table, keep, systems: Systems) -> list[dict]:
    """Every judged system's rating and rank before and after, the best first; none where only one was judged."""
    sides = {side for unit in table.units for side in (unit if isinstance(unit, tuple) else (unit,))}
    judged = sorted({systems.system[pk] for pk in sides})
    if len(judged) < 2:
        return []
    before, after = (ratings_of(table, systems, kept)[judged] for kept in (None, keep))
    rows = [
        {"name": systems.names[s], "before": float(b), "after": float(a), "rank_before": int(rb), "rank_after": int(ra)}
        for s, b, a, rb, ra in zip(judged, before, after, ranks(before), ranks(after))
    ]
    return sorted(rows, key=lambda row: (row["rank_after"], row["name"]))
