"""What the ratings allow one to say: intervals, "A is above B", ranks as intervals, clusters of systems, the chance that a
system is the best, and how many games would say more.

Everything reads the ratings, their RDs and their replicates over resampled contexts (`rules.replicates`). A difference
d of two ratings has the variance of its replicates, plus what pulling both towards 1500 may have cost. The pull leaves
out the share RD^2 / 350^2 of a strength, and strengths vary by s, where s^2 is the mean of (rating - 1500)^2 + RD^2 over
the systems (empirical Bayes; Efron & Morris 1973): (s RD^2 / 350^2)^2 for each, which is all there is for a system
without games. "A is above B" is said of all pairs at once, so that with 95% confidence none of these statements is
false: d must exceed Tukey's studentised range (Tukey 1953; Hochberg & Tamhane 1987, chapter 3), with one degree of
freedom less than there are contexts, as contexts are what was sampled.

Where people judge, they are a sample too: `Tastes` is what others like them would add. The degrees of freedom of a sum
of two variances are Satterthwaite's (1946).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from leaderboard.rating.decision import CONFIDENCE, comparable, critical, decide, ranks
from leaderboard.rating.games import Standings
from leaderboard.rating.glicko2 import START_RATING, START_RD
from leaderboard.rating.people_board import PeopleBoard

MOST_TIMES = 10  # as much as there is now: no realistic campaign has more
PRECISION = 100.0  # rating points; a difference of 100 is an expected score of 0.64
DRAWS = 100_000  # of all ratings, for the chance to be the best: its error is at most 0.0016
DRAWS_AT_ONCE = 10_000
STEPS_OF_SHARE, STEPS_OF_FACTOR = 200, 40  # of the grid that `best_chances` draws from
LEAST_ERROR = 1e-9  # squared rating points, where none is stated


@dataclass(frozen=True)
class Errors:
    """What margins are made of. se, df: (systems, systems), of differences; compared: systems that can be compared; confidence:
    that the next board takes, which has one look more."""

    se: np.ndarray
    df: np.ndarray
    compared: int
    confidence: float


@dataclass(frozen=True)
class Ranking:
    """above: bool (systems, systems), is i known to be above j; rank_low, rank_high: int (systems,), 1 is best;
    difference, margin: (systems, systems), rating of i less that of j, and by how much it may be wrong; errors: what the
    margins are made of."""

    above: np.ndarray
    rank_low: np.ndarray
    rank_high: np.ndarray
    difference: np.ndarray
    margin: np.ndarray
    errors: Errors


@dataclass(frozen=True)
class Tastes:
    """What annotators' leanings to systems add to ratings where other people like them might have judged.

    unit: (systems, systems), covariance of the ratings for leanings with a variance of 1; variance: of the leanings, as
    estimated; uncertainty: the variance of that estimate.
    """

    unit: np.ndarray
    variance: float
    uncertainty: float

    @property
    def covariance(self) -> np.ndarray:
        """(systems, systems)"""
        return self.variance * self.unit

    def freedom(self, of_contexts: np.ndarray, contexts: int, unit: np.ndarray) -> np.ndarray:
        """Satterthwaite's degrees of freedom of variances that contexts give, with contexts - 1 degrees, and tastes add.

        of_contexts, unit: of the same contrasts, of one shape."""
        total = of_contexts + self.variance * unit
        spread = 2 * of_contexts**2 / freedom(contexts) + unit**2 * self.uncertainty
        return np.asarray(np.where(spread > 0, 2 * total**2 / np.where(spread > 0, spread, 1.0), freedom(contexts)))


def intervals(
    standings: Standings, replicates: ArrayLike, contexts: int, confidence: float = CONFIDENCE, tastes: Tastes | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Interval of each rating by itself: low, high (systems,).

    replicates: (replicates, systems), over contexts; contexts: how many different ones were played on; tastes: where the
    interval is to hold for other people too. Student's t times the standard deviation, which in the simulations of
    `make bench` covers as often as it says, where percentiles cover less.
    """
    variance, df = np.diag(covariance(standings, replicates, contexts)), np.asarray(freedom(contexts))
    if tastes is not None:
        df = tastes.freedom(variance, contexts, np.diag(tastes.unit))
        variance = variance + np.diag(tastes.covariance)
    reach = scipy.stats.t.ppf((1 + confidence) / 2, df) * np.sqrt(variance)
    return standings.rating - reach, standings.rating + reach


def compare(
    standings: Standings,
    replicates: ArrayLike,
    contexts: int,
    confidence: float = CONFIDENCE,
    looks: int = 1,
    tastes: Tastes | None = None,
    component: ArrayLike | None = None,
) -> Ranking:
    """Who is known to be above whom, and the ranks that leaves possible (Mogstad et al. 2024, "Inference for Ranks").

    looks: how often a tournament planned to look before it ended, as each look may be the one at which chance deceives
    (Bonferroni). The ranks hold together with the same confidence. component: int (systems,), the group of systems that met,
    directly or through others; of two groups nothing is known. The others as in `intervals`.
    """
    variance = of_differences(covariance(standings, replicates, contexts))
    n, df = len(variance), np.full_like(variance, freedom(contexts))
    if tastes is not None:
        unit = of_differences(tastes.unit)
        df = tastes.freedom(variance, contexts, unit)
        variance = variance + tastes.variance * unit
    difference = standings.rating[:, None] - standings.rating[None, :]
    group = None if component is None else np.asarray(component)
    se, level = np.sqrt(variance), 1 - (1 - confidence) / looks
    margin, above = decide(difference, se, df, group, level)
    errors = Errors(se, df, comparable(np.zeros(n, dtype=np.int64) if group is None else group), level)
    return Ranking(above, *ranks(above, group), difference, margin, errors)


def of_board(board: PeopleBoard) -> Ranking:
    """What a board of people says of ranks."""
    errors = Errors(board.se, board.df, comparable(board.component), board.next_confidence)
    return Ranking(board.above, board.rank_low, board.rank_high, board.difference, board.margin, errors)


def parted(ranking: Ranking, rating: ArrayLike, precision: float = PRECISION) -> bool:
    """Is each system known to be above the next in rank, or their difference known to `precision` points?"""
    order = np.argsort(-np.asarray(rating), kind="stable")
    upper, lower = order[:-1], order[1:]
    return bool((ranking.above[upper, lower] | (ranking.margin[upper, lower] <= precision)).all())


def clusters(rating: ArrayLike, above: ArrayLike, compared: ArrayLike) -> np.ndarray:
    """Clusters of significance, as tables of WMT print them (Bojar et al. 2013, 2017, "Findings of the Conference on Machine
    Translation"): in order of rating, a new cluster begins where every system before is known to be above every one from
    there on.

    rating: (systems,); above: bool (systems, systems), is i known to be above j; compared: bool (systems,), the others
    are in no cluster. int (systems,), 1 is best, 0 is none.
    """
    rating, above = np.asarray(rating, dtype=float), np.asarray(above, dtype=bool)
    order = np.argsort(-rating, kind="stable")
    order = order[np.asarray(compared, dtype=bool)[order]]
    cluster = np.zeros(len(rating), dtype=np.int64)
    for k, system in enumerate(order):
        begins = k == 0 or above[np.ix_(order[:k], order[k:])].all()
        cluster[system] = begins + (cluster[order[k - 1]] if k else 0)
    return cluster


def best_chances(
    rating: ArrayLike, covariance: ArrayLike, freedom: float = np.inf, draws: int = DRAWS, seed: int = 0
) -> np.ndarray:
    """How often each system is the highest, in draws of the strengths given the estimates: (systems,), sums to 1.

    rating: (systems,); covariance: (systems, systems); freedom: of the covariance, which is right but for one factor
    f / chi2(f) (multivariate t: Kotz & Nadarajah 2004). Strengths are normal around their mean; which share of what is seen
    between systems is error, is uniform before it is seen (Strawderman 1971, Ann. Math. Stat. 42; Daniels 1999, Can. J. Stat.
    27). So the highest of many that hardly differ is not taken for what it seems (partial pooling: Gelman, Hill & Yajima 2012,
    "Why we (usually) don't have to worry about multiple comparisons"). A Monte Carlo share p has the error
    sqrt(p (1 - p) / draws).
    """
    estimates, n = np.asarray(rating, dtype=float), len(np.asarray(rating))
    contrasts = np.linalg.qr(np.eye(n) - 1 / n)[0][:, : n - 1]
    size, turned = np.linalg.eigh(contrasts.T @ np.asarray(covariance, dtype=float) @ contrasts)
    error = np.maximum(size, 0.0)  # (systems - 1,)
    axes = contrasts @ turned  # (systems, systems - 1), along which errors are independent
    along = (estimates - estimates.mean()) @ axes
    of_errors, quantiles = ((np.arange(steps) + 0.5) / steps for steps in (STEPS_OF_SHARE, STEPS_OF_FACTOR))
    factor = freedom / scipy.special.chdtri(freedom, quantiles) if np.isfinite(freedom) else np.ones(1)
    strengths = np.repeat(max(error.mean(), LEAST_ERROR) * (1 - of_errors) / of_errors, len(factor))  # (cells,) variances
    errors = np.tile(factor, len(of_errors))[:, None] * error  # (cells, systems - 1)
    total = strengths[:, None] + errors
    log_chance = -(np.log(total) + along**2 / total).sum(axis=1) / 2
    weight = np.exp(log_chance - log_chance.max())
    rng, wins = np.random.default_rng(seed), np.zeros(n)
    for start in range(0, draws, DRAWS_AT_ONCE):
        cell = rng.choice(len(weight), size=min(DRAWS_AT_ONCE, draws - start), p=weight / weight.sum())
        kept = strengths[cell, None] / total[cell]  # (draws, systems - 1) of each estimate
        drawn = kept * along + np.sqrt(kept * errors[cell]) * rng.normal(size=kept.shape)
        wins += np.bincount((drawn @ axes.T).argmax(axis=1), minlength=n)
    return wins / draws


def games_to_part(
    ranking: Ranking, rating: ArrayLike, games: int, precision: float = PRECISION, only: Ranking | None = None
) -> list[tuple[int, int, int | None]]:
    """A forecast, best rank first: (rank, next rank, how many more games until the two part).

    Only neighbours that have not parted and are not known to be close are listed, and of these only those that MOST_TIMES the
    games would part. The next board is meant, which has one look more. If the difference is what it seems, half of all
    campaigns have told it by then. only: what is known of these annotators alone. None games: only more annotators would tell.
    """
    order = np.argsort(-np.asarray(rating), kind="stable")
    forecast: list[tuple[int, int, int | None]] = []
    for rank, (i, j) in enumerate(zip(order[:-1], order[1:]), start=1):
        if not ranking.above[i, j] and precision < ranking.margin[i, j] < np.inf:  # infinite: they never met
            error = _Growing.of(ranking.errors, (only or ranking).errors, i, j)
            times = error.times_to_tell(float(ranking.difference[i, j]))
            if times is not None:
                forecast.append((rank, rank + 1, int(np.ceil(games * (times - 1))) if np.isfinite(times) else None))
    return forecast


@dataclass(frozen=True)
class _Growing:
    """What the error of a difference becomes with more games. chance: a variance that shrinks as they grow, with df degrees of
    freedom, which grow with them; lasting: the variance that people's tastes add, which no game of theirs makes smaller, and
    spread: lasting^2 / its degrees of freedom, so that the sum has today those that Satterthwaite's formula gave it."""

    errors: Errors
    lasting: float
    chance: float
    df: float
    spread: float

    @classmethod
    def of(cls, whole: Errors, of_games: Errors, i: int, j: int) -> _Growing:
        variance, chance = (float(errors.se[i, j]) ** 2 for errors in (whole, of_games))
        chance, df = min(chance, variance), float(of_games.df[i, j])
        spread = max(variance**2 / float(whole.df[i, j]) - chance**2 / df, 0.0) if variance > chance else 0.0
        return cls(whole, variance - chance, chance, df, spread)

    def margin(self, times: float) -> float:
        """At so many times the games."""
        chance = self.chance / times
        spread = self.spread + chance**2 / (self.df * times)
        variance = self.lasting + chance
        df = variance**2 / spread if spread else np.inf
        return critical(self.errors.compared, df, self.errors.confidence) * float(np.sqrt(variance))

    def times_to_tell(self, difference: float) -> float | None:
        """At how many times the games the margin is the difference; infinite: at none, for people's tastes; None: beyond
        MOST_TIMES."""
        if self.margin(1) <= difference:
            return 1.0
        if self.margin(MOST_TIMES) <= difference:
            return float(scipy.optimize.brentq(lambda times: self.margin(times) - difference, 1, MOST_TIMES, xtol=1e-4))
        by_people = self.margin(np.inf) > difference and self.margin(1) < np.sqrt(MOST_TIMES) * difference
        return np.inf if by_people else None


def covariance(standings: Standings, replicates: ArrayLike, contexts: int) -> np.ndarray:
    """(systems, systems), of the ratings. Few contexts vary less in resamples than in truth: by (contexts - 1) / contexts."""
    replicates = np.atleast_2d(np.asarray(replicates, dtype=float))
    n = len(standings.rating)
    if replicates.shape[1] != n:
        raise ValueError(f"The replicates hold {replicates.shape[1]} systems, the standings {n}.")
    strengths = min(float(np.mean((standings.rating - START_RATING) ** 2 + standings.rd**2)), START_RD**2)  # s^2
    pulled = (standings.rd / START_RD) ** 4 * strengths
    if contexts < 2:  # one context says nothing about how contexts differ
        return np.diag(np.maximum(standings.rd**2, pulled))
    return np.cov(replicates, rowvar=False).reshape(n, n) * contexts / (contexts - 1) + np.diag(pulled)


def of_differences(covariance: np.ndarray) -> np.ndarray:
    """The variances of i less j: (systems, systems)"""
    spread = np.diag(covariance)
    variance: np.ndarray = np.maximum(spread[:, None] + spread[None, :] - 2 * covariance, 0)
    return variance


def freedom(contexts: int) -> int:
    """Degrees of freedom where so many contexts were sampled."""
    return max(contexts - 1, 1)
