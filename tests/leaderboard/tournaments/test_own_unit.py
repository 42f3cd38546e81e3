"""Ratings in the question's own unit, by hand."""

import numpy as np
import pytest

from leaderboard.tournaments.own_unit import Points, PreferenceShare


def test_points_of_a_scale():
    """Two systems at 3 and 4 of 5; 200 rating points for a point of the scale, so they stand at 1400 and 1600."""
    unit = Points(np.array([3.0, 4.0]), 200.0, np.array([1400.0, 1600.0]))
    assert unit.of(1, 1600.0) == 4.0 and unit.of(1, 1500.0) == 3.5 and unit.difference(200.0) == 1.0


def test_points_where_the_lowest_is_the_best():
    """People gave 2 and 1; turned that is -2 and -1, and the second is the better one."""
    unit = Points(np.array([-2.0, -1.0]), 200.0, np.array([1400.0, 1600.0]), sign=-1)
    assert unit.of(1, 1600.0) == 1.0 and unit.of(0, 1400.0) == 2.0 and unit.difference(200.0) == -1.0


@pytest.mark.parametrize(("apart", "share"), [(0.0, 0.5), (400.0, 10 / 11), (-400.0, 1 / 11)])
def test_shares(apart, share):
    """400 points are odds of ten to one (Elo 1978)."""
    assert PreferenceShare().difference(apart) == pytest.approx(share) and PreferenceShare().of(
        0, 1500 + apart
    ) == pytest.approx(share)
