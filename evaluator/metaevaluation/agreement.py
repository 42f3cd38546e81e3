"""How far a judge agrees with people, pair by pair, and how honest the probabilities are that it states."""

import numpy as np


def agreement(d: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """(p,) 1 where the sign of d is people's side, 0 where it is the other, 0.5 where d = 0."""
    return np.where(d == 0, 0.5, np.where(d > 0, "A", "B") == choices)


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
