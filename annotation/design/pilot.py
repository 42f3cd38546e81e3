"""What a pilot says about how much scores and judgments vary, for annotation/design/power.py.

It is read by the model that the board will be read by (`leaderboard.rating.people_board`). Its variances are estimated by
restricted maximum likelihood, so they are not too small for the means that were estimated with them. How much people differ
over one system as over no other is told by the mean squares of each difference, as the board has them.
"""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.design.power import Components, PairAssumptions
from leaderboard.rating.people_board import Reading, read_pairs, read_scores


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
    v, freedom = reading.variances, _fewest(contexts, annotators, systems)
    found = Components(v["output"], v["taste"], v["answer"], v["context"], v["annotator"], freedom)
    leanings = _leanings(reading, names, ahead)
    if leanings is None:
        return found
    return replace(found, ahead=leanings[0], annotator_system=leanings[1], freedom=freedom / (len(names) - 1))


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
    v, freedom = reading.fit.variances, _fewest(contexts, annotators, systems)
    leanings = _leanings(reading, systems, ahead)
    context, most, annotator = (s2 / 2 / decided for s2 in (v["output"], *(leanings or (v["taste"], v["taste"]))))
    over = max(1.0, context + (most + annotator) / 2)
    found = PairAssumptions(1 - decided, context / over, annotator / over, freedom)
    return found if leanings is None else replace(found, ahead=most / over, freedom=freedom / (len(systems) - 1))


def _leanings(reading: Reading, names: NDArray[Any], ahead: Hashable | None) -> tuple[float, float] | None:
    """The variances of people's leanings to this system, and to the others on average, not below 0; None where it is not among
    three systems or more, or too few people and contexts tell. Twice a difference's is the sum of its systems'."""
    answers = reading.answered
    if ahead not in names or len(names) < 3 or reading.shown is None or answers is None:
        return None
    people, places = (np.unique(column, return_inverse=True)[1] for column in (answers.annotator, answers.context))
    severity = reading.variances["annotator"] if reading.scores else 0.0
    both = 2 * reading.shown.leanings(reading.fit.answers, answers.systems, people, places, severity)  # (s, s)
    if not np.isfinite(both).all():
        return None
    row = both.sum(axis=1)
    own = (row - row.sum() / 2 / (len(names) - 1)) / (len(names) - 2)
    is_ahead = names == ahead
    return max(0.0, float(own[is_ahead][0])), max(0.0, float(own[~is_ahead].mean()))


def _fewest(contexts: ArrayLike, annotators: ArrayLike, systems: ArrayLike) -> float:
    """Degrees of freedom of the mean square, contexts x systems or annotators x systems, that has fewer: what a variance made
    of both has at least (Satterthwaite 1946)."""
    n, people, systems_ = (len(np.unique(column)) for column in (contexts, annotators, systems))
    return float(max(min(n, people) - 1, 1) * max(systems_ - 1, 1))
