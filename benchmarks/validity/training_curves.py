"""How often three rules stop a training: python -m benchmarks.validity.training_curves

The trainings come from `curves`. The worthwhile gain is .01 standard deviations of an output in an evaluation. Ours is the
product's rule at every look until it first stops; only the counting of wins is done for many trainings at once.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from benchmarks.validity.curves import training
from evaluator.judges.protocol import by_order
from evaluator.selection.best_checkpoint import all_strengths, best
from evaluator.selection.curve import ByUtility, curve_of
from evaluator.selection.plateau import look, looks_until
from evaluator.selection.rules import Rules
from evaluator.selection.strengths import Meetings

EVALUATIONS, PER = 100, 10  # evaluations of a training; the unit of time in which a worthwhile gain is asked
WORTHWHILE = 100 * (norm.cdf(0.01 * PER / np.sqrt(2)) - 0.5)  # points
RULES = Rules(worthwhile=WORTHWHILE, per=PER)
BATCH = 50
STAGES = (20, 35, 50, 70, 100)  # evaluations up to which a training is compared, since most are stopped before the end
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


class Compared:
    """One training, of which as much is compared as somebody asks for. sums: int8 (m + 1, m, n), outcomes of the second index
    summed over the opponents before the first; means: (m, m), of the first index against the second."""

    def __init__(self, utility: np.ndarray):
        m, n = utility.shape
        self.utility, self.known = utility.astype(np.float32), 0
        self.sums, self.means = np.zeros((m + 1, m, n), dtype=np.int8), np.zeros((m, m))

    def until(self, end: int) -> None:
        u, known = self.utility, self.known
        if end <= known:
            return
        self.known = end = min([stage for stage in STAGES if stage >= end], default=len(u))
        each = np.ones(u.shape[1], dtype=np.float32)
        for j in range(end):
            rows = slice(known if j < known else 0, end)
            outcomes = (u[rows] > u[j]).view(np.int8) - (u[rows] < u[j]).view(np.int8)  # (r, n), against j
            self.means[rows, j] = (outcomes.astype(np.float32) @ each).astype(float) / len(each)
            np.add(self.sums[j, rows], outcomes, out=self.sums[j + 1, rows])


def paper(utility: np.ndarray) -> int:
    """After how many evaluations Zhou & Xu's rule stops, all contexts against the previous two."""
    balance = np.zeros(len(utility))
    for lag in range(1, RULES.previous + 1):
        later, earlier = utility[lag:], utility[:-lag]
        balance[lag:] += (later > earlier).sum(1) - (later < earlier).sum(1)
    row = 0
    for i, won in enumerate(balance):
        row = row + 1 if won < 0 else 0
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


class Batch:
    """Many trainings with the same contexts and steps, as our rule looks at them (`plateau.Trainings`)."""

    def __init__(self, trainings: list[Compared], groups: np.ndarray):
        self.trainings, self.units, self.steps = trainings, groups, np.arange(EVALUATIONS)

    def stops(self) -> np.ndarray:
        """(b,) after how many evaluations each is stopped"""
        stopped = np.full(len(self.trainings), NEVER)
        for evaluations in looks_until(EVALUATIONS):
            left = np.flatnonzero(stopped == NEVER)
            for i in left:
                self.trainings[i].until(evaluations)
            if len(left):
                found = look(self, RULES, evaluations, left).stops(RULES.worthwhile_slope)
                stopped[left[found]] = evaluations
        return stopped

    def meetings(self, which: np.ndarray, first: int, end: int) -> Meetings:
        """Of all checkpoints from first to end - 1 with each other"""
        means = np.stack([self.trainings[i].means[first:end, first:end] for i in which])  # (b, w, w)
        won = np.stack([self.trainings[i].sums[end, first:end] - self.trainings[i].sums[first, first:end] for i in which])
        surplus = won - means.sum(2, dtype=np.float32)[:, :, None]  # (b, w, n)
        w, n = surplus.shape[1:]
        return Meetings(means, n * (1 - np.eye(w))[None], surplus)


def simulated(cell: Cell, seeds: range) -> Iterator[dict[str, Any]]:
    made = [training(cell.shape, EVALUATIONS, cell.contexts, cell.scatter, cell.ar, seed, **cell.twist) for seed in seeds]
    ours = Batch([Compared(utility) for _, utility, _ in made], made[0][2]).stops()
    for seed, stop, (_, utility, _) in zip(seeds, ours, made):
        yield {"seed": seed, "ours": int(stop), "paper": paper(utility), "patience": patience(utility)}


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
