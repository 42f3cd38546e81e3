"""What the verdicts accept: `python -m benchmarks.agreement.reliability [--campaigns N]`, for docs/results/reliability.md.

People judge pairs of systems, or score outputs from 1 to 5. On a latent scale person p sees system s on context c as

    order_s + taste_ps + luck_cs + noise,    all normal,

scores with a severity of SD 0.5 as well. Noise: neither order nor tastes nor luck. Tastes alone: tastes and luck of SD 0.7 and
0.5, no order. Taste with an order: the same, with an order of SD 1. One truth with careless people: order 0.7, luck 1, no
tastes, noise of SD 0.5, and half of the people answer at random. Everybody answers 100 times, about contexts and systems drawn
at random from 40 contexts. The generator shares nothing with the verdicts."""

import argparse

import numpy as np

from annotation.quality import reliability
from annotation.quality.errors import UndefinedAgreement
from annotation.quality.krippendorff import alpha
from annotation.quality.mad import keep_mask
from annotation.quality.reliability import reliability_of_pairs, reliability_of_scores
from annotation.quality.verdict import decide_as_zhao, decide_on_taste
from benchmarks.verdict import POOR, World, disagreement_for, line, percent
from benchmarks.verdict import drawn as drawn_scores

PEOPLE, SYSTEMS, CONTEXTS, EACH = (2, 4, 10, 30, 200), (3, 10, 60), 40, 100
WORLDS = {  # SD of order, tastes, luck and noise; share of the people who answer at random
    "noise": (0.0, 0.0, 0.0, 1.0, 0.0),
    "tastes alone": (0.0, 0.7, 0.5, 1.0, 0.0),
    "taste with an order": (1.0, 0.7, 0.5, 1.0, 0.0),
    "one truth, half careless": (0.7, 0.0, 1.0, 0.5, 0.5),
}
CUTS = np.array([-1.5, -0.5, 0.5, 1.5])


def drawn(world: str, people: int, systems: int, on_pairs: bool, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """(annotator, context, system, value), or (annotator, context, first, second, points)"""
    order, taste, luck, noise, careless = WORLDS[world]
    means, tastes = order * rng.normal(size=systems), taste * rng.normal(size=(people, systems))
    lucks = luck * rng.normal(size=(CONTEXTS, systems))
    who, what = np.repeat(np.arange(people), EACH), rng.integers(CONTEXTS, size=people * EACH)
    first = rng.integers(systems, size=len(who))
    at_random = (rng.permutation(people) < round(careless * people))[who]
    seen = lambda system: means[system] + tastes[who, system] + lucks[what, system] + noise * rng.normal(size=len(who))
    if on_pairs:
        second = (first + rng.integers(1, systems, size=len(who))) % systems
        difference = seen(first) - seen(second)
        points = np.where(np.abs(difference) < 0.3, 0, np.sign(difference))
        return who, what, first, second, np.where(at_random, rng.integers(-1, 2, len(who)), points)
    value = 1.0 + np.searchsorted(CUTS, seen(first) - 0.5 * rng.normal(size=people)[who])
    return who, what, first, np.where(at_random, rng.integers(1, 6, len(who)), value)


def by_reliability(answers: tuple[np.ndarray, ...]) -> bool:
    measure = reliability_of_pairs if len(answers) == 5 else reliability_of_scores
    try:
        return decide_on_taste(measure(*answers))[0] == "accepted"
    except UndefinedAgreement:
        return False


def as_zhao(world: World, disagreement: float, seed: int) -> bool:
    """Are scores of everybody on everything accepted by alpha after the filter alone?"""
    scores = drawn_scores(world, disagreement, np.random.default_rng(seed))
    keep = keep_mask(scores)
    try:
        after = alpha(np.where(keep, scores, np.nan), "interval")
    except UndefinedAgreement:
        return False
    return decide_as_zhao(after, int((~keep).sum()), scores.size)[0] == "accepted"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=200, help="in each cell")
    parser.add_argument("--of", choices=["pairs", "scores", "protocol"], default="pairs")
    asked = parser.parse_args()
    n = asked.campaigns
    reliability.SPLITS = 0  # halves decide nothing, and take most of the time
    if asked.of != "protocol":
        line(["people", "systems", *WORLDS])
        line(["---:"] * (2 + len(WORLDS)))
        for people in PEOPLE:
            for systems in SYSTEMS:
                few = n if people < 100 else max(n // 2, 1)
                cells = [
                    percent([by_reliability(_drawn(world, people, systems, asked.of == "pairs", i)) for i in range(few)])
                    for world in WORLDS
                ]
                line([people, systems, *cells])
        return
    line(["raters", "points", "noise", *(f"alpha {value}" for value in POOR)])
    line(["---:"] * 5)
    for raters in (3, 5, 10):
        for points in (3, 5, 100):
            world = World(raters, points, "even", units=100)
            wrong = [np.inf, *(disagreement_for(world, value) for value in POOR)]
            line([raters, points, *(percent([as_zhao(world, one, seed) for seed in range(n)]) for one in wrong)])


def _drawn(world: str, people: int, systems: int, on_pairs: bool, seed: int) -> tuple[np.ndarray, ...]:
    return drawn(world, people, systems, on_pairs, np.random.default_rng(seed))


if __name__ == "__main__":
    main()
