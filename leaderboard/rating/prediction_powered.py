"""People and comparator together: the comparator judges everything, people a part, and people have the last word.

Prediction-powered inference (Angelopoulos et al. 2023), power-tuned (PPI++: Angelopoulos, Duchi & Zrnic 2023), for any
estimate and with contexts as what was sampled (predict-then-debias: Chen & Chen 2000; Kluger et al. 2025). With

    H  what people's judgments say
    L  what the comparator says of the same games
    A  what the comparator says of all games

the estimate is H - weight (L - A): how lucky the judged games were for a system in the comparator's eyes is taken off. A
biased comparator is as biased in L as in A, so it cancels; the weight that makes the variance smallest is read from
replicates over resampled contexts, and for a useless comparator it is near 0. Contexts that people judged must be no
easier or harder for one system than the others are: chosen at random, or by what the comparator does not see.

**The bound.** On few contexts the comparator may agree with people by chance, and then nothing seems left to doubt: the
weight is chosen on the same few contexts, and the variance that remains can be 0. So its correlation r with people is
taken to be t r, with t = m / (m + 4) and m the contexts that people judged: the "plus four" rule (Agresti & Coull 1998;
Agresti & Caffo 2000 for comparisons). For a win or a loss with even chances, of which the comparator tells the share d
wrongly, r = 1 - 2 d, and two contexts added on which it agrees and two on which it does not give (m d + 2) / (m + 4) in
place of d, which is t r in place of r. The variance that remains is then 1 - t^2 r^2 of people's, not 1 - r^2. The
weight is lowered until the replicates vary as much: the share 1 - sqrt(1 - t^2) of the best weight w leaves

    Var(H) - (2 s - s^2) Cov(H, L - A)^2 / Var(L - A) = Var(H) (1 - t^2 r^2),    s = 1 - sqrt(1 - t^2).

So a rating's replicates keep at least sqrt(1 - t^2) of people's standard deviation (0.70 with 10 contexts, 0.38 with 49,
0.20 with 200), and people's judgments are worth at most 1 / (1 - t^2) times as many (2.0, 6.9, 25.7).
The RD falls with the fourth root of that worth, so that what the pull of the start may have cost, which goes with RD^2
(`ranking`), falls as the replicates' standard deviation does.

**On people's mixed model** (`correct`), by the default rules: H is what all of their answers say (`people_board`), and of its
variance the part over contexts is reduced, by the share that replicates keep. A judge that takes nothing from the median
interval has weight 0, so that the board is never wider than people's. The correction holds whatever the judge's errors are. Its
own board holds only as far as it errs alike on all systems, which `transport` asks of each.

**Other people.** The replicates resample contexts, so they say what these annotators would have said of others. A
comparator knows nothing of annotators and takes nothing off what their tastes add; `tastes` works that out for H, and
`ranking` adds it. No annotator's leaning to a system is worth less for what a comparator says.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from leaderboard.rating import glicko2_static
from leaderboard.rating.decision import CONFIDENCE
from leaderboard.rating.games import Games, Standings
from leaderboard.rating.glicko2 import SCALE
from leaderboard.rating.pair_counts import resampled_scores, scores
from leaderboard.rating.people_board import Reading
from leaderboard.rating.ranking import PRECISION, Tastes, of_differences
from leaderboard.rating.rules import DEFAULT, Rules, replicates, standings

PLUS_FOUR = 4.0  # contexts added, of which the comparator tells two rightly and two wrongly
PRIOR_GAMES = 2.0  # ties that a win rate starts from, so that five wins of five are not a certainty


@dataclass(frozen=True)
class Calibrated:
    """standings, replicates: calibrated, as `ranking` takes them; people, people_replicates: of people alone;
    contexts: how many people judged on; weight: given to the comparator, from 0; judgments: people's;
    worth: how many of people's judgments would have said as much without the comparator."""

    standings: Standings
    replicates: np.ndarray
    people: Standings
    people_replicates: np.ndarray
    contexts: int
    weight: float
    judgments: int
    worth: float

    @property
    def saved(self) -> float:
        """How many judgments of people the comparator saved."""
        return self.worth - self.judgments


def calibrate(
    n_systems: int, people: Games, imitated: Games, everything: Games, draws: ArrayLike, rules: Rules = DEFAULT
) -> Calibrated:
    """Calibrated ratings.

    people: their games; imitated: the comparator's outcomes of the same games, one for one; everything: all games that
    the comparator judged, those among them; draws: (replicates, contexts) of `context_draws`. The rules' rating must
    not depend on the order of games.
    """
    _check_same(people, imitated)
    if rules.rating == "by-game":
        raise ValueError("Calibrated ratings need a rating that does not depend on the order of games.")
    alone = standings(n_systems, people, rules)
    resampled = replicates(n_systems, people, draws, rules)
    luck = standings(n_systems, imitated, rules).rating - standings(n_systems, everything, rules).rating
    luck_resampled = replicates(n_systems, imitated, draws, rules) - replicates(n_systems, everything, draws, rules)
    contexts = len(np.unique(people.context))
    least = float(_least_spread(contexts))
    weight = (1 - least) * float(_best_weight(resampled, luck_resampled, axis=None))
    calibrated = _not_narrower(resampled - weight * luck_resampled, least * resampled.std(axis=0))
    left = calibrated.var(axis=0).sum()
    gain = float(resampled.var(axis=0).sum() / left) if left > 0 else 1.0  # as if people had judged so many times more
    return Calibrated(
        replace(alone, rating=alone.rating - weight * luck, rd=alone.rd / gain**0.25),
        calibrated,
        alone,
        resampled,
        contexts,
        weight,
        len(people),
        len(people) * gain,
    )


@dataclass(frozen=True)
class CorrectedReading(Reading):
    """People's answers, corrected by a judge. shift: (s,), added to the ratings; kept: (s, s), the share of the variance over
    contexts that is left of i less j, at most 1 in the median; moved: (replicates, s), what resampled contexts change of the
    shift."""

    shift: np.ndarray = field(default_factory=lambda: np.zeros(1))
    kept: np.ndarray = field(default_factory=lambda: np.ones((1, 1)))
    moved: np.ndarray = field(default_factory=lambda: np.zeros((1, 1)))

    @property
    def rating(self) -> np.ndarray:
        return np.asarray(super().rating + self.shift)

    @property
    def level(self) -> np.ndarray:
        return np.asarray(super().level + self.shift / self.scale)

    def _differences(self, population: str) -> tuple[np.ndarray, np.ndarray]:
        alone, of_alone = super()._differences("annotators")
        if population == "annotators":
            return self.kept * alone, of_alone
        whole, df = super()._differences(population)
        return np.maximum(whole - alone, 0.0) + self.kept * alone, df

    def replicates(
        self, draws: ArrayLike, population: str = "people", seed: int = 0, groups: ArrayLike | None = None
    ) -> np.ndarray:
        return np.asarray(super().replicates(draws, population, seed, groups) + self.moved)


@dataclass(frozen=True)
class Correction:
    """reading: of people and judge; people: of people alone; weight: given to the judge, from 0; worth: how many times as many
    contexts of people's answers would have said as much."""

    reading: CorrectedReading
    people: Reading
    weight: float
    worth: float


def correct(
    reading: Reading,
    people: Games,
    imitated: Games,
    everything: Games,
    draws: ArrayLike,
    rules: Rules = DEFAULT,
    groups: ArrayLike | None = None,
) -> Correction:
    """People's estimate less weight (L - A), where the judge takes from their variance over contexts, and nothing from what
    annotators add. The judge's weight is 0 where the median interval would not be narrower. Arguments as in `calibrate`;
    groups: (contexts,), of contexts that are drawn together."""
    _check_same(people, imitated)
    n, times, played = len(reading.component), np.asarray(draws), len(reading.by_context)
    least = float(_least_spread(len(np.unique(people.context))))
    luck = standings(n, imitated, rules).rating - standings(n, everything, rules).rating
    resampled = replicates(n, imitated, times, rules) - replicates(n, everything, times, rules)
    of_people = reading.replicates(
        times[:, :played], "annotators", groups=None if groups is None else np.asarray(groups)[:played]
    )
    weight = (1 - least) * float(_best_weight(of_people, resampled, axis=None))
    kept, share = _kept(reading, of_people, of_people - weight * resampled, least)
    told = {f.name: getattr(reading, f.name) for f in fields(Reading)}
    found = CorrectedReading(**told, shift=-weight * luck, kept=kept, moved=-weight * (resampled - luck))
    if weight > 0 and found.width() < reading.width():
        return Correction(found, reading, weight, 1 / share)
    nothing = CorrectedReading(**told, shift=np.zeros(n), kept=np.ones((n, n)), moved=np.zeros_like(resampled))
    return Correction(nothing, reading, 0.0, 1.0)


def _kept(reading: Reading, before: np.ndarray, after: np.ndarray, least: float) -> tuple[np.ndarray, float]:
    """(the share of each difference's variance over contexts that is left (s, s), of all together); before, after:
    (replicates, s). One judge serves all, so that no difference keeps less than all do together."""
    same = np.triu(reading.component[:, None] == reading.component[None, :], 1)
    old, new = (of_differences(np.cov(one, rowvar=False).reshape(same.shape)) for one in (before, after))
    share = max(float(new[same].sum() / max(old[same].sum(), np.finfo(float).tiny)), least**2)
    return np.maximum(new / np.maximum(old, np.finfo(float).tiny), share) + np.eye(len(same)), share


Transported = Literal["PASS", "FAIL", "INCONCLUSIVE"]


def transport(
    correction: Correction, imitated: Games, draws: ArrayLike, margin: float = PRECISION, rules: Rules = DEFAULT
) -> list[Transported]:
    """(systems,) verdicts: is the judge's error on this system the same as on the others? Its error is its rating of the system
    from the games that people judged, less people's rating, each against the mean of the systems. PASS: within the margin
    (rating points), with the confidence of an interval; FAIL: beyond it; else INCONCLUSIVE, as where it met no other system."""
    reading, times = correction.people, np.asarray(draws)
    n, played = len(reading.component), len(reading.by_context)
    judge, again = standings(n, imitated, rules).rating, replicates(n, imitated, times, rules)
    error = _centred(judge - reading.rating, reading)
    spread = _centred(again - reading.replicates(times[:, :played], "annotators"), reading).var(axis=0, ddof=1)
    people = np.diag(reading.covariance("people") - reading.covariance("annotators")) if reading.speaks_of_people() else 0.0
    contexts = len(np.unique(imitated.context))
    few = contexts / max(contexts - 1, 1)
    reach = scipy.stats.t.ppf((1 + CONFIDENCE) / 2, max(contexts - 1, 1)) * np.sqrt(few * spread + np.maximum(people, 0.0))
    alone = np.bincount(reading.component)[reading.component] == 1
    verdicts: list[Transported] = []
    for off, within, by_itself in zip(np.abs(error), reach, alone):
        if by_itself or contexts < 2:
            verdicts.append("INCONCLUSIVE")
        else:
            verdicts.append("PASS" if off + within < margin else "FAIL" if off - within > margin else "INCONCLUSIVE")
    return verdicts


def _centred(values: np.ndarray, reading: Reading) -> np.ndarray:
    """values: (..., s), less the mean of each group of systems"""
    same = (reading.component[:, None] == reading.component[None, :]).astype(float)
    return np.asarray(values - values @ (same / same.sum(axis=1, keepdims=True)).T)


def worth_by_chance(judgments: int, contexts: int) -> float:
    """What people's judgments seem worth beside a comparator that knows nothing, in all but 5% of cases.

    Over m contexts, the correlation of two things that have none is above 1.645 / sqrt(m) in 5% of cases, and with a
    correlation r, n judgments are worth n / (1 - t^2 r^2) (the bound, above). One weight serves all systems, so chance
    reaches that less often."""
    kept = 1 - float(_least_spread(contexts)) ** 2  # t^2
    return judgments / (1 - kept * min(float(scipy.stats.norm.ppf(0.95)) ** 2 / max(contexts, 1), 1.0))


def tastes(people: Standings, games: Games, annotator: ArrayLike, reading: Reading) -> Tastes:
    """What other annotators would add to people's ratings (`Calibrated.people`) by the default rule.

    games: people's; annotator: int (games,), whose each is; reading: of the same answers. With G what a game moves
    (`glicko2_static.influence`) and T the leaning of an annotator to a system in it, the ratings move by G T; resampled
    contexts hold of that what each annotator does on one context, so it is left out here (as in Cameron, Gelbach &
    Miller 2011, equation 2.10: the variance over annotators less that over annotators on contexts)."""
    n, whose = len(people.rating), np.unique(np.asarray(annotator), return_inverse=True)[1]
    moved = glicko2_static.influence(scores(n, games)[0], people.rating, people.rd, games.first, games.second)
    of_context = np.unique(np.stack([whose, games.context]), axis=1, return_inverse=True)[1].ravel()
    unit = _together(moved, games, whose) - _together(moved, games, of_context)
    size, direction = np.linalg.eigh(unit)
    to_logits = (reading.scale / SCALE) ** 2
    variance, uncertainty = reading.fit.variances["taste"], reading.fit.uncertainty("taste")
    return Tastes(
        (direction * np.maximum(size, 0.0)) @ direction.T, float(to_logits * variance), float(to_logits**2 * uncertainty)
    )


def _together(moved: np.ndarray, games: Games, who: np.ndarray) -> np.ndarray:
    """Covariance (systems, systems) of the ratings where each of `who` (games,) has a leaning of variance 1 to each system;
    moved: (systems, games)"""
    n, g = len(moved), len(games)
    columns = np.concatenate([who * n + games.first, who * n + games.second])
    signs = np.repeat([1.0, -1.0], g)
    leanings = scipy.sparse.csr_array(
        (signs, (np.tile(np.arange(g), 2), columns)), shape=(g, (int(who.max(initial=-1)) + 1) * n)
    )
    by_leaning = leanings.T @ moved.T  # (who * systems, systems)
    together: np.ndarray = by_leaning.T @ by_leaning
    return together


@dataclass(frozen=True)
class WinRates:
    """Of i against j, a tie counting half: (systems, systems), nan where people judged on fewer than two contexts."""

    rate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray


def win_rates(
    n_systems: int, people: Games, imitated: Games, everything: Games, draws: ArrayLike, confidence: float = CONFIDENCE
) -> WinRates:
    """Calibrated win rates with intervals, each by itself; the arguments are those of `calibrate`."""
    _check_same(people, imitated)
    point = [_rates(*scores(n_systems, games)[:2]) for games in (people, imitated, everything)]
    again = [_rates(*resampled_scores(n_systems, games, draws)[:2]) for games in (people, imitated, everything)]
    contexts = _contexts_met(n_systems, people)
    weight = (1 - _least_spread(contexts)) * _best_weight(again[0], again[1] - again[2], axis=0)
    rate = point[0] - weight * (point[1] - point[2])
    spread = (again[0] - weight * (again[1] - again[2])).var(axis=0, ddof=1)
    met = scores(n_systems, people)[0]
    pulled = (PRIOR_GAMES / (met + PRIOR_GAMES)) ** 2 / 12  # 1 / 12: the variance of a win rate that may be anything
    error = np.sqrt(spread * contexts / np.maximum(contexts - 1, 1) + pulled)
    reach = scipy.stats.t.ppf((1 + confidence) / 2, np.maximum(contexts - 1, 1)) * error
    known = np.where(contexts < 2, np.nan, 1.0)
    rate, low, high = (np.clip(x, 0, 1) * known for x in (rate, rate - reach, rate + reach))
    return WinRates(rate, low, high, weight * known)


def _best_weight(people: np.ndarray, luck: np.ndarray, axis: int | None) -> np.ndarray:
    """The weight, from 0, that makes the variance of people - weight * luck smallest over replicates (axis 0); one for
    all (axis None) or one for each column."""
    people, luck = people - people.mean(axis=0), luck - luck.mean(axis=0)
    varies = np.maximum((luck**2).sum(axis=axis), np.finfo(float).tiny)
    weight: np.ndarray = np.maximum((people * luck).sum(axis=axis) / varies, 0.0)
    return weight


def _least_spread(contexts: ArrayLike) -> np.ndarray:
    """sqrt(1 - t^2): the smallest share of people's standard deviation that so many contexts can leave."""
    m = np.asarray(contexts, dtype=float)
    spread: np.ndarray = np.sqrt(1 - (m / np.maximum(m + PLUS_FOUR, 1)) ** 2)
    return spread


def _not_narrower(replicates: np.ndarray, least: np.ndarray) -> np.ndarray:
    """The replicates (replicates, systems), those of a system stretched about their mean where they vary by less than
    least (systems,). One weight serves all systems, so what it leaves of a single one has no bound of its own."""
    mean, spread = replicates.mean(axis=0), replicates.std(axis=0)
    stretch = np.maximum(least / np.maximum(spread, np.finfo(float).tiny), 1.0)
    stretched: np.ndarray = mean + (replicates - mean) * stretch
    return stretched


def _rates(met: np.ndarray, score: np.ndarray) -> np.ndarray:
    rates: np.ndarray = (score + PRIOR_GAMES / 2) / (met + PRIOR_GAMES)
    return rates


def _contexts_met(n_systems: int, games: Games) -> np.ndarray:
    """On how many different contexts i and j met: (systems, systems)."""
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    _, once = np.unique(np.stack([low, high, games.context]), axis=1, return_index=True)
    return scores(n_systems, games.take(once))[0]


def _check_same(people: Games, imitated: Games) -> None:
    if len(people) != len(imitated) or not replace(imitated, outcome=people.outcome).same_as(people):
        raise ValueError("The comparator must judge the same games as people, one for one.")
