"""What a pilot says about how much scores and judgments vary, for annotation/design/power.py.

Method of moments: two scores that share a context and a system covary by s2_C + s2_CS, two that share only the context by
s2_C, and so on for annotators; the variance of all is the sum of everything. (Searle, Casella & McCulloch 1992, Variance
Components, ch. 5: any unbalanced crossed design, no normality.) Where a pilot has no two scores of a kind, that component
stays in the residual.
"""

import numpy as np
from numpy.typing import ArrayLike

from annotation.design.power import Components, PairAssumptions

Grouping = tuple[np.ndarray, ...]  # scores that agree in each of these (scores,) belong together


def components_of(values: ArrayLike, systems: ArrayLike, contexts: ArrayLike, annotators: ArrayLike) -> Components | None:
    """Each (scores,): values on the scale, integers for the rest. Negative estimates become 0. None where no variance can be
    told: fewer than two scores, or all of a system alike."""
    values, systems, contexts, annotators = (np.asarray(column) for column in (values, systems, contexts, annotators))
    if len(values) < 2:
        return None
    centred = _centred(values.astype(float), systems)
    total = float(centred @ centred) / max(1, len(values) - len(np.unique(systems)))
    if total == 0:
        return None
    of_output, of_context, of_both = (contexts, systems), (contexts,), (contexts, annotators)
    context = _covariance(centred, [of_context], [of_output, of_both])
    context_system = _covariance(centred, [of_output], []) - context
    annotator = _covariance(centred, [(annotators,)], [(annotators, systems), of_both])
    annotator_system = _covariance(centred, [(annotators, systems)], []) - annotator
    context, context_system, annotator, annotator_system = (
        max(0.0, part) for part in (context, context_system, annotator, annotator_system)
    )
    residual = max(0.0, total - context - context_system - annotator - annotator_system)
    return Components(context_system, annotator_system, residual, context, annotator)


def pair_assumptions_of(
    outcomes: ArrayLike, pairs: ArrayLike, contexts: ArrayLike, annotators: ArrayLike
) -> PairAssumptions | None:
    """outcomes: (judgments,) +1, 0 or -1 for the pair of systems numbered in `pairs`. None as above."""
    outcomes, pairs, contexts, annotators = (np.asarray(column) for column in (outcomes, pairs, contexts, annotators))
    if len(outcomes) < 2:
        return None
    centred = _centred(outcomes.astype(float), pairs)
    total = float(centred @ centred) / max(1, len(outcomes) - len(np.unique(pairs)))
    if total == 0:
        return None
    context = max(0.0, _covariance(centred, [(pairs, contexts)], []) / total)
    annotator = max(0.0, _covariance(centred, [(pairs, annotators)], []) / total)
    over = max(1.0, context + annotator)
    return PairAssumptions(float(np.mean(outcomes == 0)), context / over, annotator / over)


def _centred(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    index = np.unique(groups, return_inverse=True)[1]
    return values - (np.bincount(index, values) / np.bincount(index))[index]


def _covariance(centred: np.ndarray, sharing: list[Grouping], less: list[Grouping]) -> float:
    """The mean product over the pairs of scores that share one of `sharing`, without those that share one of `less`; 0 where
    there are none."""
    products = count = 0.0
    for groups, sign in [*((groups, 1) for groups in sharing), *((groups, -1) for groups in less)]:
        index = np.unique(np.stack(groups), axis=1, return_inverse=True)[1].ravel()
        sums, sizes = np.bincount(index, centred), np.bincount(index)
        products += sign * float(sums @ sums - centred @ centred)
        count += sign * float(sizes @ sizes - len(centred))
    return products / count if count > 0 else 0.0
