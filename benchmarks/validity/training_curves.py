"""How often three rules stop a training: python -m benchmarks.validity.training_curves

The trainings come from `curves`. The worthwhile gain is .01 standard deviations of an output in an evaluation. Ours is the
product's rule at every look until it first stops; only the counting of wins is done for many trainings at once.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from benchmarks.validity.curves import training
from benchmarks.validity.harness import Store
from evaluator.judges.protocol import by_order
from evaluator.selection.best_checkpoint import all_strengths, chances_of, drawn, kept
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
TIMES = (10, 20, 30, 50, 60, 100)  # evaluations by which a training was stopped
ENDS = (10, 30, 100)  # evaluations after which the set of the best is made
SETS = "best set: "


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

    @property
    def row(self) -> str:
        return " | ".join(self.name.split(", ", 2))


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
    """Of each training after how many evaluations each rule stops it."""
    made = [training(cell.shape, EVALUATIONS, cell.contexts, cell.scatter, cell.ar, seed, **cell.twist) for seed in seeds]
    ours = Batch([Compared(utility) for _, utility, _ in made], made[0][2]).stops()
    for seed, stop, (_, utility, _) in zip(seeds, ours, made):
        yield {"seed": seed, "ours": int(stop), "paper": paper(utility), "patience": patience(utility)}


def best_sets(cell: Cell, seeds: range) -> Iterator[dict[str, Any]]:
    """Of each training, by evaluations: whether the set holds a checkpoint with the highest quality, its size, and what its
    members' chances to be the best sum to."""
    for seed in seeds:
        quality, utility, groups = training(cell.shape, EVALUATIONS, cell.contexts, cell.scatter, cell.ar, seed, **cell.twist)
        row: dict[str, Any] = {"seed": seed}
        for end in ENDS:
            curve = curve_of(np.arange(end), ByUtility(utility[:end], by_order), cell.contexts, groups)
            chances = chances_of(drawn(curve, RULES, all_strengths(curve)))
            members = kept(chances)
            held = quality[members].max() == quality[:end].max()
            row[str(end)] = [bool(held), len(members), round(float(chances[members].sum()), 4)]
        yield row


def rows_of(store: Store, name: str, seeds: range) -> list[dict[str, Any]]:
    return [store.lines[key] for key in (f"{name} {seed}" for seed in seeds) if key in store.lines]


def fill(store: Store, name: str, seeds: range, simulate: Callable[[range], Iterator[dict[str, Any]]]) -> None:
    for start in range(seeds.start, seeds.stop, BATCH):
        part = range(start, min(start + BATCH, seeds.stop))
        if len(rows_of(store, name, part)) < len(part):
            for row in simulate(part):
                store.add(f"{name} {row['seed']}", row)


def table(store: Store, cells: list[Cell], seeds: range) -> str:
    head = " / ".join(map(str, TIMES))
    lines = [f"| quality | contexts | scatter | trainings | ours, stopped by {head} | the published rule | patience 5 |"]
    lines.append("|---|---|---|---|---|---|---|")
    for cell in cells:
        if rows := rows_of(store, cell.name, seeds):
            rules = [
                " / ".join(_share([row[rule] for row in rows], by) for by in TIMES) for rule in ("ours", "paper", "patience")
            ]
            lines.append(f"| {cell.row} | {len(rows):,} | {' | '.join(rules)} |")
    return "\n".join(lines)


def sets_table(store: Store, cells: list[Cell], seeds: range) -> str:
    lines = ["| quality | contexts | scatter | trainings | " + " | ".join(f"{end} evaluations" for end in ENDS) + " |"]
    lines.append("|---|---|---|---" + "|---" * len(ENDS) + "|")
    for cell in cells:
        if rows := rows_of(store, SETS + cell.name, seeds):
            of_end = [np.mean([row[str(end)] for row in rows], axis=0) for end in ENDS]
            shown = (f"{_decimals(held)} / {_decimals(said)} / {size:.1f}" for held, size, said in of_end)
            lines.append(f"| {cell.row} | {len(rows):,} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _share(stops: list[int], by: int) -> str:
    return _decimals(np.mean([stop <= by for stop in stops]))


def _decimals(share: float) -> str:
    """Of a share that is rounded to 1 or 0 without being it, one can tell."""
    return {0.0: "0", 1.0: "1"}.get(float(share), f"{min(share, 0.9995 - 1e-9):.3f}".lstrip("0"))


def arguments(args: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validity.training_curves", description=__doc__)
    parser.add_argument("--n", type=int, default=2000, help="trainings of each cell (default %(default)s)")
    parser.add_argument(
        "--sets", type=int, default=200, help="trainings of a cell whose set of the best is made (default %(default)s)"
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
    store = Store(options.store)
    trainings, sets = (range(options.seed, options.seed + n) for n in (options.n, options.sets))
    cells = [cell for cell in CELLS + TWISTS if options.only in cell.name]
    plain = [cell for cell in cells if not cell.twist]
    work = [(cell.name, trainings, partial(simulated, cell)) for cell in cells]
    work += [(SETS + cell.name, sets, partial(best_sets, cell)) for cell in plain]
    for name, seeds, simulate in [] if options.tables else work:
        fill(store, name, seeds, simulate)
        print(name, file=sys.stderr, flush=True)
    print(table(store, cells, trainings))
    print(f"\nThe best is in the set / the chances of its members sum to / how many it has\n\n{sets_table(store, plain, sets)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
