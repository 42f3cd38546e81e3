"""A judge on a campaign that it did not learn from: scale and ties fitted anew on what people judged there first (Platt 1999,
with the ties of Rao & Kupper 1967), and how far its probabilities are off before and after."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluator.judges.calibration import Head, fit_head
from evaluator.judges.protocol import Preferences
from evaluator.metaevaluation.card_figures import JudgedTexts, calibration
from evaluator.metaevaluation.held_out import probabilities_by_other_folds
from evaluator.metaevaluation.pairs import as_arrays

# From so many judged pairs on. The standard error of the log of the scale, 1 / sqrt(50 d^2 p (1 - p)), is then 0.3 where the
# pairs are a logit apart and 0.2 where they are two.
FIRST_PAIRS = 50
FOLDS = 10  # or as many as there are contexts or groups of them


@dataclass(frozen=True)
class Refit:
    """scale, theta and tie_threshold as in `Head`, of differences as the judge gives them: of its utilities, or `log_odds`."""

    scale: float
    theta: float
    tie_threshold: float
    snapshot: str  # the name of the one with the judgments
    pairs: int  # that it was fitted on

    def preferences(self, d: np.ndarray) -> Preferences:
        """Of differences d (n,)"""
        scaled = self.scale * np.asarray(d, dtype=float)  # (n,)
        return Head(1.0, self.theta, self.tie_threshold).preferences(scaled, np.zeros_like(scaled))


def log_odds(p: np.ndarray) -> np.ndarray:
    """Probabilities (n, 3) of a judge that reads two outputs together -> (n,) log P(A better) - log P(B better)"""
    least = np.finfo(np.float32).tiny  # models compute in single precision, where a smaller one is 0
    odds: np.ndarray = np.log(np.maximum(p[:, 0], least)) - np.log(np.maximum(p[:, 2], least))
    return odds


def refit_utilities(
    d: np.ndarray, p: np.ndarray, judged: JudgedTexts, snapshot: str, seed: int
) -> tuple[Refit, dict[str, Any], dict[str, Any]] | None:
    """The same of a judge whose utilities may have any unit, per cents or log probabilities: the search for the scale begins at
    their own size. None where they are all alike, too."""
    size = float(np.sqrt(np.mean(d**2))) if len(d) else 0.0
    found = refit(d / size, p, judged, True, snapshot, seed) if size > 0 else None
    if found is None:
        return None
    head, before, after = found
    return replace(head, scale=head.scale / size), before, after


def refit(
    d: np.ndarray, p: np.ndarray, judged: JudgedTexts, ties: bool, snapshot: str, seed: int
) -> tuple[Refit, dict[str, Any], dict[str, Any]] | None:
    """(fitted on all pairs, calibration of the probabilities as they came, calibration after refitting on other contexts or
    groups). None below FIRST_PAIRS, or where all are of one context or group. d (p,) differences and p (p, 3) probabilities of
    the judged pairs; ties: whether the judge may say so."""
    a, _, targets, weights = as_arrays(judged.pairs)
    units = judged.units[a]  # (p,)
    if len(d) < FIRST_PAIRS or len(np.unique(units)) < 2:
        return None
    head = fit_head(d, targets, weights, ties)
    held_out = probabilities_by_other_folds(d, targets, weights, units % FOLDS, ties)  # (p, 3)
    before, after = (calibration(stated, targets, weights, units, seed) for stated in (p, held_out))
    assert before and after, "there are pairs"
    return Refit(head.scale, head.theta, head.tie_threshold, snapshot, len(d)), before, after
