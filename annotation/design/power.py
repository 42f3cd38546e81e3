"""How small a difference between two systems a design can detect.

Scores. The score that annotator a gives to system s on context c is modelled as

    y = mean_s + C_c + A_a + (CS)_cs + (AS)_as + e,   independent effects with variances s2_C, s2_A, s2_CS, s2_AS, s2_e.

Every system answers the same contexts and every annotator sees all equally often (annotation/design/draw.py, balance.py),
so C and A cancel in the difference D of two systems' means:

    Var(D) = P_C + P_A - P_e,    P_A = 2 s2_AS / N + P_e,    P_e = 2 v / (n sum_k q_k k),    v = s2_AS (1 - 1 / N) + s2_e,
    P_C = 2 / (n sum_k q_k / (s2_CS + v / k)),

with n contexts, N annotators, and a share q_k of the outputs with k people: generalised least squares weighs an output by what
its people tell. Contexts and annotators are both random: Westfall,
Kenny & Judd 2014 (J. Exp. Psychol. Gen. 143, 2020-2045), as in Card et al. 2020 (EMNLP, "With Little Power Comes Great
Responsibility", section 5), whose fitted variances are the assumptions below.

One system is planned to be ahead of the others, which are equal. People may differ more over it than over the others: then the
s2_AS of its differences is the mean of its own and the others'.

What is planned is what the board decides (`leaderboard.rating.decision.decide`): the difference of two of S systems is known
when |D| exceeds its error times Tukey's range for S systems. The P are what mean squares of contexts, annotators and the rest
estimate for each difference, with n - 1, N - 1 and (n - 1)(N - 1) degrees of freedom, which Satterthwaite's formula puts
together; those of contexts and annotators also hold what does not cancel for who answers a part of the outputs, which P_e takes
off again. As far as the differences' variances are alike, they tell each other's (`moderation`). With fewer annotators than can
speak for people in general, the board speaks of these annotators, and so does the plan: s2_AS counts as 0 and n alone gives
degrees of freedom. Power comes from the noncentral t distribution.

Scores near an end of the scale vary less. Scores from L to H with mean x have at most the variance (x - L)(H - x) (Bhatia &
Davis 2000, American Mathematical Monthly 107, 353-357). Where the scale is known, one system is planned to be ahead by D of
the others, which are where the pilot's were, and its variances are the same share f of that maximum: s2_CS and s2_e of the
difference change by (1 + f) / 2, and of s2_AS the part that is its own by f.

Variances from a pilot are uncertain. Then the power is the mean over the variances that are plausible given the pilot's mean
squares (generalized pivotal quantities: Weerahandi 1993, Journal of the American Statistical Association 88, 899-905): each of
p degrees of freedom times p / chi2, and Var(D) what they say of it, but at least what it is without s2_CS and s2_AS. As over
one unknown variance (Julious & Owen 2006, Statistics in Medicine 25, 3107-3125) this is also the share of plans, over pilots,
that hold.

Pairs. A judgment is +1 (first better), 0 (tie) or -1. Its mean d = P(first) - P(second), its variance 1 - ties - d^2;
judgments of one pair on one context share a part (intraclass correlation) i_C of it, those of one annotator i_A. Where two of S
systems meet m times, games with the others tell as much again: in a balanced design the variance of a difference is that of
m S / 2 direct meetings (the resistance of a complete graph), on at most n contexts:

    Var(mean) = (1 - ties - d^2) (i_C / min(m S / 2, n) + i_A / N + (1 - i_C - i_A) / (m S / 2 sum_k q_k k))

Preferences are normal, so ties are as many as at one half times exp(-z^2 / 2), with z of the win rate, and what judgments
share is less the further a win rate is from one half (`in_common`).

A ranking of several outputs is one answer: its pairs depend on each other, so it tells what `Together` says of it, m S / k in
place of m S / 2.

The win rate, ties counted half, is w = (1 + d) / 2. The board's test is one of logits, so the difference is log(w / (1 - w)),
and its error that of the win rate over w (1 - w).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from annotation.design.moderation import Alone, stated
from annotation.design.together import PAIR, Together
from leaderboard.rating.decision import at_look, critical
from leaderboard.rating.people_board import speak_of_people

CERTAIN = np.ones(1)
ALPHA, POWER = 1 - at_look(1), 0.80  # the board whose first look it is
MOST_CERTAIN, STEPS = 0.999, 200  # win rates are searched up to this one, in so many steps
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
People = Sequence[tuple[float, float]]  # (share of the outputs, people on each); what is left of 1 is asked of nobody
ONE_EACH: People = ((1.0, 1.0),)
Draws = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Components:
    """Variances of single scores, in squared points of the scale (or of a scale from 0 to 1, see `on`). ahead: annotator x
    system for the system that is planned to be ahead; None: as for the others. plausible: (draws, 3), what the first three
    may be, given a pilot; none where they are assumed."""

    context_system: float
    annotator_system: float
    residual: float
    context: float = 0.0
    annotator: float = 0.0
    ahead: float | None = None
    plausible: Draws = ()

    def on(self, low: float, high: float) -> "Components":
        """These variances of a scale from 0 to 1, on the scale from low to high."""
        known = {name: value for name, value in asdict(self).items() if name != "plausible" and value is not None}
        return replace(self, **{name: variance * (high - low) ** 2 for name, variance in known.items()})

    def leaning(self, ahead: bool) -> float:
        """s2_AS of a difference: of the system that is ahead from another, or of two others."""
        return self.annotator_system if not ahead or self.ahead is None else (self.annotator_system + self.ahead) / 2

    def with_ahead(self, times: float) -> "Components":
        """People's leanings to the system that is ahead vary so many times as much as those to the others."""
        found = replace(self, ahead=times * self.annotator_system)
        more = found.leaning(True) / self.leaning(True) if self.leaning(True) else 1.0
        return replace(found, plausible=_times(self.plausible, 1.0, more, 1.0))

    def ahead_by(self, left: float) -> "Components":
        """Of the system that is ahead only this share of each variance is left, nearer to the end of the scale."""
        of_both = (1 + left) / 2
        ahead = self.annotator_system if self.ahead is None else self.ahead
        output, rest = self.context_system * of_both, self.residual * of_both
        return replace(self, context_system=output, residual=rest, ahead=ahead * left)

    def with_judge(self, left: float) -> "Components":
        """A judge leaves this share of what contexts add (annotation/design/needed.py)."""
        return replace(self, context_system=self.context_system * left, plausible=_times(self.plausible, left, 1.0, 1.0))


def _of_card(item_slope: float, item: float, worker_slope: float, worker: float, sigma: float) -> Components:
    """From standard deviations of random slopes and intercepts with the model coded -1 / +1: (CS) differs by 2 slopes between
    the two systems, so 2 s2_CS = (2 slope)^2."""
    return Components(2 * item_slope**2, 2 * worker_slope**2, sigma**2, item**2, worker**2)


# Card et al. 2020, section 5.1: their two settings, fitted to public human evaluations on a scale of width 1.
HIGH_VARIANCE = _of_card(item_slope=0.14, item=0.04, worker_slope=0.11, worker=0.01, sigma=0.26)
LOW_VARIANCE = _of_card(item_slope=0.13, item=0.01, worker_slope=0.04, worker=0.01, sigma=0.16)


@dataclass(frozen=True)
class Scale:
    """low, high: its ends; mean: of the scores whose variances are known, between the two."""

    low: float
    high: float
    mean: float

    def left(self, difference: float) -> float:
        """The most that scores can vary whose mean is so much higher, as a share of the most around the known mean."""
        above = self.mean + difference
        return (above - self.low) * (self.high - above) / ((self.mean - self.low) * (self.high - self.mean))


@dataclass(frozen=True)
class PairAssumptions:
    """ties: their share where the systems are equal. context, annotator: intraclass correlations of judgments of one pair of
    systems on one context, and by one annotator. ahead: as for Components. plausible: (draws, 2), what these two may be,
    given a pilot."""

    ties: float = 0.2
    context: float = 0.3
    annotator: float = 0.05
    ahead: float | None = None
    plausible: Draws = ()

    def leaning(self, ahead: bool) -> float:
        """As for Components."""
        return self.annotator if not ahead or self.ahead is None else (self.annotator + self.ahead) / 2

    def with_ahead(self, times: float) -> "PairAssumptions":
        """As for Components, but not more than judgments vary at all."""
        found = replace(self, ahead=min(times * self.annotator, 2 * (1 - self.context) - self.annotator))
        more = found.leaning(True) / self.leaning(True) if self.leaning(True) else 1.0
        return replace(found, plausible=_times(self.plausible, 1.0, more))

    def with_judge(self, left: float) -> "PairAssumptions":
        """As for Components."""
        return replace(self, context=self.context * left, plausible=_times(self.plausible, left, 1.0))


def _times(plausible: Draws, *factors: float) -> Draws:
    return [[variance * factor for variance, factor in zip(variances, factors)] for variances in plausible]


@dataclass(frozen=True)
class Detectable:
    """difference: the smallest that is found with `power` at two-sided level `alpha` (points of the scale; for pairs, the
    win rate's distance from one half). standard_error: in the same unit. df: degrees of freedom of its test."""

    difference: float
    standard_error: float
    df: float
    power: float = POWER
    alpha: float = ALPHA


@dataclass(frozen=True)
class Error:
    """Of a difference. own: its standard error; board, df: that and the degrees of freedom that the board states; shares: as in
    `power_of`."""

    own: float
    board: float
    df: float
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, own: Alone, known: Alone, shares: NDArray[np.float64]) -> "Error":
        return cls(math.sqrt(own.variance), math.sqrt(known.variance), known.freedom, shares)

    def power(self, difference: float, alpha: float, systems: int) -> float:
        return power_of(difference, self.own, self.df, alpha, systems, self.board, self.shares)


def standard_error(
    components: Components, contexts: int, annotators: int, people: People = ONE_EACH, systems: int = 2, ahead: bool = False
) -> tuple[float, float]:
    """(SE, df) of the difference of two systems' mean scores, by itself. ahead: is one of them the system that is ahead?"""
    of_people = components.leaning(ahead) if speak_of_people(annotators, systems) else 0.0
    parts = _parts((components.context_system, of_people, components.residual), contexts, annotators, people)
    single = 2 / (contexts * _mean(people)) * _apart(annotators, people)  # adds a variance of answers to that of a difference
    to_people, to_contexts = single * (components.context_system + components.context), single * components.annotator
    return _tested(*parts, contexts, annotators, systems, to_people, to_contexts)


def _parts(told: Sequence[float], contexts: int, annotators: int, people: People) -> tuple[float, float, float]:
    """What contexts, annotators and the rest add to the variance of a difference of scores. told: s2_CS, s2_AS of the
    difference, s2_e."""
    of_outputs, of_people, residual = told
    single = of_people * (1 - 1 / annotators) + residual
    weight = sum(share * _inverse(of_outputs + single / k) for share, k in people)
    rest = 2 * single / (contexts * _mean(people))
    return (2 / (contexts * weight) - rest if weight else 0.0), 2 * of_people / annotators, rest


def _inverse(variance: float) -> float:
    return 1 / variance if variance else 0.0


def _mean(people: People) -> float:
    """People per output."""
    return sum(share * k for share, k in people)


def _apart(annotators: int, people: People) -> float:
    """The share of outputs that an annotator does not answer: what those do not share does not cancel."""
    return max(0.0, 1 - _mean(people) / annotators)


def _tested(
    of_contexts: float,
    of_people: float,
    rest: float,
    contexts: float,
    annotators: int,
    systems: int,
    to_people: float = 0.0,
    to_contexts: float = 0.0,
) -> tuple[float, float]:
    """(SE, df) from what contexts, annotators and the rest add to the variance of the difference. to_people: what effects of
    contexts and outputs add to the mean square of annotators, who answer of some of them; to_contexts: what effects of
    annotators add to that of contexts, beside the rest. Both add to that of chance, which the board takes off again."""
    if contexts < 2 or annotators < 2:
        raise ValueError("A difference can only be tested with two contexts and two annotators at least.")
    total = of_contexts + of_people + rest
    spread = (of_contexts + rest + to_contexts) ** 2 / (contexts - 1)
    if speak_of_people(annotators, systems):
        chance = rest + to_people + to_contexts
        spread += (of_people + rest + to_people) ** 2 / (annotators - 1) + chance**2 / ((contexts - 1) * (annotators - 1))
    return math.sqrt(total), total**2 / spread if spread else math.inf


def power_of(
    difference: float,
    se: float,
    df: float,
    alpha: float = ALPHA,
    systems: int = 2,
    board: float | None = None,
    shares: NDArray[np.float64] = CERTAIN,
) -> float:
    """Probability that the difference of two of the systems is known, in either direction, when all pairs of them together are
    wrongly said to differ with probability alpha at most. board: the standard error that decides, if it is not `se`. shares:
    (draws,), `se` as a share of each true one that is plausible; the power is their mean."""
    if se == 0:
        return 1.0
    most = critical(systems, df, 1 - alpha) * (1.0 if board is None else board / se)
    ratio = difference / se * shares
    if math.isinf(df):
        return float(np.mean(scipy.stats.norm.sf(most - ratio) + scipy.stats.norm.cdf(-most - ratio)))
    # SciPy gives nan for the wrong way from a ratio of about 8, where it is 0.
    return float(np.mean(scipy.stats.nct.sf(most, df, ratio) + np.nan_to_num(scipy.stats.nct.cdf(-most, df, ratio))))


def _as_told(total: Callable[[Sequence[float]], float], told: Sequence[float], plausible: Draws) -> NDArray[np.float64]:
    """The standard error that a pilot tells as a share of each that is plausible: (draws,), or (1,) where it is known.
    total: variances, s2_CS and s2_AS first -> that of the difference, linear in them or nearly so."""
    here = total(told)
    if not here or not len(plausible):
        return CERTAIN
    variances, step = np.asarray(told, dtype=float), max(sum(told), 1e-3) / 1000
    slopes = [(total((variances + step * one).tolist()) - here) / step for one in np.eye(len(variances))]
    least = [total((0.0, 0.0, *rest)) for _, _, *rest in plausible]
    may_be = np.maximum(here + (np.asarray(plausible) - variances) @ slopes, least)
    return np.asarray(np.sqrt(here / may_be))


def power_for_difference(
    difference: float,
    components: Components,
    contexts: int,
    annotators: int,
    people: People = ONE_EACH,
    alpha: float = ALPHA,
    systems: int = 2,
    scale: Scale | None = None,
) -> float:
    """The chance that so large a difference of two systems' mean scores is found; 0 for one that the scale has no room for.

    Raises ValueError for fewer than two contexts or annotators."""
    if scale and scale.mean + difference > scale.high:
        return 0.0
    return _of_scores(components, contexts, annotators, people, alpha, systems, scale)[0](difference)


def power_for_win_rate(
    difference: float,
    assumed: PairAssumptions,
    meetings: float,
    annotators: int,
    people: People = ONE_EACH,
    alpha: float = ALPHA,
    systems: int = 2,
    contexts: float = math.inf,
    together: Together = PAIR,
) -> float:
    """The chance that a win rate so far from one half is found; 0 for one that ties leave no room for."""
    if difference >= (1 - assumed.ties) / 2:
        return 0.0
    error = _of_pairs(assumed, meetings, annotators, people, systems, contexts, together)
    logits = float(scipy.special.logit(0.5 + difference))
    return error(logits).power(together.strength(logits), alpha, systems)


def _of_scores(
    components: Components, contexts: int, annotators: int, people: People, alpha: float, systems: int, scale: Scale | None
) -> tuple[Callable[[float], float], Callable[[float], Error]]:
    """(difference -> power, difference -> its error)"""

    def alone(components: Components, ahead: bool) -> Alone:
        se, df = standard_error(components, contexts, annotators, people, systems, ahead)
        return Alone(se**2, df)

    others, of_others = alone(components, False), speak_of_people(annotators, systems)

    def total(told: Sequence[float]) -> float:
        output, leaning, rest = told
        return sum(_parts((output, leaning if of_others else 0.0, rest), contexts, annotators, people))

    told = components.context_system, components.leaning(True), components.residual
    shares = _as_told(total, told, components.plausible)

    def error(difference: float) -> Error:
        own = alone(components.ahead_by(scale.left(difference)) if scale else components, True)
        return Error.of(own, stated(own, others, systems), shares)

    return lambda difference: error(difference).power(difference, alpha, systems), error


def in_common(share: float, win: float) -> float:
    """The correlation of two wins with this chance, where that of two wins with chance one half is `share` and preferences are
    normal: less, the further from one half. At one half, correlations r of preferences give 2 asin(r) / pi (Sheppard 1899)."""
    r = math.sin(math.pi * min(share, MOST_CERTAIN) / 2)
    known = scipy.special.ndtr((scipy.special.ndtri(win) + math.sqrt(r) * NODES) / math.sqrt(1 - r))
    return float(NODE_WEIGHTS @ (known - win) ** 2) / (win * (1 - win))


def _of_pairs(
    assumed: PairAssumptions,
    meetings: float,
    annotators: int,
    people: People,
    systems: int,
    contexts: float,
    together: Together,
) -> Callable[[float], Error]:
    """logits -> their error"""
    as_if, of_others = meetings * systems / together.outputs, speak_of_people(annotators, systems)
    places, judgments = max(2.0, min(as_if, contexts)), as_if * _mean(people)

    def parts(told: Sequence[float]) -> tuple[float, float, float]:
        of_contexts, leaning = together.alike(told[0]), together.alike(told[1]) if of_others else 0.0
        rest = max(1 - of_contexts - leaning, 0.0) / judgments
        return of_contexts / places, leaning / annotators, rest

    def alone(logits: float, is_ahead: bool) -> Alone:
        win = float(scipy.special.expit(logits))
        slope, ahead = win * (1 - win), 2 * win - 1
        ties = assumed.ties * math.exp(-(scipy.special.ndtri(win) ** 2) / 2)
        variance = (
            together.variance(logits) * (1 - together.ties * ties - ahead**2) / 4 / slope**2
        )  # of an answer, in squared logits
        told = [in_common(share, win) for share in (assumed.context, assumed.leaning(is_ahead))]
        of_contexts, of_people, rest = (variance * part for part in parts(told))
        to_people, to_contexts = (variance * together.alike(one) / judgments * _apart(annotators, people) for one in told)
        se, df = _tested(of_contexts, of_people, rest, places, annotators, systems, to_people, to_contexts)
        return Alone(se**2, df)

    shares = _as_told(lambda told: sum(parts(told)), (assumed.context, assumed.leaning(True)), assumed.plausible)

    def error(logits: float) -> Error:
        own = alone(logits, True)
        return Error.of(own, stated(own, alone(0.0, False), systems), shares)

    return error


def detectable_difference(
    components: Components,
    contexts: int,
    annotators: int,
    people: People = ONE_EACH,
    alpha: float = ALPHA,
    power: float = POWER,
    systems: int = 2,
    scale: Scale | None = None,
) -> Detectable | None:
    """The smallest difference of two systems' mean scores that is found with this power; None where even a system with the
    scale's highest score throughout would not be found.

    Raises ValueError for fewer than two contexts or annotators."""
    power_at, error = _of_scores(components, contexts, annotators, people, alpha, systems, scale)
    high = scale.high - scale.mean if scale else error(0.0).own
    while not scale and power_at(high) < power:
        high *= 2
    if power_at(high) < power:
        return None
    difference = _smallest(power_at, power, high)
    known = error(difference)
    return Detectable(difference, known.board, known.df, power, alpha)


def detectable_win_rate(
    assumed: PairAssumptions,
    meetings: float,
    annotators: int,
    people: People = ONE_EACH,
    alpha: float = ALPHA,
    power: float = POWER,
    systems: int = 2,
    contexts: float = math.inf,
    together: Together = PAIR,
) -> Detectable | None:
    """How far from one half the win rate (ties counted half) of one of two systems over the other must be to be found.
    meetings: contexts on which the two meet, of so many contexts; together: what one answer compares. None where even winning
    every pair that is no tie would not be found."""
    error = _of_pairs(assumed, meetings, annotators, people, systems, contexts, together)

    def power_at(logits: float) -> float:
        return error(logits).power(together.strength(logits), alpha, systems)

    # Logits tell less the nearer a win rate is to 1, so the power has a maximum.
    far = scipy.special.logit(min(1 - assumed.ties / 2, MOST_CERTAIN))
    high = next((x for x in np.linspace(0, far, STEPS)[1:] if power_at(x) >= power), None)
    if high is None:
        return None
    logits = _smallest(power_at, power, float(high))
    known, slope = error(logits), scipy.special.expit(logits) * scipy.special.expit(-logits)
    slope *= logits / together.strength(logits) if logits else 1.0
    return Detectable(float(scipy.special.expit(logits)) - 0.5, float(known.board * slope), float(known.df), power, alpha)


def _smallest(power_at: Callable[[float], float], power: float, high: float) -> float:
    """power_at: difference -> power, enough at `high`."""
    if power_at(0.0) >= power:
        return 0.0
    return float(scipy.optimize.brentq(lambda difference: power_at(difference) - power, 0.0, high, xtol=1e-9 * high))
