"""What out-of-fold utilities are worth: agreement with people, its interval, and the head fitted on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_expit

from evaluator.comparator import brevity
from evaluator.comparator.brevity import log_words
from evaluator.comparator.consistency import Consistency
from evaluator.comparator.examples import Pair, Text
from evaluator.comparator.guards import LITTLE_LOSS, LITTLE_TO_DO, LOWEST, lowered
from evaluator.comparator.settings import Settings
from evaluator.comparator.ties import Ties, measure_ties

RESAMPLES = 1000  # bootstrap draws of the contexts


NO_GUARD = 1e9  # logits


@dataclass(frozen=True)
class Head:
    """Turns raw utilities into answers; all are fitted on out-of-fold utilities.

    scale          a raw utility times this is in logits
    theta          > 0, half the width of the tie in logits: P(A) = s(d - theta), P(B) = s(-d - theta)
    tie_threshold  |d| below it (in logits) is called a tie
    slope, intercept  sigmoid(slope u + intercept) is the mean score to be expected, from 0 to 1
    length         >= 0, the logits that a unit of `brevity.log_words` is worth: where people like long outputs
    guard          the most (in logits) that the utility of a guarded output can be: the lowest twentieth of all begins there
    apart, loss    an output that says little, with a cosine below `apart`, loses so much (in logits)
    """

    scale: float
    theta: float
    tie_threshold: float
    guard: float = NO_GUARD
    apart: float = -1.0
    loss: float = 0.0
    slope: float = 1.0
    intercept: float = 0.0
    length: float = 0.0

    def utilities(self, raw: np.ndarray, texts: Sequence[Text], cosines: np.ndarray) -> np.ndarray:
        """Raw utilities (n,) of n texts -> in logits, as the guards leave them; cosines (n,) with their contexts"""
        u = self.scale * raw + self.length * log_words(texts)
        return lowered(u, texts, cosines, self.guard, self.apart, self.loss)

    def expected(self, u: np.ndarray) -> np.ndarray:
        """Utilities (n,) in logits -> mean scores (n,) to be expected, from 0 to 1"""
        return expit(self.slope * u + self.intercept)


def probabilities(d: np.ndarray, theta: float) -> np.ndarray:
    """P(A), P(tie), P(B) by Rao & Kupper (1967): d (p,) in logits -> (p, 3)"""
    p_tie = expit(theta - d) * expit(theta + d) * -np.expm1(-2 * theta)  # (p,)
    return np.stack([expit(d - theta), p_tie, expit(-d - theta)], axis=-1)  # (p, 3)


def decide(d: np.ndarray, tie_threshold: float) -> np.ndarray:
    """d (p,) -> (p,) of "A", "tie", "B"; d = 0 is always a tie, so that swapping the sides swaps the answer."""
    tie = (np.abs(d) < tie_threshold) | (d == 0)  # (p,)
    return np.where(tie, "tie", np.where(d > 0, "A", "B"))


def tie_threshold(d: np.ndarray, share: float) -> float:
    """The threshold below which lie `share` of the differences d (p,): between the two neighbours at that share."""
    sizes = np.sort(np.abs(d))  # (p,)
    count = round(share * len(sizes))
    if count == 0:
        return 0.0
    if count == len(sizes):
        return float(np.nextafter(sizes[-1], np.inf))
    return float((sizes[count - 1] + sizes[count]) / 2)


def fit_head(d: np.ndarray, targets: np.ndarray, weights: np.ndarray, ties: bool = True) -> Head:
    """scale and theta by maximum likelihood on d (p,), targets (p, 3), weights (p,); the threshold by people's ties.
    Without ties theta is 0, a tie of people's counts half for each side, and nothing but d = 0 is called one."""
    if not ties:
        cost = lambda log: cross_entropy(np.exp(log) * d, targets, weights, 0.0)
        return Head(float(np.exp(minimize_scalar(cost, bounds=np.log([1e-2, 1e2]), method="bounded").x)), 0.0, 0.0)

    def loss(logs: np.ndarray) -> float:
        scale, theta = np.exp(logs)
        return cross_entropy(scale * d, targets, weights, theta)

    bounds = [np.log([1e-2, 1e2]), np.log([1e-3, 1e1])]  # all ties or none have no finite optimum
    best = minimize(loss, x0=np.log([1.0, 0.5]), bounds=bounds, method="L-BFGS-B")
    scale, theta = np.exp(best.x)
    share = float(np.average(targets[:, 1], weights=weights))
    return Head(float(scale), float(theta), tie_threshold(scale * d, share))


def fit_level(u: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Slope and intercept by maximum likelihood of mean scores (n,) from 0 to 1 at utilities (n,) in logits; NaN is left out.
    Where nobody scored, an expected score is the chance to be better than the median output: slope 1."""
    known = ~np.isnan(u + scores)  # (n,)
    if not known.any():
        return 1.0, -float(np.nanmedian(u))
    u, scores = u[known], scores[known]  # (k,)

    def loss(line: np.ndarray) -> float:
        logit = np.exp(line[0]) * u + line[1]  # (k,)
        return float(-(scores * log_expit(logit) + (1 - scores) * log_expit(-logit)).mean())

    log_slope, intercept = minimize(loss, x0=[0.0, 0.0], bounds=[np.log([1e-3, 1e2]), (-50, 50)], method="L-BFGS-B").x
    return float(np.exp(log_slope)), float(intercept)


def cross_entropy(d: np.ndarray, targets: np.ndarray, weights: np.ndarray, theta: float) -> float:
    """Mean over the pairs, of people's answers (p, 3) and those that differences d (p,) in logits give; theta 0 is Bradley &
    Terry (1952), where a tie counts half for each side."""
    if theta == 0:
        won = targets[:, 0] + targets[:, 1] / 2  # (p,)
        return float(-np.average(won * log_expit(d) + (1 - won) * log_expit(-d), weights=weights))
    tie = log_expit(theta - d) + log_expit(theta + d) + np.log(-np.expm1(-2 * theta))  # (p,)
    log_p = np.stack([log_expit(d - theta), tie, log_expit(-d - theta)], axis=-1)  # (p, 3)
    return float(-np.average((targets * log_p).sum(-1), weights=weights))


def least_loss(d: np.ndarray, targets: np.ndarray, weights: np.ndarray, ties: bool = True) -> float:
    """Cross-entropy of people's answers (p, 3) with those of the likeliest head for d (p,), whatever the scale of d."""
    head = fit_head(d, targets, weights, ties)
    return cross_entropy(head.scale * d, targets, weights, head.theta)


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
            "name": name, "accuracy": self.agreement.pairwise_accuracy, "low": low, "high": high,
            "clear_pairs": self.agreement.clear_pairs, "longer": self.agreement.longer_accuracy, "scale": self.head.scale,
        }  # fmt: skip


def judge(
    raw: np.ndarray, cosines: np.ndarray, scores: np.ndarray, texts: Sequence[Text], pairs: Sequence[Pair],
    contexts: np.ndarray, folds: np.ndarray, seed: int, settings: Settings,
) -> OutOfFold:
    """raw (n,) utilities as the members give them; cosines (n,) beside them; scores (n,) mean, NaN where unknown; contexts
    (n,) and folds (n,) of each text; people's pairs of a criterion."""
    a, b, targets, weights = as_arrays(pairs)
    words = log_words(texts)  # (n,)
    scale, length = 1.0, 0.0
    if settings.length_counts:
        scale, length = brevity.worth_of_length(raw[a] - raw[b], words[a] - words[b], targets, weights)
    raised = scale * raw + length * words  # (n,)
    head = fit_head(raised[a] - raised[b], targets, weights, settings.ties)
    head = replace(head, scale=head.scale * scale, length=head.scale * length)
    if settings.guards:
        u = head.utilities(raw, texts, cosines)  # (n,)
        apart = float(np.quantile(cosines[~np.isnan(raw)], LITTLE_TO_DO))
        lowest = float(np.nanquantile(u, LOWEST))
        head = replace(head, guard=lowest, apart=apart, loss=LITTLE_LOSS * float(np.nanstd(u)))
    u = head.utilities(raw, texts, cosines)  # (n,)
    slope, intercept = fit_level(u, scores)
    head = replace(head, slope=slope, intercept=intercept)
    return OutOfFold(head, u, evaluate(u, texts, pairs, contexts[a], folds[a], seed, settings.ties))


def evaluate(
    u: np.ndarray, texts: Sequence[Text], pairs: Sequence[Pair], contexts: np.ndarray, folds: np.ndarray, seed: int,
    ties: bool = True,
) -> Heldout:
    """u (n,) out-of-fold utilities; contexts (p,) and folds (p,) of each pair, as integers; ties: whether it may say so."""
    a, b, targets, weights = as_arrays(pairs)
    d = u[a] - u[b]  # (p,)
    decided = _decide_by_other_folds(d, targets, weights, folds) if ties else decide(d, 0.0)  # (p,)
    return worth(d, decided, probabilities_by_other_folds(d, targets, weights, folds, ties), texts, pairs, contexts, seed)


def worth(
    d: np.ndarray, decided: np.ndarray, p: np.ndarray, texts: Sequence[Text], pairs: Sequence[Pair], contexts: np.ndarray,
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
        p[mine] = probabilities(head.scale * d[mine], head.theta)
    return p


def _decide_by_other_folds(d: np.ndarray, targets: np.ndarray, weights: np.ndarray, folds: np.ndarray) -> np.ndarray:
    decided = np.full(len(d), "tie")
    for fold in np.unique(folds):
        mine, others = folds == fold, folds != fold
        if others.any():
            share = float(np.average(targets[others, 1], weights=weights[others]))
            decided[mine] = decide(d[mine], tie_threshold(d[others], share))
    return decided


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
