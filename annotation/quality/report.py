"""One frozen result with everything that is known about the agreement on a criterion, and what follows from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from annotation.quality.chance_alpha import corrected_alpha, mean_and_sd, permutation_p, shuffled_alphas
from annotation.quality.errors import UndefinedAgreement
from annotation.quality.gwet import gwet_ac, gwet_interval
from annotation.quality.kappa import cohen_by_pair, fleiss_kappa, percent_agreement
from annotation.quality.krippendorff import Level, alpha, alpha_interval
from annotation.quality.mad import keep_mask
from annotation.quality.more_judgments import Outlook, outlook, outlook_on_taste
from annotation.quality.reliability import Reliability
from annotation.quality.scores import as_scores, in_both_orders, scale_counts, value_counts
from annotation.quality.verdict import (
    ACCEPTED,
    RULE_OF,
    TENTATIVE,
    UNDEFINED,
    Asks,
    Evidence,
    Rule,
    decide,
    decide_as_zhao,
    decide_on_taste,
    place,
    word,
)

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")

OUTLOOK_DRAWS = 200
AC2_WEIGHTS: dict[Level, str] = {"ordinal": "linear", "interval": "quadratic", "ratio": "quadratic"}


@dataclass(frozen=True)
class Agreement:
    """What both reports say; kappas and percentage are of all answers before any filter, each value a category."""

    raters: int
    units: int
    fleiss_kappa: float | None
    cohen_kappa_mean: float | None
    percent_agreement: float | None
    ac1: float | None
    ac1_low: float | None
    ac1_high: float | None
    verdict: str
    reason: str
    outlook: tuple[Outlook, ...]  # how many more judgments for each line, of what decided
    asks: str = field(default=Asks.TRUTH.value, kw_only=True)  # what the question asks for, and what the verdict rests on
    rule: str = field(default=Rule.AGREEMENT.value, kw_only=True)
    reliability: Reliability | None = field(default=None, kw_only=True)  # of the systems' means, of all answers
    not_reliable: str = field(default="", kw_only=True)  # why there is none
    own: Mapping[str, Any] = field(default_factory=dict, kw_only=True)  # what only this kind of question measures, by its names

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON: None where a number is undefined, without the mask."""
        found = asdict(self)
        own: dict[str, Any] = found.pop("own")
        return {name: value for name, value in found.items() if name != "keep"} | own


@dataclass(frozen=True)
class ScoreReport(Agreement):
    """Agreement on Likert scores: before the MAD filter, after it, after the same filter by chance, and less that.

    alpha_after is what Zhao et al. (2020) report; alpha_corrected is it less alpha_null_mean; chance_p is the chance that
    scores without agreement reach alpha_before.
    """

    scores: int
    kept: int
    ac2: float | None
    ac2_low: float | None
    ac2_high: float | None
    ac2_weights: str | None  # None at the nominal level, where AC2 is AC1
    alpha_before: float | None
    alpha_before_low: float | None
    alpha_before_high: float | None
    chance_p: float | None
    alpha_after: float | None
    alpha_after_low: float | None
    alpha_after_high: float | None
    alpha_null_mean: float | None
    alpha_null_sd: float | None
    alpha_corrected: float | None
    alpha_corrected_low: float | None
    alpha_corrected_high: float | None
    keep: np.ndarray = field(repr=False, compare=False)  # bool (raters, units)


@dataclass(frozen=True)
class JudgmentReport(Agreement):
    """Agreement on A / tie / B, all three as names without an order; or on how much better, in order."""

    judgments: int
    alpha: float | None
    alpha_low: float | None
    alpha_high: float | None
    level: str = field(default="nominal", kw_only=True)


def assess_scores(
    scores: ArrayLike,
    level: Level = "ordinal",
    threshold: float | None = 1.0,
    on_zero_mad: str = "drop",
    seed: int = 0,
    draws: int = 50,
    replicates: int = 200,
    points: ArrayLike = (),
) -> ScoreReport:
    """Everything about the scores (raters, units), nan where missing, of one criterion. points: all of its scale."""
    scores = as_scores(scores)
    keep = keep_mask(scores, threshold, on_zero_mad)
    evidence, figures, why = score_agreement(scores, keep, level, threshold, on_zero_mad, seed, draws, replicates)
    verdict, reason = (UNDEFINED, why) if evidence is None else decide(evidence)
    reason = " ".join(filter(None, [reason, _once(scores)]))
    weights = AC2_WEIGHTS.get(level)
    return ScoreReport(
        scores=int((~np.isnan(scores)).sum()),
        kept=int(keep.sum()),
        keep=keep,
        verdict=verdict,
        reason=reason,
        outlook=_outlooks(scores, level, seed),
        ac2_weights=weights,
        **figures,
        **_gwet("ac1", scores, points, None, replicates, seed),
        **(_gwet("ac2", scores, points, weights, replicates, seed) if weights else _figures("ac2", None, None)),
        **_common(scores),
    )


def decided(
    report: ScoreReport | JudgmentReport,
    asks: Asks,
    reliability: Reliability | None,
    not_reliable: str = "",
    as_zhao: bool = False,
) -> ScoreReport | JudgmentReport:
    """The report with the verdict that fits what its question asks for, and the reliability of the systems' means beside it
    (None: there is none, and why). as_zhao: scores as Zhao et al. (2020) judged them, whatever is asked for."""
    report = replace(report, asks=asks.value, reliability=reliability, not_reliable=not_reliable)
    rule = Rule.ZHAO if as_zhao and isinstance(report, ScoreReport) else RULE_OF[asks]
    if rule == Rule.ZHAO and isinstance(report, ScoreReport):
        if report.alpha_after is None:
            return replace(report, rule=rule.value)
        verdict, reason = decide_as_zhao(report.alpha_after, report.scores - report.kept, report.scores)
        return replace(report, rule=rule.value, verdict=verdict, reason=reason)
    if rule == Rule.AGREEMENT:
        return report
    if reliability is None:
        why = f"The question asks for taste, but the reliability of the systems' means is not defined: {not_reliable}."
        return replace(report, rule=rule.value, verdict=UNDEFINED, reason=why, outlook=())
    verdict, reason = decide_on_taste(reliability)
    outlooks = tuple(outlook_on_taste(reliability, line, report.units) for line in (TENTATIVE, ACCEPTED))
    return replace(report, rule=rule.value, verdict=verdict, reason=reason, outlook=outlooks)


def score_agreement(
    scores: np.ndarray,
    keep: np.ndarray,
    level: Level,
    threshold: float | None,
    on_zero_mad: str,
    seed: int,
    draws: int,
    replicates: int,
) -> tuple[Evidence | None, dict[str, Any], str]:
    """What the verdict rests on, all alphas by their names in the report, and why there is no verdict where there is none.

    scores, keep: (raters, units).
    """
    kept = np.where(keep, scores, np.nan)
    before, _ = _defined(alpha, scores, level)
    after, why = _defined(alpha, kept, level)
    interval_before, _ = _defined(alpha_interval, scores, level, replicates, seed)
    interval, _ = _defined(alpha_interval, kept, level, replicates, seed)
    shuffled, filtered = shuffled_alphas(scores, level, threshold, on_zero_mad, draws, seed)
    chance, spread = _defined(mean_and_sd, filtered)[0] or (None, None)
    low, high = interval or (None, None)
    corrected = [_less(value, chance) for value in (after, low, high)]
    p = None if before is None else permutation_p(before, shuffled)
    figures = {
        **_figures("alpha_before", before, interval_before),
        **_figures("alpha_after", after, interval),
        **dict(zip(("alpha_corrected", "alpha_corrected_low", "alpha_corrected_high"), corrected)),
        "alpha_null_mean": chance,
        "alpha_null_sd": spread,
        "chance_p": p,
    }
    if before is None or after is None or p is None:
        return None, figures, why or ""
    dropped = int((~np.isnan(scores) & ~keep).sum())
    return Evidence(before, p, after, dropped, chance, *corrected), figures, ""


def _once(scores: np.ndarray) -> str:
    """What cannot be said where most raters gave one score; scores: (raters, units)."""
    given = (~np.isnan(scores)).sum(axis=1)
    once, raters = int((given == 1).sum()), int((given > 0).sum())
    if 2 * once <= raters or raters < 3:
        return ""
    return (
        f"{once:,} of {raters:,} raters gave one score, so nobody can tell who is strict from who disagrees, and there is no"
        " kappa of two raters; chance is what their scores would be on each other's items."
    )


def _less(value: float | None, chance: float | None) -> float | None:
    return None if value is None or chance is None else corrected_alpha(value, chance)


def _figures(name: str, value: float | None, interval: tuple[float, float] | None) -> dict[str, Any]:
    """A figure and the ends of its interval, by their names in the report."""
    low, high = interval or (None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _gwet(
    name: str, scores: np.ndarray, points: ArrayLike, weights: str | None, replicates: int, seed: int, has_sides: bool = False
) -> dict[str, Any]:
    """Gwet's coefficient of scores (raters, units) on a scale, with its interval."""
    counts, values = scale_counts(scores, points)
    value, _ = _defined(gwet_ac, counts, values, weights, has_sides)
    interval, _ = _defined(gwet_interval, counts, values, weights, replicates, seed, has_sides=has_sides)
    return _figures(name, value, interval)


def assess_judgments(
    choices: ArrayLike, seed: int = 0, replicates: int = 200, level: Level = "nominal", points: Sequence[float] = (0, 1, 2)
) -> JudgmentReport:
    """Everything about pairwise choices (raters, units), nan where missing. points: all that a choice may be; 0, 1, 2 for A,
    tie, B (`Outcome.code`)."""
    choices = as_scores(choices)
    if not np.isin(choices[~np.isnan(choices)], points).all():
        raise ValueError(f"A choice must be one of {', '.join(f'{point:g}' for point in points)}, or nan where it is missing.")
    reversal = min(points) + max(points)
    value, why = _defined(alpha, choices, level, reversal)
    interval, _ = _defined(alpha_interval, choices, level, replicates, seed, reversal=reversal)
    low, high = interval or (None, None)
    return JudgmentReport(
        judgments=int((~np.isnan(choices)).sum()),
        alpha=value,
        alpha_low=low,
        alpha_high=high,
        verdict=UNDEFINED if value is None else word(value),
        reason=why or "" if value is None else f"Alpha is {value:.3f}, {place(value)}.",
        outlook=_outlooks(choices, level, seed, reversal),
        level=level,
        **_gwet("ac1", choices, points, None, replicates, seed, has_sides=True),
        **_common(choices, reversal),
    )


def _defined(
    measure: Callable[Arguments, Value], *given: Arguments.args, **named: Arguments.kwargs
) -> tuple[Value | None, str | None]:
    """(value, None), or (None, the sentence why there is none)."""
    try:
        return measure(*given, **named), None
    except UndefinedAgreement as error:
        return None, str(error)


def _outlooks(scores: np.ndarray, level: Level, seed: int, reversal: float | None = None) -> tuple[Outlook, ...]:
    """One for each line; none where alpha is not defined."""
    outlooks = [_defined(outlook, scores, line, level, OUTLOOK_DRAWS, seed, reversal)[0] for line in (TENTATIVE, ACCEPTED)]
    return tuple(one for one in outlooks if one is not None)


def _common(scores: np.ndarray, reversal: float | None = None) -> dict[str, Any]:
    """What both reports hold: sizes and the measures on categories. Raters and units with no score are not counted. reversal:
    of pairs, which count in both orders, as for alpha."""
    given = ~np.isnan(scores)
    scores = scores if reversal is None else in_both_orders(scores, reversal)
    counts, _ = value_counts(scores)
    return {
        "raters": int(given.any(axis=1).sum()),
        "units": int(given.any(axis=0).sum()),
        "fleiss_kappa": _defined(fleiss_kappa, counts)[0],
        "cohen_kappa_mean": _mean_cohen(scores, 1 if reversal is None else 2),
        "percent_agreement": _defined(percent_agreement, counts)[0],
    }


def _mean_cohen(scores: np.ndarray, times: int) -> float | None:
    """Mean of Cohen's kappa over pairs of raters (Light 1971), a pair weighing as many units as it shares, less one: from one
    unit nobody knows what two raters agree on by chance (both agree: no kappa, else 0). None where no two share more. times:
    how often each unit stands among the scores (raters, units)."""
    shared = [(n // times - 1, kappa) for _, _, n, kappa in cohen_by_pair(scores)]
    pairs = [(n, kappa) for n, kappa in shared if kappa is not None and n > 0]
    return sum(n * kappa for n, kappa in pairs) / sum(n for n, _ in pairs) if pairs else None
