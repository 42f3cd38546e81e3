"""What changed between two times that a judge was asked about the same pairs; expected values by hand."""

import numpy as np
import pytest

from evaluator.metaevaluation.consistency import drift

PEOPLE = np.array([[1, 0, 0], [0, 0, 1], [0.5, 0.25, 0.25], [0, 1, 0], [1, 0, 0]])
THEN = ["A", "B", "A", "tie", ""]
NOW = ["B", "B", "tie", "tie", "A"]


def test_only_pairs_judged_both_times_count():
    """Then: 1, 1, .5 and 1 of people's answers; now: 0, 1, .25 and 1. Two of four answers differ."""
    found = drift(THEN, NOW, PEOPLE, list("aabbc"))
    assert (found.pairs, found.then, found.now) == (4, 3.5 / 4, 2.25 / 4)
    assert found.change[0] == pytest.approx(-1.25 / 4) and found.flips[0] == 0.5


def test_intervals_draw_whole_contexts():
    """The change in context a is -.5 a pair, in b -.125: a draw of two contexts gives -.5, -.3125 or -.125, the ends each in a
    quarter of draws. Half of the answers differ in each, so that share is certain."""
    found = drift(THEN, NOW, PEOPLE, list("aabbc"))
    assert found.change[1:] == (-0.5, -0.125) and found.flips[1:] == (0.5, 0.5)


def test_the_same_answers_are_no_change():
    found = drift(THEN, THEN, PEOPLE, list("aabbc"))
    assert found.change == (0, 0, 0) and found.flips == (0, 0, 0)


def test_then_and_now_exchanged_turn_the_change():
    there, back = drift(THEN, NOW, PEOPLE, list("aabbc")), drift(NOW, THEN, PEOPLE, list("aabbc"))
    assert there.change[0] == -back.change[0] and there.flips == back.flips and (there.then, there.now) == (back.now, back.then)


def test_nothing_judged_both_times():
    assert drift(["A", ""], ["", "B"], PEOPLE[:2], list("ab")) is None and drift([], [], np.empty((0, 3)), []) is None
