"""`make bench`: ratios against a peer or a naive version, measured side by side in one run. Synthetic data, seed 0."""

import time

import numpy as np

from benchmarks import quality, rating
from leaderboard.rating.bootstrap import context_draws, replay
from leaderboard.rating.games import Games
from leaderboard.rating.glicko2_sequential import rate


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def rating_replay(systems=20, games=5000, contexts=200, replicates=100) -> tuple[str, float, float]:
    rng = np.random.default_rng(0)
    first = rng.integers(0, systems, games)
    second = (first + rng.integers(1, systems, games)) % systems
    played = Games(first, second, rng.integers(-1, 2, games), rng.integers(0, contexts, games))
    draws = context_draws(contexts, replicates)

    def one_tournament_a_replicate():
        for _ in range(replicates):
            rate(systems, played)

    ours = seconds(lambda: replay(systems, played, draws))
    naive = seconds(one_tournament_a_replicate)
    return f"ratings, {replicates} replicates of {games} games among {systems} / one tournament a replicate", ours, naive


def main() -> None:
    quality.main()
    for bench in (rating_replay,):
        what, ours, theirs = bench()
        print(f"{what}: {ours:.2f} s against {theirs:.2f} s, {theirs / ours:.1f} times faster", flush=True)
    rating.main()


if __name__ == "__main__":
    main()
