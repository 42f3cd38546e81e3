"""Simulations in several processes, and what they gave, kept line by line, so that a run that was cut goes on."""

import ast
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.validity import crowds, default_path, generators, planned, simulation
from benchmarks.validity.generators import Campaign
from benchmarks.validity.simulation import Record

WORKERS = 2


def draw_seed(campaign: Any, seed: int) -> int:
    """Another one for each campaign and simulation."""
    return int(_digest(f"{_described(campaign)} {seed}"), 16)


def _described(campaign: Any) -> str:
    return json.dumps(asdict(campaign), sort_keys=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def code_version(files: Iterable[Path]) -> str:
    """Of what the code does: comments and docstrings do not count."""
    return _digest("".join(_without_docstrings(ast.parse(file.read_text(encoding="utf-8"))) for file in files))


def _without_docstrings(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))]
    return ast.dump(tree)


VERSION = code_version([Path(generators.__file__), Path(simulation.__file__), *simulation.SOURCES])
ROOT = Path(__file__).resolve().parents[2]
ROOMS = "benchmarks/questions", "annotation/design", "leaderboard/rating/rankings", "leaderboard/rating/crossed"
OTHERS = [file for room in ROOMS for file in sorted((ROOT / room).glob("*.py"))]
OTHER_VERSION = code_version([*OTHERS, *(Path(str(module.__file__)) for module in (crowds, default_path, planned))])


class Store:
    """Results in a file of JSON lines, by what made them: a changed generator or estimator finds nothing of the old one's."""

    def __init__(self, file: Path):
        self.file = file
        self.lines: dict[str, object] = {}
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        self.cut = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            self._take(line)

    def _take(self, line: str) -> None:
        try:
            key, value = json.loads(line)
        except ValueError:
            return  # the run was cut while it wrote this line
        self.lines[key] = value

    def add(self, key: str, value: object) -> None:
        self.lines[key] = value
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as out:
            out.write("\n" * self.cut + json.dumps([key, value]) + "\n")
        self.cut = False

    def records(self, campaign: Any, n: int) -> list[Record]:
        kept = (self.lines.get(simulation_key(campaign, seed)) for seed in range(n))
        return [record for record in kept if isinstance(record, dict)]


def simulation_key(campaign: Any, seed: int) -> str:
    return f"{_version(campaign)} {_digest(_described(campaign))} {seed}"


def truth_key(campaign: Any) -> str:
    of = generators.population(campaign) if isinstance(campaign, Campaign) else campaign
    return f"{_version(campaign)} truth {_digest(_described(of))}"


def _version(campaign: Any) -> str:
    return VERSION if isinstance(campaign, Campaign) else VERSION + OTHER_VERSION


def _truth_task(campaign: Any) -> tuple[str, list[float]]:
    is_here = isinstance(campaign, Campaign)
    true = generators.truth(generators.population(campaign)) if is_here else campaign.truth()
    return truth_key(campaign), true.tolist()


def _simulation_task(work: tuple[Any, list[float], int]) -> tuple[str, Record]:
    campaign, true, seed = work
    given = np.array(true), draw_seed(campaign, seed)
    is_here = isinstance(campaign, Campaign)
    return simulation_key(campaign, seed), simulation.simulate(campaign, *given) if is_here else campaign.simulate(*given)


def run(campaigns: Iterable[Any], n: int, store: Store, workers: int = WORKERS) -> Iterator[int]:
    """Simulates what the store lacks, the first seed of all campaigns first; yields how many are left."""
    campaigns = list(dict.fromkeys(campaigns))
    truths = {truth_key(c): c for c in campaigns if truth_key(c) not in store.lines}
    for key, value in _mapped(_truth_task, list(truths.values()), workers):
        store.add(key, value)
    missing = [(c, seed) for seed in range(n) for c in campaigns if simulation_key(c, seed) not in store.lines]
    tasks = [(c, store.lines[truth_key(c)], seed) for c, seed in missing]
    for done, (key, record) in enumerate(_mapped(_simulation_task, tasks, workers), 1):
        store.add(key, record)
        yield len(tasks) - done


def _mapped(function, tasks: list, workers: int) -> Iterator:
    """In `workers` processes with one thread each, or in this one."""
    if workers < 2 or len(tasks) < 2:
        yield from map(function, tasks)
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # read when NumPy is loaded, which a spawned process does anew
    with get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(function, tasks, chunksize=4)
