"""Krippendorff's alpha, and its bootstrap interval over units.

Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability"; the value itself comes from the `krippendorff`
package. The bootstrap and the chance level need hundreds of values, so they use `alpha_from_counts`, the same formula
on what is sufficient for it: how many raters gave each value to each unit, and how often that unit was drawn.

Nothing says which output of a pair is the first. A judgment of a pair counts in both orders, so that what is expected by chance
does not depend on how the systems are called: alpha of the units and of the same units with their sides exchanged.
`reversal` is what a value and that of the exchanged sides add up to; None for values that have no sides.
"""

from typing import Literal, get_args

import krippendorff
import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.scores import as_scores, scale_counts, value_counts

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)
PACKAGE_CELLS = 10_000_000  # the package holds units x values x values numbers at once: beyond 80 MB, count ourselves


def alpha(scores: ArrayLike, level: Level = "interval", reversal: float | None = None) -> float:
    """Agreement beyond chance of scores (raters, units): 1 is perfect, 0 chance, below 0 systematic disagreement."""
    counts, values = _pairable(scores, level, reversal)
    if reversal is not None:
        counts = np.vstack([counts, counts[:, ::-1]])
    if counts.size * len(values) > PACKAGE_CELLS:
        return alpha_from_counts(counts, values, level)
    return float(krippendorff.alpha(value_counts=counts, value_domain=values, level_of_measurement=level))


def alpha_interval(
    scores: ArrayLike,
    level: Level = "interval",
    replicates: int = 200,
    seed: int = 0,
    confidence: float = 0.95,
    reversal: float | None = None,
) -> tuple[float, float]:
    """Percentile bootstrap interval of alpha over units; replicates that happen to have no alpha are left out."""
    patterns, times, values = unit_patterns(scores, level, reversal)
    rng, units = np.random.default_rng(seed), int(times.sum())
    drawn = rng.multinomial(units, times / units, size=replicates)  # (replicates, patterns)
    has_sides = reversal is not None
    alphas = np.array([alpha_from_counts(patterns, values, level, often, has_sides) for often in drawn])
    alphas = alphas[~np.isnan(alphas)]
    if len(alphas) <= replicates / 2:
        raise UndefinedAgreement("Too few units differ in their scores to say how sure alpha is.")
    low, high = np.quantile(alphas, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def unit_patterns(scores: ArrayLike, level: Level, reversal: float | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different units, few on Likert data and all that alpha depends on: counts (patterns, values), how many units
    have each (patterns,), and the values (values,). They stand as they first appear, so that random draws of them do not
    depend on what the values are called (A and B may swap)."""
    counts, values = _pairable(scores, level, reversal)
    if reversal is not None:
        counts = one_order(counts)
    patterns, first, times = np.unique(counts, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    return patterns[order], times[order], values


def one_order(counts: np.ndarray) -> np.ndarray:
    """Counts (units, values) of which a unit and the same with its sides exchanged are one: the greater, read from the left."""
    differs = counts - counts[:, ::-1]
    first = differs[np.arange(len(counts)), (differs != 0).argmax(axis=1)]
    return np.where(first[:, None] < 0, counts[:, ::-1], counts)


def alpha_from_counts(
    counts: np.ndarray, values: np.ndarray, level: Level, weights: np.ndarray | None = None, has_sides: bool = False
) -> float:
    """Alpha of units weighted by how often each was drawn, nan when it is not defined.

    counts: (units, values); values: (values,) sorted; weights: (units,), 1 when left out; has_sides: each unit counts in both
    orders, which exchange the first and the last value, the second and the last but one, ...
    """
    raters = counts.sum(axis=1)
    weights = np.ones(len(counts)) if weights is None else weights
    share = np.where(raters > 1, weights / np.maximum(raters - 1, 1), 0.0)  # (units,)
    weighted = counts * share[:, None]  # (units, values)
    observed = weighted.T @ counts - np.diag(weighted.sum(axis=0))  # (values, values) coincidences
    if has_sides:
        observed = observed + observed[::-1, ::-1]
    n = observed.sum(axis=0)  # (values,) pairable scores of each value
    expected = (np.outer(n, n) - np.diag(n)) / max(n.sum() - 1, 1)
    distance = _distance(values, n, level)
    by_chance = (expected * distance).sum()
    return float(1 - (observed * distance).sum() / by_chance) if by_chance > 0 else float("nan")


def _distance(values: NDArray[np.float64], n: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
    """Squared difference of every two values at a level of measurement: (values, values)."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "ordinal":  # the values' mid-ranks: the sum of n between two values less half of both ends
        values = np.cumsum(n) - n / 2
    difference = values[:, None] - values[None, :]
    if level == "ratio":
        total = values[:, None] + values[None, :]
        difference = np.divide(difference, total, out=np.zeros_like(difference), where=total != 0)
    return difference**2


def _pairable(scores: ArrayLike, level: Level, reversal: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Counts (units, values) of the units that two raters or more scored, with a column for each value and for that of the
    exchanged sides; a sentence when alpha has no value."""
    if level not in LEVELS:
        raise ValueError(f"The level must be one of {', '.join(LEVELS)}, not {level!r}.")
    scores = as_scores(scores)
    given = ~np.isnan(scores)
    if given.any(axis=1).sum() < 1:
        raise UndefinedAgreement("There are no scores.")
    if given.any(axis=1).sum() < 2:
        raise UndefinedAgreement("Only one rater gave scores, so there is nobody to agree with.")
    shared = scores[:, given.sum(axis=0) >= 2]
    if shared.shape[1] == 0:
        raise UndefinedAgreement("No unit has scores from two raters.")
    if level == "ratio" and np.nanmin(shared) < 0:
        raise UndefinedAgreement("The ratio level needs scores that are not negative.")
    counts, values = value_counts(shared)
    if reversal is not None:
        counts, values = scale_counts(shared, reversal - values)
    if len(values) < 2:
        raise UndefinedAgreement("All scores are equal, so agreement beyond chance is not defined.")
    return counts, values
