"""What a board says after *Queue the most informative pairs*: in simulated campaigns of pairs, people judge some at random,
then always the pairs that `order_to_ask` puts first, some at a time, until half of all are judged.

    python -m benchmarks.validity.active_selection --n 200

Beside it, the same with as many pairs at random. Equal systems, for false statements; systems apart, for intervals."""

import argparse
import sys
from dataclasses import replace

import numpy as np
from scipy import stats

from benchmarks.validity.crowds import Crowd, Entered, draw
from leaderboard.rating.decision import CONFIDENCE
from leaderboard.rating.games import Games
from leaderboard.rating.pairing import order_to_ask
from leaderboard.rating.people_board import PeopleBoard, read_pairs

EQUAL = Crowd(form="pairs", contexts=80, k=1)
CAMPAIGNS = {"equal": EQUAL, "apart": replace(EQUAL, strengths=(0.0, 0.2, 0.4, 0.9, 1.4))}
FIRST, AT_ONCE = 80, 40  # pairs judged at random, and between two orders
TRUE_SEED, TRUE_CONTEXTS, TRUE_PEOPLE = 10**6, 6_000, 600  # of the campaign that tells what differences of ratings are true


def judged(e: Entered, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    return e.first[rows], e.second[rows], e.outcome[rows], e.pair_context[rows], e.pair_person[rows]


def asked(c: Crowd, e: Entered, seed: int) -> np.ndarray:
    """The rows that are judged, in that order."""
    left = np.random.default_rng([seed, 78]).permutation(len(e.outcome))
    done, left = left[:FIRST], left[FIRST:]
    while len(done) < len(e.outcome) // 2:
        games = Games(e.first[done], e.second[done], e.outcome[done], e.pair_context[done])
        left = left[order_to_ask(c.systems, games, e.first[left], e.second[left], seed + len(done))]
        done, left = np.concatenate([done, left[:AT_ONCE]]), left[AT_ONCE:]
    return done


def facts(c: Crowd, board: PeopleBoard, true: np.ndarray) -> tuple[float, ...]:
    """(is a system called better than its equal, share of intervals that hold the truth, median width, slope of the differences
    on the true ones; 0 where systems are equal)"""
    pairs, strengths = np.triu_indices(c.systems, 1), np.asarray(c.strengths)
    reach = (stats.t.ppf((1 + CONFIDENCE) / 2, board.df) * board.se)[pairs]
    found, there = board.difference[pairs], (true[:, None] - true[None, :])[pairs]
    wrong = (board.above & (strengths[:, None] <= strengths[None, :])).any()
    slope = float(found @ there / (there @ there)) if there.any() else 0.0
    return float(wrong), float((np.abs(found - there) <= reach).mean()), float(np.median(2 * reach)), slope


def true_ratings(c: Crowd) -> np.ndarray:
    if not np.ptp(c.strengths):
        return np.zeros(c.systems)
    large = draw(replace(c, contexts=TRUE_CONTEXTS, people=TRUE_PEOPLE), TRUE_SEED)
    wins = np.zeros((c.systems, c.systems))
    np.add.at(wins, (large.first, large.second), (1 + large.outcome) / 2)
    np.add.at(wins, (large.second, large.first), (1 - large.outcome) / 2)
    return ratings(wins)


def ratings(wins: np.ndarray, rounds: int = 200) -> np.ndarray:
    """Bradley and Terry's, by Zermelo's iterations (1929), in points of 400 for ten to one. wins: (s, s)"""
    strength = np.ones(len(wins))
    for _ in range(rounds):
        met = (wins + wins.T) / (strength[:, None] + strength[None, :])
        np.fill_diagonal(met, 0.0)
        strength = wins.sum(axis=1) / met.sum(axis=1)
        strength /= np.exp(np.log(strength).mean())
    return 400 * np.log10(strength)


def main(args: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validity.active_selection", description=__doc__)
    parser.add_argument("--n", type=int, default=200, help="campaigns of each row (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first campaign (default %(default)s)")
    parser.add_argument("--only", choices=[*CAMPAIGNS], help="these campaigns alone")
    given = parser.parse_args(args)
    print("| systems | pairs | N | called better than an equal | SE | intervals that hold the truth | median width | slope |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for name, c in CAMPAIGNS.items():
        if given.only not in (None, name):
            continue
        true = true_ratings(c)
        of: dict[str, list[tuple[float, ...]]] = {"at random": [], "as they are asked": []}
        for seed in range(given.seed, given.seed + given.n):
            e = draw(c, seed)
            rows = asked(c, e, seed)
            random = np.random.default_rng([seed, 78]).permutation(len(e.outcome))[: len(rows)]
            for how, chosen in zip(of, (random, rows)):
                of[how].append(facts(c, read_pairs(c.systems, *judged(e, chosen)).board(), true))
        for how, found in of.items():
            wrong, held, width, slope = np.array(found).T
            error = np.sqrt(max(wrong.mean(), 1 / given.n) * (1 - wrong.mean()) / given.n)
            figures = f"{wrong.mean():.1%} | {error:.1%} | {held.mean():.1%} | {np.median(width):.0f} | {slope.mean():.2f}"
            print(f"| {name} | {how} | {given.n} | {figures} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
