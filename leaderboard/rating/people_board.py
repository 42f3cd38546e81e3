"""People's board: what every answer of theirs says about the systems, and how surely.

Scores are read by a linear mixed model (`mixed_model`): the systems are fixed; contexts, outputs, annotators (their severity)
and annotators' leanings to a system are random. So two outputs that different people scored can be compared, and every score
counts. Judgments of pairs are read by Bradley and Terry's model (1952; a tie is half a win) with the same random terms around
it: the estimate is that of generalised estimating equations, with a working covariance from the linearised mixed model
(marginal quasi-likelihood: Breslow & Clayton 1993, J. Am. Stat. Assoc. 88, section 2.4). The variance of a judgment is known,
it is the binomial one less what ties take; what outputs and people have of it is not the judgment's own. Its ratings speak of
the population's preferences.

Both are sampled: the contexts, and the people. What is said of *people in general* counts what annotators' leanings add to
the variance; what is said of *these annotators* does not. Differences are tested with Student's t and Satterthwaite's degrees
of freedom, all pairs at once with Tukey and Kramer's range (`decision.decide`).

Systems that were never judged on a common context, directly or through others, are not compared: each such group has a scale
of its own around 1500. Where each system had conversations of its own, no two have a context in common. Each system's are then
a sample of what it would have with users like these: what a context has is a part of what an output has, and systems meet at
the annotators who judged both.

Where a question is asked only after some answers about the output, hard contexts and strict people are asked more, of a good
system above all. So what a context or an annotator adds to all systems depends on which of them are asked about; as a random
term it would be taken off only in part. It is taken off whole, as a fixed effect is: its variance goes to infinity in the
weights alone (Mundlak 1978, Econometrica 46; Wooldridge 2010, Econometric Analysis of Cross Section and Panel Data, ch. 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from leaderboard.rating import mixed_model
from leaderboard.rating.crossed import many_pairs, sandwich
from leaderboard.rating.crossed.sandwich import Contrasts, Sandwich
from leaderboard.rating.decision import CONFIDENCE, at_look, decide, ranks
from leaderboard.rating.glicko2 import SCALE, START_RATING, START_RD
from leaderboard.rating.mixed_model import Fit, Term

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

POPULATIONS = ("people", "annotators")  # people like these annotators, or these annotators only
PERSONAL = ("annotator", "annotator, mean of systems", "taste", "taste of pairs")  # terms that speak of people
COMMON = ("context", "group", "group, mean of systems", "annotator", "annotator, mean of systems")  # alike for all systems
LEAST_ANNOTATORS = 4  # who can speak for others: with three, 95% intervals held the truth in 92% of simulated campaigns
LEAST_FREEDOM = 5  # annotators less one, times systems less one: with four and two systems, equal ones were told apart in 9%
MOST_IN_A_GROUP = 200  # levels of a group of contexts that are eliminated together
VARIANCE_ROUNDS, ROUNDS = (1, 2, 3, 4, 5), 12  # of linearising: those that estimate the variances anew, and at most
SETTLED = 1e-4  # logits
ENOUGH_ANSWERS = 20_000  # for the variances inside contexts; what people add is estimated from all answers
FEW_LEVELS = 300  # between contexts, of the part of many answers whose variances are a start
LEAST_OWN = 0.05  # of a judgment's variance, that is its own and no output's or person's
PROBIT_SLOPE = 4 / float(np.sqrt(2 * np.pi))  # logits of a chance of winning for a standard deviation of a difference, near 1/2


@dataclass(frozen=True)
class PeopleBoard:
    """For s systems. rating, low, high: (s,); difference, se, df, margin: (s, s), of i less j, and what it must exceed to be
    known; next_confidence: that of the next look; above: bool (s, s); rank_low, rank_high: int (s,), 1 is best; component:
    int (s,), the group of systems that can be compared; covariance: (s, s) of the ratings; scale: rating points for a point of
    the scores' scale (None for pairs); variances: of the model's terms, on the scores' scale or in squared logits; annotators:
    how many answered."""

    rating: Floats
    low: Floats
    high: Floats
    difference: Floats
    se: Floats
    df: Floats
    margin: Floats
    next_confidence: float
    above: NDArray[np.bool_]
    rank_low: Integers
    rank_high: Integers
    component: Integers
    covariance: Floats
    scale: float | None
    variances: dict[str, float]
    annotators: int


@dataclass(frozen=True)
class Answered:
    """The answers of a reading, one by one, for what reads two kinds together. systems: sparse (n, s), 1 and -1 where an answer
    is for and against a system; left, impersonal: (n,), what the model does not expect, with and without what the annotator
    would have said anywhere; annotator, context: (n,), as they were given, or the context's group."""

    systems: scipy.sparse.csr_matrix
    left: Floats
    impersonal: Floats
    annotator: Integers
    context: Integers


@dataclass(frozen=True)
class Reading:
    """What the model makes of people's answers. systems: (s, p), each system in the fitted effects; scale: rating points for
    a unit of the effects; component: int (s,); annotators: how many; by_context: (contexts, s), what each context's answers,
    as far as the model does not expect them, move the ratings; variances: the fit's, with what all systems have in common as
    a variance of its own; scores: whether scores were read; shown: how surely differences are known, by what the answers show
    (None: by the model, whose variances are those of more answers); look: how often
    these answers were read as they grew, this time included; answered: the answers, where the fit has their weights;
    omitted: how many more answers were given that would make differences less surely known; origin: (s,) what levels count
    from, where the effects are apart from a mean (None: from 0), NaN where that is not known."""

    fit: Fit
    systems: Floats
    scale: float
    component: Integers
    annotators: int
    by_context: Floats
    variances: dict[str, float]
    scores: bool
    shown: Sandwich | None = None
    look: int = 1
    answered: Answered | None = None
    omitted: int = 0
    origin: Floats | None = None

    @property
    def rating(self) -> Floats:
        """(s,), each group of systems around 1500"""
        return np.asarray(START_RATING + self.scale * self._against_mean() @ self.fit.effects)

    @property
    def level(self) -> Floats:
        """(s,) where each system stands on the scores' scale"""
        return np.asarray(self.systems @ self.fit.effects + (0.0 if self.origin is None else self.origin))

    @property
    def leaning_weights(self) -> Floats:
        """(n, p) how far a leaning to an answer's system moves the effects"""
        return self.fit.answers

    def speaks_of_people(self) -> bool:
        """Are there enough annotators to speak of others like them?"""
        return speak_of_people(self.annotators, int((np.abs(self.systems).sum(axis=1) > 0).sum()))

    def rated_by(self, part: Reading) -> Reading:
        """With the ratings of a part of these answers, and the uncertainty of all of them."""
        if part.component.tolist() != self.component.tolist() or part.systems.shape != self.systems.shape:
            raise ValueError("What the filter kept does not compare all systems that people's answers compare.")
        return replace(self, fit=replace(self.fit, effects=part.fit.effects * part.scale / self.scale))

    def board(self, population: str = "people") -> PeopleBoard:
        """What is known of "people" like these annotators, or of these "annotators" only."""
        if population not in POPULATIONS:
            raise ValueError(f"The population must be one of {', '.join(POPULATIONS)}, not {population!r}.")
        n, component = len(self.component), self.component
        same = component[:, None] == component[None, :]
        variance, df = self._differences(population)
        se = self.scale * np.sqrt(variance)
        se[~same] = np.inf
        rating = self.rating
        difference = rating[:, None] - rating[None, :]
        margin, above = decide(difference, se, df, component, at_look(self.look))
        covariance = self.covariance(population)
        lowest = np.where(same & ~np.eye(n, dtype=bool), df, np.inf).min(axis=1)  # of a system against each other
        own = np.maximum(np.diag(covariance), np.diag(self.covariance("annotators")))
        reach = _reach(own, lowest)
        alone = same.sum(axis=1) == 1  # nothing but the start is known
        reach[alone] = scipy.special.ndtri((1 + CONFIDENCE) / 2) * START_RD
        return PeopleBoard(
            rating,
            rating - reach,
            rating + reach,
            difference,
            se,
            df,
            margin,
            at_look(self.look + 1),
            above,
            *ranks(above, component),
            component,
            covariance,
            self.scale if self.scores else None,
            self.variances,
            self.annotators,
        )

    def covariance(self, population: str = "people") -> Floats:
        """(s, s) of the ratings, each against its group's mean: the one whose differences vary as they are known to"""
        same = (self.component[:, None] == self.component[None, :]).astype(float)
        centre = np.eye(len(same)) - same / same.sum(axis=1, keepdims=True)
        size, direction = np.linalg.eigh(-centre @ (self._differences(population)[0] * same) @ centre / 2)
        return np.asarray(self.scale**2 * (direction * np.maximum(size, 0.0)) @ direction.T)

    def _differences(self, population: str) -> tuple[Floats, Floats]:
        """(variance in the effects' unit, degrees of freedom) of i less j, (s, s) each. Nothing is known more surely of people
        in general than of these annotators."""
        variance, df = self._known_of("annotators")
        if population == "annotators":
            return variance, df
        whole, of_whole = self._known_of("people")
        return np.maximum(variance, whole), np.minimum(df, of_whole)

    def _known_of(self, population: str) -> tuple[Floats, Floats]:
        """`_differences` of one population by itself"""
        without, n = PERSONAL if population == "annotators" else (), len(self.component)
        first, second = np.triu_indices(n, 1)
        pairs = self.systems[first] - self.systems[second]  # (m, p)
        variance, df = np.zeros((n, n)), np.full((n, n), np.inf)
        of_model = ((pairs @ self.fit.covariance(without)) * pairs).sum(-1)
        variance[first, second] = variance[second, first] = np.maximum(of_model, 0.0)
        df[first, second] = df[second, first] = self.fit.freedom(pairs, without)
        df = np.maximum(df, 1.0)  # of few answers Satterthwaite's formula gives less than any sample has
        if self.shown is None:
            return variance, df
        shown, freedom = self.shown.differences(population == "annotators")
        told = np.isfinite(shown) & ~np.eye(n, dtype=bool)
        return np.where(told, shown, variance), np.where(told, freedom, df)

    def width(self) -> float:
        """The median 95% interval of a difference, in rating points, half of it"""
        variance, df = self._differences("people" if self.speaks_of_people() else "annotators")
        same = np.triu(self.component[:, None] == self.component[None, :], 1)
        return float(self.scale * np.median(_reach(variance[same], df[same]))) if same.any() else np.inf

    def variance_of_differences(self) -> Floats:
        """(s, s) of i less j in the effects' unit, among people in general"""
        return self._differences("people")[0]

    def replicates(
        self, draws: ArrayLike, population: str = "people", seed: int = 0, groups: ArrayLike | None = None
    ) -> Floats:
        """Ratings (replicates, s) where each row of draws (replicates, contexts) says how often a context counts; for
        "people", annotators are drawn too, from the model. Contexts move a rating as their answers do in the first order (the
        infinitesimal jackknife: Efron & Tibshirani 1993, section 21.3). groups: (contexts,), of contexts that are
        drawn together."""
        times = np.asarray(draws, dtype=float)  # (replicates, contexts)
        counted = np.flatnonzero(np.abs(self.by_context).sum(axis=1) > 0)
        played = len(counted if groups is None else np.unique(np.asarray(groups)[counted]))
        few = np.sqrt(played / (played - 1)) if played > 1 else 1.0
        moved = self.rating + few * (times - 1) @ self.by_context
        if population == "annotators":
            return np.asarray(moved)
        personal = self.covariance("people") - self.covariance("annotators")
        return np.asarray(moved + drawn_tastes(personal, len(times), seed))

    def _against_mean(self) -> Floats:
        """(s, p) each system less the mean of its group"""
        same = self.component[:, None] == self.component[None, :]
        return np.asarray((np.eye(len(same)) - same / same.sum(axis=1, keepdims=True)) @ self.systems)


def _reach(variance: Floats, df: Floats) -> Floats:
    """Half of a 95% interval"""
    return np.asarray(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, df) * np.sqrt(variance))


def drawn_tastes(covariance: Floats, replicates: int, seed: int = 0) -> Floats:
    """(replicates, s) draws of what annotators' leanings do to ratings with this covariance (s, s). By its symmetric root: two
    boards of the same people get like draws from one seed."""
    size, direction = np.linalg.eigh(covariance)
    root = (direction * np.sqrt(np.maximum(size, 0.0))) @ direction.T
    return np.asarray(np.random.default_rng([seed, replicates]).normal(size=(replicates, len(covariance))) @ root)


def speak_of_people(annotators: int, systems: int) -> bool:
    """Are so many annotators of so many systems enough to speak of others like them?"""
    return annotators >= LEAST_ANNOTATORS and (annotators - 1) * (systems - 1) >= LEAST_FREEDOM


def board_from_scores(*answers: Any, population: str = "people", **more: Any) -> PeopleBoard:
    """`read_scores`, and what is known of the population."""
    return read_scores(*answers, **more).board(population)


def board_from_pairs(*answers: Any, population: str = "people", **more: Any) -> PeopleBoard:
    """`read_pairs`, and what is known of the population."""
    return read_pairs(*answers, **more).board(population)


def read_scores(
    n_systems: int,
    system: ArrayLike,
    context: ArrayLike,
    annotator: ArrayLike,
    value: ArrayLike,
    group: ArrayLike | None = None,
    output: ArrayLike | None = None,
    like: Fit | None = None,
    own: bool = False,
    conditional: bool = False,
) -> Reading:
    """All (scores,): integers, and the value on the scale; group: of contexts that are not independent; output: where a system
    has several on a context; like: of answers that these are a part of, whose variances are taken; own: each context is one of
    a system's own conversations; conditional: an earlier answer about the output decided whether it was asked.

    An effect on the scores' scale becomes a rating by the chance that one person scores one output above the other on one
    context, which is normal in this model: near one half, 1.6 logits for each standard deviation of that difference."""
    system, places, whose = _integers(system), _integers(context), _integers(annotator)
    context, annotator, y = numbered(places), numbered(whose), np.asarray(value, dtype=float)
    outputs = context * n_systems + system if output is None else _integers(output)
    outputs, of_context = _nested(outputs, context)
    played, column = np.unique(system, return_inverse=True)
    terms = [
        Term("context", context[:, None], int(context.max()) + 1, inside=np.arange(context.max() + 1)),
        Term("output", outputs[:, None], len(of_context), inside=of_context),
        *_of_all(("annotator", "taste"), annotator, column, len(played)),
    ]
    if group is not None:
        groups = numbered(group)
        terms = _inside_groups([*terms, *_of_all(("group", "topic"), groups, column, len(played))], groups)
    if own:
        terms = _of_own(terms)
    if len(y) <= len(played):
        raise ValueError(f"{len(y)} scores of {len(played)} systems say nothing about how scores vary.")
    systems = np.eye(n_systems)[:, played]
    x = scipy.sparse.csr_matrix((np.ones(len(y)), (np.arange(len(y)), column)), shape=(len(y), len(played)))
    least = float(np.var(y)) / (len(y) + 1)  # as if one more answer differed from the others as any two answers do
    fit = _fitted(y, x, terms, annotator, least, _covering(like, terms))
    if conditional:
        fit = _within(y, x, terms, fit)
    apart = ("answer", "output", "taste", "topic") if own else ("answer", "output", "taste")
    scale = SCALE * PROBIT_SLOPE / float(np.sqrt(2 * sum(fit.variances.get(name, 0.0) for name in apart)))
    component = (
        components_met(n_systems, system, annotator if own else context) if least > 0 else np.arange(n_systems)
    )  # all alike: nothing is known
    residual = y - x @ fit.effects
    moved = _moved(fit, systems, residual, terms, places, component)
    variances = _of_model(fit.variances, len(played))
    where = context if group is None else numbered(group)
    shown = (
        None if like is not None else _shown(fit, residual, x, terms, annotator, where, Contrasts(systems, component), least)
    )
    told = Answered(
        x @ systems.T, residual, _impersonal(fit, residual, terms), whose, places if group is None else _integers(group)
    )
    people = int(annotator.max()) + 1
    return Reading(fit, systems, scale, component, people, scale * moved, variances, True, shown, answered=told)


def read_pairs(
    n_systems: int,
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    context: ArrayLike,
    annotator: ArrayLike,
    group: ArrayLike | None = None,
    outputs: tuple[ArrayLike, ArrayLike] | None = None,
    like: Fit | None = None,
) -> Reading:
    """All (judgments,): outcome +1 the first system is better, 0 a tie, -1 the second is; the rest as in `read_scores`."""
    first, second, places, whose = _integers(first), _integers(second), _integers(context), _integers(annotator)
    context, annotator, y = numbered(places), numbered(whose), (1 + np.asarray(outcome, dtype=float)) / 2
    component = components_met(n_systems, np.concatenate([first, second]), np.tile(np.arange(len(first)), 2))
    if len(np.unique(np.concatenate([annotator * n_systems + side for side in (first, second)]))) > mixed_model.MOST_DENSE:
        return _many(first, second, y, whose, Contrasts(contrasts_of(component), component), places, group)
    sides = [_integers(side) for side in outputs] if outputs else [context * n_systems + side for side in (first, second)]
    both, of_context = _nested(np.concatenate(sides), np.tile(context, 2))
    both, signs = both.reshape(2, -1).T, (1.0, -1.0)
    terms = [
        Term("output", both, len(of_context), signs, of_context),
        _crossed("taste", annotator, [first, second], n_systems, signs),
    ]
    personal = _crossed("personal", annotator, [both[:, 0], both[:, 1]], len(of_context), signs)
    often = personal.levels < 1.5 * len(y)  # people judged an output in several pairs, a quarter of the time or more
    if often if like is None else personal.name in like.variances:
        _, row = np.unique(personal.columns.ravel(), return_index=True)
        terms.append(replace(personal, inside=np.repeat(context, 2)[row]))
    if group is not None:
        groups = numbered(group)
        terms = _inside_groups([*terms, _crossed("topic", groups, [first, second], n_systems, signs)], groups)
    systems = contrasts_of(component)  # (s, p)
    x = _sides(first, second, n_systems)
    fit, unexpected = _marginal(y, x, systems, terms, annotator, _covering(like, terms))
    moved = _moved(fit, systems, unexpected, terms, places, component)
    where = context if group is None else numbered(group)
    shown = (
        None
        if like is not None
        else _shown(fit, unexpected, x @ systems, terms, annotator, where, Contrasts(systems, component), 1.0)
    )
    told = Answered(x, unexpected, _impersonal(fit, unexpected, terms), whose, places if group is None else _integers(group))
    people = int(annotator.max()) + 1
    return Reading(fit, systems, SCALE, component, people, SCALE * moved, fit.variances, False, shown, answered=told)


def _sides(first: Integers, second: Integers, n: int) -> scipy.sparse.csr_matrix:
    """(judgments, n): 1 and -1 where a system is first and second"""
    rows, signs = np.arange(len(first)), np.repeat([1.0, -1.0], len(first))
    return scipy.sparse.csr_matrix((signs, (np.tile(rows, 2), np.concatenate([first, second]))), shape=(len(first), n))


def _many(
    first: Integers,
    second: Integers,
    y: Floats,
    whose: Integers,
    contrasts: Contrasts,
    places: Integers,
    group: ArrayLike | None,
) -> Reading:
    """`read_pairs` of more people and systems than one dense matrix takes."""
    ridge, given = (SCALE / START_RD) ** 2, places if group is None else _integers(group)
    where, annotator = numbered(given), numbered(whose)
    found = many_pairs.read(first, second, y, where, annotator, contrasts, ridge)
    p = len(found.effects)
    variances = {"output": found.luck, "taste": found.taste, "answer": 1.0}
    added = found.alone - found.chance, found.covariance - found.alone, found.chance  # to the covariance
    parts = {name: part / v if v else np.zeros((p, p)) for (name, v), part in zip(variances.items(), added)}
    information = np.diag([0.0, 1 / found.uncertainty if found.uncertainty else 0.0, 0.0])
    fit = Fit(found.effects, variances, parts, information, np.nan, found.answers, {})
    told = (found.people, found.contexts, found.both)
    fixed = found.by_context.T @ found.by_context
    shown = Sandwich(contrasts, *told, found.covariance, found.alone, fixed, found.chance)
    systems, component = contrasts.systems, contrasts.component
    same = component[:, None] == component[None, :]
    moved = found.by_context @ (systems - same @ systems / same.sum(axis=1, keepdims=True)).T
    by_context = np.zeros((int(places.max()) + 1, len(component)))
    _, one = np.unique(where, return_index=True)  # a group moves the ratings where its first context stands
    by_context[places[one]] = moved
    people = int(annotator.max()) + 1
    every = None
    if len(found.answers):
        every = Answered(_sides(first, second, len(component)), found.left[0], found.left[1], whose, given)
    return Reading(fit, systems, SCALE, component, people, SCALE * by_context, variances, False, shown, answered=every)


def _shown(
    fit: Fit,
    residual: Floats,
    x: Any,
    terms: Sequence[Term],
    annotator: Integers,
    context: Integers,
    contrasts: Contrasts,
    least: float,
) -> Sandwich:
    """What the answers show of the estimate. x: (answers, p); least: what the variance of a single answer is at least"""
    design = np.asarray(x.toarray() if scipy.sparse.issparse(x) else x)
    model = fit.covariance()
    cells = numbered(annotator * (context.max() + 1) + context)
    fixed = sandwich.meat(context, fit.answers, _impersonal(fit, residual, terms))
    least_of = least * fit.parts["answer"]
    grouped = annotator, context, cells
    of = [sandwich.of_clusters(by, fit.answers, residual, design, model, contrasts) for by in grouped]
    annotators, contexts, both = of
    return Sandwich(contrasts, annotators, contexts, both, model, fit.covariance(PERSONAL), fixed, least_of)


def _impersonal(fit: Fit, unexpected: Floats, terms: Sequence[Term]) -> Floats:
    """(answers,) less what each annotator would have said anywhere"""
    for term in terms:
        if term.name in PERSONAL:
            unexpected = unexpected - term.matrix() @ fit.predicted[term.name]
    return unexpected


def _marginal(
    y: Floats, x: scipy.sparse.csr_matrix, basis: Floats, terms: Sequence[Term], annotator: Integers, like: Fit | None = None
) -> tuple[Fit, Floats]:
    """Effects in logits, and what is unexpected in each answer: linearised, weighed and fitted anew until they stay. A tie
    leaves less to chance than a win or a loss would: the variance that is left is that of the ties observed."""
    ridge, ties = (SCALE / START_RD) ** 2, float((y == 0.5).sum())
    b, known = np.zeros(basis.shape[1]), {t.name: 0.0 for t in terms} | {"answer": 1.0}
    estimated: tuple[int, ...] = VARIANCE_ROUNDS
    of_part: Fit | None = like
    by_annotators = _part(terms, annotator, mixed_model.MOST_DENSE)
    rows = _some_contexts(terms) if by_annotators is None else by_annotators
    if like is not None:
        known, estimated = like.variances, ()
    elif rows is not None:
        met = components_met(x.shape[1], x[rows].indices, np.repeat(np.arange(rows.sum()), 2))
        their_terms = [_of_rows(term, rows) for term in terms]
        of_part, _ = _marginal(y[rows], x[rows], contrasts_of(met), their_terms, numbered(annotator[rows]))
        known, estimated = of_part.variances, () if by_annotators is not None else (1,)
        b = of_part.effects if len(of_part.effects) == len(b) else b
    for turn in range(ROUNDS):
        expected = x @ (basis @ b)  # (n,) logits
        p = scipy.special.expit(expected)
        slope = np.maximum(p * (1 - p), 1e-6)
        total = max(1 - ties / (4 * slope.sum() + 1), 1e-3) / slope  # variance of an answer, whoever gives it
        weights = 1 / np.maximum(total - 2 * sum(known[term.name] for term in terms), LEAST_OWN * total)
        z = expected + (y - p) / slope
        problem = mixed_model.Problem(z, x, terms, weights, basis, ridge)
        if turn in estimated:
            start, held = known if of_part or turn > estimated[0] else None, of_part is not None
            ratios = problem.likeliest(1.0, start, held)
        else:
            ratios = problem.ratios(known)
        fit = problem.solved(ratios, 1.0, informed=False)
        known = fit.variances
        step, b = np.abs(fit.effects - b).max(initial=0.0), fit.effects
        if turn > max(estimated, default=0) and step < SETTLED:
            break
    fit = problem.solved(ratios, 1.0)
    if of_part is not None and not estimated:
        fit = _informed(fit, of_part)
    return fit, z - x @ (basis @ b)


def _fitted(
    y: Floats, x: scipy.sparse.csr_matrix, terms: Sequence[Term], annotator: Integers, least: float, like: Fit | None
) -> Fit:
    """The model, with variances from as many annotators, drawn at random, as one dense matrix takes. Where many answers tell
    them, they are looked for from what a few of the annotators tell."""
    if like is not None:
        return _informed(mixed_model.fit(y, x, terms, variances=like.variances), like)
    rows = _part(terms, annotator, mixed_model.MOST_DENSE)
    if rows is not None:
        known = _fitted_part(y, x, terms, annotator, least, rows)
        return _informed(mixed_model.fit(y, x, terms, variances=known.variances), known)
    few = _part(terms, annotator, FEW_LEVELS) if len(y) > ENOUGH_ANSWERS else None
    start = None if few is None else _fitted_part(y, x, terms, annotator, least, few).variances
    return mixed_model.fit(y, x, terms, least=least, start=start)


def _within(y: Floats, x: scipy.sparse.csr_matrix, terms: Sequence[Term], fit: Fit) -> Fit:
    """The fit with the weights of answers inside contexts and annotators; its variances are what they were."""
    far = mixed_model.LARGEST_RATIO * fit.variances["answer"]
    weighed_by = fit.variances | {term.name: far for term in terms if term.name in COMMON}
    within = _informed(mixed_model.fit(y, x, terms, variances=weighed_by), fit)
    return replace(within, variances={name: fit.variances[name] for name in within.variances})


def _fitted_part(
    y: Floats, x: scipy.sparse.csr_matrix, terms: Sequence[Term], annotator: Integers, least: float, rows: NDArray[np.bool_]
) -> Fit:
    """`_fitted` to these answers, and to the systems that they speak of."""
    seen = np.flatnonzero(np.abs(x[rows]).sum(axis=0))
    part = [_of_rows(term, rows) for term in terms]
    return _fitted(y[rows], x[rows][:, seen], part, numbered(annotator[rows]), least, None)


def _covering(like: Fit | None, terms: Sequence[Term]) -> Fit | None:
    """The fit, if it has a variance for each of the terms."""
    return like if like is not None and {term.name for term in terms} <= like.variances.keys() else None


def _informed(fit: Fit, by: Fit) -> Fit:
    """The fit, with what another tells of the same variances."""
    order = [list(by.variances).index(name) for name in fit.variances]
    return replace(fit, information=by.information[np.ix_(order, order)])


def _part(terms: Sequence[Term], annotator: Integers, most: int) -> NDArray[np.bool_] | None:
    """The answers (answers,) of annotators drawn at random, as many as give at most so many levels between contexts; None: all
    answers."""
    between = sum(t.levels for t in terms if t.inside is None)
    if between <= most:
        return None
    people = annotator.max() + 1
    chosen = np.random.default_rng(0).permutation(people)[: max(LEAST_ANNOTATORS, people * most // between)]
    return None if len(chosen) == people else np.asarray(np.isin(annotator, chosen))


def _some_contexts(terms: Sequence[Term]) -> NDArray[np.bool_] | None:
    """The answers (answers,) of contexts, drawn at random, that tell the variances inside contexts; None: all."""
    inner = next(term for term in terms if term.inside is not None)
    assert inner.inside is not None
    context = inner.inside[inner.columns[:, 0]]  # (answers,)
    if len(context) <= 2 * ENOUGH_ANSWERS:
        return None
    order = np.random.default_rng(0).permutation(context.max() + 1)
    answers = np.bincount(context)[order]
    chosen = order[: 1 + int(np.searchsorted(np.cumsum(answers), ENOUGH_ANSWERS))]
    return None if len(chosen) == len(order) else np.asarray(np.isin(context, chosen))


def _of_rows(term: Term, rows: NDArray[np.bool_]) -> Term:
    levels, columns = np.unique(term.columns[rows], return_inverse=True)
    inside = None if term.inside is None else term.inside[levels]
    values = np.asarray(term.values)[rows] if np.ndim(term.values) == 2 else term.values
    return Term(term.name, columns.reshape(-1, term.columns.shape[1]), len(levels), values, inside)


def _moved(
    fit: Fit, systems: Floats, unexpected: Floats, terms: Sequence[Term], places: Integers, component: Integers
) -> Floats:
    """(contexts, s) how far each context's answers move the systems, each against its group; what an annotator would have said
    anywhere moves nothing"""
    unexpected = _impersonal(fit, unexpected, terms)
    moved = np.stack([np.bincount(places, column * unexpected) for column in fit.answers.T], axis=1)  # (contexts, p)
    same = component[:, None] == component[None, :]
    centre = np.eye(len(component)) - same / same.sum(axis=1, keepdims=True)
    return np.asarray(moved @ systems.T @ centre.T)


def _integers(values: ArrayLike) -> Integers:
    return np.asarray(values, dtype=np.int64)


def numbered(values: ArrayLike) -> Integers:
    """The same things numbered from 0 without gaps."""
    return np.asarray(np.unique(np.asarray(values), return_inverse=True)[1], dtype=np.int64).ravel()


def _nested(inner: NDArray[np.int64], outer: Integers) -> tuple[Integers, Integers]:
    """inner numbered from 0, and the outer one (levels,) that each belongs to"""
    _, first, number = np.unique(inner, return_index=True, return_inverse=True)
    return np.asarray(number, dtype=np.int64), outer[first]


def _crossed(name: str, one: Integers, systems: Sequence[Integers], n: int, signs: tuple[float, ...] = (1.0,)) -> Term:
    """A level for each of `one` with each system that it met."""
    cells = np.stack([one * n + system for system in systems], axis=1)  # (answers, 1 or 2)
    levels, number = np.unique(cells, return_inverse=True)
    return Term(name, number.reshape(cells.shape).astype(np.int64), len(levels), signs)


def _of_own(terms: list[Term]) -> list[Term]:
    """The terms, without that of contexts, each of which one system alone has, and without that of groups where they are as
    many as groups with a system: two terms for one thing can't be told apart."""
    levels = {term.name: term.levels for term in terms}
    twice = {"context"} | ({"group"} if levels.get("group") == levels.get("topic") else set())
    return [term for term in terms if term.name not in twice]


def _inside_groups(terms: list[Term], groups: Integers) -> list[Term]:
    """The terms, where groups have few levels all of them but people's inside their group, which is eliminated at once."""
    nested = []
    for term in terms:
        inside = np.zeros(term.levels, dtype=np.int64)
        inside[term.columns] = groups[:, None]
        nested.append(term if term.name in PERSONAL else replace(term, inside=inside))
    levels = np.bincount(np.concatenate([t.inside for t in nested if t.inside is not None]))
    return nested if levels.max() <= MOST_IN_A_GROUP else terms


def _of_all(names: tuple[str, str], one: Integers, system: Integers, n: int) -> list[Term]:
    """What each of `one` (a group of contexts, an annotator) adds to n systems, all of which vary and covary alike: the mean,
    and how systems differ, each with a variance of its own that is not below 0. Where one of them did not meet every system,
    or there are many, it is a variance of what all systems have in common and another of each system's own. That says the
    same but cannot go below 0: where the first is 0 in truth, half of all estimates want it to, and take from the second,
    which makes differences look surer than they are."""
    levels = int(one.max()) + 1
    if n == 1 or levels * n > mixed_model.MOST_DENSE or len(np.unique(one * n + system)) < levels * n:
        return [Term(names[0], one[:, None], levels), _crossed(names[1], one, [system], n)]
    contrasts = contrasts_of(np.zeros(n, dtype=np.int64))  # (n, n - 1)
    columns = one[:, None] * (n - 1) + np.arange(n - 1)
    return [
        Term(f"{names[0]}, mean of systems", one[:, None], levels, (float(1 / np.sqrt(n)),)),
        Term(names[1], columns, levels * (n - 1), contrasts[system]),
    ]


def _of_model(variances: dict[str, float], n: int) -> dict[str, float]:
    """The variances by the names of the model, where `_of_all` has those of means over n systems: such a mean times the root of
    n varies by n times what systems have in common, and by each system's own."""
    found = dict(variances)
    for common, own in (("annotator", "taste"), ("group", "topic")):
        if (mean := found.pop(f"{common}, mean of systems", None)) is not None:
            found[common] = max(0.0, (mean - variances[own]) / n)
    return found


def components_met(n: int, system: Integers, place: Integers) -> Integers:
    """Which systems met, where two meet at a common place, directly or through others: (s,) numbers of groups"""
    edges = scipy.sparse.csr_matrix((np.ones(len(system)), (system, n + place)), shape=(n + place.max() + 1,) * 2)
    _, label = scipy.sparse.csgraph.connected_components(edges, directed=False)
    return numbered(label[:n])


def contrasts_of(component: Integers) -> Floats:
    """An orthonormal basis of what sums to 0 in each group: (s, s - groups)"""
    columns = []
    for group in np.unique(component):
        members = np.flatnonzero(component == group)
        part = np.zeros((len(component), len(members) - 1))
        part[members] = np.linalg.qr(np.eye(len(members)) - 1 / len(members))[0][:, : len(members) - 1]
        columns.append(part)
    return np.concatenate(columns, axis=1)
