"""What alpha would be by chance after the same filter.

Any filter that removes what disagrees raises alpha, also where there is nothing to agree on. So shuffle each
annotator's scores over the units that annotator scored (severity and use of the scale stay, all agreement about units
goes), filter as the real scores were filtered, and take alpha: a permutation null.
"""

import numpy as np
from numpy.typing import ArrayLike

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.krippendorff import Level, alpha_from_counts
from annotation.quality.mad import keep_mask
from annotation.quality.scores import as_scores, value_counts


def alpha_null(
    scores: ArrayLike,
    level: Level = "interval",
    threshold: float = 1.0,
    on_zero_mad: str = "drop",
    draws: int = 50,
    seed: int = 0,
) -> tuple[float, float]:
    """Mean and standard deviation of alpha over shuffled scores (raters, units), filtered like the real ones."""
    scores = as_scores(scores)
    rng = np.random.default_rng(seed)
    alphas = np.array([_filtered_alpha(_shuffled(scores, rng), level, threshold, on_zero_mad) for _ in range(draws)])
    alphas = alphas[~np.isnan(alphas)]
    if len(alphas) == 0:
        raise UndefinedAgreement("Shuffled scores have no alpha, so there is no chance level to compare with.")
    return float(alphas.mean()), float(alphas.std())


def _shuffled(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each rater's scores in random order over the same units: (raters, units)."""
    shuffled = scores.copy()
    for row in shuffled:
        given = ~np.isnan(row)
        row[given] = rng.permutation(row[given])
    return shuffled


def _filtered_alpha(scores: np.ndarray, level: Level, threshold: float, on_zero_mad: str) -> float:
    """Alpha of what the filter keeps, nan when it is not defined."""
    keep = keep_mask(scores, threshold, on_zero_mad)
    counts, values = value_counts(np.where(keep, scores, np.nan))
    return alpha_from_counts(counts, values, level)
