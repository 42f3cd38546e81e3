"""People who answer on a slider, or say how much better one of two outputs is.

Nothing of the generator is imported from the product, and it is none of the other generators: people round to numbers of their
own (1, 5, 10 or 25), pull a slider to different ends, and draw the lines between "slightly", "better" and "much" where they
like; some never say "tie". The truth is what very many such people say of very many contexts."""

from dataclasses import dataclass

import numpy as np

from benchmarks.validity.generators import RATING_POINTS, Answers, _strengths

PEOPLE, CONTEXTS, EACH = 12, 20, 3
ROUNDED_TO = np.array([1, 5, 10, 25])
TRUTH_DRAWS = 200_000


@dataclass(frozen=True)
class People:
    """All (people, ...): zero, stretch and rounding of a slider; lines: where a tie, "slightly" and "better" end; leaning:
    (people, systems)"""

    zero: np.ndarray
    stretch: np.ndarray
    rounded: np.ndarray
    lines: np.ndarray
    leaning: np.ndarray


def people(n: int, systems: int, rng: np.random.Generator) -> People:
    steps = rng.gamma(2.0, 0.2, (n, 3))
    steps[:, 0] *= rng.random(n) < 0.8  # a fifth of them never say that two are alike
    return People(
        rng.normal(55, 12, n),
        rng.lognormal(np.log(18), 0.3, n),
        rng.choice(ROUNDED_TO, n, p=(0.2, 0.4, 0.3, 0.1)),
        steps.cumsum(axis=1),
        rng.normal(0, 0.35, (n, systems)),
    )


def worth(strengths: np.ndarray, contexts: int, rng: np.random.Generator) -> np.ndarray:
    """(contexts, systems), with a skewed luck of every output"""
    return strengths + 0.5 * (rng.gamma(4.0, 0.5, (contexts, len(strengths))) - 2.0)


def slid(who: People, person: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Where each puts the slider, 0 to 100."""
    place = who.zero[person] + who.stretch[person] * seen
    return np.clip(who.rounded[person] * np.round(place / who.rounded[person]), 0, 100)


def graded(who: People, person: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """From -3, the second is much better, to 3."""
    return np.sign(difference) * (np.abs(difference)[:, None] > who.lines[person]).sum(axis=1)


def noise(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_t(6, n) * 0.8


def shown_to(units: int, rng: np.random.Generator) -> np.ndarray:
    """EACH people of all for every unit: (units * EACH,)"""
    return np.argsort(rng.random((units, PEOPLE)), axis=1)[:, :EACH].ravel()


def on_sliders(strengths: tuple[float, ...], seed: int) -> Answers:
    rng = np.random.default_rng([seed, 4501])
    n = len(strengths)
    quality, who = worth(np.asarray(strengths), CONTEXTS, rng), people(PEOPLE, n, rng)
    context, system = (np.repeat(part, EACH) for part in np.divmod(np.arange(CONTEXTS * n), n))
    person = shown_to(CONTEXTS * n, rng)
    ease = rng.normal(0, 0.5, CONTEXTS)
    seen = quality[context, system] + ease[context] + who.leaning[person, system] + noise(len(person), rng)
    return Answers(context, person, system, slid(who, person, seen))


@dataclass(frozen=True)
class Graded(Answers):
    """value: points, not a number where a person could not say; bad: (answers,) is neither any good?"""

    bad: np.ndarray | None = None

    def said(self) -> Answers:
        """What can be counted."""
        known = ~np.isnan(self.value)
        sides = self.first[known], self.second[known], np.sign(self.value[known]).astype(int)
        return Answers(self.context[known], self.annotator[known], first=sides[0], second=sides[1], outcome=sides[2])


def by_how_much(strengths: tuple[float, ...], seed: int, sure: bool = True) -> Graded:
    """The board reads the side of each answer. sure: can everybody say it?"""
    rng = np.random.default_rng([seed, 4502])
    n = len(strengths)
    quality, who = worth(1.5 * np.asarray(strengths), CONTEXTS, rng), people(PEOPLE, n, rng)
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    chosen = np.argsort(rng.random((CONTEXTS, len(pairs))), axis=1)[:, :n].ravel()
    context, person = np.repeat(np.arange(CONTEXTS), n * EACH), shown_to(CONTEXTS * n, rng)
    turned = np.repeat(rng.random(len(chosen)) < 0.5, EACH)
    first, second = np.where(turned, np.repeat(pairs[chosen, ::-1], EACH, axis=0).T, np.repeat(pairs[chosen], EACH, axis=0).T)
    seen = [quality[context, side] + who.leaning[person, side] + noise(len(person), rng) for side in (first, second)]
    points = np.where(sure | can_say(seen[0] - seen[1], rng), graded(who, person, seen[0] - seen[1]), np.nan)
    return Graded(context, person, first=first, second=second, value=points, bad=np.maximum(*seen) < 0)


def can_say(difference: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Of those who see hardly a difference, half can't."""
    return (np.abs(difference) > 0.4) | (rng.random(len(difference)) < 0.5)


def true_scores(strengths: tuple[float, ...]) -> np.ndarray:
    """(systems,) in points of the slider"""
    rng = np.random.default_rng(4503)
    n = len(strengths)
    quality, who = worth(np.asarray(strengths), TRUTH_DRAWS, rng), people(TRUTH_DRAWS, n, rng)
    everybody, ease = np.arange(TRUTH_DRAWS), rng.normal(0, 0.5, TRUTH_DRAWS)
    seen = (quality[:, s] + ease + who.leaning[:, s] + noise(TRUTH_DRAWS, rng) for s in range(n))
    return np.array([slid(who, everybody, of_system).mean() for of_system in seen])


def true_ratings(strengths: tuple[float, ...], sure: bool = True) -> np.ndarray:
    """(systems,) in rating points: the Bradley-Terry strengths of what is expected of every pair, from those who can say"""
    rng = np.random.default_rng(4504)
    n = len(strengths)
    quality, who = worth(1.5 * np.asarray(strengths), TRUTH_DRAWS, rng), people(TRUTH_DRAWS, n, rng)
    everybody, expected = np.arange(TRUTH_DRAWS), np.full((n, n), 0.5)
    for i in range(n):
        for j in range(i):
            seen = [quality[:, s] + who.leaning[:, s] + noise(TRUTH_DRAWS, rng) for s in (i, j)]
            said = sure | can_say(seen[0] - seen[1], rng)
            expected[i, j] = 0.5 + np.sign(graded(who, everybody, seen[0] - seen[1]))[said].mean() / 2
            expected[j, i] = 1 - expected[i, j]
    return RATING_POINTS * _strengths(expected)
