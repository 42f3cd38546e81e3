"""From raw utilities to answers: the few numbers that are fitted on people's pairs and scores, and how."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from evaluator.judges.degenerate_outputs import lowered
from evaluator.judges.protocol import OfOutcomes, Preferences
from evaluator.judges.texts import Text

NO_GUARD = 1e9  # logits


@dataclass(frozen=True)
class Head:
    """Turns raw utilities into answers; all are fitted on out-of-fold utilities.

    scale          a raw utility times this is in logits
    theta          > 0, half the width of the tie in logits: P(A) = s(d - theta), P(B) = s(-d - theta)
    tie_threshold  |d| below it (in logits) is called a tie
    guard          the utility (in logits) of an output that is blank or copied as a whole
    slope, intercept  sigmoid(slope u + intercept) is the mean score to be expected, from 0 to 1
    references     >= 0, the logits that a unit of likeness to references is worth
    whole          >= 0, the logits that an output loses for a unit of what it lacks of being whole
    """

    scale: float
    theta: float
    tie_threshold: float
    guard: float = NO_GUARD
    slope: float = 1.0
    intercept: float = 0.0
    references: float = 0.0
    whole: float = 0.0

    def mixed(self, raw: np.ndarray, likeness: np.ndarray) -> np.ndarray:
        """Raw utilities (n,) and the likeness to references (n,) of n texts -> (n,) in logits"""
        return np.asarray(self.scale * raw + self.references * likeness)

    def utilities(self, mixed: np.ndarray, texts: Sequence[Text], lack: np.ndarray) -> np.ndarray:
        """mixed (n,) of n texts, and what they lack of being whole (n,) -> utilities (n,) in logits"""
        return lowered(mixed - self.whole * lack, texts, self.guard)

    def probabilities(self, d: np.ndarray) -> np.ndarray:
        """P(A better), P(tie), P(B better) by Rao & Kupper (1967): differences of utilities (p,) in logits -> (p, 3)"""
        p_tie = scipy.special.expit(self.theta - d) * scipy.special.expit(self.theta + d) * -np.expm1(-2 * self.theta)  # (p,)
        return np.stack([scipy.special.expit(d - self.theta), p_tie, scipy.special.expit(-d - self.theta)], axis=-1)  # (p, 3)

    def preferences(self, u_a: np.ndarray, u_b: np.ndarray) -> Preferences:
        """Of utilities u_a (n,), u_b (n,) in logits, with as many ties chosen as people gave on the held-out pairs."""
        d = np.asarray(u_a, dtype=float) - np.asarray(u_b, dtype=float)  # (n,)
        outcomes = (np.abs(d) >= self.tie_threshold) * np.sign(d).astype(int)  # as `decide`
        return OfOutcomes(outcomes, lambda: self.probabilities(d))

    def expected(self, u: np.ndarray) -> np.ndarray:
        """Utilities (n,) in logits -> mean scores (n,) to be expected, from 0 to 1"""
        return np.asarray(scipy.special.expit(self.slope * u + self.intercept))


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

    def theta(x: np.ndarray) -> float:
        return float(np.exp(x[1])) if ties else 0.0

    loss = lambda x: cross_entropy(np.exp(x[0]) * d, targets, weights, theta(x))
    bounds = [np.log([1e-2, 1e2]), np.log([1e-3, 1e1] if ties else [0.5, 0.5])]  # all ties or none have no finite optimum
    best = scipy.optimize.minimize(loss, x0=[0.0, np.log(0.5)], bounds=bounds, method="L-BFGS-B").x
    scale, share = float(np.exp(best[0])), float(np.average(targets[:, 1], weights=weights)) if ties else 0.0
    return Head(scale, theta(best), tie_threshold(scale * d, share))


def fit_level(u: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Slope and intercept by maximum likelihood of mean scores (n,) from 0 to 1 at utilities (n,) in logits; NaN is left out.
    Where nobody scored, an expected score is the chance to be better than the median output: slope 1."""
    known = ~np.isnan(u + scores)  # (n,)
    if not known.any():
        return 1.0, -float(np.nanmedian(u))
    u, scores = u[known], scores[known]  # (k,)
    loss = lambda line: score_loss(np.exp(line[0]) * u + line[1], scores)
    log_slope, intercept = scipy.optimize.minimize(
        loss, x0=[0.0, 0.0], bounds=[np.log([1e-3, 1e2]), (-50, 50)], method="L-BFGS-B"
    ).x
    return float(np.exp(log_slope)), float(intercept)


def score_loss(logits: np.ndarray, scores: np.ndarray) -> float:
    """Mean cross-entropy of mean scores (k,) from 0 to 1 with those that logits (k,) say."""
    return float(-(scores * scipy.special.log_expit(logits) + (1 - scores) * scipy.special.log_expit(-logits)).mean())


def cross_entropy(d: np.ndarray, targets: np.ndarray, weights: np.ndarray, theta: float) -> float:
    """Mean over the pairs, of people's answers (p, 3) and those that differences d (p,) in logits give; theta 0 is Bradley &
    Terry (1952), where a tie counts half for each side."""
    if theta == 0:
        won = targets[:, 0] + targets[:, 1] / 2  # (p,)
        return float(-np.average(won * scipy.special.log_expit(d) + (1 - won) * scipy.special.log_expit(-d), weights=weights))
    tie = scipy.special.log_expit(theta - d) + scipy.special.log_expit(theta + d) + np.log(-np.expm1(-2 * theta))  # (p,)
    log_p = np.stack([scipy.special.log_expit(d - theta), tie, scipy.special.log_expit(-d - theta)], axis=-1)  # (p, 3)
    return float(-np.average((targets * log_p).sum(-1), weights=weights))


def worth_beside(
    d: np.ndarray,
    ahead: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    most: float,
    scored: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[float, float]:
    """(scale > 0, worth from 0 to `most`) of u = scale raw + worth beside, in logits: the likeliest by what members learn
    from, people's pairs (Bradley & Terry 1952, a tie half for each side) and mean scores (on the likeliest level). What is
    beside is thought beforehand to be worth a logit or so for a typical pair (a normal prior), so that few pairs say little.
    (1, 0) where there is no pair.

    d (p,) differences of raw utilities, ahead (p,) of what is known beside them, a less b; targets (p, 3); weights (p,).
    scored: raw (k,), beside (k,) and mean scores (k,) from 0 to 1 of the outputs that people scored.
    """
    size = float(np.sqrt(np.mean(ahead**2))) if len(d) else 0.0  # so that the search sees units of one size
    if size == 0.0:
        return 1.0, 0.0
    raw, beside, scores = scored  # (k,) each

    def cost(x: np.ndarray) -> float:
        scale, worth, log_slope, intercept = x
        of_pairs = cross_entropy(scale * d + worth * ahead / size, targets, weights, 0.0)
        level = np.exp(log_slope) * (scale * raw + worth * beside / size) + intercept  # (k,)
        return float(worth**2 / 2 / len(d) + of_pairs + (score_loss(level, scores) if len(raw) else 0.0))

    bounds = [(1e-3, 1e2), (0.0, most * size), np.log([1e-3, 1e2]), (-50, 50)]
    scale, worth, _, _ = scipy.optimize.minimize(cost, x0=[1.0, 0.0, 0.0, 0.0], bounds=bounds, method="L-BFGS-B").x
    return float(scale), float(worth) / size
