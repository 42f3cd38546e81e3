"""How many more judgments would bring alpha's interval above a line, and whether they would at all.

More units narrow alpha's interval; they do not raise alpha. So the campaign is simulated larger, by drawing more units
with replacement from those that are there (the bootstrap's own world: Efron & Tibshirani 1993, chapter 25 on its use
for sample sizes), until the lower end of the 95% interval reaches the line. Raters are not drawn: a rater drawn twice
would agree with itself. How sure this is: the same in worlds where alpha is what its bootstrap says it might be.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from annotation.quality.krippendorff import Level, alpha_from_counts, unit_patterns

LOW, HIGH = 0.025, 0.975
WORLDS = (0.1, 0.9)  # quantiles of alpha's bootstrap between which the number of units is given
FAR = 100  # times the units there are now: beyond, the answer is "not within reach"


@dataclass(frozen=True)
class Outlook:
    """units: more units, each with as many scores as now, that bring the interval above the line; scores: so many
    scores; 0 where it is above already, None where more would not help. units_low, units_high: the same at the ends of
    80% of alpha's bootstrap, units_high None for never. chance: share of the bootstrap in which alpha is above the line.
    """

    line: float
    units: int | None
    scores: int | None
    units_low: int | None
    units_high: int | None
    chance: float
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def outlook(scores: ArrayLike, line: float, level: Level = "interval", draws: int = 200, seed: int = 0) -> Outlook:
    """What more scores like these (raters, units) would do. Raises UndefinedAgreement where there is no alpha."""
    patterns, times, values = unit_patterns(scores, level)
    n, rng = int(times.sum()), np.random.default_rng(seed)
    observed = alpha_from_counts(patterns, values, level, times)

    def simulated(units: int) -> np.ndarray:
        drawn = rng.multinomial(units, times / n, size=draws)  # (draws, patterns)
        alphas = np.array([alpha_from_counts(patterns, values, level, often) for often in drawn])
        defined: np.ndarray = alphas[~np.isnan(alphas)]
        return defined

    alphas = simulated(n)
    chance = float((alphas > line).mean())
    if np.quantile(alphas, LOW) >= line:
        return Outlook(line, 0, 0, 0, 0, chance, f"The interval is already above {line}.")
    spread = observed - np.quantile(alphas, LOW)  # shrinks as 1 / sqrt(units)
    reach = np.array([_units(n, spread, alpha - line) for alpha in (observed, *np.quantile(alphas, WORLDS[::-1]))])
    if np.isfinite(reach[0]) and reach[0] > n:  # once more with the spread of a campaign of that size
        size = int(reach[0])
        reach *= ((observed - np.quantile(simulated(size), LOW)) / (observed - line)) ** 2
    more = [None if not np.isfinite(units) or units > FAR * n else max(int(np.ceil(units - n)), 1) for units in reach]
    per_unit = (patterns.sum(axis=1) * times).sum() / n
    scores_more = None if more[0] is None else int(np.ceil(more[0] * per_unit))
    return Outlook(line, more[0], scores_more, more[1], more[2], chance, sentence_of(line, observed, more, scores_more, chance))


def _units(n: int, spread: float, above: float) -> float:
    """Units at which an interval of this spread at n units is no longer than `above`; infinite where it never is."""
    return n * (spread / above) ** 2 if above > 0 else np.inf


def sentence_of(line: float, observed: float, more: list[int | None], scores: int | None, chance: float) -> str:
    if observed <= line:
        return (
            f"More judgments would not help: alpha is {observed:.3f}, below {line}"
            f" (above it in {100 * chance:.0f}% of resampled campaigns). Clearer guidelines or other annotators might help."
        )
    if more[0] is None:
        return f"Alpha is {observed:.3f}. That is so close to {line} that no campaign of a realistic size could separate them."
    items = "item" if more[0] == 1 else "items"
    return (
        f"About {more[0]:,} more {items} ({scores:,} scores) would bring the interval above {line}."
        f" Because alpha is uncertain, {_range(more[1] or 1, more[2])}."
    )


def _range(low: int, high: int | None) -> str:
    """The ends of the 80% range in words; a low end of one item says nothing, since one is the least there is."""
    if high is None:
        return "no number may be enough" if low == 1 else f"it may take {low:,} or more, and no number may be enough"
    return f"it may take up to {high:,}" if low == 1 else f"it may take {low:,} to {high:,} (80% range)"
