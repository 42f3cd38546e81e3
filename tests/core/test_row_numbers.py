"""Whole numbers of a row: as they are, and as tables write them."""

import pytest

from core.rows import BadField, Row


@pytest.mark.parametrize("value", [1, "1", " 1 ", 1.0, "1.0", "1.00", "01"])
def test_a_whole_number_is_one_however_it_is_written(value):
    assert Row(1, {"turn": value}).whole("turn") == 1


@pytest.mark.parametrize(
    "value", [1.5, "1.5", "1,0", "1.", ".0", True, -1.0, "-1.0", float("inf"), float("nan"), 2.0**31, "1.0.0"]
)
def test_what_is_none_is_refused(value):
    with pytest.raises(BadField, match="expected a whole number from 0"):
        Row(1, {"turn": value}).whole("turn")


def test_beside_a_decimal_comma_a_point_parts_thousands():
    assert Row(1, {"turn": "1,0"}, decimal=",").whole("turn") == 1
    with pytest.raises(BadField):
        Row(1, {"turn": "1.000"}, decimal=",").whole("turn")
