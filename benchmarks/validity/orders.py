"""Whose order of the systems is nearer to the true one, that of the default board or that of the systems' mean scores?
Kendall's tau with the true order, in simulated campaigns of systems that differ, on the same answers.

    python -m benchmarks.validity.orders --n 300

Where coverage is unequal, each system was judged on a share of the contexts of its own, between 30% and all, or people gave
unequally many of the answers."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
from scipy import stats

from benchmarks.tables import head, of_campaigns, options, row
from benchmarks.validity.crowds import Crowd, Entered, draw
from benchmarks.validity.default_path import board

APART = Crowd(strengths=(0.0, 0.25, 0.5, 0.75, 1.0))
SCORES = ("context", "system", "person", "value")
LEAST_SHARE = 0.3
LOADS = 1.0  # SD of the logarithm of how much of what they would have answered people do answer, the most diligent all


def everything(entered: Entered, rng: np.random.Generator) -> np.ndarray:
    return np.ones(len(entered.value), dtype=bool)


def parts_of_contexts(entered: Entered, rng: np.random.Generator) -> np.ndarray:
    share = rng.uniform(LEAST_SHARE, 1, entered.system.max() + 1)
    seen = rng.random((entered.context.max() + 1, len(share))) < share
    return np.asarray(seen[entered.context, entered.system])


def parts_of_people(entered: Entered, rng: np.random.Generator) -> np.ndarray:
    load = np.exp(rng.normal(0, LOADS, entered.person.max() + 1))
    return np.asarray(rng.random(len(entered.value)) < (load / load.max())[entered.person])


@dataclass(frozen=True)
class Scenario:
    """kept: bool (answers,), which of the scores were given"""

    crowd: Crowd
    kept: Callable[[Entered, np.random.Generator], np.ndarray] = everything


SCENARIOS = {
    "equal coverage": Scenario(APART),
    "equal coverage, 8 people, 100 points": Scenario(replace(APART, people=8, points=100)),
    "equal coverage, one system polarises": Scenario(replace(APART, polarising=1.6)),
    "systems on unequal shares of the contexts": Scenario(APART, parts_of_contexts),
    "people give unequally many answers": Scenario(APART, parts_of_people),
    "unequal shares, one system polarises": Scenario(replace(APART, polarising=1.6), parts_of_contexts),
}


def answered(scenario: Scenario, seed: int) -> Entered:
    entered = draw(scenario.crowd, seed)
    rows = scenario.kept(entered, np.random.default_rng([seed, 79]))
    return Entered(*(getattr(entered, f.name)[rows] if f.name in SCORES else getattr(entered, f.name) for f in fields(entered)))


def taus(scenario: Scenario, seed: int) -> tuple[float, float]:
    """(of the board, of the mean scores)"""
    entered, strengths = answered(scenario, seed), scenario.crowd.strengths
    found = board(scenario.crowd, entered).rating
    mean = np.bincount(entered.system, entered.value) / np.bincount(entered.system)
    return kendall(found, strengths), kendall(mean, strengths)


def kendall(estimate: np.ndarray, strengths: tuple[float, ...]) -> float:
    return float(stats.kendalltau(estimate, strengths).statistic)


def main() -> None:
    asked = options(__doc__, 300).parse_args()
    head("systems that differ", "N", "tau of the board", "tau of mean scores", "board less mean", "SE")
    for name, scenario in SCENARIOS.items():
        if asked.only in name:
            found = np.array([taus(scenario, asked.seed + k) for k in range(asked.n)])
            more, error = of_campaigns(found[:, 0] - found[:, 1])
            row(name, asked.n, *(f"{tau:.3f}" for tau in found.mean(axis=0)), f"{more:+.4f}", f"{error:.4f}")


if __name__ == "__main__":
    main()
