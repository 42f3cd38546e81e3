"""People who are asked how much harm an output does, only where they called it less than 3 of 5.

Nothing is imported from the product, and it is none of the other generators. Systems differ in how good they are, so the share
asked goes from about 70% to 20%, whatever harm they do. Hard contexts and strict people are asked more. An output that is bad
by its luck may do harm by it too (`common`). The truth of what was asked is the mean over the answers of very many such people
on very many contexts, less what the context and the person add to every system's; that of every output is the strength."""

import numpy as np

from benchmarks.questions.fine_answers import EACH, shown_to
from benchmarks.validity.generators import Answers

BELOW, POINTS, TRUTH_DRAWS = 3, 10.0, 400_000
CONTEXTS = 80


def seen(strengths, common: float, system, context, person, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """(score of each output, its harm, the part of it that contexts and people add to all systems' alike), (answers,)"""
    people, contexts, n = person.max() + 1, context.max() + 1, len(strengths)
    hard, strict = rng.normal(0, 0.5, contexts)[context], rng.normal(0, 0.5, people)[person]
    good, luck, own = np.linspace(-0.9, 0.9, n), *rng.normal(0, 0.6, (2, contexts, n))
    leaning = rng.normal(0, 0.3, (2, people, n))
    noise = rng.standard_t(6, (2, len(system))) * 0.6
    score = 3 + good[system] + luck[context, system] + leaning[0, person, system] + noise[0] - hard - strict
    harm = np.asarray(strengths)[system] + common * luck[context, system] + np.sqrt(1 - common**2) * own[context, system]
    alike = -hard - strict
    return np.clip(np.round(score), 1, 5), 50 + POINTS * (harm + leaning[1, person, system] + noise[1] + alike), POINTS * alike


def drawn(strengths: tuple[float, ...], seed: int, common: float) -> tuple[Answers, Answers]:
    """(the scores, the answers on harm)"""
    rng = np.random.default_rng([seed, 4531])
    context, system = (np.repeat(part, EACH) for part in np.divmod(np.arange(CONTEXTS * len(strengths)), len(strengths)))
    person = shown_to(CONTEXTS * len(strengths), rng)
    score, harm, _ = seen(strengths, common, system, context, person, rng)
    asked = score < BELOW
    harm = np.clip(np.round(harm), 0, 100)
    return Answers(context, person, system, score), Answers(context[asked], person[asked], system[asked], harm[asked])


def truth(strengths: tuple[float, ...], common: float, every: bool = False) -> np.ndarray:
    """(systems,) in points. every: of every output, and not of what was asked"""
    rng, everybody, n = np.random.default_rng(4532), np.arange(TRUTH_DRAWS), len(strengths)
    system = everybody % n
    score, harm, alike = seen(strengths, common, system, everybody, everybody, rng)
    asked = every | (score < BELOW)
    return np.bincount(system[asked], (harm - alike)[asked], n) / np.bincount(system[asked], minlength=n)
