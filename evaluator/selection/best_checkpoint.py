"""Which checkpoint to keep, and which others may be as good.

The highest point of a curve is partly luck: the winner's curse. So the checkpoints' true strengths get a distribution: a slow
movement (a random walk), each checkpoint's own scatter, and the noise of contexts, which is known. How much they move and
scatter is taken from the curve by its marginal likelihood (Robbins 1956: empirical Bayes). Draws from what is then known of
all strengths at once say how often each is the highest, and which rank it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluator.selection.curve import Curve, Floats
from evaluator.selection.rules import Rules
from evaluator.selection.strengths import LEAST_UNITS, Strengths, by_unit, meetings, strengths

PANEL = 32  # checkpoints that all others are compared with
DRAWS = 4000
SIZES = np.array([0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])  # of movement and of scatter, in standard errors of a strength
CONFIDENCE = 0.95
SURELY_WORSE = 0.001  # of all checkpoints together
SMALLEST = 1e-6  # squared log-odds


@dataclass(frozen=True)
class Best:
    """step: the one to keep, the highest where too few units tell nothing of the noise; probability: that it is the best;
    rank_low, rank_high: its 95% interval of rank, 1 the best; not_worse: the steps that hold the best with 95% probability, the
    likeliest first."""

    step: int
    probability: float
    rank_low: int
    rank_high: int
    not_worse: list[int]


def all_strengths(curve: Curve) -> Strengths:
    """Of all checkpoints, from comparisons with a panel of them that is spread over the training."""
    panel = np.unique(np.linspace(0, len(curve) - 1, min(PANEL, len(curve))).round().astype(int))
    return strengths(meetings(curve, np.arange(len(curve)), panel))


def best(curve: Curve, rules: Rules, found: Strengths) -> Best:
    draws = drawn(curve, rules, found)
    chances = chances_of(draws)
    likely = kept(chances)
    first = likely[0] if curve.units.max() + 1 >= LEAST_UNITS else int(found.values[0].argmax())
    rank = 1 + (draws > draws[:, [first]]).sum(1)
    low, high = np.quantile(rank, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="inverted_cdf")
    return Best(int(curve.steps[first]), float(chances[first]), int(low), int(high), curve.steps[likely].tolist())


def drawn(curve: Curve, rules: Rules, found: Strengths) -> Floats:
    """(DRAWS, m) what the checkpoints' true strengths may be. How much they move and scatter is taken from the part of the
    training in which the best may lie: a steep beginning says nothing of how the best ones differ. One that the highest point
    beats by more than all chance is below it in each draw: no movement of one size explains a single leap between equals."""
    m = len(curve)
    each = by_unit(found.influences(np.eye(m) - 1 / m)[0], curve.units) / len(curve.groups)  # (m, u)
    surely_worse = _surely_worse(found.values[0], each)
    draws, first, end = np.empty((DRAWS, m)), 0, m
    while True:
        steps = np.arange(first, end)
        walk = np.minimum.outer(steps, steps).astype(float)
        part = _drawn(found.values[0, first:end], each[first:end], walk, [(a, b) for a in SIZES for b in SIZES], rules.seed)
        draws[:, first:end] = part
        part[:, surely_worse[first:end]] -= 2 * np.ptp(part) + 1.0
        may_be = first + np.flatnonzero(chances_of(part))
        if may_be[0] == first and may_be[-1] == end - 1:
            return draws
        first, end = int(may_be[0]), int(may_be[-1]) + 1


def _surely_worse(values: Floats, each: Floats) -> NDArray[np.bool_]:
    """(m,) which are below the highest of values (m,) by what units (m, u) say of both, with Bonferroni's correction"""
    m, u = each.shape
    if u < LEAST_UNITS:
        return np.zeros(m, dtype=bool)
    top = int(values.argmax())
    error = np.sqrt(((each - each[top]) ** 2).sum(1) * u / (u - 1) + SMALLEST)  # (m,)
    worse: NDArray[np.bool_] = values[top] - values > scipy.special.stdtrit(u - 1, 1 - SURELY_WORSE / m) * error
    return worse


def chances_of(draws: Floats) -> Floats:
    """(m,) how often each is the best in draws (d, m)"""
    chances: Floats = np.bincount(draws.argmax(1), minlength=draws.shape[1]) / len(draws)
    return chances


def kept(chances: Floats) -> list[int]:
    """The fewest of m whose chances to be the best sum to 95%, the likeliest first; of equal ones the earliest."""
    order = np.lexsort((np.arange(len(chances)), -chances))
    enough = int(np.searchsorted(np.cumsum(chances[order]), CONFIDENCE - 1e-9))
    return [int(i) for i in order[: enough + 1]]


def is_known(among_best: int, checkpoints: int) -> bool:
    """Is a best checkpoint worth naming? Not where more than half of several may be it."""
    return 2 * among_best <= max(checkpoints, 2)


def named(step: int, is_known: bool) -> str:
    """In a line of text."""
    return f"{'' if is_known else 'likeliest '}best step {step}"


def drawn_exchangeable(values: Floats, each: Floats, seed: int) -> Floats:
    """As of checkpoints, but each is as good as any other before they are compared: (DRAWS, r)."""
    return _drawn(values, each, np.zeros((len(values), len(values))), [(0.0, scatter) for scatter in SIZES], seed)


def _drawn(values: Floats, each: Floats, walk: Floats, sizes: list[tuple[float, float]], seed: int) -> Floats:
    """True strengths (DRAWS, m), given their estimates (m,) and what each unit does to them (m, u). walk: (m, m), a movement's
    covariance; sizes: of movement and scatter, in units of the noise, all equally likely before."""
    m = len(values)
    rng = np.random.default_rng(seed)
    if each.shape[1] < LEAST_UNITS:  # they tell nothing
        return rng.standard_normal((DRAWS, m))
    noise = _steady(each)
    unit = float(np.trace(noise)) / m
    anything = 100 * (unit + float(values.var())) + 1.0  # of the level that all have in common

    def prior(movement: float, scatter: float) -> Floats:
        found: Floats = unit * movement**2 * walk + anything
        found[np.diag_indices(m)] += unit * scatter**2
        return found

    told = np.empty(len(sizes))
    for i, size in enumerate(sizes):
        root = np.linalg.cholesky(prior(*size) + noise)
        told[i] = -np.log(np.diag(root)).sum() - 0.5 * (_solved(root, values) ** 2).sum()
    chances = np.exp(told - told.max())
    counts = rng.multinomial(DRAWS, chances / chances.sum())
    least = 1e-6 * unit + 1e-13 * m * anything  # variance that rounding may hide
    return np.concatenate([_part(rng, prior(*size), noise, values, least, int(n)) for size, n in zip(sizes, counts) if n])


def _steady(each: Floats) -> Floats:
    """The covariance (m, m) of sums over units (m, u), whose correlations are drawn towards none by as much as they are noise
    (Schäfer & Strimmer 2005), so that it can be inverted."""
    u = each.shape[1]
    sizes = np.sqrt((each**2).sum(1))  # (m,)
    z = each / np.where(sizes > 0, sizes, 1.0)[:, None]
    r = z @ z.T
    noise = (z**2 @ z.T**2 - r**2 / u) * u / (u - 1)  # (m, m), variances of r
    apart = ~np.eye(len(r), dtype=bool)
    drawn_in = min(1.0, float(noise[apart].sum()) / max(float((r[apart] ** 2).sum()), SMALLEST))
    r = np.where(apart, (1 - drawn_in) * r, 1.0)
    own = np.maximum(sizes * np.sqrt(u / (u - 1)), np.sqrt(SMALLEST))
    steady: Floats = r * np.outer(own, own) + SMALLEST * np.eye(len(r))
    return steady


def _part(rng: np.random.Generator, prior: Floats, noise: Floats, values: Floats, least: float, count: int) -> Floats:
    root = np.linalg.cholesky(prior + noise)
    known = _solved(root, np.column_stack([prior, values]))  # (m, m + 1)
    left = prior - known[:, :-1].T @ known[:, :-1]
    left[np.diag_indices(len(values))] += least
    expected = known[:, :-1].T @ known[:, -1]
    drawn: Floats = expected + rng.standard_normal((count, len(values))) @ np.linalg.cholesky(left).T
    return drawn


def _solved(root: NDArray[np.floating[Any]], b: Floats) -> Floats:
    """x of root x = b, for a lower triangular root: LAPACK itself, since a curve asks a hundred times"""
    x, _ = scipy.linalg.lapack.dtrtrs(root, b, lower=1)
    solved: Floats = x
    return solved
