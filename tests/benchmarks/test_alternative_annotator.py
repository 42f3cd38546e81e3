"""The simulation of the alternative annotator test: its border, and that the test keeps its promise there."""

import pytest

from benchmarks.validity.alternative_annotator import RIGHT, behind, border, rates


def test_on_the_border_it_errs_in_at_most_one_of_twenty():
    """A judge as right as a person is behind by nothing, and one at the border by epsilon. Of 400 simulations the test may pass
    such a judge in 5%, and 3.3% more by chance (three standard errors)."""
    assert behind(RIGHT, 3) == pytest.approx(0, abs=0.005)
    right = border(0.15, 3)
    assert behind(right, 3) == pytest.approx(0.15, abs=0.005)
    won, passed = rates(0.15, 3, 100, right, 400)
    assert passed <= won <= 0.083
    assert rates(0.15, 3, 100, RIGHT, 100)[1] > 0.5
