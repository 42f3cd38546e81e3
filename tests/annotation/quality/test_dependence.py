"""Copies, fields that explain variance, and scores that are relative."""

import csv
from pathlib import Path

import numpy as np
import pytest

from annotation.quality.dependence import constant_sums, copies, field_p, plain
from annotation.quality.reliability import moves_of_scores

CASES = Path(__file__).resolve().parents[3].parent / "shared" / "cases"


def test_copies_are_equal_but_for_case_spaces_and_punctuation():
    texts = {"a": plain("Who  signed it?"), "b": plain("who signed it"), "c": plain("Who signed?"), "d": plain("")}
    assert copies(list(texts), texts) == [["a", "b"]]
    assert plain("ﬁne Café!") == plain("FINE cafe\u0301") or plain("ﬁne") == "fine"


def campaign(rng, topics: int, of_topic: float):
    """60 contexts of some topics, 4 people, 3 systems that are equal; a topic favours systems with this SD."""
    topic = rng.integers(topics, size=60)
    who, what, which = (x.ravel() for x in np.indices((4, 60, 3)))
    favour = of_topic * rng.normal(size=(topics, 3))
    value = favour[topic[what], which] + 0.5 * rng.normal(size=(60, 3))[what, which] + rng.normal(size=len(who))
    ids, moves = moves_of_scores(who, what, which, value)
    assert ids.tolist() == list(range(60))
    return moves, topic


def test_a_topic_that_favours_systems_is_found():
    found = [field_p(*campaign(np.random.default_rng(seed), 8, 0.8), seed=seed) for seed in range(10)]
    assert sum(p <= 0.05 for p in found) >= 9


def test_a_topic_that_says_nothing_is_found_by_chance_alone():
    found = [field_p(*campaign(np.random.default_rng(seed), 8, 0.0), seed=seed) for seed in range(60)]
    assert sum(p <= 0.05 for p in found) <= 7  # P(more than 7 of 60 at 5%) is 1.3%
    assert min(found) >= 1 / 200


def test_a_field_with_a_value_of_its_own_for_each_says_nothing():
    moves, _ = campaign(np.random.default_rng(0), 8, 0.8)
    assert field_p(moves, list(range(60))) is None and field_p(moves, ["one"] * 60) is None


def rows_of(name):
    with (CASES / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [[row[column] for row in rows] for column in ("annotator", "context_id")], [float(row["score"]) for row in rows]


@pytest.mark.skipif(not CASES.exists(), reason="../shared/cases is absent")
@pytest.mark.parametrize("name", ["25_relative_scores.scores.csv", "25_ranks_equal_systems.seed0.scores.csv"])
def test_ranks_stored_as_scores_have_one_sum(name):
    who, value = rows_of(name)
    assert constant_sums(*who, value) == 1.0


def test_scores_that_stand_alone_have_none():
    rng = np.random.default_rng(0)
    who, what, _ = (x.ravel() for x in np.indices((5, 30, 2)))
    assert constant_sums(who, what, rng.integers(1, 6, len(who))) is None
    assert constant_sums(who, what, np.full(len(who), 3)) is None  # one sum, but nothing varies
    assert constant_sums(who[:10], what[:10], [1, 2] * 5) is None  # too few sets


def test_points_shared_out_between_systems_are_noticed():
    """Three outputs share 100 points."""
    rng = np.random.default_rng(0)
    who, what, _ = (x.ravel() for x in np.indices((5, 30, 3)))
    shares = rng.dirichlet(np.ones(3), 150) * 100
    assert constant_sums(who, what, shares.ravel()) == 1.0
