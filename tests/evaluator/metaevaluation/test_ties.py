"""Ties and calibration by hand arithmetic, and against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from evaluator.metaevaluation.agreement import calibration_error
from evaluator.metaevaluation.ties import CLASSES, macro_f1, measure_ties


def test_macro_f1_is_scikit_learns():
    rng = np.random.default_rng(0)
    people, judge = rng.choice(CLASSES, 200, p=[0.5, 0.2, 0.3]), rng.choice(CLASSES, 200)
    counts = np.array([[((people == p) & (judge == j)).sum() for j in CLASSES] for p in CLASSES], dtype=float)
    assert macro_f1(counts) == pytest.approx(f1_score(people, judge, average="macro"))


def test_each_judge_by_hand():
    # People: A A tie B. The comparator: A A tie B, all right. Never a tie: A A A B.
    choices, d = np.array(["A", "A", "tie", "B"]), np.array([2.0, 1.0, 0.1, -1.0])
    found = measure_ties(np.array(["A", "A", "tie", "B"]), d, choices, np.zeros(4, int), seed=0)
    assert (found.macro_f1, found.rate) == (1.0, 0.25)
    never = (4 / 5 + 0 + 1) / 3  # F1 of A: 2 right of 3 said and 2 given
    assert found.above_never == pytest.approx((1 - never,) * 3)  # one context: nothing to resample
    majority = (2 * 2 / (4 + 2)) / 3  # always A; tie and B are people's, and never found
    assert found.above_majority[0] == pytest.approx(1 - majority)
    # A quarter of the ties anywhere: of A 1.5 of 2 found and 2.25 said, of the tie 0.25 of 1 found and 1 said, of B 0.75 of
    # 1 found and 0.75 said.
    random = (2 * 1.5 / (2 + 2.25) + 2 * 0.25 / 2 + 2 * 0.75 / 1.75) / 3
    assert found.above_random[0] == pytest.approx(1 - random)


def test_without_pairs_there_is_nothing_to_say():
    nothing = np.array([])
    assert measure_ties(nothing, nothing, nothing, nothing, seed=0) is None
    assert np.isnan(calibration_error(np.empty((0, 3)), np.empty((0, 3)), nothing))


def test_calibration_error_by_hand():
    # Two pairs at 0.65 for A, of which people gave A to one: said 0.65, right 0.5. One at 0.95 for B, right.
    p = np.array([[0.65, 0.25, 0.1], [0.65, 0.25, 0.1], [0.03, 0.02, 0.95]])
    targets = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    assert calibration_error(p, targets, np.ones(3)) == pytest.approx((2 * 0.15 + 1 * 0.05) / 3)
    assert calibration_error(p, targets, np.array([1.0, 1.0, 2.0])) == pytest.approx((2 * 0.15 + 2 * 0.05) / 4)
