from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.kappa import cohen_by_pair, cohen_kappa, fleiss_kappa, percent_agreement
from annotation.quality.scores import value_counts

NAN = np.nan

# Fleiss 1971's layout with the numbers of the Wikipedia article "Fleiss' kappa": 14 raters, 10 subjects, 5 categories.
FLEISS = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)

# irrCAC (Gwet), data set cac.raw4raters: units without some raters, the last one with a single rater.
GWET = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, NAN],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)

# irrCAC, data set cont3x3abstractors: two abstractors, 100 charts.
ABSTRACTORS = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])


def raters_of(table):
    """The two lists of codes whose contingency table this is."""
    rows, columns = np.indices(table.shape)
    return np.repeat(rows.ravel(), table.ravel()), np.repeat(columns.ravel(), table.ravel())


@pytest.mark.parametrize(("weights", "expected"), [(None, 0.79641), ("linear", 0.8429), ("quadratic", 0.89216)])
def test_cohen_as_in_irrcac(weights, expected):
    a, b = raters_of(ABSTRACTORS)
    assert cohen_kappa(a, b, weights) == pytest.approx(expected, abs=5e-6)


def test_cohen_by_hand():
    # Agreement 35/50 = 0.7; by chance 0.5 x 0.6 + 0.5 x 0.4 = 0.5; kappa = 0.2 / 0.5.
    assert cohen_kappa(*raters_of(np.array([[20, 5], [10, 15]]))) == pytest.approx(0.4)


CODES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@given(pairs=CODES)
def test_cohen_is_scikit_learns(weights, pairs):
    a, b = np.array(pairs).T
    if len(np.unique([a, b])) == 1:
        return
    expected = cohen_kappa_score(a, b, weights=weights, labels=range(5))
    assert cohen_kappa(a, b, weights) == pytest.approx(expected, abs=1e-12)
    assert cohen_kappa(b, a, weights) == pytest.approx(expected, abs=1e-12)


def test_cohen_counts_only_what_both_scored():
    assert cohen_kappa([1, 2, NAN, 1, 5], [1, 2, 3, NAN, 5]) == 1.0


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [([1, NAN], [NAN, 1], "share no unit"), ([], [], "share no unit"), ([2, 2], [2, 2], "one and the same value")],
)
def test_a_sentence_where_there_is_no_cohen(a, b, sentence):
    with pytest.raises(UndefinedAgreement, match=sentence):
        cohen_kappa(a, b)
    with pytest.raises(ValueError, match="linear or quadratic"):
        cohen_kappa(a, b, "cubic")


def test_cohen_by_pair_lists_pairs_that_share_a_unit():
    scores = [[1, 2, 1, NAN], [1, 2, 2, NAN], [NAN, 2, NAN, 3], [NAN, NAN, NAN, NAN]]
    # Raters 0 and 1: agreement 2/3; by chance (2/3)(1/3) + (1/3)(2/3) = 4/9; kappa = (2/9) / (5/9).
    assert cohen_by_pair(scores) == [(0, 1, 3, pytest.approx(0.4)), (0, 2, 1, None), (1, 2, 1, None)]


def test_fleiss_of_the_textbook_and_of_statsmodels():
    assert fleiss_kappa(FLEISS) == pytest.approx(0.210, abs=5e-4)
    assert percent_agreement(FLEISS) == pytest.approx(0.378, abs=5e-4)
    assert fleiss_kappa(FLEISS) == pytest.approx(statsmodels_fleiss(FLEISS), abs=1e-12)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=20))
def test_fleiss_is_statsmodels_where_raters_are_equally_many(codes):
    if len(np.unique(codes)) == 1:
        return
    counts, _ = value_counts(np.array(codes, dtype=float).T)
    assert fleiss_kappa(counts) == pytest.approx(statsmodels_fleiss(counts), abs=1e-9)


def test_fleiss_with_unequal_raters_as_in_irrcac():
    counts, _ = value_counts(GWET)
    assert fleiss_kappa(counts) == pytest.approx(0.76117, abs=5e-6)
    assert percent_agreement(counts) == pytest.approx(0.81818, abs=5e-6)


@pytest.mark.parametrize(("weights", "expected"), [("linear", 0.817945), ("quadratic", 0.864935)])
def test_weighted_fleiss_as_in_irrcac(weights, expected):
    assert fleiss_kappa(*value_counts(GWET), weights) == pytest.approx(expected, abs=5e-7)


@given(arrays(float, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=8), elements=st.sampled_from([NAN, 1, 2, 4])))
def test_unequal_raters_are_compared_pair_by_pair(scores):
    units = [unit[~np.isnan(unit)] for unit in scores.T]
    pairs = [[a == b for a, b in combinations(unit, 2)] for unit in units if len(unit) > 1]
    if not pairs:
        return
    agreement = np.mean([np.mean(unit) for unit in pairs])
    counts, values = value_counts(scores)
    assert percent_agreement(counts) == pytest.approx(agreement)
    shares = np.mean([[(unit == value).mean() for value in values] for unit in units if len(unit)], axis=0)
    if len(values) > 1:
        by_chance = (shares**2).sum()
        assert fleiss_kappa(counts) == pytest.approx((agreement - by_chance) / (1 - by_chance))


@pytest.mark.parametrize("measure", [fleiss_kappa, percent_agreement])
def test_a_sentence_where_no_two_raters_met(measure):
    for counts in ([[1, 0], [0, 1]], np.zeros((3, 2)), np.zeros((0, 0))):
        with pytest.raises(UndefinedAgreement, match="No unit has scores from two raters"):
            measure(counts)
    with pytest.raises(ValueError, match="negative"):
        measure([[2, -1]])
    with pytest.raises(ValueError, match="linear or quadratic"):
        fleiss_kappa([[2, 1]], [1, 2], "cubic")


def test_one_category_is_full_agreement_but_no_kappa():
    assert percent_agreement([[3, 0], [2, 0]]) == 1.0
    with pytest.raises(UndefinedAgreement, match="Only one category"):
        fleiss_kappa([[3, 0], [2, 0]])
