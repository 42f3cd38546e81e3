"""One frozen result with everything that is known about the agreement on a criterion, and what follows from it.

The lines are Krippendorff's (2004, Content Analysis, 2nd ed., section 11.4): rely on alpha at or above 0.8, draw
tentative conclusions from 0.667. The alpha that decides is the one after the filter, as long as it is more than two
standard deviations above what chance gives after the same filter; otherwise the filter made it, and the alpha before
the filter decides.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from annotation.quality.chance_alpha import alpha_null
from annotation.quality.errors import UndefinedAgreement
from annotation.quality.kappa import cohen_by_pair, fleiss_kappa, percent_agreement
from annotation.quality.krippendorff import Level, alpha, alpha_interval
from annotation.quality.mad import keep_mask
from annotation.quality.more_judgments import Outlook, outlook
from annotation.quality.scores import as_scores, value_counts

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")

ACCEPTED, TENTATIVE = 0.8, 0.667
CHANCE_SDS = 2.0
OUTLOOK_DRAWS = 200


@dataclass(frozen=True)
class Agreement:
    """What both reports say; kappas and percentage are of all answers before any filter, each value a category."""

    raters: int
    units: int
    fleiss_kappa: float | None
    cohen_kappa_mean: float | None
    percent_agreement: float | None
    verdict: str
    reason: str
    outlook: tuple[Outlook, ...]  # how many more judgments for each line, of the alpha that decides

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON: None where a number is undefined, without the mask."""
        return {name: value for name, value in asdict(self).items() if name != "keep"}


@dataclass(frozen=True)
class ScoreReport(Agreement):
    """Agreement on Likert scores, before and after the MAD filter, and after the same filter by chance."""

    scores: int
    kept: int
    alpha_before: float | None
    alpha_after: float | None
    alpha_after_low: float | None
    alpha_after_high: float | None
    alpha_null_mean: float | None
    alpha_null_sd: float | None
    keep: np.ndarray = field(repr=False, compare=False)  # bool (raters, units)


@dataclass(frozen=True)
class JudgmentReport(Agreement):
    """Agreement on A / tie / B, all three as names without an order."""

    judgments: int
    alpha: float | None
    alpha_low: float | None
    alpha_high: float | None


def assess_scores(
    scores: ArrayLike,
    level: Level = "ordinal",
    threshold: float = 1.0,
    on_zero_mad: str = "drop",
    seed: int = 0,
    draws: int = 50,
    replicates: int = 200,
) -> ScoreReport:
    """Everything about the scores (raters, units), nan where missing, of one criterion."""
    scores = as_scores(scores)
    keep = keep_mask(scores, threshold, on_zero_mad)
    kept = np.where(keep, scores, np.nan)
    before, _ = _defined(alpha, scores, level)
    after, why = _defined(alpha, kept, level)
    interval, _ = _defined(alpha_interval, kept, level, replicates, seed)
    null, _ = _defined(alpha_null, scores, level, threshold, on_zero_mad, draws, seed)
    low, high = interval or (None, None)
    chance, spread = null or (None, None)
    verdict, reason, filter_decides = _decide_scores(before, after, chance, spread, why)
    return ScoreReport(
        scores=int((~np.isnan(scores)).sum()),
        kept=int(keep.sum()),
        keep=keep,
        alpha_before=before,
        alpha_after=after,
        alpha_after_low=low,
        alpha_after_high=high,
        alpha_null_mean=chance,
        alpha_null_sd=spread,
        verdict=verdict,
        reason=reason,
        outlook=_outlooks(kept if filter_decides else scores, level, seed),
        **_common(scores),
    )


def assess_judgments(choices: ArrayLike, seed: int = 0, replicates: int = 200) -> JudgmentReport:
    """Everything about pairwise choices (raters, units): 0, 1, 2 for A, tie, B (`Outcome.code`), nan where missing."""
    choices = as_scores(choices)
    if not np.isin(choices[~np.isnan(choices)], (0, 1, 2)).all():
        raise ValueError("A choice must be 0, 1 or 2 (A, tie, B), or nan where it is missing.")
    value, why = _defined(alpha, choices, "nominal")
    interval, _ = _defined(alpha_interval, choices, "nominal", replicates, seed)
    low, high = interval or (None, None)
    return JudgmentReport(
        judgments=int((~np.isnan(choices)).sum()),
        alpha=value,
        alpha_low=low,
        alpha_high=high,
        verdict=_verdict(value),
        reason=why or "" if value is None else f"Alpha is {value:.3f}, {_where(value)}.",
        outlook=_outlooks(choices, "nominal", seed),
        **_common(choices),
    )


def _defined(
    measure: Callable[Arguments, Value], *given: Arguments.args, **named: Arguments.kwargs
) -> tuple[Value | None, str | None]:
    """(value, None), or (None, the sentence why there is none)."""
    try:
        return measure(*given, **named), None
    except UndefinedAgreement as error:
        return None, str(error)


def _outlooks(scores: np.ndarray, level: Level, seed: int) -> tuple[Outlook, ...]:
    """One for each line; none where alpha is not defined."""
    outlooks = [_defined(outlook, scores, line, level, OUTLOOK_DRAWS, seed)[0] for line in (TENTATIVE, ACCEPTED)]
    return tuple(one for one in outlooks if one is not None)


def _common(scores: np.ndarray) -> dict[str, Any]:
    """What both reports hold: sizes and the measures on categories. Raters and units with no score are not counted."""
    given = ~np.isnan(scores)
    counts, _ = value_counts(scores)
    return {
        "raters": int(given.any(axis=1).sum()),
        "units": int(given.any(axis=0).sum()),
        "fleiss_kappa": _defined(fleiss_kappa, counts)[0],
        "cohen_kappa_mean": _mean_cohen(scores),
        "percent_agreement": _defined(percent_agreement, counts)[0],
    }


def _mean_cohen(scores: np.ndarray) -> float | None:
    """Mean of Cohen's kappa over pairs of raters (Light 1971), a pair weighing as many units as it shares."""
    pairs = [(n, kappa) for _, _, n, kappa in cohen_by_pair(scores) if kappa is not None]
    return sum(n * kappa for n, kappa in pairs) / sum(n for n, _ in pairs) if pairs else None


def _verdict(value: float | None) -> str:
    if value is None:
        return "undefined"
    return "accepted" if value >= ACCEPTED else "tentative" if value >= TENTATIVE else "collect more"


def _where(value: float) -> str:
    """Where an alpha stands between the two lines, in words."""
    if value >= ACCEPTED:
        return f"at or above {ACCEPTED}"
    return f"between {TENTATIVE} and {ACCEPTED}" if value >= TENTATIVE else f"below {TENTATIVE}"


def _decide_scores(
    before: float | None, after: float | None, chance: float | None, spread: float | None, why: str | None
) -> tuple[str, str, bool]:
    """Verdict, reason, and whether the alpha after the filter decides; see the rule at the top of this file."""
    if after is None:
        return "undefined", why or "", True
    observed = f"Alpha is {after:.3f} after the filter, {_where(after)}"
    if chance is None or spread is None:
        return _verdict(after), f"{observed}; what chance gives after the same filter is not defined.", True
    by_chance = f"chance gives {chance:.2f} ± {spread:.2f} after the same filter"
    if after > chance + CHANCE_SDS * spread:
        return _verdict(after), f"{observed}; {by_chance}.", True
    before_filter = "not defined" if before is None else f"{before:.3f}"
    return _verdict(before), f"{observed}, but {by_chance}, so alpha before it, {before_filter}, decides.", False
