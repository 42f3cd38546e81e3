"""People who mark errors: the sum of their weights is the score (MQM).

Nothing of the generator is imported from the product, and it is none of the other generators: each output has errors of its
own, most of them minor; people overlook some, take some major ones for minor, and mark what is none, each in another measure.
So many sums are 0, and few are large. The truth is what very many such people say of very many contexts.

After their marks they may give a score of 0 to 100 (ESA), which depends on these by their root, and on what nobody marks."""

from dataclasses import replace

import numpy as np

from benchmarks.questions import fine_answers
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


def scores(weights: np.ndarray, system: np.ndarray, person: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """(answers,) after marks with these sums of weights, of n systems"""
    who = fine_answers.people(person.max() + 1, n, rng)
    unmarked = who.leaning[person, system] + fine_answers.noise(len(person), rng)
    return fine_answers.slid(who, person, 2 - 0.8 * np.sqrt(weights) + 0.6 * unmarked)


def drawn_scores(strengths: tuple[float, ...], seed: int) -> tuple[Answers, Answers]:
    """(less the sums of weights, the scores)"""
    said, rng = drawn(strengths, seed), np.random.default_rng([seed, 4513])
    return said, replace(said, value=scores(-said.value, said.system, said.annotator, len(strengths), rng))


def truth(strengths: tuple[float, ...]) -> np.ndarray:
    """(systems,) less the sum of weights"""
    return -very_many(strengths).mean(axis=1)


def true_scores(strengths: tuple[float, ...]) -> np.ndarray:
    rng, n, everybody = np.random.default_rng(4514), len(strengths), np.arange(TRUTH_DRAWS)
    of_systems = enumerate(very_many(strengths))
    return np.array([scores(weights, everybody * 0 + s, everybody, n, rng).mean() for s, weights in of_systems])


def very_many(strengths: tuple[float, ...]) -> np.ndarray:
    """(systems, people) sums of weights, each person on a context of their own"""
    rng = np.random.default_rng(4512)
    rate, who = expected_errors(np.asarray(strengths), TRUTH_DRAWS, rng), people(TRUTH_DRAWS, rng)
    of_systems = (rng.poisson(rate[:, s, None] * SHARES) for s in range(len(strengths)))
    return np.array([marked(errors, who, np.arange(TRUTH_DRAWS), rng) for errors in of_systems])


def marks_of(weight: float) -> list[dict[str, str]]:
    """The fewest with this sum."""
    major, left = divmod(round(10 * weight), 50)
    minor, punctuation = divmod(left, 10)
    small = {"severity": "minor", "category": "Fluency/Punctuation"}
    other = [{"severity": name, "category": "Other"} for name, n in (("major", major), ("minor", minor)) for _ in range(n)]
    return other + [small] * punctuation
