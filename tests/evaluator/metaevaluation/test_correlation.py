import numpy as np
import pytest
from scipy import stats

from evaluator.metaevaluation.correlation import (
    MOST_PAIRED,
    UndefinedCorrelation,
    kendall,
    of_counts,
    of_rows,
    pearson,
    spearman,
    spearman_interval,
)
from evaluator.metaevaluation.resampling import correlation_interval, interval

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


MEASURES = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("n", [14, MOST_PAIRED + 1])
@pytest.mark.parametrize("each", [False, True])
def test_numbers_that_stand_several_times_are_those_of_the_repeated_lists(measure, n, each):
    rng = np.random.default_rng(n)
    a, b = rng.integers(0, 5, n), rng.integers(0, 5, (20, n) if each else n).astype(float)
    counts = rng.integers(0, 3, (20, n))
    lists = [(np.repeat(a, count), np.repeat(row, count)) for count, row in zip(counts, np.broadcast_to(b, counts.shape))]
    if each:
        b[counts == 0] = np.nan
    assert of_counts(measure, a, b, counts) == pytest.approx([MEASURES[measure](*both) for both in lists])


def test_a_list_that_is_constant_where_it_stands_has_no_correlation():
    found = of_counts("spearman", [1, 1, 2], [3, 4, 5], [[2, 1, 0], [0, 0, 3], [1, 1, 1]])
    assert np.isnan(found[:2]).all() and found[2] == pytest.approx(spearman([1, 1, 2], [3, 4, 5]))


@pytest.mark.parametrize("measure", MEASURES)
def test_an_interval_in_one_go_is_that_of_one_draw_after_the_other(measure):
    rng, contexts = np.random.default_rng(0), np.repeat(np.arange(15), 4)[:58]
    a = rng.normal(size=58)
    b = np.round(a + rng.normal(size=58))
    drawn = interval(lambda rows: MEASURES[measure](a[rows], b[rows]), contexts, seed=2)
    assert correlation_interval(measure, a, b, contexts, seed=2) == pytest.approx(drawn)


def test_an_interval_of_what_hardly_ever_varies_is_none():
    assert correlation_interval("pearson", np.arange(3.0), np.array([1.0, 1, 2]), np.arange(3), seed=0) is not None
    assert correlation_interval("pearson", np.arange(9.0), np.array([1.0] * 8 + [2]), np.repeat([0, 1, 2], [4, 4, 1]), 0)
    assert correlation_interval("pearson", np.zeros(9), np.arange(9.0), np.arange(9), seed=0) is None
