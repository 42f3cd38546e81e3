"""Scores and judgments of pairs of one question, on one board.

Each kind is read by itself (`people_board`). Both say how systems differ, in ratings: scores d1 = t + e1, judgments of pairs
d2 = k t + e2, where k is how much more sharply pairs are told apart than by the chances that the scores give. k starts from
1 with a factor of SHARPER either way as one standard deviation, which two scales of one difference have in common; then t and
log k follow by generalised least squares (Gauss-Newton), each kind weighed by its precision. A kind that says little weighs
little, so that it takes nothing from the other.

The estimate is linear in all answers once k and the weights are given: W' y with rows of both kinds. People and contexts that
gave both kinds are one cluster each in its sandwich (`crossed.sandwich`), so nothing is assumed of how a person's scores and
judgments vary together. What k is not known by is in W: an error along t that k may explain has no weight of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import NDArray

from leaderboard.rating.crossed import sandwich
from leaderboard.rating.crossed.sandwich import Contrasts, Sandwich
from leaderboard.rating.glicko2 import START_RATING
from leaderboard.rating.mixed_model import Fit
from leaderboard.rating.people_board import PERSONAL, Answered, Reading, components_met, contrasts_of, numbered

Floats = NDArray[np.float64]

SHARPER = float(np.log(2))  # standard deviation of log k before anything was answered
MOST = 3.0  # of those, that k may be away from 1


def read_both(scores: Reading, pairs: Reading) -> Reading | None:
    """What scores and judgments of pairs say together; None where there are so many that the weight of each is not known."""
    if scores.answered is None or pairs.answered is None:
        return None
    n = len(scores.component)
    every = np.arange(n)
    places = np.concatenate([scores.component, scores.component.max() + 1 + pairs.component])
    component = components_met(n, np.concatenate([every, every]), places)
    basis = contrasts_of(component)  # (s, p)
    ratings = [one.rating - START_RATING for one in (scores, pairs)]
    information = [_information(one) for one in (scores, pairs)]
    k = _sharpness(basis, ratings, information)
    t = _together(basis, ratings, information, k)
    turns = _turns(basis, t, information, k)
    return _narrowest(_reading(scores, pairs, component, basis, t, turns, k), scores, pairs)


def _narrowest(both: Reading, scores: Reading, pairs: Reading) -> Reading:
    """One kind alone, where it compares the same systems and says more surely how they differ. By its nature the joint estimate
    is narrower; but how much narrower it is must be estimated, and a few answers may show more than they tell."""
    for one, other in ((scores, pairs), (pairs, scores)):
        assert other.answered is not None
        if one.component.tolist() == both.component.tolist() and one.width() < both.width():
            return replace(one, omitted=len(other.answered.left))
    return both


def _information(reading: Reading) -> Floats:
    """(s, s) of the ratings, each against its group's: the inverse of the model's covariance, at the level that answers show"""
    own = contrasts_of(reading.component)
    covariance = reading.scale**2 * reading.systems @ reading.fit.covariance() @ reading.systems.T
    same = (reading.component[:, None] == reading.component[None, :]) & ~np.eye(len(covariance), dtype=bool)
    spread = np.diag(covariance)
    of_model = (spread[:, None] + spread[None, :] - 2 * covariance)[same]
    shown = reading.scale**2 * reading.variance_of_differences()[same]
    level = float(shown.mean() / of_model.mean()) if same.any() and of_model.mean() > 0 else 1.0
    return np.asarray(own @ np.linalg.pinv(level * own.T @ covariance @ own, hermitian=True) @ own.T)


def _together(basis: Floats, ratings: list[Floats], information: list[Floats], k: float) -> Floats:
    """(p,) what both say, for this k"""
    whole = basis.T @ (information[0] + k**2 * information[1]) @ basis
    return np.asarray(np.linalg.solve(whole, basis.T @ (information[0] @ ratings[0] + k * information[1] @ ratings[1])))


def _sharpness(basis: Floats, ratings: list[Floats], information: list[Floats]) -> float:
    """k"""

    def misfit(steps: float) -> float:
        k = float(np.exp(steps * SHARPER))
        t = basis @ _together(basis, ratings, information, k)
        left = ratings[0] - t, ratings[1] - k * t
        return float(sum(one @ info @ one for one, info in zip(left, information)) + steps**2)

    best = scipy.optimize.minimize_scalar(misfit, bounds=(-MOST, MOST), method="bounded")
    return float(np.exp(best.x * SHARPER))


def _turns(basis: Floats, t: Floats, information: list[Floats], k: float) -> list[Floats]:
    """(p, s) each: how the ratings of each kind move what both say"""
    nothing, along = np.zeros((len(basis), 1)), (k * basis @ t)[:, None]
    slopes = np.hstack([basis, nothing]), np.hstack([k * basis, along])  # (s, p + 1) of d1 and d2 by t and log k
    pulls = [slope.T @ info for slope, info in zip(slopes, information)]
    whole = sum((pull @ slope for pull, slope in zip(pulls, slopes)), np.zeros((len(t) + 1,) * 2))
    whole[-1, -1] += 1 / SHARPER**2
    return [np.asarray(np.linalg.solve(whole, pull)[:-1]) for pull in pulls]


def _reading(
    scores: Reading, pairs: Reading, component: NDArray[np.int64], basis: Floats, t: Floats, turns: list[Floats], k: float
) -> Reading:
    """In points of the scores' scale."""
    assert scores.answered is not None and pairs.answered is not None
    unit, effects = scores.scale, t / scores.scale
    moves = [turn @ one.systems * one.scale / unit for turn, one in zip(turns, (scores, pairs))]  # (p, of each kind)
    told, of_pairs = (scores.answered, pairs.answered), k * unit / pairs.scale
    design = np.vstack([told[0].systems @ basis, of_pairs * (told[1].systems @ basis)])
    weights = np.vstack([one.fit.answers @ move.T for one, move in zip((scores, pairs), moves)])
    parted = [_parted(scores, basis @ effects), _parted(pairs, of_pairs * (basis @ effects))]
    left = np.concatenate([one.left + one.systems @ more for one, more in zip(told, parted)])
    variances, parts = dict(scores.fit.variances), _moved(scores.fit.parts, moves[0])
    of_their = {name: f"{name} of pairs" for name in pairs.fit.variances}
    variances |= {of_their[name]: value for name, value in pairs.fit.variances.items()}
    parts |= {of_their[name]: part for name, part in _moved(pairs.fit.parts, moves[1]).items()}
    information = scipy.linalg.block_diag(scores.fit.information, pairs.fit.information)
    fit = Fit(effects, variances, parts, information, np.nan, weights, {})
    contrasts = Contrasts(basis, component)
    annotator, context = (numbered(np.concatenate([getattr(one, name) for one in told])) for name in ("annotator", "context"))
    shown = _shown(fit, left, design, annotator, context, contrasts, told, (scores, pairs), moves)
    by_context = np.zeros((max(len(scores.by_context), len(pairs.by_context)), len(basis)))
    for one, turn in zip((scores, pairs), turns):
        by_context[: len(one.by_context)] += one.by_context @ turn.T @ basis.T
    people = int(annotator.max()) + 1
    origin = _origin(scores, basis @ effects, component)
    return Reading(fit, basis, unit, component, people, by_context, scores.variances, True, shown, origin=origin)


def _origin(scores: Reading, systems: Floats, component: NDArray[np.int64]) -> Floats:
    """(s,) what a system's effect is added to, to stand on the scores' scale: so that those of a group that were scored are on
    the mean where their scores put them; NaN where none of it was. systems: (s,) their effects"""
    scored = np.abs(scores.systems).sum(1) > 0
    apart = np.where(scored, scores.level - systems, 0.0)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(component, apart) / np.bincount(component, scored)
    return np.asarray(mean[component])


def _parted(reading: Reading, systems: Floats) -> Floats:
    """(s,) what a kind says by itself less what both say of it, each against its group"""
    apart = reading.systems @ reading.fit.effects - systems
    mean = np.bincount(reading.component, apart) / np.bincount(reading.component)
    return np.asarray(apart - mean[reading.component])


def _moved(parts: dict[str, Floats], move: Floats) -> dict[str, Floats]:
    return {name: move @ part @ move.T for name, part in parts.items()}


def _shown(
    fit: Fit,
    left: Floats,
    design: Floats,
    annotator: NDArray[np.int64],
    context: NDArray[np.int64],
    contrasts: Contrasts,
    told: tuple[Answered, Answered],
    readings: tuple[Reading, Reading],
    moves: list[Floats],
) -> Sandwich | None:
    if readings[0].shown is None or readings[1].shown is None:
        return None
    model = fit.covariance()
    both = numbered(annotator * (context.max() + 1) + context)
    people, places, cells = (
        sandwich.of_clusters(by, fit.answers, left, design, model, contrasts) for by in (annotator, context, both)
    )
    fixed = sandwich.meat(context, fit.answers, np.concatenate([one.impersonal for one in told]))
    least = sum((m @ one.shown.least @ m.T for m, one in zip(moves, readings) if one.shown), np.zeros_like(model))
    return Sandwich(contrasts, people, places, cells, model, fit.covariance(PERSONAL), fixed, least)
