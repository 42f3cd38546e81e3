"""When a difference of two systems is known."""

import numpy as np
import pytest
from scipy import stats

from leaderboard.rating.decision import critical, decide


class TestDecide:
    def test_two_systems_are_students_t(self):
        difference, se, df = (np.full((2, 2), x) for x in (1.0, 0.4, 10.0))
        margin, above = decide(np.array([[0, 1.0], [-1.0, 0]]), se, df)
        assert margin[0, 1] == pytest.approx(0.4 * stats.t.ppf(0.975, 10), rel=1e-4)
        assert above.tolist() == [[False, True], [False, False]]

    def test_more_systems_need_more(self):
        """Tukey's range for 5 means and 20 degrees of freedom is 4.232 (Hochberg & Tamhane 1987, table 8)."""
        margin, _ = decide(np.zeros((5, 5)), np.ones((5, 5)), np.full((5, 5), 20.0))
        assert margin[0, 1] == pytest.approx(4.232 / np.sqrt(2), abs=2e-3)

    @pytest.mark.parametrize("df", [1.3, 2.7, 5.5, 17.3, 131.0])
    def test_between_the_degrees_of_freedom_of_the_table_it_is_a_little_too_wide(self, df):
        """Against SciPy's studentized range at this very number."""
        exact = stats.studentized_range.ppf(0.95, 4, df) / np.sqrt(2)
        assert exact * (1 - 1e-6) <= critical(4, df) <= exact * (1.01 if df < 3 else 1.001)

    def test_all_statements_hold_together_whatever_groups_systems_are_in(self):
        """Two groups of two: as wide as among four, and nothing is known across."""
        margin, above = decide(np.full((4, 4), 9.0), np.ones((4, 4)), np.full((4, 4), 20.0), np.array([0, 0, 1, 1]))
        assert margin[0, 1] == margin[2, 3] == pytest.approx(critical(4, 20.0))
        assert np.isinf(margin[:2, 2:]).all() and not above[:2, 2:].any()

    def test_a_system_alone_does_not_widen_the_others(self):
        margin, _ = decide(np.zeros((3, 3)), np.ones((3, 3)), np.full((3, 3), 20.0), np.array([0, 0, 1]))
        assert margin[0, 1] == pytest.approx(stats.t.ppf(0.975, 20))
