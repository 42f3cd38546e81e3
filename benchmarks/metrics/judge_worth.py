"""Does the lower bound of what a judge is worth hold? Campaigns whose judges are known, and all of them together.

    python -m benchmarks.metrics.judge_worth [--campaigns 500] [--seed 4300000]

Contexts, systems and noise are drawn anew in each campaign; the generator shares no code with the product. The true worth of a
judge is n / (1 - r^2 N / (n + N)) - n with its correlation r over 200,000 pairs of other contexts; that of all together, with
the weights of the campaign. Nothing is worth less than nothing."""

import argparse
from collections.abc import Iterator

import numpy as np

from evaluator.metaevaluation.judge_comparison import stack
from evaluator.metaevaluation.judge_profile import JUDGMENTS, worth

SYSTEMS, CONTEXTS, LARGE = 4, (10, 20, 40, 80), 200_000
BIAS = 1.5  # what the biased judge adds to the first system's quality, whose differences have a standard deviation of 1.4

Campaign = tuple[np.ndarray, dict[str, np.ndarray], np.ndarray, np.ndarray]


def pairs(rng: np.random.Generator, contexts: int) -> Campaign:
    """(people (p,), judges {name: (p,)}, cells (p,), units (p,)): two pairs of systems in each context"""
    level = np.linspace(-0.5, 0.5, SYSTEMS)
    quality = level + rng.normal(size=(contexts, SYSTEMS))  # (m, s)
    draw = np.argsort(rng.random((contexts, SYSTEMS)), axis=1)  # (m, s)
    first, second = np.sort(draw[:, :2], axis=1).T, np.sort(draw[:, 2:], axis=1).T  # (2, m) each
    a, b = np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])  # (p,)
    units = np.tile(np.arange(contexts), 2)
    d = quality[units, a] - quality[units, b]
    said = d + rng.normal(size=len(d))
    people = np.where(np.abs(said) < 0.4, 0.0, np.sign(said))

    def noise(size: float) -> np.ndarray:
        drawn = rng.normal(0, size, (contexts, SYSTEMS))
        return np.asarray(drawn[units, a] - drawn[units, b])

    judges = {
        "good": d + noise(0.5),
        "noisy": d + noise(1.5),
        "useless": noise(1.0),
        "biased": d + noise(0.5) + BIAS * ((a == 0).astype(float) - (b == 0)),
        "hostile": -d + noise(0.5),
        "hostile noise": noise(1.0) - 0.2 * d,
    }
    return people, judges, a * SYSTEMS + b, units


def more(n: int, r: float) -> float:
    return n / (1 - max(r, 0.0) ** 2 * JUDGMENTS / (n + JUDGMENTS)) - n


def correlation(x: np.ndarray, y: np.ndarray, cells: np.ndarray) -> float:
    """Within pairs of systems"""
    counts = np.maximum(np.bincount(cells), 1)
    x, y = (values - (np.bincount(cells, values) / counts)[cells] for values in (x, y))
    size = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / size) if size > 0 else 0.0


def joined(weights: dict[str, float], campaign: Campaign) -> np.ndarray:
    """(p,) what the judges say together: each between -1 and 1, and divided by its spread within pairs of systems"""
    _, judges, cells, _ = campaign
    counts, total = np.maximum(np.bincount(cells), 1), np.zeros(len(cells))
    for name, weight in weights.items():
        d = judges[name] / np.median(np.abs(judges[name]))
        d = d / (1 + np.abs(d))
        total += weight * d / np.std(d - (np.bincount(cells, d) / counts)[cells])
    return total


def campaigns(number: int, seed: int) -> Iterator[dict[str, tuple[float, float, float]]]:
    """Of each campaign {judge: (worth, lower bound, true worth)}"""
    large = pairs(np.random.default_rng(seed), LARGE // 2)
    truth = {name: correlation(d, large[0], large[2]) for name, d in large[1].items()}
    for i in range(number):
        people, judges, cells, units = pairs(np.random.default_rng([seed, i + 1]), CONTEXTS[i % len(CONTEXTS)])
        found = {}
        for name, d in judges.items():
            said = worth(d, people, cells, units)
            if said is not None and said.low is not None:
                found[name] = (said.more, said.low, more(len(people), truth[name]))
        together = stack(judges, people, cells, units, units % 5)
        if together and together.worth and together.worth.low is not None:
            r = correlation(joined(together.judges, large), large[0], large[2])
            found["all together"] = (together.worth.more, together.worth.low, more(len(people), r))
        yield found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=500)
    parser.add_argument("--seed", type=int, default=4_300_000)
    chosen = parser.parse_args()
    rows = list(campaigns(chosen.campaigns, chosen.seed))
    print("| judge | campaigns | the bound holds | median worth | median bound | median true worth | below 0 |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in dict.fromkeys(name for row in rows for name in row):
        said = np.array([row[name] for row in rows if name in row])  # (c, 3)
        holds = (said[:, 1] <= said[:, 2] + 1e-9).mean()
        middle = " | ".join(f"{value:,.1f}" for value in np.median(said, axis=0))
        print(f"| {name} | {len(said)} | {holds:.1%} | {middle} | {(said[:, :2] < 0).sum()} |")


if __name__ == "__main__":
    main()
