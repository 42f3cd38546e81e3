import numpy as np
import pytest
from scipy import stats

from evaluator.metaevaluation.correlation import UndefinedCorrelation, of_rows, pearson, spearman, spearman_interval

# The worked example of Wikipedia, "Spearman's rank correlation coefficient": IQ and hours of television.
IQ = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
TELEVISION = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]


def test_spearman_of_the_textbook():
    assert spearman(IQ, TELEVISION) == pytest.approx(-29 / 165)


def test_spearman_shares_ranks_and_pearson_is_linear():
    # Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: 4.5 / sqrt(4.5 x 5).
    assert spearman([1, 5, 5, 9], [1, 2, 3, 4]) == pytest.approx(4.5 / np.sqrt(4.5 * 5))
    # Deviations -1, 0, 1 and -2, 1, 1: 3 / sqrt(2 x 6).
    assert pearson([1, 2, 3], [0, 3, 3]) == pytest.approx(3 / np.sqrt(12))


@pytest.mark.parametrize("measure", [spearman, pearson])
def test_a_sentence_where_there_is_no_correlation(measure):
    for a, b, sentence in (([1, 1], [1, 2], "constant"), ([1], [1], "two pairs"), ([], [], "two pairs")):
        with pytest.raises(UndefinedCorrelation, match=sentence):
            measure(a, b)
    with pytest.raises(ValueError, match="finite"):
        measure([1, np.nan], [1, 2])
    with pytest.raises(ValueError, match="same length"):
        measure([1, 2, 3], [1, 2])


def test_the_interval_is_that_of_each_row():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 5, (300, 6))
    b = a + rng.integers(0, 3, (300, 6))
    rows = [stats.spearmanr(x, y).statistic for x, y in zip(a, b, strict=True)]
    assert spearman_interval(a, b) == pytest.approx(np.quantile(rows, [0.025, 0.975]))
    assert spearman_interval(b, a) == pytest.approx(spearman_interval(a, b))
    assert spearman_interval(a, a) == pytest.approx((1, 1))


def test_an_interval_needs_rows_with_an_order():
    flat, steep = np.ones((4, 3)), np.tile([1.0, 2.0, 3.0], (4, 1))
    with pytest.raises(UndefinedCorrelation, match="Too few"):
        spearman_interval(flat, steep)
    with pytest.raises(ValueError, match="same replicates"):
        spearman_interval(steep, steep[:2])


@pytest.mark.parametrize("measure", ["pearsonr", "spearmanr", "kendalltau"])
def test_rows_at_once_are_scipys_one_by_one(measure):
    """Of small whole numbers, so that many are equal; one row is constant, which has no correlation."""
    a, b = np.random.default_rng(0).integers(0, 4, (2, 30, 6)).astype(float)
    a[7] = 2.0
    found = of_rows(measure[:-1] if measure != "kendalltau" else "kendall", a, b)
    expected = [getattr(stats, measure)(*rows).statistic for k, rows in enumerate(zip(a, b)) if k != 7]
    assert np.isnan(found[7]) and np.delete(found, 7) == pytest.approx(expected)
