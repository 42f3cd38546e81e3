"""Scores of single outputs, and what they make of systems: the other two model-level scores of Zhou & Xu (2020), RQ1, RQ2.

A sample's score is its rating, where each output is a player that always says the same (`sample_pairs`, then
`rules.standings` with outputs as systems), or its mean points against common machine-written references
(`reference_pairs`, `reference_scores`). A system's score is the mean over its outputs (`mean_by_system`), or its rating
in a tournament of systems. Outputs of different contexts meet here, as in the paper.
"""

import numpy as np
from numpy.typing import ArrayLike

PLAYS = 10_000  # of all outputs together; the paper's RQ1
REFERENCES = 50  # the paper's RQ1
POINTS = {1: 3.0, 0: 1.0, -1: 0.0}  # for beating, drawing with, and losing to a reference; the paper's RQ1


def sample_pairs(n_outputs: int, plays: int = PLAYS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Who plays whom: two int arrays (plays,) of different outputs, drawn at random."""
    if n_outputs < 2:
        raise ValueError("A game between samples needs at least two outputs.")
    rng = np.random.default_rng(seed)
    first = rng.integers(n_outputs, size=plays)
    return first, (first + rng.integers(1, n_outputs, size=plays)) % n_outputs


def reference_pairs(machine_written: ArrayLike, references: int = REFERENCES, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Every output against each of the common references but itself: two int arrays (games,), output and reference.

    machine_written: bool (outputs,), which outputs the references are drawn from; all of them where they are fewer.
    """
    machine_written = np.asarray(machine_written, dtype=bool)
    candidates = np.flatnonzero(machine_written)
    if len(candidates) == 0:
        raise ValueError("No output is machine-written, so there is no reference to meet.")
    chosen = np.random.default_rng(seed).permutation(candidates)[:references]
    output, reference = (x.ravel() for x in np.meshgrid(np.arange(len(machine_written)), np.sort(chosen), indexing="ij"))
    return output[output != reference], reference[output != reference]


def reference_scores(n_outputs: int, output: ArrayLike, outcome: ArrayLike) -> np.ndarray:
    """Mean points of each output over its games with references: (outputs,), nan where it had none.

    output: int (games,); outcome: +1, 0, -1 (games,), as the output did against the reference.
    """
    output, outcome = np.asarray(output, dtype=np.int64), np.asarray(outcome)
    if not np.isin(outcome, list(POINTS)).all():
        raise ValueError("A game's outcome must be +1 (the output wins), 0 (tie) or -1 (the reference wins).")
    points = np.select([outcome == result for result in POINTS], list(POINTS.values()))
    return _means(n_outputs, output, points)


def mean_by_system(n_systems: int, system: ArrayLike, score: ArrayLike) -> np.ndarray:
    """Mean score of each system's outputs: (systems,), nan where it has none. system, score: (outputs,); nan is left out."""
    system, score = np.asarray(system, dtype=np.int64), np.asarray(score, dtype=float)
    scored = np.isfinite(score)
    return _means(n_systems, system[scored], score[scored])


def _means(n: int, group: np.ndarray, values: np.ndarray) -> np.ndarray:
    count = np.bincount(group, minlength=n)
    total = np.bincount(group, weights=values, minlength=n)
    means: np.ndarray = np.divide(total, count, out=np.full(n, np.nan), where=count > 0)
    return means
