"""Does the corrected gap of two systems hold the truth? python -m benchmarks.validity.judge_check

Campaigns of MT-bench's shape: six systems, 80 questions, people who label a part of the pairs, and a judge that answers all
pairs and likes one system too much. A person prefers by the texts' quality, a leaning of their own to a system, and chance; the
truth is the mean over all people and questions.
"""

import argparse
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from benchmarks.tables import head, row
from leaderboard.offline.correction import Correction, Judged, Labels


@dataclass(frozen=True)
class World:
    """labels: of each pair of systems. bias: of the judge for system 0, in standard deviations of chance. noise: the judge's.
    taste, topic: deviations of people's leanings to systems, and of systems' qualities between questions."""

    name: str
    people: int = 65
    labels: int = 220
    bias: float = 0.8
    noise: float = 0.8
    taste: float = 0.3
    topic: float = 0.8
    systems: int = 6
    questions: int = 80


WORLDS = (
    World("MT-bench's shape"),
    World("a useless judge", noise=50.0),
    World("a judge like one person", noise=0.3, bias=0.3),
    World("people of strong tastes", taste=0.8),
    World("12 people", people=12),
    World("5 people", people=5),
    World("5 people of strong tastes", people=5, taste=0.8),
    World("5 people of one taste", people=5, taste=0.0),
    World("a quarter of the labels", labels=55),
    World("20 labels a pair", labels=20),
    World("20 questions", questions=20, labels=60),
)
QUALITY = (0.6, 0.4, 0.2, 0.0, -0.3, -0.6)
TIE = 0.4  # a difference that is smaller is a tie


def said(difference: np.ndarray) -> np.ndarray:
    return np.where(np.abs(difference) < TIE, 0.0, np.sign(difference))


def drawn(world: World, rng: np.random.Generator) -> tuple[Labels, Judged]:
    s, q, pairs = world.systems, world.questions, list(combinations(range(world.systems), 2))
    quality = np.array(QUALITY[:s]) + rng.normal(0, world.topic, (q, s))  # of each text
    taste = rng.normal(0, world.taste, (world.people, s))
    first, second = np.array(pairs).T
    of = np.repeat(np.arange(len(pairs)), q)
    context = np.tile(np.arange(q), len(pairs))
    liked = quality + rng.normal(0, world.noise, (q, s))
    liked[:, 0] += world.bias
    judged = said(liked[context, first[of]] - liked[context, second[of]])
    labelled = np.repeat(np.arange(len(pairs)), world.labels)
    question = rng.integers(0, q, len(labelled))
    who = rng.integers(0, world.people, len(labelled))
    apart = quality[question, first[labelled]] - quality[question, second[labelled]]
    apart += taste[who, first[labelled]] - taste[who, second[labelled]] + rng.normal(0, 1, len(labelled))
    answers = judged[labelled * q + question]
    return Labels(labelled, said(apart), answers, question, who), Judged(of, judged, context)


def truth(world: World) -> np.ndarray:
    """Wins less losses of each two systems: differences are normal."""
    spread = np.sqrt(2 * world.topic**2 + 2 * world.taste**2 + 1)
    apart = np.array([QUALITY[i] - QUALITY[j] for i, j in combinations(range(world.systems), 2)])
    return stats.norm.cdf((apart - TIE) / spread) - stats.norm.cdf((-apart - TIE) / spread)


def measured(world: World, runs: int, seed: int) -> dict[str, float]:
    """Over all pairs and runs: how far the judge is off, how often the corrected and people's own intervals hold the truth, the
    width of the former by the latter's; error: the standard error of how often the corrected ones do, gaps of one run being
    one draw."""
    gaps = truth(world)
    held: dict[str, list[float]] = {"judge": [], "corrected": [], "people": [], "width": []}
    of_runs = []
    for run in range(runs):
        labels, judged = drawn(world, np.random.default_rng([seed, run]))
        found = Correction(len(gaps), labels, judged, 2.0)
        for i, gap in enumerate(gaps):
            v = np.eye(len(gaps))[i]
            corrected, people = found.of_corrected(v), found.of_people(v)
            held["judge"].append(abs(found.judge[i] - gap))
            held["corrected"].append(corrected.low <= gap <= corrected.high)
            held["people"].append(people.low <= gap <= people.high)
            held["width"].append((corrected.high - corrected.low) / (people.high - people.low))
        of_runs.append(np.mean(held["corrected"][-len(gaps) :]))
    error = float(np.std(of_runs, ddof=1) / np.sqrt(runs))
    return {name: float(np.mean(values)) for name, values in held.items()} | {"error": error}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(f"{asked.runs} runs a row, each with 15 pairs of systems; seed {asked.seed}.\n")
    head(
        "people and judge", "the judge is off by", "corrected interval holds", "SE", "people's holds", "its width, of people's"
    )
    for world in WORLDS:
        of = measured(world, asked.runs, asked.seed)
        shares = f"{100 * of['corrected']:.1f}%", f"{100 * of['error']:.1f}", f"{100 * of['people']:.1f}%"
        row(world.name, f"{of['judge']:.3f}", *shares, f"{of['width']:.2f}")


if __name__ == "__main__":
    main()
