"""What a pilot says about how much scores and judgments vary, for annotation/design/power.py.

It is read by the model that the board will be read by (`leaderboard.rating.people_board`). Its variances are estimated by
restricted maximum likelihood, so they are not too small for the means that were estimated with them. How much people differ
over one system as over no other is told by the mean squares of each difference, as the board has them.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from annotation.design.power import Components, PairAssumptions
from annotation.design.together import Together
from leaderboard.rating.people_board import Reading, numbered, read_pairs, read_scores
from leaderboard.rating.rankings.board import read_rankings
from leaderboard.rating.rankings.from_pairs import rankings_from_pairs

DRAWS = 64
LATTICE = 1 / 1.2207440846 ** np.arange(1, 4)  # spreads them evenly: powers of the root of x^4 = x + 1 (Roberts 2018, R3)
Variances = tuple[float, float, float]


def components_of(
    values: ArrayLike, systems: ArrayLike, contexts: ArrayLike, annotators: ArrayLike, ahead: Hashable | None = None
) -> Components | None:
    """Each (scores,): values on the scale, numbers or names for the rest; ahead: the system that is planned to be ahead of the
    others, to be told apart from them. None where no variance can be told: no more scores than systems, or all alike."""
    values = np.asarray(values, dtype=float)
    names, systems = np.unique(systems, return_inverse=True)
    contexts, annotators = (np.unique(column, return_inverse=True)[1] for column in (contexts, annotators))
    if not len(values) or np.ptp(values) == 0 or len(values) <= len(names):
        return None
    reading = read_scores(len(names), systems, contexts, annotators, values)
    v = reading.variances
    found = Components(v["output"], v["taste"], v["answer"], v["context"], v["annotator"])
    leanings = _leanings(reading, names, ahead)
    if leanings:
        found = replace(found, ahead=leanings[0], annotator_system=leanings[1])
    told = found.context_system, found.leaning(True) or _unseen(reading), found.residual
    of_people = len(names) - 1 if leanings is None else 1
    squares = MeanSquares.of(told, contexts, annotators, len(names), (len(names) - 1, of_people))
    return replace(found, plausible=squares.plausible())


def pair_assumptions_of(
    outcomes: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    contexts: ArrayLike,
    annotators: ArrayLike,
    ahead: Hashable | None = None,
) -> PairAssumptions | None:
    """outcomes: (judgments,) +1, 0 or -1 for the first of two systems; ahead: as above. None where there is nothing to learn
    from.

    Near one half, an outcome changes by half a logit, so variances s2 of outputs and leanings are 2 s2 / 4 of an outcome."""
    outcomes, contexts, annotators = (np.asarray(column) for column in (outcomes, contexts, annotators))
    systems, both = np.unique(np.concatenate([first, second]), return_inverse=True)
    decided = float(np.mean(outcomes != 0)) if len(outcomes) else 0.0
    if len(outcomes) < 2 or decided == 0:
        return None
    one, other = np.split(both, 2)
    reading = read_pairs(len(systems), one, other, outcomes, contexts, annotators)
    v = reading.fit.variances
    leanings = _leanings(reading, systems, ahead)
    context, most, annotator = (s2 / 2 / decided for s2 in (v["output"], *(leanings or (v["taste"], v["taste"]))))
    over = max(1.0, context + (most + annotator) / 2)
    found = PairAssumptions(1 - decided, context / over, annotator / over, ahead=most / over if leanings else None)
    of_people, apart = found.leaning(True), len(systems) - 1
    told = found.context, of_people or _unseen(reading) / 2 / decided / over, max(0.0, 1 - found.context - of_people)
    squares = MeanSquares.of(told, contexts, annotators, apart, (apart, apart if leanings is None else 1))
    return replace(found, plausible=[shares[:2] for shares in squares.plausible()])


def ranking_assumptions_of(
    outcomes: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    system_of: Mapping[int, Hashable],
    sheet: ArrayLike,
    contexts: ArrayLike,
    annotators: ArrayLike,
    ahead: Hashable | None = None,
) -> PairAssumptions | None:
    """The same of judgments that belong to rankings of several outputs. first, second: outputs; system_of: of each of them;
    sheet: (judgments,) the number of the ranking, -1 where it was given alone.

    Rankings of a context, or of a person, correlate at s2 c, with the variance s2 of leanings in logits and what a ranking
    tells, c; that is said as the correlation of pairs (`Together`)."""
    outcomes, contexts, annotators = (np.asarray(column) for column in (outcomes, contexts, annotators))
    decided = float(np.mean(outcomes != 0)) if len(outcomes) else 0.0
    if len(outcomes) < 2 or decided == 0:
        return None
    texts, both = np.unique(np.concatenate([first, second]), return_inverse=True)
    systems, system = np.unique([system_of[text] for text in texts.tolist()], return_inverse=True)
    one, other = np.split(both, 2)
    of = rankings_from_pairs(one, other, outcomes, sheet, system)
    contexts, annotators = contexts[of.judgment], annotators[of.judgment]
    place, person = numbered(contexts), numbered(annotators)
    reading = read_rankings(len(systems), of.ranking, system[of.output], of.rank, place, person, of.is_open)
    v, sizes = reading.variances, np.bincount(of.ranking)
    together = Together(int(np.bincount(sizes).argmax()), bool(of.is_open.mean() > 0.5))
    leanings = _leanings(reading, systems, ahead)
    telling = 1 / (2 * together.variance()) / v["answer"]
    alike = [s2 * telling for s2 in (v["output"], *(leanings or (v["taste"], v["taste"])))]
    alike = _unfitted(alike, len(np.unique(contexts)), len(np.unique(annotators)), (sizes - 1).sum() / max(len(systems) - 1, 1))
    alike = [share / max(1.0, alike[0] + (alike[1] + alike[2]) / 2) for share in alike]
    context, most, annotator = map(together.of_pairs, alike)
    found = PairAssumptions(1 - decided, context, annotator, ahead=most if leanings else None)
    of_people, apart = (alike[1] + alike[2]) / 2, len(systems) - 1
    told = alike[0], of_people or _unseen(reading) * telling, max(0.0, 1 - alike[0] - of_people)
    each = np.repeat(np.arange(len(sizes)), sizes - 1)  # what a ranking says
    squares = MeanSquares.of(told, contexts[each], annotators[each], apart, (apart, apart if leanings is None else 1))
    as_pairs = [1 / together.alike_at_first] * 2
    as_pairs = [pair / share if share else slope for pair, share, slope in zip((context, found.leaning(True)), told, as_pairs)]
    return replace(found, plausible=[[shares[0] * as_pairs[0], shares[1] * as_pairs[1]] for shares in squares.plausible()])


def _unfitted(alike: list[float], contexts: int, annotators: int, answers: float) -> list[float]:
    """Correlations in outputs, to the system ahead and to the others, once more than what the fitted strengths took from them:
    what those themselves vary by, as a share of a ranking. answers: that tell of a difference."""
    of_outputs, of_people = alike[0], (alike[1] + alike[2]) / 2
    taken = of_outputs / contexts + of_people / annotators + max(0.0, 1 - of_outputs - of_people) / answers
    return [share + taken if share else 0.0 for share in alike]


def _leanings(reading: Reading, names: NDArray[Any], ahead: Hashable | None) -> tuple[float, float] | None:
    """The variances of people's leanings to this system, and to the others on average, not below 0; None where it is not among
    three systems or more, or too few people and contexts tell. Twice a difference's is the sum of its systems'."""
    both = _differences(reading)
    if ahead not in names or len(names) < 3 or both is None or not np.isfinite(both).all():
        return None
    row = 2 * both.sum(axis=1)
    own = (row - row.sum() / 2 / (len(names) - 1)) / (len(names) - 2)
    is_ahead = names == ahead
    return max(0.0, float(own[is_ahead][0])), max(0.0, float(own[~is_ahead].mean()))


def _differences(reading: Reading) -> NDArray[np.float64] | None:
    """(s, s) the mean variance of people's leanings to two systems, as their difference shows it; below 0 by chance."""
    answers = reading.answered
    if reading.shown is None or answers is None:
        return None
    people, places = (np.unique(column, return_inverse=True)[1] for column in (answers.annotator, answers.context))
    severity = reading.variances["annotator"] if reading.scores else 0.0
    return reading.shown.leanings(reading.leaning_weights, answers.systems, people, places, severity)


def _unseen(reading: Reading) -> float:
    """What the mean squares say of the variance of people's leanings where the likelihood says 0: at most 0."""
    both = _differences(reading)
    return (
        min(0.0, float(np.nanmean(both[np.triu_indices(len(both), 1)])))
        if both is not None and np.isfinite(both).any()
        else 0.0
    )


@dataclass(frozen=True)
class MeanSquares:
    """Of a balanced design, per answer: contexts x systems, annotators x systems and the rest, with their degrees of freedom
    (Searle, Casella & McCulloch 1992, Variance Components, section 4.5). each: people on an output; per_person: contexts on
    which a person answers of a system; share: of the outputs that a person answers; shown: does the pilot show a variance of
    outputs?"""

    squares: Variances
    freedom: tuple[int, int, int]
    each: float
    per_person: float
    share: float
    shown: bool

    @classmethod
    def of(
        cls, variances: Variances, contexts: NDArray[Any], annotators: NDArray[Any], asked: int, freedom: tuple[int, int]
    ) -> "MeanSquares":
        """As a pilot with these answers has that finds these variances. contexts, annotators: (answers,). asked: what a context
        asks of, systems or independent differences of them; freedom: differences that tell of contexts, and of people."""
        n, people, (output, leaning, rest) = len(np.unique(contexts)), len(np.unique(annotators)), variances
        each = max(1.0, len(contexts) / (n * max(asked, 1)))
        share = min(1.0, each / people)
        per_person = max(1.0, n * share)
        by_people = max(0.0, leaning + (output * (1 - share) + rest) / per_person)
        told = output + (max(0.0, leaning) * (1 - share) + rest) / each, by_people, rest
        by_contexts, by_people = max(n - 1, 1) * max(freedom[0], 1), max(people - 1, 1) * max(freedom[1], 1)
        left = len(contexts) - (n + people) * asked
        degrees = by_contexts, by_people, left if left > 0 else min(by_contexts, by_people)
        return cls(told, degrees, each, per_person, share, output > 0)

    def plausible(self) -> list[list[float]]:
        """(DRAWS, 3): the variances that are plausible given these (see `power`), below 0 where chance may have made all that a
        mean square has more than the rest. A variance that the pilot does not show stays 0: its mean square was smaller than
        this one, by how much nobody knows."""
        levels = (0.5 + np.arange(1, DRAWS + 1)[:, None] * LATTICE) % 1
        by_contexts, by_people, rest = (np.asarray(self.squares) * self.freedom / scipy.stats.chi2.ppf(levels, self.freedom)).T
        # by_contexts = output + (leaning (1 - share) + rest) / each, by_people the other way round
        apart, b, d = 1 - self.share, by_contexts - rest / self.each, by_people - rest / self.per_person
        both = 1 - apart**2 / self.each / self.per_person
        output, leaning = (b - apart * d / self.each) / both, (d - apart * b / self.per_person) / both
        draws: list[list[float]] = np.transpose([output * self.shown, leaning, rest]).tolist()
        return draws
