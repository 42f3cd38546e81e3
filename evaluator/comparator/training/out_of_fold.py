"""From what the members say of texts that they did not see to one head, fitted on people's answers about those texts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluator.comparator.new_contexts import Elsewhere, beside_cosines
from evaluator.comparator.settings import Settings
from evaluator.judges.calibration import NO_GUARD, Head, fit_head, fit_level, worth_beside
from evaluator.judges.degenerate_outputs import LOWEST, lowered
from evaluator.judges.texts import Text
from evaluator.metaevaluation.held_out import HeldOutAgreement, evaluate
from evaluator.metaevaluation.pairs import JudgedPair, as_arrays

WHOLE = 0.15  # of the spread of utilities, for a unit of what an output lacks of being whole. Our choice, on dailydialog_zhao.
MOST_WORTH = 100.0  # logits for each unit of likeness, which varies by some hundredths


@dataclass(frozen=True)
class HeldOut:
    """What the members say of texts that they did not see, and what people say of the same, by one criterion."""

    raw: np.ndarray  # (n,) utilities as the members give them, NaN where nobody judged the context
    likeness: np.ndarray  # (n,) to references
    scores: np.ndarray  # (n,) people's mean, 0..1, NaN where unknown
    texts: Sequence[Text]  # (n,)
    units: np.ndarray  # (n,) number of what intervals draw: the context, or its group
    folds: np.ndarray  # (n,)
    pairs: Sequence[JudgedPair]  # by people
    lack: np.ndarray | None = None  # (n,) of being whole, by directions that did not see the context; None: not known
    cosines: np.ndarray | None = None  # (n, 2) of the untrained encoder


@dataclass(frozen=True)
class OutOfFold:
    """What the members say by one criterion, and what that is worth."""

    head: Head
    utilities: np.ndarray  # (n,) in the head's logits, NaN where nobody judged the context
    agreement: HeldOutAgreement
    elsewhere: Elsewhere = Elsewhere()  # in the head's logits

    def row(self, name: str) -> dict[str, Any]:
        """What a card says of the criterion of this name."""
        known, (low, high) = self.agreement, self.agreement.heldout_pairwise_interval
        row = {"name": name, "accuracy": known.heldout_pairwise_accuracy, "low": low, "high": high, "scale": self.head.scale}
        row |= {"population": known.heldout_population, "annotators": known.heldout_annotators}
        return row | {"clear_pairs": known.clear_pairs, "longer": known.longer_is_better_accuracy}


def apart_from_people(found: OutOfFold) -> tuple[OutOfFold, dict[str, Any]]:
    """What was found on pairs that nobody judged: the same with nothing said of people, and the agreement with what supervised
    it, under a name of its own."""
    known, nan = found.agreement, float("nan")
    supervision = {
        "accuracy": known.heldout_pairwise_accuracy,
        "low": known.heldout_pairwise_interval[0],
        "high": known.heldout_pairwise_interval[1],
        "three_way": known.heldout_three_way_accuracy,
        "clear_pairs": known.clear_pairs,
        "longer": known.longer_is_better_accuracy,
    }
    unknown = replace(
        known,
        heldout_pairwise_accuracy=nan,
        heldout_pairwise_interval=(nan, nan),
        heldout_three_way_accuracy=nan,
        longer_is_better_accuracy=nan,
        clear_pairs=0,
        calibration_error=nan,
        ties=None,
    )
    return replace(found, agreement=unknown), supervision


def judge(held: HeldOut, settings: Settings, seed: int) -> OutOfFold:
    """The head that is likeliest on what is held out, and what the utilities that it gives are worth."""
    a, b, targets, weights = as_arrays(held.pairs)
    scale, references, u = mix_references(held) if settings.references else (1.0, 0.0, held.raw)
    elsewhere = Elsewhere() if held.cosines is None else beside_cosines(u, held.cosines, held.scores, (a, b, targets, weights))
    whole = 0.0 if held.lack is None else WHOLE * float(np.nanstd(u))
    u = u if held.lack is None else u - whole * held.lack
    guard = float(np.nanquantile(u, LOWEST)) if settings.guards else NO_GUARD
    u = lowered(u, held.texts, guard)  # (n,)
    head = fit_head(u[a] - u[b], targets, weights, settings.ties)
    u, logits = head.scale * u, head.scale
    slope, intercept = fit_level(u, held.scores)
    head = replace(head, scale=logits * scale, references=logits * references, guard=logits * guard, whole=logits * whole)
    head = replace(head, slope=slope, intercept=intercept)
    found = evaluate(u, held.texts, held.pairs, held.units[a], held.folds[a], seed, settings.ties)
    return OutOfFold(head, u, found, elsewhere.scaled(logits))


def mix_references(held: HeldOut) -> tuple[float, float, np.ndarray]:
    """(scale, worth, u): the logits that a unit of the raw utilities and one of likeness are worth by all that people said;
    u (n,) their sum, in each fold mixed as the other folds have it, and of one size and level in all. (1, 0, raw) where
    likeness says nothing."""
    a, b, targets, weights = as_arrays(held.pairs)
    levels = np.nanmean(held.raw), held.likeness[~np.isnan(held.raw)].mean()
    raw, likeness = held.raw - levels[0], held.likeness - levels[1]  # (n,)
    d, ahead = raw[a] - raw[b], likeness[a] - likeness[b]  # (q,)

    def mixed(pairs: np.ndarray, outputs: np.ndarray) -> tuple[float, float]:
        scored = outputs & ~np.isnan(raw + held.scores)  # (n,)
        known = raw[scored], likeness[scored], held.scores[scored]  # (k,) each
        return worth_beside(d[pairs], ahead[pairs], targets[pairs], weights[pairs], MOST_WORTH, known)

    def size(of_raw: float, of_likeness: float) -> float:
        return float(np.hypot(of_raw * np.linalg.norm(d), of_likeness * np.linalg.norm(ahead)))

    scale, worth = mixed(np.ones(len(a), dtype=bool), np.ones(len(raw), dtype=bool))
    if not worth:
        return 1.0, 0.0, held.raw
    u = np.full(len(raw), scale * levels[0] + worth * levels[1])
    for fold in np.unique(held.folds):
        here = held.folds == fold  # (n,)
        of_raw, of_likeness = mixed(held.folds[a] != fold, ~here)
        same_size = size(scale, worth) / (size(of_raw, of_likeness) or 1.0)
        u[here] += same_size * (of_raw * raw[here] + of_likeness * likeness[here])
    return scale, worth, u
