"""Real human judgments, where they lie beside the repository (they are not part of it)."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("no deadline", deadline=None)  # a slow machine is not a wrong result
settings.load_profile("no deadline")

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


@pytest.fixture
def shared_scores():
    """A function: file, aspect -> scores (raters, units); a unit is a system's output on a context."""

    def load(name, aspect):
        rows = [row for row in _rows(f"{name}.ratings.jsonl") if row["aspect"] == aspect]
        return _table([(row["annotator"], (row["context_id"], row["system"]), row["score"]) for row in rows])

    return load


@pytest.fixture
def shared_choices():
    """A function: file -> choices (raters, units), 0, 1, 2 for A, tie, B; a unit is two systems on a context."""

    def load(name):
        codes = {"A": 0, "tie": 1, "B": 2}
        rows = [
            (row["annotator"], (row["context_id"], row["system_a"], row["system_b"]), codes[row["choice"]])
            for row in _rows(f"{name}.pairwise.jsonl")
        ]
        return _table(rows)

    return load


def _rows(name):
    if not (DATA / name).exists():
        pytest.skip(f"The shared human judgments ({name}) are not beside this repository.")
    with open(DATA / name, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _table(rows):
    raters = {rater: i for i, rater in enumerate(sorted({rater for rater, _, _ in rows}))}
    units = {unit: i for i, unit in enumerate(sorted({unit for _, unit, _ in rows}))}
    table = np.full((len(raters), len(units)), np.nan)
    for rater, unit, value in rows:
        table[raters[rater], units[unit]] = value
    return table
