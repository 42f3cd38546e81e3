import pytest
from scipy import stats

from leaderboard.rating.decision import studentized_range


@pytest.mark.parametrize(
    ("n", "df", "table"),  # 5% points: Hochberg & Tamhane 1987, Multiple Comparison Procedures, table 8
    [(3, 5, 4.602), (5, 10, 4.654), (10, 20, 5.008), (5, 24, 4.166), (20, 60, 5.241), (3, 1, 26.98)],
)
def test_quantiles_of_the_table(n, df, table):
    assert studentized_range(0.95, n, df) == pytest.approx(table, abs=6e-4 * table)


@pytest.mark.parametrize("confidence", [0.9, 0.96, 0.999])
@pytest.mark.parametrize(("n", "df"), [(2, 3.0), (3, 4.5), (8, 12.0), (60, 33.0), (100, 1000.0)])
def test_quantiles_are_scipys(confidence, n, df):
    assert studentized_range(confidence, n, df) == pytest.approx(stats.studentized_range.ppf(confidence, n, df), rel=1e-6)
