"""Outputs in, verdict out: the same as of their curve, whatever the judge and the order."""

import numpy as np
import pytest

from core.errors import Refused
from evaluator.judges.protocol import Preferences, by_order
from evaluator.selection.advice import advice
from evaluator.selection.curve import ByUtility, curve_of
from evaluator.selection.early_stop import EarlyStop

CONTEXTS = [[f"Question {i}?"] for i in range(6)]


class Longer:
    """Prefers the longer text."""

    kind = "pointwise"

    def utilities(self, texts, *, on_progress=None):
        return np.array([float(len(text.output)) for text in texts])

    def preferences(self, a, b):
        return by_order(a, b)


class LongerOfTwo:
    kind = "pairwise"

    def __init__(self):
        self.asked = 0

    def compare(self, texts_a, texts_b, *, on_progress=None):
        self.asked += 1
        return Preferences(
            np.zeros((len(texts_a), 3)),
            np.array(
                ["A" if len(a.output) > len(b.output) else "B" if len(a.output) < len(b.output) else "tie"
                 for a, b in zip(texts_a, texts_b)]
            ),
        )  # fmt: skip


def outputs(step):
    return ["x" * (1 + (7 * step + 3 * i) % 11) for i in range(6)]


def test_it_says_what_the_curve_says():
    watched = EarlyStop(Longer(), CONTEXTS)
    for step in range(12):
        said = watched.add(step, outputs(step))
    utilities = np.array([[len(text) for text in outputs(step)] for step in range(12)], dtype=float)
    assert said == advice(curve_of(np.arange(12), ByUtility(utilities, by_order), 6), watched.rules)


def test_a_step_that_comes_late_or_twice_changes_nothing():
    one, other = EarlyStop(Longer(), CONTEXTS), EarlyStop(Longer(), CONTEXTS)
    for step in (1, 2, 3):
        one.add(step, outputs(step))
    for step in (1, 3, 3, 2):
        other.add(step, outputs(step))
    assert one.advice == other.advice and other.steps == [1, 2, 3]


def test_a_pairwise_judge_reads_each_pair_once_and_says_the_same_of_the_previous():
    pairs = LongerOfTwo()
    watched, pointwise = EarlyStop(pairs, CONTEXTS), EarlyStop(Longer(), CONTEXTS)
    for step in range(4):
        said, expected = watched.add(step, outputs(step)), pointwise.add(step, outputs(step))
    counts = [(point.wins, point.ties, point.losses) for point in said.points]
    assert counts == [(point.wins, point.ties, point.losses) for point in expected.points]
    assert pairs.asked <= 1 + 2 + 3  # the previous two and the first


def test_outputs_that_are_not_there_are_not_judged():
    watched = EarlyStop(Longer(), CONTEXTS)
    watched.add(0, ["a"] * 6)
    point = watched.add(1, ["aa", None, "a", "aa", None, ""]).points[1]
    assert (point.wins, point.ties, point.losses) == (2, 1, 1)


@pytest.mark.parametrize("step, given", [(1, ["a"] * 5), (-1, ["a"] * 6), (0, ["b"] * 6), (2, [None] * 6)])
def test_bad_reports_are_refused_and_change_nothing(step, given):
    watched = EarlyStop(Longer(), CONTEXTS)
    watched.add(0, ["a"] * 6)
    with pytest.raises(Refused):
        watched.add(step, given)
    assert watched.steps == [0]
