"""What people still disagree about after the filter: the queue of items for somebody to look at and settle."""

from dataclasses import dataclass

import numpy as np

from annotation.assessment.assess import threshold_of
from annotation.assessment.tables import Table, tables_of
from annotation.models import Campaign, Criterion, Output
from annotation.outcome import CHOICES, Outcome
from annotation.quality.mad import keep_mask

MOST = 1000  # that are listed
FEW_LINES = 400  # letters
WIDE = 0.5  # of the scale, between the lowest and the highest score that is kept


@dataclass
class Disagreement:
    """One output on one criterion, or one pair; outputs are filled in for the page that shows them.

    answers: [(annotator, value or choice)]; spread: share of the scale, 1 for a pair with A and B.
    """

    criterion: Criterion | None
    unit: int | tuple[int, int]
    spread: float
    answers: list[tuple[str, object]]
    output: Output | None = None
    other: Output | None = None

    @property
    def options(self) -> list:
        """What may be believed."""
        return sorted({answer for _, answer in self.answers})

    @property
    def is_long(self) -> bool:
        """Do its texts take more than a few lines?"""
        return sum(len(output.text) for output in (self.output, self.other) if output) > FEW_LINES

    @property
    def key(self) -> str:
        """How a form names it: criterion, output, other; 0 for none."""
        output, other = self.unit if isinstance(self.unit, tuple) else (self.unit, 0)
        return f"{self.criterion.pk if self.criterion else 0}-{output}-{other}"


def open_disagreements(campaign: Campaign, mad: float | None, on_zero_mad: str) -> list[Disagreement]:
    """Those that nobody has settled, the widest first, then in the order of names (`tables`), which is a copy's too."""
    names = dict(campaign.annotators.values_list("pk", "name"))
    settled = _settled(campaign)
    disagreements = []
    for question, table in tables_of(campaign):
        criterion = question.criterion
        if question.on_pairs:
            disagreements += _wide(criterion, table, table.values, _opposed(table.values), names, settled)
        elif criterion is not None:
            kept = np.where(keep_mask(table.values, threshold_of(criterion, mad), on_zero_mad), table.values, np.nan)
            disagreements += _wide(criterion, table, kept, _range(kept) / (criterion.high - criterion.low), names, settled)
    return sorted(disagreements, key=lambda one: -one.spread)


def disagreement_figures(campaign: Campaign, mad: float | None, on_zero_mad: str) -> dict:
    """How many are open, and the MOST widest of them, in plain JSON."""
    found = open_disagreements(campaign, mad, on_zero_mad)
    widest = [[one.criterion.pk if one.criterion else None, one.unit, one.spread, one.answers] for one in found[:MOST]]
    return {"count": len(found), "widest": widest}


def listed(campaign: Campaign, figures: dict) -> list[Disagreement]:
    """What `disagreement_figures` found, less what was settled since."""
    criteria, settled = {criterion.pk: criterion for criterion in campaign.criteria.all()}, _settled(campaign)
    found = []
    for criterion, unit, spread, answers in figures["widest"]:
        unit = tuple(unit) if isinstance(unit, list) else unit
        if (criterion, unit) not in settled and (criterion is None or criterion in criteria):
            found.append(Disagreement(criteria.get(criterion), unit, spread, [(name, answer) for name, answer in answers]))
    return found


def _settled(campaign: Campaign) -> set[tuple]:
    return {
        (one.criterion_id, (one.output_id, one.other_id) if one.other_id else one.output_id)
        for one in campaign.adjudications.all()
    }


def _opposed(choices: np.ndarray) -> np.ndarray:
    """1 for each pair of which some prefer A and some B, else 0."""
    return ((choices == Outcome.A.code).any(axis=0) & (choices == Outcome.B.code).any(axis=0)).astype(float)


def _range(kept: np.ndarray) -> np.ndarray:
    """Highest less lowest kept score of each unit, 0 where none is kept."""
    is_kept = ~np.isnan(kept)
    highest = np.where(is_kept, kept, -np.inf).max(axis=0, initial=-np.inf)
    lowest = np.where(is_kept, kept, np.inf).min(axis=0, initial=np.inf)
    return np.where(is_kept.any(axis=0), highest - lowest, 0.0)


def _wide(criterion, table: Table, kept, spread, names, settled) -> list[Disagreement]:
    wide = [j for j in np.flatnonzero(spread >= WIDE) if (criterion and criterion.pk, table.units[j]) not in settled]
    return [
        Disagreement(
            criterion,
            table.units[j],
            float(spread[j]),
            [
                (
                    names[table.annotators[i]],
                    CHOICES[int(kept[i, j])] if isinstance(table.units[j], tuple) else float(kept[i, j]),
                )
                for i in np.flatnonzero(~np.isnan(kept[:, j]))
            ],
        )
        for j in wide
    ]


def with_texts(shown: list[Disagreement]) -> list[Disagreement]:
    """The same with their outputs, in one query."""
    ids = {pk for one in shown for pk in (one.unit if isinstance(one.unit, tuple) else (one.unit,))}
    outputs = Output.objects.select_related("system", "context").in_bulk(ids)
    for one in shown:
        pair = one.unit if isinstance(one.unit, tuple) else (one.unit, None)
        one.output, one.other = outputs[pair[0]], outputs.get(pair[1])
    return shown
