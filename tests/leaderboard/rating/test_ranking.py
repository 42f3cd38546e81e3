import numpy as np
import pytest
from scipy import stats

from leaderboard.rating.games import Standings
from leaderboard.rating.ranking import Errors, Ranking, best_chances, clusters, compare, games_to_part, intervals, parted


def board(rating, rd=50.0):
    zero = np.zeros(len(rating), dtype=int)
    rating = np.asarray(rating, dtype=float)
    return Standings(rating, np.full(len(rating), rd), zero * 0.0, zero, zero, zero, zero)


def spread(rating, sd, replicates=4000, seed=0):
    return np.asarray(rating) + sd * np.random.default_rng(seed).normal(size=(replicates, len(rating)))


def test_the_interval_by_hand():
    # Replicates -10, 0, 10 around 1600: variance 100, of 5 contexts 100 x 5 / 4 = 125. RD 70: s^2 = 100^2 + 70^2 = 14,900,
    # times (70 / 350)^4 = 0.0016: 23.84. t(4) = 2.7764.
    low, high = intervals(board([1600.0], rd=70), [[1590], [1600], [1610]], contexts=5)
    reach = 2.776445 * np.sqrt(125 + 23.84)
    assert (low[0], high[0]) == pytest.approx((1600 - reach, 1600 + reach), rel=1e-6)


def test_a_system_without_games_may_be_anywhere():
    low, high = intervals(board([1500.0, 1500.0], rd=350), np.full((200, 2), 1500.0), contexts=1000)
    assert high - low == pytest.approx([2 * 350 * stats.t.ppf(0.975, 999)] * 2)


def test_one_context_says_almost_nothing():
    low, high = intervals(board([1700.0, 1300.0], rd=60), np.tile([1700.0, 1300.0], (200, 1)), contexts=1)
    assert (low < 1300).all() and (high > 1700).all()
    assert not compare(board([1700.0, 1300.0], rd=60), np.tile([1700.0, 1300.0], (200, 1)), contexts=1).above.any()


def test_above_needs_tukeys_range():
    # Three systems, many contexts, SD 10 each: differences have SD 10 sqrt(2); Tukey's q(0.05; 3, infinity) = 3.314, so a
    # difference must exceed 33.14 (plus what RD 1 adds: nothing).
    rating = [1535.0, 1500.0, 1470.0]
    found = compare(board(rating, rd=1), spread(rating, 10, 200_000), contexts=100_000)
    assert found.margin[0, 1] == pytest.approx(33.14, rel=0.01)
    assert found.above.tolist() == [[False, True, True], [False, False, False], [False, False, False]]
    assert (found.rank_low.tolist(), found.rank_high.tolist()) == ([1, 2, 2], [1, 3, 3])


def test_of_systems_that_never_met_nothing_is_known():
    # 0 and 1 met, and 2 and 3; apart from that 0 would be above all (ratings 400 apart, SD 10).
    rating = [2100.0, 1700.0, 1300.0, 900.0]
    found = compare(board(rating, rd=1), spread(rating, 10), contexts=1000, component=[0, 0, 1, 1])
    assert np.argwhere(found.above).tolist() == [[0, 1], [2, 3]]
    assert np.isinf(found.margin[:2, 2:]).all() and np.isfinite(found.margin[:2, :2]).all()
    assert (found.rank_low.tolist(), found.rank_high.tolist()) == ([1, 2, 1, 2], [1, 2, 1, 2])  # in its group


def test_more_looks_ask_for_more():
    rating = [1540.0, 1500.0]
    one, ten = (compare(board(rating), spread(rating, 15), 200, looks=looks) for looks in (1, 10))
    expected = stats.t.ppf(1 - 0.0025, 199) / stats.t.ppf(0.975, 199)
    assert ten.margin[0, 1] / one.margin[0, 1] == pytest.approx(expected, rel=1e-3)


def test_names_do_not_matter():
    rating, names = np.array([1650.0, 1500.0, 1480.0, 1350.0]), np.array([2, 0, 3, 1])
    replicates = spread(rating, 20)
    renamed, moved = np.empty(4), np.empty_like(replicates)
    renamed[names], moved[:, names] = rating, replicates
    a, b = compare(board(rating), replicates, 50), compare(board(renamed), moved, 50)
    assert (b.above[np.ix_(names, names)] == a.above).all()
    assert (b.rank_low[names] == a.rank_low).all() and (b.rank_high[names] == a.rank_high).all()


def test_parted_or_close_is_enough():
    rating = [1700.0, 1500.0, 1480.0]
    sure, vague = (compare(board(rating, rd=1), spread(rating, sd), 500) for sd in (15, 60))
    assert parted(sure, rating) and not parted(sure, rating, precision=20)
    assert not parted(vague, rating)


def errors(se, df=np.inf, confidence=0.95):
    return Errors(np.full((2, 2), se), np.full((2, 2), df), 2, confidence)


def two(difference, margin, errors):
    apart = np.array([[0.0, difference], [-difference, 0.0]])
    return Ranking(np.zeros((2, 2), bool), np.ones(2), np.full(2, 2), apart, np.full((2, 2), margin), errors)


RATED = [1700.0, 1500.0]


def test_the_forecast_by_hand():
    """Margins shrink with the root of the games: at a margin of twice the difference, four times the games are needed."""
    found = two(100.0, 200.0, errors(200 / 1.95996))
    (rank, after, more), *others = games_to_part(found, RATED, 240)
    assert (rank, after, others) == (1, 2, []) and more == pytest.approx(720, abs=2)
    assert games_to_part(two(20.0, 200.0, errors(200 / 1.95996)), RATED, 240) == []  # inside its noise: 100 times the games
    assert games_to_part(two(90.0, 99.0, errors(99 / 1.95996)), RATED, 240) == []  # known to be close


def test_the_forecast_means_the_next_look():
    """The second look takes 99.5% confidence: 2.80703 standard errors where the first takes 2.05375 (of 96%)."""
    found = two(100.0, 205.375, errors(100.0, confidence=0.995))
    assert games_to_part(found, RATED, 1000)[0][2] == pytest.approx(1000 * (2.80703**2 - 1), rel=1e-3)


def test_degrees_of_freedom_grow_with_the_games():
    """Student's t of 10 degrees is 2.228. At 2.64 times as many games, t of 26.4 degrees is 2.054: 100 * 2.054 / sqrt(2.64)."""
    found = two(126.4, 222.8, errors(100.0, df=10))
    times = 1 + games_to_part(found, RATED, 10_000)[0][2] / 10_000
    assert stats.t.ppf(0.975, 10 * times) * 100 / np.sqrt(times) == pytest.approx(126.4, rel=2e-3)


def test_no_number_of_games_tells_what_people_would_have_to():
    """What lasts, 100^2 - 60^2 = 80^2, has a margin of 156.8 whatever the games are."""
    of_people, alone = errors(100.0), errors(60.0)
    only = two(150.0, 117.6, alone)
    assert games_to_part(two(150.0, 196.0, of_people), RATED, 240, only=only) == [(1, 2, None)]
    times = (60 * 1.95996) ** 2 / (170**2 - (80 * 1.95996) ** 2)  # by hand: 170^2 = 1.96^2 (80^2 + 60^2 / times)
    known = games_to_part(two(170.0, 196.0, of_people), RATED, 240, only=only)
    assert known[0][2] == pytest.approx(240 * (times - 1), abs=3)


def test_no_false_statement_in_nineteen_of_twenty_worlds_where_all_are_equal():
    equal, rng, false = np.full(10, 1500.0), np.random.default_rng(0), 0
    for _ in range(400):
        rating = equal + 20 * rng.normal(size=10)
        false += compare(board(rating, rd=1), rating + 20 * rng.normal(size=(200, 10)), contexts=200).above.any()
    assert false / 400 < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 400)


def test_replicates_of_other_systems_are_refused():
    with pytest.raises(ValueError, match="hold 3 systems, the standings 2"):
        intervals(board([1500.0, 1500.0]), np.zeros((5, 3)), 10)


def known(n, *pairs):
    """above (n, n): i is known to be above j."""
    above = np.zeros((n, n), dtype=bool)
    above[tuple(np.transpose(pairs))] = True
    return above


class TestClusters:
    def test_a_line_where_everyone_above_is_known_to_be_above_everyone_below(self):
        # In order a b c d. a, b above c, d each; a not above b; c not above d: a line after b alone.
        above = known(4, (0, 2), (0, 3), (1, 2), (1, 3))
        assert clusters([4, 3, 2, 1], above, [True] * 4).tolist() == [1, 1, 2, 2]

    def test_one_pair_that_is_not_known_joins_all_between(self):
        # a above b and c above d would draw lines, but a is not known to be above d, nor b above c: one cluster.
        above = known(4, (0, 1), (0, 2), (1, 3), (2, 3))
        assert clusters([4, 3, 2, 1], above, [True] * 4).tolist() == [1, 1, 1, 1]

    def test_systems_in_any_order_and_all_known(self):
        above = known(3, (2, 0), (2, 1), (0, 1))
        assert clusters([2.0, 1.0, 3.0], above, [True] * 3).tolist() == [2, 3, 1]

    def test_who_was_not_compared_is_in_none_and_parts_nobody(self):
        above = known(3, (0, 2))
        assert clusters([3, 2, 1], above, [True, False, True]).tolist() == [1, 0, 2]
        assert clusters([3, 2, 1], above, [False] * 3).tolist() == [0, 0, 0]


class TestBestChances:
    ERROR = 4 * np.sqrt(0.25 / 100_000)  # four standard errors of the largest share

    def test_two_systems_by_quadrature(self):
        """A difference of 30 with variance 400, known or with 4 degrees of freedom. Where a share b of what is seen is error,
        true differences vary by 400 (1 - b) / b."""
        b, chi2 = (np.arange(1000) + 0.5) / 1000, (np.arange(1000) + 0.5) / 25
        for freedom, squares, density in ((np.inf, np.ones(1), np.ones(1)), (4, chi2 / 4, stats.chi2.pdf(chi2, 4))):
            error, apart = (400 / squares)[None, :], (400 * (1 - b) / b)[:, None]
            likely = density * stats.norm.pdf(30, 0, np.sqrt(apart + error))
            kept = apart / (apart + error)
            expected = (likely * stats.norm.cdf(kept * 30 / np.sqrt(kept * error))).sum() / likely.sum()
            found = best_chances([1530.0, 1500.0], np.diag([256.0, 144.0]), freedom)
            assert found[0] == pytest.approx(expected, abs=0.006) and found.sum() == pytest.approx(1)
            # What two estimates share does not count: the difference has the same variance.
            assert best_chances([1530.0, 1500.0], [[356.0, 100.0], [100.0, 244.0]], freedom)[0] == pytest.approx(
                found[0], abs=2 * self.ERROR
            )

    def test_three_systems_as_draws_from_the_prior_say(self):
        """Each draw from the prior weighs as much as the estimates are likely where it is true. The three differences have the
        variances 900, 3400 and 2900; half of their mean is 1200, the error of one system."""
        rating, covariance = np.array([1540.0, 1510.0, 1450.0]), np.array([[900.0, 200, 0], [200, 400, 0], [0, 0, 2500]])
        rng, differences = np.random.default_rng(0), np.array([[1.0, -1, 0], [0, 1, -1]])
        b = 1 - rng.random(400_000)[:, None]
        true = np.sqrt(1200 * (1 - b) / b) * rng.normal(size=(400_000, 3))
        error = stats.multivariate_normal(np.zeros(2), differences @ covariance @ differences.T)
        weight = error.pdf((rating - true) @ differences.T)
        expected = np.bincount(true.argmax(axis=1), weight) / weight.sum()
        assert best_chances(rating, covariance) == pytest.approx(expected, abs=0.01)

    def test_equals_share_evenly(self):
        assert best_chances([1500.0] * 3, np.eye(3) * 400) == pytest.approx([1 / 3] * 3, abs=self.ERROR)

    def test_the_highest_of_many_that_hardly_differ_is_not_taken_for_what_it_seems(self):
        """Ten estimates that spread as errors alone do; without a thought of that, the highest of them would be best in 45% of
        draws from the errors. What is far apart stays so."""
        rating, covariance = 1500 + 20 * stats.norm.ppf((np.arange(10) + 0.5) / 10), np.eye(10) * 400
        moved = np.random.default_rng(1).multivariate_normal(rating, covariance, 20_000)
        plain = np.bincount(moved.argmax(axis=1), minlength=10)[-1] / 20_000
        assert 0.1 < best_chances(rating, covariance)[-1] < plain - 0.1
        assert best_chances([1700.0, *rating[:9]], covariance)[0] > 0.99

    def test_a_seed_gives_the_same_again(self):
        same = [best_chances([1520.0, 1500.0, 1490.0], np.eye(3) * 400, 9, seed=seed) for seed in (0, 0, 1)]
        assert same[0].tolist() == same[1].tolist() != same[2].tolist()
