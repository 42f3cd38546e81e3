"""Expected values by hand."""

import math

import numpy as np
import pytest

from evaluator.comparator.examples import Text
from evaluator.comparator.length_bias import STEEPEST, log_words, slope

SHORTER, TIE, LONGER = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)  # a is the longer one


def liking(*targets) -> float:
    return slope(np.ones(len(targets)), np.array(targets), np.ones(len(targets)))


def test_three_of_four_for_the_shorter_are_a_slope_of_minus_log_3():
    assert liking(SHORTER, SHORTER, SHORTER, LONGER) == pytest.approx(-math.log(3), abs=1e-4)


def test_a_tie_counts_half_for_each():
    assert liking(SHORTER, TIE) == pytest.approx(-math.log(3), abs=1e-4)


def test_a_liking_for_long_outputs_is_left_in():
    assert liking(LONGER, LONGER, LONGER, SHORTER) == 0


def test_a_difference_twice_as_large_halves_the_slope():
    targets = np.array([SHORTER, SHORTER, SHORTER, LONGER])
    assert slope(np.full(4, 2.0), targets, np.ones(4)) == pytest.approx(-math.log(3) / 2, abs=1e-4)


def test_all_for_the_shorter_and_no_pair_at_all_stay_finite():
    assert liking(SHORTER, SHORTER) == pytest.approx(-STEEPEST, abs=1e-3)
    assert slope(np.empty(0), np.empty((0, 3)), np.empty(0)) == 0


def test_words_are_counted_between_spaces():
    assert log_words([Text(("hi",), "one two three"), Text(("hi",), "")]).tolist() == pytest.approx([math.log(4), 0])
