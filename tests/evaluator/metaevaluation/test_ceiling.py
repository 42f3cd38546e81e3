"""One annotator against the rest; every expected number by hand."""

import pytest

from evaluator.metaevaluation.ceiling import from_judgments, from_scores


def test_scores_of_three_people_on_two_outputs():
    # a: 5 4 1, b: 3 4 2. The rest of each: Ann 2.5 v 3 (b), Bob 3 v 2.5 (a), Cy 4.5 v 3.5 (a); they say a, tie, b.
    rows = [
        ("c", "a", "Ann", 5),
        ("c", "a", "Bob", 4),
        ("c", "a", "Cy", 1),
        ("c", "b", "Ann", 3),
        ("c", "b", "Bob", 4),
        ("c", "b", "Cy", 2),
    ]
    found = from_scores(rows)
    assert (found.pairs, found.pairwise_accuracy) == (3, pytest.approx((0 + 0.5 + 0) / 3))
    own, rest = [5, 4, 1, 3, 4, 2], [2.5, 3, 4.5, 3, 2.5, 3.5]
    m, n = sum(own) / 6, sum(rest) / 6
    over = sum((x - m) * (y - n) for x, y in zip(own, rest))
    under = (sum((x - m) ** 2 for x in own) * sum((y - n) ** 2 for y in rest)) ** 0.5
    assert found.pearson == pytest.approx(over / under)


def test_judgments_against_the_rest():
    # Ann A (rest: A - B = 0, no side), Bob A (rest 0), Cy B (rest 2: A, so Cy is wrong)
    rows = [("c", ("a", "b"), "Ann", "A"), ("c", ("a", "b"), "Bob", "A"), ("c", ("a", "b"), "Cy", "B")]
    found = from_judgments(rows)
    assert (found.pairs, found.pairwise_accuracy) == (1, 0.0)
    # all three A: each agrees with the rest
    assert from_judgments([("c", ("a", "b"), who, "A") for who in ("Ann", "Bob", "Cy")]).pairwise_accuracy == 1.0


@pytest.mark.parametrize("rows", [[], [("c", "a", "Ann", 5)], [("c", "a", "Ann", 5), ("c", "b", "Bob", 1)]])
def test_nobody_to_compare_with_gives_none(rows):
    found = from_scores(rows)
    assert (found.pairwise_accuracy, found.pairwise_interval, found.pairs, found.pearson) == (None, None, 0, None)
