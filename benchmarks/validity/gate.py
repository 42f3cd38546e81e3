"""How often the gate is wrong, asked again and again of one growing file: python -m benchmarks.validity.gate

A context differs from another in how well the new version does there. Judgments come in an order of their own: with more than
one of a context, old contexts get judgments after new ones have come. The gate is asked 20 times, and any false word counts.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks.tables import head, row
from leaderboard.noninferiority.confidence_sequence import empirical_bernstein
from leaderboard.noninferiority.verdict import CONFIDENCE, Word

LOOKS = 20


@dataclass(frozen=True)
class Scenario:
    """gain: what the new version truly gains. ties: their share. spread: how far a context's gain lies from it."""

    name: str
    contexts: int
    judgments: int  # of a context
    gain: float
    ties: float
    spread: float
    margin: float


SCENARIOS = (
    Scenario("unchanged, a judgment a context, margin 0", 400, 1, 0.0, 0.2, 0.0, 0.0),
    Scenario("unchanged, three judgments a context in any order, margin 0", 200, 3, 0.0, 0.2, 0.5, 0.0),
    Scenario("unchanged, 60% ties, margin 0", 400, 1, 0.0, 0.6, 0.0, 0.0),
    Scenario("unchanged, a judgment a context, margin 0.1", 400, 1, 0.0, 0.2, 0.0, 0.1),
    Scenario("worse by exactly the margin of 0.1", 400, 1, -0.1, 0.2, 0.0, 0.1),
    Scenario("worse by exactly the margin of 0.1, three in any order", 200, 3, -0.1, 0.2, 0.5, 0.1),
    Scenario("worse by 0.3, margin 0.1", 400, 1, -0.3, 0.2, 0.0, 0.1),
    Scenario("unchanged, margin 0.2", 200, 1, 0.0, 0.2, 0.0, 0.2),
    Scenario("unchanged, margin 0.2", 1000, 1, 0.0, 0.2, 0.0, 0.2),
)


def judged(scenario: Scenario, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(points, contexts) of one file, in the order in which the judgments come."""
    n = scenario.contexts * scenario.judgments
    own = scenario.gain + rng.uniform(-scenario.spread, scenario.spread, scenario.contexts)
    context = np.repeat(np.arange(scenario.contexts), scenario.judgments)
    if scenario.judgments > 1:
        context = context[rng.permutation(n)]
    u = rng.random(n)
    win = (1 - scenario.ties + own[context]) / 2
    return np.where(u < win, 1, np.where(u < win + scenario.ties, 0, -1)), context


def words(scenario: Scenario, rng: np.random.Generator) -> list[Word]:
    """At each look, as `verdict` has them (tests compare): contexts as they first came, their judgments averaged."""
    points, context = judged(scenario, rng)
    ends = [len(points) * look // LOOKS for look in range(1, LOOKS + 1)]
    if scenario.judgments == 1:  # then what came before never changes
        lows, highs = (bound[np.array(ends) - 1] for bound in empirical_bernstein((points + 1) / 2, 1 - CONFIDENCE))
    else:
        _, first, place = np.unique(context, return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(first))[place]  # (judgments,) the context's place among those that came
        gains = (np.bincount(order[:end], points[:end]) / np.bincount(order[:end]) for end in ends)
        bounds = [empirical_bernstein((gain + 1) / 2, 1 - CONFIDENCE) for gain in gains]
        lows, highs = np.array([low[-1] for low, _ in bounds]), np.array([high[-1] for _, high in bounds])
    word = lambda low, high: (
        Word.PASS if low > -scenario.margin else Word.FAIL if high < -scenario.margin else Word.INCONCLUSIVE
    )
    return [word(low, high) for low, high in zip(2 * lows - 1, 2 * highs - 1)]


def shares(scenario: Scenario, runs: int, seed: int) -> dict[str, float]:
    """Of the runs: a FAIL at any look, a PASS at any look, a PASS at the last."""
    ever = {"FAIL": 0, "PASS": 0, "PASS at last": 0}
    for run in range(runs):
        said = words(scenario, np.random.default_rng([seed, run]))
        ever["FAIL"] += Word.FAIL in said
        ever["PASS"] += Word.PASS in said
        ever["PASS at last"] += said[-1] == Word.PASS
    return {name: count / runs for name, count in ever.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    error = 100 * 0.5 / np.sqrt(asked.runs)
    print(f"{asked.runs:,} runs, {LOOKS} looks, seed {asked.seed}; a share's error is at most {error:.2f} points.\n")
    head("the new version is", "contexts", "FAIL at any look", "PASS at any look", "PASS at the last")
    for scenario in SCENARIOS:
        of = shares(scenario, asked.runs, asked.seed)
        row(scenario.name, scenario.contexts, *(f"{100 * value:.2f}%" for value in of.values()))


if __name__ == "__main__":
    main()
