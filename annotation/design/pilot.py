"""What a pilot says about how much scores and judgments vary, for annotation/design/power.py.

It is read by the model that the board will be read by (`leaderboard.rating.people_board`). Its variances are estimated by
restricted maximum likelihood, so they are not too small for the means that were estimated with them.
"""

import numpy as np
from numpy.typing import ArrayLike

from annotation.design.power import Components, PairAssumptions
from leaderboard.rating.people_board import read_pairs, read_scores


def components_of(values: ArrayLike, systems: ArrayLike, contexts: ArrayLike, annotators: ArrayLike) -> Components | None:
    """Each (scores,): values on the scale, numbers or names for the rest. None where no variance can be told: no more scores
    than systems, or all alike."""
    values = np.asarray(values, dtype=float)
    systems, contexts, annotators = (np.unique(column, return_inverse=True)[1] for column in (systems, contexts, annotators))
    if not len(values) or np.ptp(values) == 0 or len(values) <= systems.max() + 1:
        return None
    v = read_scores(int(systems.max()) + 1, systems, contexts, annotators, values).variances
    freedom = _fewest(contexts, annotators, systems)
    return Components(v["output"], v["taste"], v["answer"], v["context"], v["annotator"], freedom)


def pair_assumptions_of(
    outcomes: ArrayLike, first: ArrayLike, second: ArrayLike, contexts: ArrayLike, annotators: ArrayLike
) -> PairAssumptions | None:
    """outcomes: (judgments,) +1, 0 or -1 for the first of two systems. None where there is nothing to learn from.

    Near one half, an outcome changes by half a logit, so variances s2 of outputs and leanings are 2 s2 / 4 of an outcome."""
    outcomes, contexts, annotators = (np.asarray(column) for column in (outcomes, contexts, annotators))
    systems, both = np.unique(np.concatenate([first, second]), return_inverse=True)
    decided = float(np.mean(outcomes != 0)) if len(outcomes) else 0.0
    if len(outcomes) < 2 or decided == 0:
        return None
    one, other = np.split(both, 2)
    v = read_pairs(len(systems), one, other, outcomes, contexts, annotators).fit.variances
    context, annotator = v["output"] / 2 / decided, v["taste"] / 2 / decided
    over = max(1.0, context + annotator)
    return PairAssumptions(1 - decided, context / over, annotator / over, _fewest(contexts, annotators, systems))


def _fewest(contexts: ArrayLike, annotators: ArrayLike, systems: ArrayLike) -> float:
    """Degrees of freedom of the mean square, contexts x systems or annotators x systems, that has fewer: what a variance made
    of both has at least (Satterthwaite 1946)."""
    n, people, systems_ = (len(np.unique(column)) for column in (contexts, annotators, systems))
    return float(max(min(n, people) - 1, 1) * max(systems_ - 1, 1))
