"""Known answers, graded."""

import pytest

from annotation.design.known_answer_check import is_right, passes


@pytest.mark.parametrize(
    ("expected", "given", "right"),
    [
        ({"scores": {"Overall": [4, 5]}}, {"scores": {"Overall": 5.0, "Fluency": 1}}, True),
        ({"scores": {"Overall": [4, 5]}}, {"scores": {"Overall": 3}}, False),
        ({"scores": {"Overall": [4, 5], "Fluency": [1]}}, {"scores": {"Overall": 4}}, False),
        ({"choice": "A", "feedback": "Shorter."}, {"choice": "A"}, True),
        ({"choice": "A"}, {"choice": "tie"}, False),
        ({"choice": "A"}, {}, False),
        ({"choices": {"Fluency": "B"}}, {"choices": {"Fluency": "B", "Overall": "A"}}, True),
        ({"choice": "A", "choices": {"Fluency": "B"}}, {"choices": {"Fluency": "B", "Overall": "A"}}, True),
        ({"choice": "A"}, {"choices": {"Fluency": "A", "Overall": "tie"}}, False),
    ],
)
def test_an_answer_is_right_where_every_expected_part_is_met(expected, given, right):
    assert is_right(expected, given) is right


def test_an_item_without_a_known_answer_is_not_graded():
    with pytest.raises(ValueError, match="no known answer"):
        is_right({"feedback": "Well."}, {"choice": "A"})


@pytest.mark.parametrize(
    ("right", "asked", "mark", "enough"),
    [(4, 5, 80, True), (3, 5, 80, False), (0, 5, None, True), (0, 0, 80, True), (2, 3, 67, False), (2, 3, 66, True)],
)
def test_the_pass_mark_is_a_percentage_of_what_was_asked(right, asked, mark, enough):
    assert passes(right, asked, mark) is enough
