"""How many more judgments would bring alpha's interval above a line, and whether they would at all.

More units narrow alpha's interval; they do not raise alpha. So the campaign is simulated larger, by drawing more units
with replacement from those that are there (the bootstrap's own world: Efron & Tibshirani 1993, chapter 25 on its use
for sample sizes), until the lower end of the 95% interval reaches the line. Raters are not drawn: a rater drawn twice
would agree with itself. How sure this is: the same in worlds where alpha is what its bootstrap says it might be.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from annotation.quality.krippendorff import Level, alpha_from_counts, unit_patterns
from annotation.quality.reliability import Reliability

LOW, HIGH = 0.025, 0.975
WORLDS = (0.1, 0.9)  # quantiles of alpha's bootstrap between which the number of units is given
ROUNDING = 1e-6
GROUPED = (
    "Contexts come in groups here, such as conversations: more groups are meant, and as many items of fewer groups tell less."
)
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


def outlook(
    scores: ArrayLike, line: float, level: Level = "interval", draws: int = 200, seed: int = 0, reversal: float | None = None
) -> Outlook:
    """What more scores like these (raters, units) would do; reversal: as for alpha. Raises UndefinedAgreement where there is no
    alpha."""
    patterns, times, values = unit_patterns(scores, level, reversal)
    has_sides = reversal is not None
    n, rng = int(times.sum()), np.random.default_rng(seed)
    observed = alpha_from_counts(patterns, values, level, times, has_sides)

    def simulated(units: int) -> np.ndarray:
        drawn = rng.multinomial(units, times / n, size=draws)  # (draws, patterns)
        alphas = np.array([alpha_from_counts(patterns, values, level, often, has_sides) for often in drawn])
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


def outlook_on_taste(found: Reliability, line: float, units: int) -> Outlook:
    """What more people and contexts would do to the generalizability coefficient, each answering or answered as often as now:
    its error shrinks as they grow, so G reaches the line with (line / (1 - line)) / (F - 1) times as many of both (Spearman
    1910, Brown 1910, with F = 1 / (1 - G)). units: there are now."""
    needed = [_times(line, g) for g in (found.coefficient, found.high, found.low)]
    more = [None if times > FAR else max(0, _whole((times - 1) * units)) for times in needed]
    if found.coefficient >= line and found.p <= LOW:
        return Outlook(line, 0, 0, 0, more[2], 1.0, f"The coefficient is above {line}.")
    scores = None if more[0] is None else max(1, _whole((needed[0] - 1) * found.answers))
    if more[0] is None or scores is None:
        said = f"The means are so close to noise that no campaign of a realistic size would bring the coefficient to {line}."
    elif more[0] == 0:
        said = "More people and contexts would show whether it is noise."
    else:
        said = (
            f"With {needed[0]:.1f} times as many people and contexts (about {scores:,} more answers) the coefficient would"
            f" reach {line}, if the present differences are the true ones; since they are uncertain, {_range_of_times(needed)}."
        )
    return Outlook(line, more[0], scores, more[1], more[2], 1 - found.p, said)


def in_groups(found: Outlook) -> Outlook:
    """The same for contexts that come in groups: alpha takes items for independent."""
    return replace(found, sentence=f"{found.sentence} {GROUPED}") if found.units else found


def _whole(number: float) -> int:
    """The next whole number, rounding errors aside."""
    return int(np.ceil(number - ROUNDING))


def _times(line: float, coefficient: float) -> float:
    """How many times as much brings the coefficient to the line; infinite where it is 0."""
    known = coefficient / (1 - coefficient) if coefficient < 1 else np.inf
    return line / (1 - line) / known if known > 0 else np.inf


def _range_of_times(needed: list[float]) -> str:
    low = "what is there may be enough" if needed[1] <= 1 else f"it may take {needed[1]:.1f} times"
    return f"{low}, or no number" if needed[2] > FAR else f"{low}, or it may take {needed[2]:.1f} times"


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
