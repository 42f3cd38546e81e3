"""How often the alternative annotator test errs, on simulated annotators: the table of docs/results/alternative-annotator.md.

    python -m benchmarks.validity.alternative_annotator --n 2000

Each instance has one of four true labels. An annotator gives it with a chance of `RIGHT`, and else any label. The judge does
the same, with a chance that is searched for so that, in a large sample, it is worse than a person by just epsilon (the border
of the null hypothesis) or as good as one. It answers once for all annotators, so that their tests depend on each other.
"""

from itertools import product

import numpy as np

from benchmarks.tables import head, options, row
from evaluator.metaevaluation.alternative_annotator import EPSILON, aligned, alternative_annotator

RIGHT = 0.8
LABELS = 4
LARGE = 200_000  # instances that the border is searched on


def answers(rng: np.random.Generator, truth: np.ndarray, right: float) -> np.ndarray:
    """(n,) labels, of which a share `right` is known and the others are guessed"""
    return np.where(rng.random(len(truth)) < right, truth, rng.integers(0, LABELS, len(truth))).astype(float)


def behind(right: float, annotators: int, seed: int = 0) -> float:
    """By how much such a judge's advantage probability lies below a person's, in a large sample."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, LABELS, LARGE)
    people = np.stack([answers(rng, truth, RIGHT) for _ in range(annotators)], axis=1)
    one, judge = people[:, 0], answers(rng, truth, right)
    judges, persons = (aligned(side, people[:, 1:], "accuracy") for side in (judge, one))
    return float((persons >= judges).mean() - (judges >= persons).mean())


def border(epsilon: float, annotators: int) -> float:
    """The share of right answers at which a judge is worse by epsilon, by bisection."""
    low, high = 0.0, RIGHT
    for _ in range(18):
        middle = (low + high) / 2
        low, high = (middle, high) if behind(middle, annotators) > epsilon else (low, middle)
    return high


def rates(epsilon: float, annotators: int, instances: int, right: float, n: int, seed: int = 0) -> tuple[float, float]:
    """(how often it wins against anybody, how often it passes) of n simulations"""
    rng, won, passed = np.random.default_rng(seed), 0, 0
    for _ in range(n):
        truth = rng.integers(0, LABELS, instances)
        people = np.stack([answers(rng, truth, RIGHT) for _ in range(annotators)], axis=1)
        found = alternative_annotator(people, answers(rng, truth, right), "accuracy", epsilon)
        won += found.winning_rate > 0
        passed += found.passes
    return won / n, passed / n


def main() -> None:
    n = options(__doc__, 2000).parse_args().n
    head("annotators", "instances", "epsilon", "on the border: wins against anybody", "passes", "as good as they: passes")
    for epsilon, annotators in product(sorted(EPSILON.values()), (3, 5, 10)):
        right = border(epsilon, annotators)
        for instances in (30, 100, 300):
            won, passed = rates(epsilon, annotators, instances, right, n)
            _, good = rates(epsilon, annotators, instances, RIGHT, n, seed=1)
            shares = (f"{share:.3f} ({np.sqrt(share * (1 - share) / n):.3f})" for share in (won, passed, good))
            row(annotators, instances, f"{epsilon:g}", *shares)


if __name__ == "__main__":
    main()
