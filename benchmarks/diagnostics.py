"""`python -m benchmarks.diagnostics [RUNS]`: do the figures for a careful reader keep their promises? Seeds from 0.

Length: four systems on C contexts, of which the first two are equals; the first writes twice as long, a judge likes length
(bounded, by its logarithm, or not at all); outputs have luck, and where people judge, three of them see each pair, each with a
taste for systems (SD 0.5) and an own liking of length. How often 95% intervals of the pairs at equal length hold the truth.
Circles: boards of one order, with luck and tastes, and boards whose systems go round: circles found, circles expected, how
often p is at most 0.05, and how often ties lie where 95% should. The best: how often the system that is most likely the best
is the best, by how likely it is said to be; strengths normal, wide (SD 1 logit) or narrow (SD 0.2)."""

import os
import sys
from collections.abc import Callable, Iterable
from itertools import product
from multiprocessing import Pool

import numpy as np
from scipy.special import expit

from leaderboard.rating import ranking, rules
from leaderboard.rating.bootstrap import context_draws
from leaderboard.rating.diagnostics.length_control import control_length
from leaderboard.rating.diagnostics.order_fit import order_fit
from leaderboard.rating.games import Games
from leaderboard.rating.people_board import read_pairs

TIE, LUCK, ON_A_PAIR = 0.6, 0.5, 3
LENGTHS = tuple(product(("bounded", "logarithm", "none"), ((20, 0), (50, 0), (200, 0), (50, 8), (100, 20))))
ORDERS = (  # systems, contexts, annotators (0: a comparator), SD of strengths, of tastes, of luck, how far they go round
    (6, 40, 0, 0.0, 0.0, 0.5, 0.0),
    (6, 40, 0, 0.5, 0.0, 0.5, 0.0),
    (12, 100, 0, 0.3, 0.0, 0.5, 0.0),
    (6, 40, 8, 0.0, 0.5, 0.5, 0.0),
    (6, 40, 8, 0.1, 1.5, 0.5, 0.0),
    (6, 40, 8, 0.1, 0.0, 1.5, 0.0),
    (8, 30, 4, 0.1, 0.5, 1.0, 0.0),
    (6, 100, 20, 0.3, 0.5, 0.5, 0.0),
    (6, 100, 20, 0.3, 0.5, 0.5, 0.4),
)
BEST = tuple(product(("games", "people"), (1.0, 0.2)))
SAID = (0.0, 0.5, 0.8, 0.95, 1.01)
Simulated = Callable[[Callable, tuple], np.ndarray]  # (what is simulated, its case) -> (runs, figures)


class Campaign:
    """Every pair of systems on every context, judged once or by some of the annotators."""

    def __init__(self, rng: np.random.Generator, systems: int, contexts: int, annotators: int):
        i, j = np.triu_indices(systems, 1)
        times = ON_A_PAIR if annotators else 1
        self.first, self.second = (np.repeat(side, contexts * times) for side in (i, j))
        self.context = np.tile(np.repeat(np.arange(contexts), times), len(i))
        met = len(i) * contexts
        chosen = [rng.permutation(annotators)[:times] for _ in range(met)] if annotators else np.zeros((met, 1), dtype=int)
        self.annotator = np.concatenate(chosen)
        self.annotators = max(annotators, 1)
        self.rng, self.systems, self.contexts = rng, systems, contexts

    def between(self, of: np.ndarray) -> np.ndarray:
        """of (systems, contexts) or (systems,): of the first less that of the second, in each game"""
        where = (self.context,) if of.ndim == 2 else ()
        return of[self.first, *where] - of[self.second, *where]

    def outcome(self, strength: np.ndarray, taste: float, more: np.ndarray | float = 0.0, luck: float = LUCK) -> np.ndarray:
        seen = self.between(strength) + self.between(luck * self.rng.normal(size=(self.systems, self.contexts)))
        tastes = taste * self.rng.normal(size=(self.annotators, self.systems))
        seen = seen + tastes[self.annotator, self.first] - tastes[self.annotator, self.second]
        seen = seen + more + self.rng.logistic(size=len(seen))
        return np.where(np.abs(seen) < TIE, 0, np.sign(seen)).astype(int)


def length(case: tuple) -> list[float]:
    """[rate of the equals less a half, is a half in its interval, share of pairs that hold their truth, plain difference]"""
    (liking, (contexts, annotators)), seed = case
    rng = np.random.default_rng([seed, 1])
    strength = 0.7 * rng.normal(size=4)
    strength[:2] = strength[:2].mean()
    campaign = Campaign(rng, 4, contexts, annotators)
    lengths = np.array([400, 200, 300, 300])[:, None] * np.exp(0.4 * rng.normal(size=(4, contexts)))
    more = {
        "bounded": np.tanh(campaign.between(lengths) / 150),
        "logarithm": campaign.between(np.log(lengths)),
        "none": np.zeros(len(campaign.first)),
    }[liking]
    own = 1 + (0.5 * rng.normal(size=campaign.annotators)[campaign.annotator] if annotators else 0.0)
    outcome = campaign.outcome(strength, 0.5 if annotators else 0.0, own * more)
    sides = tuple(lengths[side, campaign.context] for side in (campaign.first, campaign.second))
    clusters = [campaign.context] + ([campaign.annotator] if annotators else [])
    found = control_length(4, campaign.first, campaign.second, outcome, sides, clusters)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)  # over luck, and tastes
    spread = np.sqrt(2 * (LUCK**2 + (0.5**2 if annotators else 0.0)))
    gap = strength[:, None, None] - strength[None, :, None] + spread * nodes
    truth = ((expit(gap - TIE) + expit(gap + TIE)) / 2) @ (weights / weights.sum())
    held = ((found.pairs.low <= truth) & (truth <= found.pairs.high))[~np.eye(4, dtype=bool)]
    half = found.pairs.low[0, 1] <= 0.5 <= found.pairs.high[0, 1]
    return [found.pairs.rate[0, 1] - 0.5, half, held.mean(), found.plain[0] - found.plain[1]]


def circles(case: tuple) -> list[float]:
    """[circles, expected, p <= 0.05, share of groups of games whose ties lie in their 95%]"""
    (systems, contexts, annotators, spread, taste, luck, around), seed = case
    rng = np.random.default_rng([seed, 2])
    campaign = Campaign(rng, systems, contexts, annotators)
    more = around * np.where((campaign.second - campaign.first) % 2 == 1, 1, -1)
    outcome = campaign.outcome(spread * rng.normal(size=systems), taste, more, luck)
    found = order_fit(systems, Games(campaign.first, campaign.second, outcome, campaign.context), 199, seed)
    return [found.circles, found.expected, found.p <= 0.05, np.mean([t.low <= t.share <= t.high for t in found.by_closeness])]


def best(case: tuple) -> list[float]:
    """[the largest chance to be the best, is that system the best]"""
    (judge, spread), seed = case
    rng = np.random.default_rng([seed, 3])
    systems, contexts, annotators = 6, 40, 8 if judge == "people" else 0
    campaign, strength = Campaign(rng, systems, contexts, annotators), spread * rng.normal(size=systems)
    outcome = campaign.outcome(strength, 0.3 if annotators else 0.0)
    if judge == "people":
        pairs = (campaign.first, campaign.second, outcome, campaign.context, campaign.annotator)
        board = read_pairs(systems, *pairs).board()
        chances = ranking.best_chances(board.rating, board.covariance, float(board.df.min()), 10_000, seed)
    else:
        games = Games(campaign.first, campaign.second, outcome, campaign.context)
        standings, draws = rules.standings(systems, games), context_draws(contexts, 200, seed)
        covariance = ranking.covariance(standings, rules.replicates(systems, games, draws), contexts)
        chances = ranking.best_chances(standings.rating, covariance, ranking.freedom(contexts), 10_000, seed)
    return [chances.max(), chances.argmax() == strength.argmax()]


def table(title: str, head: str, rows: Iterable[list[str]]) -> None:
    """Markdown, row by row."""
    print(f"## {title}\n\n{head}\n|{'---|' * (head.count('|') - 1)}")
    for cells in rows:
        print("| " + " | ".join(cells) + " |", flush=True)
    print()


def length_row(simulated: Simulated, case: tuple) -> list[str]:
    likes, (contexts, annotators) = case
    error, half, held, plain = simulated(length, case).T
    shares = (f"{error.mean():+.3f} ({error.std() / len(error) ** 0.5:.3f})", f"{half.mean():.3f}", f"{held.mean():.3f}")
    return [likes, str(contexts), str(annotators or "a comparator"), *shares, f"{plain.mean():+.3f}"]


def circles_row(simulated: Simulated, case: tuple) -> list[str]:
    found, expected, small, ties = simulated(circles, case).mean(axis=0)
    named = [f"{setting:g}" for setting in case]
    named[2] = named[2] if case[2] else "a comparator"
    return [*named, f"{found:.2f}", f"{expected:.2f}", f"{small:.3f}", f"{ties:.3f}"]


def best_row(simulated: Simulated, case: tuple) -> list[str]:
    said, right = simulated(best, case).T
    parts = [(said >= low) & (said < high) for low, high in zip(SAID, SAID[1:])]
    cells = [f"{said[part].mean():.3f}, {right[part].mean():.3f} ({part.sum()})" if part.any() else "" for part in parts]
    return [case[0], f"{case[1]:g}", f"{said.mean():.3f}, {right.mean():.3f}", *cells]


def main(runs: int) -> None:
    with Pool(os.cpu_count()) as pool:

        def simulated(simulate, case) -> np.ndarray:
            return np.array(pool.map(simulate, [(case, seed) for seed in range(runs)], chunksize=4), dtype=float)

        print(f"{runs} runs a row.\n")
        head = "| the judge likes length | contexts | annotators | equals' error (SE) | a half held | truths held | plain |"
        table("Equal length", head, (length_row(simulated, case) for case in LENGTHS))
        head = (
            "| systems | contexts | annotators | SD of strengths | tastes | luck | round | found | expected | p ≤ 0.05 | ties |"
        )
        table("Circles", head, (circles_row(simulated, case) for case in ORDERS))
        head = "| judge | SD of strengths | all: said, so | below 0.5 (boards) | to 0.8 | to 0.95 | above |"
        table("Best", head, (best_row(simulated, case) for case in BEST))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
