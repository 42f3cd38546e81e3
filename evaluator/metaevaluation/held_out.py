"""Agreement with people on pairs that are held out: accuracy, ties and calibration, each fold by what the others give."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.judges.calibration import Head, decide, fit_head, tie_threshold
from evaluator.judges.texts import Text
from evaluator.metaevaluation.agreement import accuracy, agreement, calibration_error
from evaluator.metaevaluation.consistency import Consistency
from evaluator.metaevaluation.pairs import JudgedPair, as_arrays
from evaluator.metaevaluation.ties import Ties, measure_ties


@dataclass(frozen=True)
class HeldOutAgreement:
    """Agreement with people out of fold. NaN where people left nothing to agree with."""

    heldout_pairwise_accuracy: float  # share of people's non-tied pairs whose order agrees; equal utilities count half
    heldout_pairwise_interval: tuple[float, float]  # 95%
    heldout_population: str | None  # whom that interval speaks of: "people", "annotators", or None where nobody is known
    heldout_annotators: int | None  # how many judged the pairs
    heldout_three_way_accuracy: float  # A / tie / B, over all pairs; the tie threshold comes from the other folds
    longer_is_better_accuracy: float  # the baseline, on the same non-tied pairs; equal lengths count half
    clear_pairs: int  # people's non-tied pairs
    calibration_error: float  # expected, of the answers' probabilities (of utilities, by a head fitted on the other folds)
    ties: Ties | None  # what its ties are worth
    consistency: Consistency | None  # of a joint comparator: how often it contradicts itself; utilities never do


def evaluate(
    u: np.ndarray,
    texts: Sequence[Text],
    pairs: Sequence[JudgedPair],
    contexts: np.ndarray,
    folds: np.ndarray,
    seed: int,
    ties: bool = True,
) -> HeldOutAgreement:
    """u (n,) out-of-fold utilities; contexts (p,) and folds (p,) of each pair, as integers; ties: whether it may say so."""
    a, b, targets, weights = as_arrays(pairs)
    d = u[a] - u[b]  # (p,)
    choices = decide_by_other_folds(d, targets, weights, folds) if ties else decide(d, 0.0)  # (p,)
    return worth(d, choices, probabilities_by_other_folds(d, targets, weights, folds, ties), texts, pairs, contexts, seed)


def worth(
    d: np.ndarray,
    answers: np.ndarray,
    p: np.ndarray,
    texts: Sequence[Text],
    pairs: Sequence[JudgedPair],
    contexts: np.ndarray,
    seed: int,
) -> HeldOutAgreement:
    """Of the pairs, out of fold: d (p,) which side is ahead, answers (p,) "A" | "tie" | "B", p (p, 3) their probabilities."""
    a, b, targets, weights = as_arrays(pairs)
    choices = np.array([pair.choice for pair in pairs])  # (p,)
    words = np.array([len(text.output.split()) for text in texts])  # (n,)
    clear = choices != "tie"  # (p,)
    found = accuracy(d, pairs, contexts, seed)
    return HeldOutAgreement(
        heldout_pairwise_accuracy=found.value,
        heldout_pairwise_interval=(found.low, found.high),
        heldout_population=found.population,
        heldout_annotators=found.annotators,
        heldout_three_way_accuracy=_mean(answers == choices),
        clear_pairs=int(clear.sum()),
        longer_is_better_accuracy=_mean(agreement(words[a] - words[b], choices)[clear]),
        calibration_error=calibration_error(p, targets, weights),
        ties=measure_ties(answers, d, choices, contexts, seed),
        consistency=None,
    )


def probabilities_by_other_folds(
    d: np.ndarray, targets: np.ndarray, weights: np.ndarray, folds: np.ndarray, ties: bool
) -> np.ndarray:
    """(p, 3); each fold's by the head that the others give."""
    p = np.empty((len(d), 3))
    for fold in np.unique(folds):
        here, others = folds == fold, folds != fold  # (p,)
        head = fit_head(d[others], targets[others], weights[others], ties) if others.any() else Head(1.0, 0.5, 0.0)
        p[here] = head.probabilities(head.scale * d[here])
    return p


def decide_by_other_folds(d: np.ndarray, targets: np.ndarray, weights: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """(p,) of "A", "tie", "B"; in each fold with as many ties as people gave in the others."""
    answers = np.full(len(d), "tie")
    for fold in np.unique(folds):
        here, others = folds == fold, folds != fold  # (p,)
        if others.any():
            share = float(np.average(targets[others, 1], weights=weights[others]))
            answers[here] = decide(d[here], tie_threshold(d[others], share))
    return answers


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
