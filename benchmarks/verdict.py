"""How often the verdict on scores is wrong: `python -m benchmarks.verdict` prints the tables of docs/results/verdict.md.

A campaign is drawn from a latent normal scale, cut into points. The generators and their measure of alpha share no code
with `annotation/quality/`. Seeds 0 and up; the threshold is 1 MAD, a MAD of 0 drops, alpha is at the interval level.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from annotation.quality.mad import keep_mask
from annotation.quality.report import score_agreement
from annotation.quality.verdict import decide

RATERS, POINTS, ANSWERS = (2, 3, 5, 10), (3, 5, 100), ("even", "skewed")
ERRORS = ("noise", "severity", "careless")
POOR = (0.18, 0.41)
GOOD, GOOD_FROM = 0.83, 0.8
SKEW = 0.25  # 80% of answers are the best of 3 points, 59% the best of 5
SEVERITY = 0.5  # share of the disagreement that is raters' severity
CARELESS = 0.05  # share of scores that are drawn at random from the scale


@dataclass(frozen=True)
class World:
    """A kind of campaign: how many judge, on which scale, how answers lie on it, and how raters err."""

    raters: int
    points: int
    answers: str
    errors: str = "noise"
    units: int = 300


def drawn(world: World, disagreement: float, rng: np.random.Generator) -> np.ndarray:
    """Scores (raters, units) whose errors have this variance beside a true variance of 1; infinite: no truth at all."""
    truth = rng.normal(size=world.units) if np.isfinite(disagreement) else np.zeros(world.units)
    variance = disagreement if np.isfinite(disagreement) else 1.0
    of_raters = SEVERITY if world.errors == "severity" else 0.0
    severity = rng.normal(size=(world.raters, 1))
    severity = (severity - severity.mean()) / severity.std(ddof=1) * np.sqrt(variance * of_raters)
    noise = rng.normal(size=(world.raters, world.units)) * np.sqrt(variance * (1 - of_raters))
    latent = (truth + severity + noise) / np.sqrt(variance + np.isfinite(disagreement))
    scores = _cut(ndtr(latent), world)
    if world.errors != "careless":
        return scores
    return np.where(rng.random(scores.shape) < CARELESS, rng.integers(1, world.points + 1, scores.shape), scores)


def _cut(uniform: np.ndarray, world: World) -> np.ndarray:
    """A number between 0 and 1 as a point of the scale."""
    uniform = uniform**SKEW if world.answers == "skewed" else uniform
    return np.minimum(np.floor(uniform * world.points), world.points - 1) + 1


def own_alpha(scores: np.ndarray) -> float:
    """Interval alpha of complete scores (raters, units): 1 - mean variance within units / variance of all scores."""
    return float(1 - scores.var(axis=0, ddof=1).mean() / scores.var(ddof=1))


def disagreement_for(world: World, alpha: float) -> float:
    """Variance of errors at which alpha, over 20,000 units, is the one that is asked for."""
    large = World(world.raters, world.points, world.answers, world.errors, 20_000)
    low, high = 1e-4, 1e3
    for _ in range(40):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if own_alpha(drawn(large, middle, np.random.default_rng(1))) > alpha else (low, middle)
    return float(np.sqrt(low * high))


def judged(scores: np.ndarray, seed: int) -> tuple[str, str]:
    """The verdict, and that of the rule before: alpha after the filter, if 2 SD above chance."""
    keep = keep_mask(scores)
    evidence, figures, _ = score_agreement(scores, keep, "interval", 1.0, "drop", seed, 50, 200)
    earlier = (figures["alpha_after"] or 0.0) >= GOOD_FROM and (figures["alpha_null_mean"] is None or _above(figures))
    return decide(evidence)[0] if evidence else "undefined", "accepted" if earlier else "other"


def _above(figures: dict) -> bool:
    return bool(figures["alpha_after"] > figures["alpha_null_mean"] + 2 * figures["alpha_null_sd"])


def verdicts(world: World, disagreement: float, n: int, wanted: Callable[[np.ndarray], bool] = lambda scores: True) -> list:
    """Both rules' verdicts on the first n campaigns that are wanted."""
    given: list[tuple[str, str]] = []
    for seed in range(20 * n):
        if len(given) == n:
            break
        scores = drawn(world, disagreement, np.random.default_rng(seed))
        given += [judged(scores, seed)] if wanted(scores) else []
    return given


def percent(wrong: list[bool]) -> str:
    """A share in percent with its standard error."""
    share = np.mean(wrong)
    return f"{100 * share:.1f} ± {100 * np.sqrt(share * (1 - share) / len(wrong)):.1f}"


def row(world: World, n: int) -> list[str]:
    """Noise accepted, poor data accepted (by the rule before, too), good data refused."""
    noise = verdicts(world, np.inf, n)
    cells = [percent([new == "accepted" for new, _ in noise])]
    for alpha in POOR:
        poor = verdicts(world, disagreement_for(world, alpha), n)
        cells += [percent([rule == "accepted" for rule in rules]) for rules in zip(*poor)]
    good = verdicts(world, disagreement_for(world, GOOD), n, lambda scores: own_alpha(scores) >= GOOD_FROM)
    refused = percent([new != "accepted" for new, _ in good])
    return [*cells, refused + ("" if len(good) == n else f" (of {len(good)})")]


def line(cells: list) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def table(named: list[tuple[list, World]], names: list[str], n: int) -> None:
    figures = ["noise accepted"]
    figures += [f"alpha {alpha} accepted{by}" for alpha in POOR for by in ("", " (rule before)")]
    line([*names, *figures, "good refused"])
    line(["---:"] * (len(names) + 6))
    for cells, world in named:
        line([*cells, *row(world, n)])


def small_campaigns(n: int) -> None:
    """Noise in campaigns so small that perfect agreement is luck."""
    line(["raters", "outputs", "noise with alpha at or above 0.8", "noise accepted"])
    line(["---:"] * 4)
    for raters in (2, 3):
        for units in (3, 5, 10, 20):
            world = World(raters, 3, "even", units=units)
            noise = [drawn(world, np.inf, np.random.default_rng(seed)) for seed in range(n)]
            lucky = percent([scores.var() > 0 and own_alpha(scores) >= GOOD_FROM for scores in noise])
            accepted = percent([judged(scores, seed)[0] == "accepted" for seed, scores in enumerate(noise)])
            line([raters, units, lucky, accepted])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=200, help="in each cell")
    n = parser.parse_args().campaigns
    worlds = [World(*cell) for cell in ((r, p, a) for r in RATERS for p in POINTS for a in ANSWERS)]
    print(f"Percent of {n} campaigns of 300 outputs, ± standard error.\n")
    table([([w.raters, w.points, w.answers], w) for w in worlds], ["raters", "points", "answers"], n)
    print("\nOther ways to err, 3 raters, 5 points:\n")
    others = [World(3, 5, answers, errors) for errors in ERRORS[1:] for answers in ANSWERS]
    table([([w.errors, w.answers], w) for w in others], ["errors", "answers"], n)
    print("\nSmall campaigns of noise, 3 points:\n")
    small_campaigns(5 * n)


if __name__ == "__main__":
    main()
