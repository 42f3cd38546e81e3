"""What alpha would be by chance, without a filter and after the same filter.

Any filter that removes what disagrees raises alpha, also where there is nothing to agree on. So shuffle each
annotator's scores over the units that annotator scored (severity and use of the scale stay, all agreement about units
goes), filter as the real scores were filtered, and take alpha: a permutation null. Those who gave one score have nothing to
shuffle and no severity that anybody could know; they are a sample of people who scored one unit each, so their scores are
shuffled over all of their units.
"""

import numpy as np
from numpy.typing import ArrayLike

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.krippendorff import Level, alpha_from_counts
from annotation.quality.mad import keep_mask
from annotation.quality.scores import as_scores, places, value_counts

ROUNDING = 1e-9


def alpha_null(
    scores: ArrayLike,
    level: Level = "interval",
    threshold: float | None = 1.0,
    on_zero_mad: str = "drop",
    draws: int = 50,
    seed: int = 0,
) -> tuple[float, float]:
    """Mean and standard deviation of alpha over shuffled scores (raters, units), filtered like the real ones."""
    return mean_and_sd(shuffled_alphas(scores, level, threshold, on_zero_mad, draws, seed)[1])


def shuffled_alphas(
    scores: ArrayLike,
    level: Level = "interval",
    threshold: float | None = 1.0,
    on_zero_mad: str = "drop",
    draws: int = 50,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Alphas of shuffled scores (raters, units), before and after the filter: (draws,) each, nan where there is none."""
    scores = as_scores(scores)
    rng = np.random.default_rng(seed)
    where = places(scores)
    given, ends = scores[~np.isnan(scores)], np.cumsum(np.bincount(where.rater, minlength=len(scores)))
    alphas = np.empty((2, draws))
    for draw in range(draws):
        shuffled = where.packed(_shuffled(given, ends, rng), scores.shape[1])
        kept = np.where(keep_mask(shuffled, threshold, on_zero_mad), shuffled, np.nan)
        alphas[:, draw] = _alpha(shuffled, level), _alpha(kept, level)
    return alphas[0], alphas[1]


def mean_and_sd(alphas: np.ndarray) -> tuple[float, float]:
    """Of the shuffles that have an alpha; alphas: (draws,)."""
    alphas = alphas[~np.isnan(alphas)]
    if len(alphas) == 0:
        raise UndefinedAgreement("Shuffled scores have no alpha, so there is no chance level to compare with.")
    return float(alphas.mean()), float(alphas.std())


def permutation_p(alpha: float, shuffled: np.ndarray) -> float:
    """Chance that scores without agreement reach this alpha; shuffled: (draws,).

    The observed order counts as one of the shuffles, which makes the test exact for any number of draws (Phipson &
    Smyth 2010, "Permutation p-values should never be zero", section 4).
    """
    shuffled = shuffled[~np.isnan(shuffled)]
    return float((1 + (shuffled >= alpha - ROUNDING).sum()) / (1 + len(shuffled)))


def corrected_alpha(alpha: float, chance: float) -> float | None:
    """1 - (1 - alpha) / (1 - chance): alpha whose expected disagreement went through the same filter.

    Alpha is 1 - observed / expected disagreement. What a filter keeps disagrees less, and so do shuffled scores that it
    kept, by 1 - chance of what is expected. Dividing by that leaves 0 for chance and 1 for perfect agreement. None where
    the filter leaves shuffled scores no room to disagree.
    """
    return None if 1 - chance < ROUNDING else (alpha - chance) / (1 - chance)


def _shuffled(given: np.ndarray, ends: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Scores (scores,), rater by rater, each rater's in random order over the same units, those of raters with one score as if
    they were one rater's. ends: of each rater's scores, (raters,)."""
    shuffled = given.copy()
    sizes = np.diff(ends, prepend=0)
    for end, size in zip(ends, sizes):
        if size > 1:
            shuffled[end - size : end] = rng.permutation(given[end - size : end])
    once = ends[sizes == 1] - 1
    shuffled[once] = rng.permutation(given[once])
    return shuffled


def _alpha(scores: np.ndarray, level: Level) -> float:
    """Alpha of scores (raters, units), nan when it is not defined."""
    counts, values = value_counts(scores)
    return alpha_from_counts(counts, values, level)
