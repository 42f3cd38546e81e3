"""How small a difference between two systems a design can detect.

Scores. The score that annotator a gives to system s on context c is modelled as

    y = mean_s + C_c + A_a + (CS)_cs + (AS)_as + e,   independent effects with variances s2_C, s2_A, s2_CS, s2_AS, s2_e.

Both systems answer the same contexts and every annotator sees both equally often (annotation/design/draw.py, balance.py),
so C and A cancel in the difference D of the two systems' means, where an output's score is the mean of its people's:

    Var(D) = 2 s2_CS / n  +  2 s2_AS h  +  2 s2_e r / n,        n contexts, N annotators, r = mean of 1 / (people per output),
    h = 1 / N + (1 - 1 / N) r / n

h is the sum of the squares of the annotators' shares, when it is left to chance which outputs are whose.
Contexts and annotators are both random: Westfall, Kenny & Judd 2014 (J. Exp. Psychol. Gen. 143, 2020-2045), as in Card et
al. 2020 (EMNLP, "With Little Power Comes Great Responsibility", section 5), whose fitted variances are the assumptions
below. The test is annotation/design/comparison.py's: t = D / SE with SE^2 = V_C + V_A - V_CA, each a sum of squares over
clusters, with expectations

    V_C = 2 s2_CS / n + 2 (s2_A + s2_AS + s2_e) r / n,    V_A = 2 s2_AS h + 2 (s2_C + s2_CS + s2_e) r / n,
    V_CA = 2 (s2_C + s2_A + s2_CS + s2_AS + s2_e) r / n,

and Satterthwaite's degrees of freedom (n - 1, N - 1 and their product). Power comes from the noncentral t distribution.

Pairs. A judgment is +1 (first better), 0 (tie) or -1. Its mean d = P(first) - P(second), its variance 1 - ties - d^2;
judgments of one pair on one context share a part (intraclass correlation) i_C of it, those of one annotator i_A:

    Var(mean) = (1 - ties - d^2) (i_C / m + i_A h + (1 - i_C - i_A) r / m),      m contexts on which the two meet

The win rate, ties counted half, is (1 + d) / 2.
"""

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass

from scipy.optimize import brentq
from scipy.stats import nct, norm, t

ALPHA, POWER = 0.05, 0.80


@dataclass(frozen=True)
class Components:
    """Variances of single scores, in squared points of the scale (or of a scale from 0 to 1, see `on`)."""

    context_system: float
    annotator_system: float
    residual: float
    context: float = 0.0
    annotator: float = 0.0

    def on(self, low: float, high: float) -> "Components":
        """These variances of a scale from 0 to 1, on the scale from low to high."""
        return Components(*(variance * (high - low) ** 2 for variance in astuple(self)))


def _of_card(item_slope: float, item: float, worker_slope: float, worker: float, sigma: float) -> Components:
    """From standard deviations of random slopes and intercepts with the model coded -1 / +1: (CS) differs by 2 slopes between
    the two systems, so 2 s2_CS = (2 slope)^2."""
    return Components(2 * item_slope**2, 2 * worker_slope**2, sigma**2, item**2, worker**2)


# Card et al. 2020, section 5.1: their two settings, fitted to public human evaluations on a scale of width 1.
HIGH_VARIANCE = _of_card(item_slope=0.14, item=0.04, worker_slope=0.11, worker=0.01, sigma=0.26)
LOW_VARIANCE = _of_card(item_slope=0.13, item=0.01, worker_slope=0.04, worker=0.01, sigma=0.16)


@dataclass(frozen=True)
class PairAssumptions:
    """ties: their share where the systems are equal. context, annotator: intraclass correlations of judgments of one pair of
    systems on one context, and by one annotator."""

    ties: float = 0.2
    context: float = 0.3
    annotator: float = 0.05


@dataclass(frozen=True)
class Detectable:
    """difference: the smallest that is found with `power` at two-sided level `alpha` (points of the scale; for pairs, the
    win rate's distance from one half). standard_error: in the same unit. df: degrees of freedom of its test."""

    difference: float
    standard_error: float
    df: float
    power: float = POWER
    alpha: float = ALPHA


def standard_error(components: Components, contexts: int, annotators: int, r: float) -> tuple[float, float]:
    """(SE, df) of the difference of two systems' mean scores. r: the mean of 1 / (people per output)."""
    v, shared = components, r / contexts
    by_context = v.context_system / contexts + (v.annotator + v.annotator_system + v.residual) * shared
    by_annotator = v.annotator_system * _shares(annotators, shared) + (v.context + v.context_system + v.residual) * shared
    both = (v.context + v.annotator + v.context_system + v.annotator_system + v.residual) * shared
    return _tested(2 * by_context, 2 * by_annotator, 2 * both, contexts, annotators)


def _shares(annotators: int, shared: float) -> float:
    """h: the sum of squares of the annotators' shares."""
    return 1 / annotators + (1 - 1 / annotators) * shared


def _tested(by_context: float, by_annotator: float, both: float, contexts: int, annotators: int) -> tuple[float, float]:
    """(SE, df) of the test in annotation/design/comparison.py, from the expectations of its three variances."""
    if contexts < 2 or annotators < 2:
        raise ValueError("A difference can only be tested with two contexts and two annotators at least.")
    spread = by_context**2 / (contexts - 1) + by_annotator**2 / (annotators - 1)
    spread += both**2 / ((contexts - 1) * (annotators - 1))
    total = by_context + by_annotator - both
    return math.sqrt(max(total, 0.0)), total**2 / spread if spread else math.inf


def power_of(difference: float, se: float, df: float, alpha: float = ALPHA) -> float:
    """Probability that a two-sided t test at level alpha finds a true difference, in either direction."""
    ratio = difference / se
    if math.isinf(df):
        critical = norm.ppf(1 - alpha / 2)
        return float(norm.sf(critical - ratio) + norm.cdf(-critical - ratio))
    critical = t.ppf(1 - alpha / 2, df)
    wrong_way = nct.cdf(-critical, df, ratio)  # SciPy gives nan for it from a ratio of about 8, where it is 0
    return float(nct.sf(critical, df, ratio) + (0.0 if math.isnan(wrong_way) else wrong_way))


def detectable_difference(
    components: Components, contexts: int, annotators: int, r: float = 1.0, alpha: float = ALPHA, power: float = POWER
) -> Detectable:
    """The smallest difference of two systems' mean scores that is found with this power. r: as in standard_error.

    Raises ValueError for fewer than two contexts or annotators."""
    se, df = standard_error(components, contexts, annotators, r)
    high = se
    while 0 < se and power_of(high, se, df, alpha) < power:
        high *= 2
    return Detectable(_smallest(lambda difference: (se, df), alpha, power, high), se, df, power, alpha)


def detectable_win_rate(
    assumed: PairAssumptions, contexts: float, annotators: int, r: float = 1.0, alpha: float = ALPHA, power: float = POWER
) -> Detectable | None:
    """How far from one half the win rate (ties counted half) of one of two systems over the other must be to be found.
    contexts: on which the two meet. None where even winning every pair that is no tie would not be found."""

    def error(difference: float) -> tuple[float, float]:
        variance = max(1 - assumed.ties - (2 * difference) ** 2, 0.0) / 4  # of the win rate
        shared = r / contexts
        by_context = variance * (assumed.context / contexts + (1 - assumed.context) * shared)
        by_annotator = variance * (assumed.annotator * _shares(annotators, shared) + (1 - assumed.annotator) * shared)
        return _tested(by_context, by_annotator, variance * shared, max(2, round(contexts)), annotators)

    most = (1 - assumed.ties) / 2
    se, df = error(most)
    if se > 0 and power_of(most, se, df, alpha) < power:
        return None
    difference = _smallest(error, alpha, power, high=most)
    return Detectable(difference, *error(difference), power, alpha)


def _smallest(error: Callable[[float], tuple[float, float]], alpha: float, power: float, high: float) -> float:
    """error: difference -> (SE, df)."""

    def missing(difference: float) -> float:
        se, df = error(difference)
        return power_of(difference, se, df, alpha) - power if se > 0 else 1 - power

    if error(0.0)[0] == 0:
        return 0.0
    return float(brentq(missing, 0.0, high, xtol=1e-9 * high))
