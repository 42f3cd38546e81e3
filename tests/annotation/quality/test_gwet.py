import numpy as np
import pytest

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.gwet import gwet_ac, gwet_interval
from annotation.quality.scores import scale_counts

NAN = np.nan
# Four raters, twelve units, five categories: the example of Gwet (2014), Handbook of Inter-Rater Reliability.
EXAMPLE = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, NAN],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]
POINTS = [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("weights", "expected"),  # computed with the package irrCAC 0.4.4; the first is in the book as 0.775
    [(None, 0.77544407), ("linear", 0.85873914), ("quadratic", 0.91400072)],
)
def test_the_example_of_the_book(weights, expected):
    counts, values = scale_counts(EXAMPLE, POINTS)
    assert gwet_ac(counts, values, weights) == pytest.approx(expected, abs=1e-8)
    low, high = gwet_interval(counts, values, weights)
    assert low < expected < high <= 1


def test_skewed_answers_do_not_lower_it_as_they_lower_alpha():
    # 2 raters, 100 units, 95 times both say 1: chance is 2 x 0.975 x 0.025, and AC1 (0.95 - 0.04875) / 0.95125.
    counts, values = scale_counts([[1] * 95 + [2] * 5, [1] * 100])
    assert gwet_ac(counts, values) == pytest.approx((0.95 - 0.04875) / 0.95125)


def test_categories_that_nobody_used_count():
    scores = [[1, 2, 1, 2], [1, 2, 2, 2]]
    of_five = 2 * 15 / 64 / 4  # shares 3/8 and 5/8, over q - 1 = 4
    assert gwet_ac(*scale_counts(scores, POINTS)) == pytest.approx((0.75 - of_five) / (1 - of_five))


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        ([[1.0, NAN], [NAN, 2.0]], "No unit has scores from two raters"),
        ([[1.0, 1.0], [1.0, 1.0]], "Only one category was used"),
    ],
)
def test_what_it_is_not_defined_for(scores, sentence):
    with pytest.raises(UndefinedAgreement, match=sentence):
        gwet_ac(*scale_counts(scores))
