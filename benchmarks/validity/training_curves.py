"""How often three rules stop a training: python -m benchmarks.validity.training_curves

The trainings come from `curves`. The worthwhile gain is .01 standard deviations of an output in an evaluation. Ours is the
product's rule at every look until it first stops; its strengths are worked out for many trainings at once (tests compare both).
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logit
from scipy.stats import norm

from benchmarks.validity.curves import training
from evaluator.judges.protocol import by_order
from evaluator.selection.best_checkpoint import all_strengths, best
from evaluator.selection.curve import ByUtility, curve_of
from evaluator.selection.plateau import (
    CONVEX,
    ENOUGH,
    FULL,
    LONG,
    PRECISE,
    SHORT,
    Movement,
    before,
    least_error,
    looks_until,
    movement,
    movements,
    share,
)
from evaluator.selection.rules import Rules

EVALUATIONS, PER = 100, 10  # evaluations of a training; the unit of time in which a worthwhile gain is asked
WORTHWHILE = 100 * (norm.cdf(0.01 * PER / np.sqrt(2)) - 0.5)  # points
RULES = Rules(worthwhile=WORTHWHILE, per=PER)
BATCH = 50
NEVER = 10**6
SEED = 1_000_000  # the first of the table's trainings; smaller ones were looked at while the rule was made
STORE = Path(__file__).resolve().parents[2] / "var/training_curves.jsonl"
TIMES = (10, 30, 60, 100)  # evaluations by which a training was stopped


@dataclass(frozen=True)
class Cell:
    shape: str
    contexts: int
    scatter: float
    ar: float
    twist: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        twist = "".join(f", {key} {value}" for key, value in self.twist.items())
        return f"{self.shape}, {self.contexts}, {self.scatter:g}{f' AR {self.ar:g}' if self.ar else ''}{twist}"


SCATTERS = ((0.0, 0.0), (0.05, 0.0), (0.1, 0.0), (0.05, 0.5), (0.1, 0.5))
CELLS = [
    Cell(shape, contexts, scatter, ar)
    for contexts in (100, 500)
    for scatter, ar in SCATTERS
    for shape in ("slow", "flat_after", "down_after", "equal")
]
TWISTS = [
    Cell("slow", 100, 0.05, 0.0, twist)
    for twist in ({"persistence": 0.8}, {"copied": 0.6}, {"tails": "t3"}, {"group_size": 4, "group_share": 0.3})
]


@dataclass
class Compared:
    """One training. sums: int8 (m + 1, m, n), outcomes of the second index summed over the opponents before the first; means:
    (m, m), of the first index against the second."""

    sums: np.ndarray
    means: np.ndarray


def compared(utility: np.ndarray) -> Compared:
    m, n = utility.shape
    u = utility.astype(np.float32)
    sums = np.zeros((m + 1, m, n), dtype=np.int8)
    means = np.empty((m, m))
    for j in range(m):
        outcomes = (u > u[j]).view(np.int8) - (u < u[j]).view(np.int8)  # (m, n), of all against j
        means[:, j] = outcomes.sum(1, dtype=np.int32) / n
        np.add(sums[j], outcomes, out=sums[j + 1])
    return Compared(sums, means)


def paper(means: np.ndarray) -> int:
    """After how many evaluations Zhou & Xu's rule stops, all contexts against the previous two."""
    row = 0
    for i in range(1, len(means)):
        row = row + 1 if means[i, max(0, i - RULES.previous) : i].sum() < 0 else 0
        if row == RULES.losses:
            return i + 1
    return NEVER


def patience(utility: np.ndarray) -> int:
    """After how many evaluations "no new best mean for 5" stops."""
    top, since = -np.inf, 0
    for i, value in enumerate(utility.mean(1)):
        top, since = (value, 0) if value > top else (top, since + 1)
        if since == 5:
            return i + 1
    return NEVER


def _stops(found: Movement, of_error: float) -> np.ndarray:
    turning = (found.bend > CONVEX) & (found.end >= RULES.worthwhile_slope)
    return ~turning & (found.slope.above(RULES.worthwhile_slope) < of_error)


class Batch:
    """Our rule on many trainings with the same contexts and steps."""

    def __init__(self, trainings: list[Compared], groups: np.ndarray):
        self.trainings = trainings
        self.indicator = (
            (groups[:, None] == np.arange(groups.max() + 1)).astype(np.float32) if len(set(groups)) < len(groups) else None
        )
        self.told: dict[tuple[int, int], np.ndarray] = {}

    def stops(self) -> np.ndarray:
        """(b,) after how many evaluations each is stopped"""
        stopped = np.full(len(self.trainings), NEVER)
        for number, evaluations in enumerate(looks_until(EVALUATIONS), 1):
            left = np.flatnonzero(stopped == NEVER)
            if len(left):
                stopped[left[self.look(left, number, evaluations)]] = evaluations
        return stopped

    def look(self, which: np.ndarray, number: int, evaluations: int) -> np.ndarray:
        """(b,) bool: whether these are stopped; as `plateau.look` and `Look.stops`"""
        full = min(evaluations, FULL)
        whole = self.window(which, evaluations, full)
        stopped, free = _stops(whole, share(RULES, number, full)), np.ones(len(which), dtype=bool)
        for size in [size for size in SHORT if size < full]:
            tried = free & (least_error(np.arange(size) / PER, whole.noise) * PRECISE <= RULES.worthwhile_slope)
            if tried.any():
                found = self.window(which[tried], evaluations, size)
                taken = np.flatnonzero(tried)[precise := found.slope.error * PRECISE <= RULES.worthwhile_slope]
                stopped[taken] = _stops(found, share(RULES, number, size))[precise]
                free[taken] = False
        long = free & (whole.slope.error * ENOUGH > RULES.worthwhile_slope)
        if evaluations >= LONG and long.any():
            stopped[long] = _stops(self.window(which[long], evaluations, LONG), share(RULES, number, LONG))
        return stopped

    def window(self, which: np.ndarray, evaluations: int, size: int):
        past = before(evaluations, size)
        told = None if past is None else self.part(which, *past, None).slope.told
        return self.part(which, evaluations - size, evaluations, told)

    def part(self, which: np.ndarray, first: int, end: int, past: np.ndarray | None):
        t = np.arange(first, end, dtype=float) / PER
        values, variances = self.strengths(which, first, end, movements(t))
        return movement(t, values, variances, past)

    def strengths(self, which: np.ndarray, first: int, end: int, contrasts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(b, w) and (b, k), as `strengths` and `variance` have them where all is judged"""
        d = np.stack([self.trainings[i].means[first:end, first:end] for i in which])  # (b, w, w)
        won = np.stack([self.trainings[i].sums[end, first:end] - self.trainings[i].sums[first, first:end] for i in which])
        n, w = won.shape[2], end - first
        p = (n * (1 + d) / 2 + 0.5) / (n + 1)
        weight = 4 * p * (1 - p) * (1 - np.eye(w))
        information = weight.sum(2)[:, :, None] * np.eye(w) - weight
        solved = np.linalg.inv(information + 1 / w) - 1 / w  # the pseudo-inverse: each row of information sums to 0
        values = (solved @ (weight * logit(p)).sum(2)[:, :, None])[:, :, 0]
        q = (2 * contrasts @ solved).astype(np.float32)  # (b, k, w)
        each = q @ won.astype(np.float32)  # (b, k, n)
        each -= each.mean(2, keepdims=True)
        if self.indicator is not None:
            each = each @ self.indicator
        units = each.shape[2]
        return values, np.maximum((each.astype(float) ** 2).sum(2) * (units / (units - 1) / n**2), 1 / units**2)


def simulated(cell: Cell, seeds: range) -> Iterator[dict[str, Any]]:
    made = [training(cell.shape, EVALUATIONS, cell.contexts, cell.scatter, cell.ar, seed, **cell.twist) for seed in seeds]
    trainings = [compared(utility) for _, utility, _ in made]
    ours = Batch(trainings, made[0][2]).stops()
    for seed, stop, (_, utility, _), one in zip(seeds, ours, made, trainings):
        yield {"seed": seed, "ours": int(stop), "paper": paper(one.means), "patience": patience(utility)}


def best_sets(cell: Cell, seeds: range, evaluations: int) -> list[tuple[bool, int]]:
    """Of each training (whether the set holds the checkpoint with the highest quality, its size)."""
    found = []
    for seed in seeds:
        quality, utility, groups = training(cell.shape, evaluations, cell.contexts, cell.scatter, cell.ar, seed, **cell.twist)
        curve = curve_of(np.arange(evaluations), ByUtility(utility, by_order), cell.contexts, groups)
        kept = best(curve, RULES, all_strengths(curve)).not_worse
        found.append((int(quality.argmax()) in kept, len(kept)))
    return found


class Store:
    """What was simulated, line by line, so that a run that was cut goes on."""

    def __init__(self, file: Path):
        self.file, self.rows = file, {}
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.rows[row["cell"], row["seed"]] = row

    def of(self, cell: Cell, seeds: range) -> list[dict[str, Any]]:
        return [self.rows[cell.name, seed] for seed in seeds if (cell.name, seed) in self.rows]

    def fill(self, cell: Cell, seeds: range) -> None:
        for start in range(seeds.start, seeds.stop, BATCH):
            part = range(start, min(start + BATCH, seeds.stop))
            if len(self.of(cell, part)) == len(part):
                continue
            rows = [{"cell": cell.name, **row} for row in simulated(cell, part)]
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as opened:
                opened.writelines(json.dumps(row) + "\n" for row in rows)
            self.rows |= {(row["cell"], row["seed"]): row for row in rows}


def table(store: Store, cells: list[Cell], seeds: range) -> str:
    head = " / ".join(map(str, TIMES))
    lines = [f"| quality | contexts | scatter | trainings | ours, stopped by {head} | the published rule | patience 5 |"]
    for cell in cells:
        rows = store.of(cell, seeds)
        if rows:
            rules = (
                " / ".join(_share([row[rule] for row in rows], by) for by in TIMES) for rule in ("ours", "paper", "patience")
            )
            _, contexts, scatter = cell.name.split(", ", 2)
            lines.append(f"| {cell.shape} | {contexts} | {scatter} | {len(rows):,} | {' | '.join(rules)} |")
    return "\n".join(lines)


def _share(stops: list[int], by: int) -> str:
    return f"{np.mean([stop <= by for stop in stops]):.3f}".lstrip("0") or "0"


def arguments(args: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validity.training_curves", description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="trainings of each cell (default %(default)s)")
    parser.add_argument(
        "--sets", type=int, default=200, help="trainings of each cell whose best set is made (default %(default)s)"
    )
    parser.add_argument("--only", default="", help="cells whose name contains this")
    parser.add_argument("--seed", type=int, default=SEED, help="the first training (default %(default)s)")
    parser.add_argument(
        "--store", type=Path, default=STORE, help="where trainings are kept (default var/training_curves.jsonl)"
    )
    parser.add_argument("--tables", action="store_true", help="simulate nothing, print what is kept")
    return parser.parse_args(args)


def main(args: list[str] | None = None) -> int:
    options = arguments(args)
    store, seeds = Store(options.store), range(options.seed, options.seed + options.n)
    cells = [cell for cell in CELLS + TWISTS if options.only in cell.name]
    for cell in [] if options.tables else cells:
        store.fill(cell, seeds)
        print(cell.name, file=sys.stderr, flush=True)
    print(table(store, cells, seeds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
