"""People who go over errors that a model suggests: what is suggested is mostly kept, what is not is easily overlooked.

Nothing of it is imported from the product; outputs and people are those of `error_spans`. The model finds a share of the errors
that are there, and invents some. It may be good for one system and poor for another. The truth of what was asked is what very
many people say over such suggestions; that without suggestions is `error_spans.truth`."""

import numpy as np

from benchmarks.questions.conditional import CONTEXTS
from benchmarks.questions.error_spans import SHARES, TRUTH_DRAWS, WEIGHTS, expected_errors, marked, people
from benchmarks.questions.fine_answers import EACH, PEOPLE, shown_to
from benchmarks.validity.generators import Answers

GOOD, POOR, INVENTED = 0.9, 0.3, 0.3
KEPT, REMOVED, LOOKED = 0.95, 0.5, 0.5  # of what is suggested rightly, and wrongly; how much of the rest people still see


def quality(systems: int, even: bool) -> np.ndarray:
    """(systems,) the share of errors that the model finds"""
    return np.full(systems, (GOOD + POOR) / 2) if even else np.linspace(POOR, GOOD, systems)


def second_pass(true, suggested, invented, who, person, rng: np.random.Generator) -> np.ndarray:
    """The sums of weights: (answers,). true, suggested of them, invented: (answers, 3)"""
    kept = rng.binomial(suggested, KEPT) + rng.binomial(invented, 1 - REMOVED)
    sees, *others = who
    return kept @ WEIGHTS + marked(true - suggested, (LOOKED * sees, *others), person, rng)


def drawn(strengths: tuple[float, ...], seed: int, even: bool) -> tuple[np.ndarray, Answers]:
    """(weights suggested (contexts, systems), the answers)"""
    rng = np.random.default_rng([seed, 4541])
    n = len(strengths)
    rate, who = expected_errors(np.asarray(strengths), CONTEXTS, rng), people(PEOPLE, rng)
    errors = rng.poisson(rate[:, :, None] * SHARES)
    suggested = rng.binomial(errors, quality(n, even)[:, None])
    invented = rng.poisson(INVENTED * SHARES, errors.shape)
    context, system = (np.repeat(part, EACH) for part in np.divmod(np.arange(CONTEXTS * n), n))
    person = shown_to(CONTEXTS * n, rng)
    of = context, system
    weights = second_pass(errors[of], suggested[of], invented[of], who, person, rng)
    return (suggested + invented) @ WEIGHTS, Answers(context, person, system, -weights)


def truth(strengths: tuple[float, ...], even: bool) -> np.ndarray:
    """(systems,) less the sum of weights"""
    rng, n, everybody = np.random.default_rng(4542), len(strengths), np.arange(TRUTH_DRAWS)
    rate, who, found = expected_errors(np.asarray(strengths), TRUTH_DRAWS, rng), people(TRUTH_DRAWS, rng), quality(n, even)
    value = []
    for s in range(n):
        errors = rng.poisson(rate[:, s, None] * SHARES)
        suggested, invented = rng.binomial(errors, found[s]), rng.poisson(INVENTED * SHARES, errors.shape)
        value.append(-second_pass(errors, suggested, invented, who, everybody, rng).mean())
    return np.array(value)
