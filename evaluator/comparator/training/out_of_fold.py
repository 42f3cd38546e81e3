"""What out-of-fold utilities are worth: agreement with people, its interval, and the head that is fitted on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluator.comparator.consistency import Consistency
from evaluator.comparator.degenerate_outputs import LITTLE_LOSS, LITTLE_TO_DO, LOWEST, guarded, lowered
from evaluator.comparator.examples import Pair, Text
from evaluator.comparator.head import (
    NO_GUARD,
    Head,
    clearly_better,
    cross_entropy,
    decide,
    fit_head,
    fit_level,
    tie_threshold,
    worth_beside,
)
from evaluator.comparator.length_bias import STEEPEST, log_words
from evaluator.comparator.settings import Settings
from evaluator.comparator.ties import Ties, measure_ties

MOST_WORTH = 100.0  # logits for each unit of likeness, which varies by some hundredths
RESAMPLES = 1000  # bootstrap draws of the contexts


@dataclass(frozen=True)
class Heldout:
    """Agreement with people out of fold. NaN where people left nothing to agree with."""

    pairwise_accuracy: float  # share of people's non-tied pairs whose order agrees; equal utilities count half
    pairwise_interval: tuple[float, float]  # 95%, bootstrapped over contexts
    three_way_accuracy: float  # share of all pairs; the tie threshold comes from the other folds
    clear_pairs: int  # people's non-tied pairs
    longer_accuracy: float  # "the longer output is better", on the same pairs; equal lengths count half
    calibration_error: float  # of the answers' probabilities (of utilities, by a head that was fitted on the other folds)
    ties: Ties | None
    consistency: Consistency | None = None  # None: utilities neither flip nor go in circles


@dataclass(frozen=True)
class OutOfFold:
    """What the members say by one criterion, and what that is worth."""

    head: Head
    utilities: np.ndarray  # (n,) in the head's logits, NaN where nobody judged the context
    agreement: Heldout

    def row(self, name: str) -> dict:
        low, high = self.agreement.pairwise_interval
        return {
            "name": name,
            "accuracy": self.agreement.pairwise_accuracy,
            "low": low,
            "high": high,
            "clear_pairs": self.agreement.clear_pairs,
            "longer": self.agreement.longer_accuracy,
            "scale": self.head.scale,
        }


def judge(
    raw: np.ndarray,
    cosines: np.ndarray,
    likeness: np.ndarray,
    scores: np.ndarray,
    texts: Sequence[Text],
    pairs: Sequence[Pair],
    contexts: np.ndarray,
    folds: np.ndarray,
    seed: int,
    settings: Settings,
) -> OutOfFold:
    """raw (n,) utilities as the members give them; cosines (n,) and likeness to references (n,) beside them; scores (n,) mean,
    NaN where unknown; contexts (n,) and folds (n,) of each text; people's pairs of a criterion."""
    a, b, targets, weights = as_arrays(pairs)
    free = ~guarded(texts) if settings.guards else np.ones(len(texts), dtype=bool)  # (n,)
    scale, references, length, u = 1.0, 0.0, 0.0, raw
    if settings.references:
        scale, references, u = _counted_in(u, likeness, free, pairs, folds, MOST_WORTH)
    if settings.length_counts:
        rescaled, length, u = _counted_in(u, log_words(texts), free, pairs, folds, STEEPEST, tested=True)
        scale, references = rescaled * scale, rescaled * references
    guard, apart, loss = NO_GUARD, -1.0, 0.0
    if settings.guards:
        guard, loss = np.nanquantile(u, LOWEST), LITTLE_LOSS * np.nanstd(u)
        apart = np.quantile(cosines[~np.isnan(raw)], LITTLE_TO_DO)
        u = lowered(u, texts, cosines, guard, apart, loss)  # (n,)
    head = fit_head(u[a] - u[b], targets, weights, settings.ties)
    logits = head.scale
    u = logits * u
    slope, intercept = fit_level(u, scores)
    head = replace(
        head,
        scale=logits * scale,
        references=logits * references,
        length=logits * length,
        guard=float(logits * guard),
        apart=float(apart),
        loss=float(logits * loss),
        slope=slope,
        intercept=intercept,
    )
    return OutOfFold(head, u, evaluate(u, texts, pairs, contexts[a], folds[a], seed, settings.ties))


def _counted_in(
    raw: np.ndarray,
    beside: np.ndarray,
    free: np.ndarray,
    pairs: Sequence[Pair],
    folds: np.ndarray,
    most: float,
    tested: bool = False,
) -> tuple[float, float, np.ndarray]:
    """(scale, worth, u): the logits that a unit of the utilities raw (n,) and one of what is known beside them (n,) are worth
    by all pairs, the latter at most `most`; u (n,) their sum, in each fold mixed as the pairs of the others have it, and of
    one size in all. (1, 0, raw) where the latter says nothing, or, if it is `tested`, where that is not sure. Only pairs of
    texts that are free (n,) have a say: a guarded output is not judged by it."""
    a, b, targets, weights = as_arrays([pair for pair in pairs if free[pair.a] and free[pair.b]])
    d, ahead = raw[a] - raw[b], beside[a] - beside[b]  # (q,)
    scale, worth = worth_beside(d, ahead, targets, weights, most)
    alone, _ = worth_beside(d, ahead, targets, weights, 0.0)
    loss = lambda said: cross_entropy(said, targets, weights, 0.0)
    if not worth or (tested and not clearly_better(loss(scale * d + worth * ahead), loss(alone * d), len(d))):
        return 1.0, 0.0, raw
    size = lambda of_d, of_beside: np.hypot(of_d * np.linalg.norm(d), of_beside * np.linalg.norm(ahead))
    u = np.empty(len(raw))
    for fold in np.unique(folds):
        here, others = folds == fold, folds[a] != fold  # (n,), (q,)
        mixed = worth_beside(d[others], ahead[others], targets[others], weights[others], most)
        u[here] = size(scale, worth) / (size(*mixed) or 1.0) * (mixed[0] * raw[here] + mixed[1] * beside[here])
    return scale, worth, u


def evaluate(
    u: np.ndarray,
    texts: Sequence[Text],
    pairs: Sequence[Pair],
    contexts: np.ndarray,
    folds: np.ndarray,
    seed: int,
    ties: bool = True,
) -> Heldout:
    """u (n,) out-of-fold utilities; contexts (p,) and folds (p,) of each pair, as integers; ties: whether it may say so."""
    a, b, targets, weights = as_arrays(pairs)
    d = u[a] - u[b]  # (p,)
    decided = decide_by_other_folds(d, targets, weights, folds) if ties else decide(d, 0.0)  # (p,)
    return worth(d, decided, probabilities_by_other_folds(d, targets, weights, folds, ties), texts, pairs, contexts, seed)


def worth(
    d: np.ndarray,
    decided: np.ndarray,
    p: np.ndarray,
    texts: Sequence[Text],
    pairs: Sequence[Pair],
    contexts: np.ndarray,
    seed: int,
) -> Heldout:
    """Of the pairs, out of fold: d (p,) which side is ahead, decided (p,) the answers, p (p, 3) their probabilities."""
    a, b, targets, weights = as_arrays(pairs)
    choices = np.array([pair.choice for pair in pairs])  # (p,)
    words = np.array([len(text.output.split()) for text in texts])  # (n,)
    clear = choices != "tie"  # (p,)
    agree = agreement(d, choices)[clear]
    return Heldout(
        pairwise_accuracy=_mean(agree),
        pairwise_interval=bootstrap(agree, contexts[clear], seed),
        three_way_accuracy=_mean(decided == choices),
        clear_pairs=int(clear.sum()),
        longer_accuracy=_mean(agreement(words[a] - words[b], choices)[clear]),
        calibration_error=calibration_error(p, targets, weights),
        ties=measure_ties(decided, d, choices, contexts, seed),
    )


def agreement(d: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """(p,) 1 where the sign of d is people's side, 0 where it is the other, 0.5 where d = 0."""
    return np.where(d == 0, 0.5, np.where(d > 0, "A", "B") == choices)


def bootstrap(values: np.ndarray, contexts: np.ndarray, seed: int) -> tuple[float, float]:
    """95% percentile interval of the mean of values (p,), whole contexts (p,) drawn with replacement."""
    if len(values) == 0:
        return float("nan"), float("nan")
    _, where = np.unique(contexts, return_inverse=True)
    sums = np.bincount(where, weights=values)  # (c,)
    counts = np.bincount(where)  # (c,)
    draws = np.random.default_rng(seed).integers(len(sums), size=(RESAMPLES, len(sums)))  # (r, c)
    means = sums[draws].sum(1) / counts[draws].sum(1)  # (r,)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def as_arrays(pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """a (p,), b (p,), targets (p, 3), weights (p,)"""
    a = np.array([pair.a for pair in pairs], dtype=int)
    b = np.array([pair.b for pair in pairs], dtype=int)
    targets = np.array([pair.target for pair in pairs], dtype=float).reshape(-1, 3)
    return a, b, targets, np.array([pair.weight for pair in pairs], dtype=float)


def calibration_error(p: np.ndarray, targets: np.ndarray, weights: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error (Guo et al. 2017, equation 3): p (p, 3) and people's shares (p, 3), weights (p,).

    The bins of `confidence` are equally wide. NaN where there is no pair.
    """
    if not len(p):
        return float("nan")
    said, right, bin_of = confidence(p, targets, bins)
    return float(np.abs(np.bincount(bin_of, weights=(right - said) * weights)).sum() / weights.sum())


def confidence(p: np.ndarray, targets: np.ndarray, bins: int = 10) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p (p, 3) and people's shares (p, 3) -> the probability of each pair's likeliest answer (p,), the share of people who
    gave that answer (p,), and the bin that the probability falls into (p,)."""
    likeliest, rows = p.argmax(-1), np.arange(len(p))  # (p,)
    said = p[rows, likeliest]
    return said, targets[rows, likeliest], np.minimum((said * bins).astype(int), bins - 1)


def probabilities_by_other_folds(
    d: np.ndarray, targets: np.ndarray, weights: np.ndarray, folds: np.ndarray, ties: bool
) -> np.ndarray:
    """(p, 3); each fold's by the head that the others give."""
    p = np.empty((len(d), 3))
    for fold in np.unique(folds):
        mine, others = folds == fold, folds != fold
        head = fit_head(d[others], targets[others], weights[others], ties) if others.any() else Head(1.0, 0.5, 0.0)
        p[mine] = head.probabilities(head.scale * d[mine])
    return p


def decide_by_other_folds(d: np.ndarray, targets: np.ndarray, weights: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """(p,) of "A", "tie", "B"; in each fold with as many ties as people gave in the others."""
    decided = np.full(len(d), "tie")
    for fold in np.unique(folds):
        mine, others = folds == fold, folds != fold
        if others.any():
            share = float(np.average(targets[others, 1], weights=weights[others]))
            decided[mine] = decide(d[mine], tie_threshold(d[others], share))
    return decided


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
