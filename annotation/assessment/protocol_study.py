"""The protocol study of a campaign: the same outputs scored directly and through comparisons with four others."""

from dataclasses import asdict

import numpy as np

from annotation.assessment.tables import Table, table_of
from annotation.models import Campaign
from annotation.outcome import Outcome
from annotation.quality.errors import UndefinedAgreement
from annotation.quality.protocols import compare_protocols, scores_from_comparisons
from annotation.questions import registry


def study(campaign: Campaign) -> dict:
    """Plain JSON: {criteria: [{name, study or None, nothing: why there is none}]}, one for each criterion with scores."""
    whole = table_of(campaign, registry.about_pair(campaign))
    criteria = []
    for criterion in campaign.criteria.all():
        direct = table_of(campaign, registry.about_output(criterion))
        if direct is not None:
            pairs = table_of(campaign, registry.about_pair(campaign, criterion)) or whole
            criteria.append({"name": criterion.name, **_of_criterion(direct, pairs, campaign.seed)})
    return {"criteria": criteria}


def _of_criterion(direct: Table, pairs: Table | None, seed: int) -> dict:
    if pairs is None:
        return {"study": None, "nothing": "No pair has been judged yet."}
    try:
        comparison = compare_protocols(direct.sign * direct.values, _compared(pairs, direct.units), seed=seed)
    except UndefinedAgreement as error:
        return {"study": None, "nothing": str(error)}
    return {"study": asdict(comparison), "nothing": ""}


def _compared(pairs: Table, outputs: list[int]) -> np.ndarray:
    """Scores (annotators, outputs) from each annotator's choices; every choice says something of both its outputs."""
    column = {pk: j for j, pk in enumerate(outputs)}
    annotator, output, points = [], [], []
    for i, j in np.argwhere(~np.isnan(pairs.values)):
        for pk, wins in zip(pairs.units[j], (Outcome.A.code, Outcome.B.code)):
            if pk in column:
                annotator.append(i)
                output.append(column[pk])
                points.append(pairs.values[i, j] == wins)
    return scores_from_comparisons(annotator, output, points, annotators=len(pairs.annotators), outputs=len(outputs))
