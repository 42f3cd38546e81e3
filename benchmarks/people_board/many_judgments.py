"""What people's board of many judgments of pairs takes: CPU seconds and memory, from arrays to the board.

    python -m benchmarks.people_board.many_judgments --judgments 1000000

Systems whose strengths are normal with SD 0.5 meet on contexts drawn at random, judged by people drawn at random, whose
leanings have SD 0.3; outputs have luck of SD 0.5, and noise is normal with SD 0.8. One thread: OMP_NUM_THREADS=1."""

import argparse
import resource
import sys
import time

import numpy as np

from leaderboard.rating.people_board import read_pairs


def drawn(judgments: int, systems: int, people: int, contexts: int, seed: int) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """(strengths, (first, second, outcome, context, person))"""
    rng = np.random.default_rng([seed, 80])
    strength, leaning = rng.normal(0, 0.5, systems), rng.normal(0, 0.3, (people, systems))
    worth = strength + rng.normal(0, 0.5, (contexts, systems))
    first, context, person = (rng.integers(0, n, judgments) for n in (systems, contexts, people))
    second = (first + rng.integers(1, systems, judgments)) % systems
    apart = worth[context, first] + leaning[person, first] - worth[context, second] - leaning[person, second]
    apart += rng.normal(0, 0.8 * np.sqrt(2), judgments)
    outcome = np.where(np.abs(apart) < 0.3, 0, np.sign(apart)).astype(int)
    return strength, (first, second, outcome, context, person)


def main(args: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.people_board.many_judgments", description=__doc__)
    for name, many in (("judgments", 1_000_000), ("systems", 100), ("people", 2_000), ("contexts", 5_000), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=many)
    asked = parser.parse_args(args)
    strength, answers = drawn(asked.judgments, asked.systems, asked.people, asked.contexts, asked.seed)
    before, start = _memory(), time.process_time()
    board = read_pairs(asked.systems, *answers).board()
    took = time.process_time() - start
    wrong = int((board.above & (strength[:, None] <= strength[None, :])).sum())
    pairs = asked.systems * (asked.systems - 1) // 2
    print(f"{asked.judgments:,} judgments: {took:.0f} s of CPU, {_memory():.2f} GiB at most ({before:.2f} before)")
    print(f"{int(board.above.sum()):,} of {pairs:,} differences known, {wrong} of them wrong")
    return 0


def _memory() -> float:
    """GiB, the most that this process has had"""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    sys.exit(main())
