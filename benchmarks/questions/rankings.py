"""What the board's certainty is worth where people rank several outputs at once, or name the best and the worst.

    python -m benchmarks.validity --only rankings

Nothing of the generator is imported from the product, and it is none of the other generators: people differ in how sharply they
look, in the difference that they call none, and in what they like; an output's luck is skewed. A block holds some of the
systems on a context; so many people rank it. The truth is what very many such people say of very many contexts: Plackett and
Luce's strengths, by an optimiser over the orders written out, ties broken by a coin."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np
from scipy import optimize

from benchmarks.validity.generators import RATING_POINTS
from benchmarks.validity.rows import Row, judgments
from leaderboard.rating.people_board import PeopleBoard
from leaderboard.rating.rankings.board import board_from_rankings

TRUTH_DRAWS = 200_000


@dataclass(frozen=True)
class Campaign:
    """block: outputs of a ranking; each: people who rank a block; ties: how wide the difference is that people call none;
    polarising: SD of the last system's leanings, where it is another; is_best_worst: only these two are told."""

    strengths: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    block: int = 5
    people: int = 12
    contexts: int = 20
    each: int = 3
    ties: float = 0.0
    leaning: float = 0.35
    polarising: float = 0.0
    is_best_worst: bool = False

    @property
    def systems(self) -> int:
        return len(self.strengths)


SIX = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
CAMPAIGNS = {
    "5 of 5, 12 people": Campaign(),
    "5 of 5, 4 people": Campaign(people=4),
    "5 of 5, 8 people": Campaign(people=8),
    "5 of 5 with ties, 12 people": Campaign(ties=0.6),
    "5 of 5, 12 people, one system polarises": Campaign(polarising=1.2),
    "3 of 6, 12 people": Campaign(SIX, block=3),
    "3 of 6, 4 people": Campaign(SIX, block=3, people=4),
    "3 of 6, 8 people, one system polarises": Campaign(SIX, block=3, people=8, polarising=1.2),
    "best and worst of 5, 12 people": Campaign(is_best_worst=True),
    "best and worst of 4 of 6, 8 people": Campaign(SIX, block=4, people=8, is_best_worst=True),
    "2 of 5, 12 people": Campaign(block=2),
}


@dataclass(frozen=True)
class Ranked:
    """system, seen: (rankings, block), the systems of a block, and what the person saw in each, rounded where differences are
    called none; context, person: (rankings,)"""

    system: np.ndarray
    seen: np.ndarray
    context: np.ndarray
    person: np.ndarray


def seen_by(c: Campaign, system: np.ndarray, context: np.ndarray, person: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(rankings, block). Ties come from rounding to steps of the person's own."""
    people, contexts = person.max() + 1, context.max() + 1
    spread = np.full(c.systems, c.leaning)
    spread[-1] = c.polarising or c.leaning
    leaning, sharp = rng.normal(0, spread, (people, c.systems)), rng.lognormal(0, 0.2, people)
    luck = 0.5 * (rng.gamma(4.0, 0.5, (contexts, c.systems)) - 2.0)
    worth = np.asarray(c.strengths)[system] + luck[context[:, None], system] + leaning[person[:, None], system]
    seen = sharp[person, None] * worth + 0.9 * rng.standard_t(6, system.shape)
    step = c.ties * rng.gamma(2.0, 0.5, people)[person, None]
    return np.where(step > 0, np.round(seen / np.where(step > 0, step, 1.0)), seen)


def drawn(c: Campaign, seed: int) -> Ranked:
    rng = np.random.default_rng([seed, 4521])
    blocks = c.systems // c.block  # of a context, no system in two of them
    order = np.argsort(rng.random((c.contexts, c.systems)), axis=1)[:, : blocks * c.block]
    system = np.repeat(order.reshape(-1, c.block), c.each, axis=0)
    context = np.repeat(np.arange(c.contexts), blocks * c.each)
    person = np.argsort(rng.random((c.contexts * blocks, c.people)), axis=1)[:, : c.each].ravel()
    return Ranked(system, seen_by(c, system, context, person, rng), context, person)


@cache
def truth(c: Campaign) -> np.ndarray:
    """(systems,) in rating points with mean 0; equal systems are equal."""
    rng = np.random.default_rng(4522)
    everybody = np.arange(TRUTH_DRAWS)
    system = np.argsort(rng.random((TRUTH_DRAWS, c.systems)), axis=1)[:, : c.block]
    seen = seen_by(c, system, everybody, everybody, rng)
    best_first = np.take_along_axis(system, np.lexsort((rng.random(seen.shape), -seen)), axis=1)

    def loss(free: np.ndarray) -> float:
        return -float(np.mean(likelihood_of_orders(c, np.append(free, -free.sum())[best_first])))

    free = optimize.minimize(loss, np.zeros(c.systems - 1), tol=1e-9).x
    strength = RATING_POINTS * np.append(free, -free.sum())
    _, same = np.unique(c.strengths, return_inverse=True)
    return (np.bincount(same, strength) / np.bincount(same))[same]


def likelihood_of_orders(c: Campaign, theta: np.ndarray) -> np.ndarray:
    """theta: (rankings, block), of the best first -> (rankings,) logarithms"""
    middle = permutations(range(1, c.block - 1))
    orders = [[0, *between, c.block - 1] for between in middle] if c.is_best_worst else [list(range(c.block))]
    left = [np.log(np.cumsum(np.exp(theta[:, order[::-1]]), axis=1)).sum(axis=1) for order in orders]
    return theta.sum(axis=1) + np.logaddexp.reduce([-each for each in left])


def ranks(c: Campaign, ranked: Ranked) -> np.ndarray:
    """(rankings, block), 0 is best"""
    if c.is_best_worst:
        order = np.argsort(np.argsort(-ranked.seen, axis=1), axis=1)
        return np.where(order == 0, 0, np.where(order == c.block - 1, 2, 1))
    return (ranked.seen[:, :, None] < ranked.seen[:, None, :]).sum(axis=2)


def read(c: Campaign, ranked: Ranked) -> PeopleBoard:
    number = np.repeat(np.arange(len(ranked.system)), c.block)
    places = number, ranked.system.ravel(), ranks(c, ranked).ravel()
    is_open = np.full(len(ranked.system), c.is_best_worst)
    return board_from_rankings(c.systems, *places, ranked.context, ranked.person, is_open)


def judged_pairs(c: Campaign, ranked: Ranked) -> np.ndarray:
    """(4, judgments): ranking, its first output and its second by their place in it, +1, 0 or -1 for the first. What was not
    asked is no pair."""
    places, (i, j) = ranks(c, ranked), np.triu_indices(c.block, 1)
    outcome = np.sign(places[:, j] - places[:, i])  # (rankings, pairs)
    number, pair = np.nonzero((outcome != 0) | (not c.is_best_worst))
    return np.stack([number, i[pair], j[pair], outcome[number, pair]])


def rows_of(c: Campaign, ranked: Ranked) -> Iterator[Row]:
    """As a file has them"""
    number, i, j, outcome = judged_pairs(c, ranked)
    sides = ranked.system[number, i], ranked.system[number, j]
    return judgments(ranked.context[number], *sides, ranked.person[number], outcome, ({"ranking": f"r{n}"} for n in number))
