"""What the quality page draws: agreement as the answers came in, and which answers of whom a filter drops."""

import numpy as np

from annotation.assessment.assess import AssessedQuestion, assess_questions
from annotation.models import Campaign
from annotation.quality.errors import UndefinedAgreement
from annotation.quality.krippendorff import Level, alpha, alpha_interval

STEPS = 10  # points of the line over time
COLUMNS = 120  # of the map: more items than this share a column
ROWS = 40  # of the map: the annotators with the largest share dropped


def pictures(campaign: Campaign, mad: float | None, level: Level, on_zero_mad: str, verdict: str = "") -> dict:
    """Plain JSON: {questions: [{name, level, over_time, map}]}."""
    rule, questions = assess_questions(campaign, mad, level, on_zero_mad, verdict)
    names = dict(campaign.annotators.values_list("pk", "name"))
    return {"questions": [_question(question, level, rule["seed"], names) for question in questions]}


def _question(question: AssessedQuestion, level: Level, seed: int, names: dict[int, str]) -> dict:
    level = question.level(level)
    return {
        "name": question.name,
        "asked_only": question.asked_only,
        "on_pairs": question.on_pairs,
        "level": level,
        "over_time": _over_time(question, level, seed),
        "map": _map(question, names),
    }


def _over_time(question: AssessedQuestion, level: Level, seed: int) -> list[dict]:
    """Alpha of the first tenth of the answers, the first two tenths, ...; no filter. A step without an alpha is left out."""
    values, when, reversal = question.table.degrees, question.table.when, question.reversal
    moments = np.sort(when[~np.isnan(when)], kind="stable")
    points = []
    for last in sorted({moments[max(len(moments) * step // STEPS - 1, 0)] for step in range(1, STEPS + 1)}):
        so_far = np.where(when <= last, values, np.nan)
        try:
            value = alpha(so_far, level, reversal)
            low, high = alpha_interval(so_far, level, seed=seed, reversal=reversal)
        except UndefinedAgreement:
            continue
        points.append({"answers": int((~np.isnan(so_far)).sum()), "until": last, "alpha": value, "low": low, "high": high})
    return points


def _map(question: AssessedQuestion, names: dict[int, str]) -> dict:
    """{columns: items in each, rows: [{name, given, dropped, cells: share dropped or None where nothing was answered}]}.

    Items stand in order of how much is dropped of them, so that trouble gathers on the left.
    """
    answered = ~np.isnan(question.table.values)
    dropped = answered & ~question.keep
    share = dropped.sum(axis=0) / np.maximum(answered.sum(axis=0), 1)
    order = np.argsort(-share, kind="stable")
    bins = np.array_split(order, min(COLUMNS, len(order)))
    by_row = dropped.sum(axis=1) / np.maximum(answered.sum(axis=1), 1)
    rows = np.argsort(-by_row, kind="stable")[:ROWS]
    return {
        "columns": [len(items) for items in bins],
        "annotators": len(answered),
        "rows": [
            {
                "name": names[question.table.annotators[i]],
                "given": int(answered[i].sum()),
                "dropped": int(dropped[i].sum()),
                "cells": [_share(dropped[i, items], answered[i, items]) for items in bins],
            }
            for i in rows
        ],
    }


def _share(dropped: np.ndarray, answered: np.ndarray) -> float | None:
    return round(float(dropped.sum() / answered.sum()), 3) if answered.any() else None
