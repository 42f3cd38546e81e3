"""People who mark errors: the sum of their weights is the score (MQM).

Nothing of the generator is imported from the product, and it is none of the other generators: each output has errors of its
own, most of them minor; people overlook some, take some major ones for minor, and mark what is none, each in another measure.
So many scores are 0, and few are large. The truth is what very many such people say of very many contexts."""

import numpy as np

from benchmarks.questions.fine_answers import CONTEXTS, EACH, PEOPLE, shown_to
from benchmarks.validity.generators import Answers

WEIGHTS = np.array([0.1, 1.0, 5.0])  # minor punctuation, minor, major
SHARES = np.array([0.15, 0.55, 0.3])
TRUTH_DRAWS = 400_000


def expected_errors(strengths: np.ndarray, contexts: int, rng: np.random.Generator) -> np.ndarray:
    """(contexts, systems): some inputs are hard for all systems, and some outputs have luck."""
    hard, luck = rng.normal(0, 0.6, contexts), rng.normal(0, 0.5, (contexts, len(strengths)))
    return 0.8 * np.exp(hard[:, None] + luck - np.asarray(strengths))


def people(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(how much of what is there each sees, takes a major error for a minor one, marks that is none), each (people,)"""
    return rng.beta(8, 3, n), rng.beta(2, 6, n), rng.gamma(1.5, 0.1, n)


def marked(true: np.ndarray, who: tuple[np.ndarray, ...], person: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The sum of weights. true: (answers, 3) errors that are there, by WEIGHTS."""
    sees, softens, invents = (part[person] for part in who)
    seen = rng.binomial(true, sees[:, None])
    softened = rng.binomial(seen[:, 2], softens)
    seen[:, 1] += softened + rng.poisson(invents)
    seen[:, 2] -= softened
    return seen @ WEIGHTS


def drawn(strengths: tuple[float, ...], seed: int) -> Answers:
    rng = np.random.default_rng([seed, 4511])
    n = len(strengths)
    rate, who = expected_errors(np.asarray(strengths), CONTEXTS, rng), people(PEOPLE, rng)
    errors = rng.poisson(rate[:, :, None] * SHARES)  # of the outputs, the same for whoever reads them
    context, system = (np.repeat(part, EACH) for part in np.divmod(np.arange(CONTEXTS * n), n))
    person = shown_to(CONTEXTS * n, rng)
    return Answers(context, person, system, -marked(errors[context, system], who, person, rng))


def truth(strengths: tuple[float, ...]) -> np.ndarray:
    """(systems,) less the sum of weights"""
    rng = np.random.default_rng(4512)
    rate, who = expected_errors(np.asarray(strengths), TRUTH_DRAWS, rng), people(TRUTH_DRAWS, rng)
    everybody = np.arange(TRUTH_DRAWS)
    of_systems = (rng.poisson(rate[:, s, None] * SHARES) for s in range(len(strengths)))
    return np.array([-marked(errors, who, everybody, rng).mean() for errors in of_systems])


def marks_of(weight: float) -> list[dict[str, str]]:
    """The fewest with this sum."""
    major, left = divmod(round(10 * weight), 50)
    minor, punctuation = divmod(left, 10)
    small = {"severity": "minor", "category": "Fluency/Punctuation"}
    other = [{"severity": name, "category": "Other"} for name, n in (("major", major), ("minor", minor)) for _ in range(n)]
    return other + [small] * punctuation
