import numpy as np
import pytest
from scipy import stats

from leaderboard.rating.board_agreement import board_agreement, joint_noise

STRENGTHS = np.array([-1.2, 0.3, 0.9, -0.4, 1.7, 0.1, -0.8, 1.1])
OTHERS = np.array([-0.9, 0.5, 0.2, -0.6, 1.4, 0.8, -1.3, 1.0])


def of_boards(first, second, between=0.0):
    """Noise of these variances on every system, with this covariance between the boards: (16, 16)."""
    return np.kron([[first, between], [between, second]], np.eye(8))


def triples(found):
    return [(e.value, e.low, e.high) for e in (found.observed, found.spearman, found.pearson, found.ceiling)]


def test_without_noise_these_systems_correlation_is_known():
    found = board_agreement(STRENGTHS, OTHERS, of_boards(0, 0))
    rank, linear = stats.spearmanr(STRENGTHS, OTHERS).statistic, stats.pearsonr(STRENGTHS, OTHERS).statistic
    for triple, known in zip(triples(found), (rank, rank, linear, 1.0), strict=True):
        assert triple == pytest.approx((known, known, known))


@pytest.mark.long
def test_the_attenuation_is_undone():
    # Spearman 1904: r of the true values = r observed / sqrt(reliability * reliability). 60 systems of variance 1 and noise
    # of variance 0.25: reliability 0.8 each, so what is seen as 0.64 was 0.8.
    rng = np.random.default_rng(0)
    one, other = np.linalg.qr(np.column_stack([np.ones(60), rng.normal(size=(60, 2))]))[0][:, 1:].T  # correlation and mean 0
    one, other = (x / x.std(ddof=1) * np.sqrt(1.25) for x in (one, 0.64 * one + np.sqrt(1 - 0.64**2) * other))
    found = board_agreement(one, other, 0.25 * np.eye(120))
    assert found.pearson.value == pytest.approx(0.8, abs=0.03)
    assert found.pearson.low < 0.7 and found.pearson.high > 0.9
    # What two such boards show is what is seen, and one shows its reliability with its like: in ranks a little less.
    assert found.observed.low < 0.64 < found.observed.high
    assert found.ceiling.value == pytest.approx(0.8, abs=0.04)


def test_what_the_boards_share_by_their_contexts_is_not_agreement():
    # As seen, variances 0.97 and 0.92 and covariance 0.83. Noise of variance 0.3 leaves 0.67, 0.62 and 0.83, which nothing but
    # full agreement gives; where 0.27 of the covariance is noise too, 0.56 is left, a correlation of 0.87.
    together, apart = (board_agreement(STRENGTHS, OTHERS, of_boards(0.3, 0.3, between)) for between in (0.27, 0.0))
    assert together.pearson.value < apart.pearson.value - 0.05
    assert apart.pearson.value > 0.95


def test_more_noise_is_known_less():
    widths = [
        [high - low for _, low, high in triples(board_agreement(STRENGTHS, OTHERS, of_boards(v, v)))]
        for v in (0.01, 0.09, 0.64)
    ]
    assert (np.diff(widths, axis=0) > 0).all()


def test_units_shifts_and_sides_change_nothing():
    noise = of_boards(0.1, 0.2, between=0.05)
    found = board_agreement(STRENGTHS, OTHERS, noise)
    units = np.repeat([170.0, 3.0], 8)
    moved = board_agreement(
        1500 + 170 * STRENGTHS, 3 * OTHERS - 7, noise * np.outer(units, units) + np.kron(np.eye(2), np.ones((8, 8)))
    )
    assert np.array(triples(moved)) == pytest.approx(np.array(triples(found)), abs=1e-6)
    swapped = board_agreement(OTHERS, STRENGTHS, np.roll(noise, (8, 8), axis=(0, 1)))
    assert np.array(triples(swapped))[:3] == pytest.approx(np.array(triples(found))[:3], abs=0.12)  # other draws
    assert swapped.ceiling.value > found.ceiling.value  # the first board is the less noisy one


def test_the_same_seed_gives_the_same_digits():
    noise = of_boards(0.3, 0.3)
    assert board_agreement(STRENGTHS, OTHERS, noise, seed=1) == board_agreement(STRENGTHS, OTHERS, noise, seed=1)
    assert board_agreement(STRENGTHS, OTHERS, noise, seed=1) != board_agreement(STRENGTHS, OTHERS, noise, seed=2)


@pytest.mark.long
def test_intervals_cover_judges_that_all_but_agree():
    """The true correlation is 0.998, where percentiles of paired replicates cover 10% (8 systems, noise a third of the
    strengths). 60 runs: at 95% fewer than 53 would come by chance once in 100 (binomial)."""
    covered, by_percentiles = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        one = rng.normal(size=12)
        other = 0.998 * one + np.sqrt(1 - 0.998**2) * rng.normal(size=12)
        boards = np.stack([one, other]) + 0.33 * rng.normal(size=(2, 12))
        found = board_agreement(*boards, 0.33**2 * np.eye(24), seed)
        truth = stats.spearmanr(one, other).statistic
        covered += found.spearman.low - 1e-9 <= truth <= found.spearman.high + 1e-9
        drawn = boards[:, None] + 0.33 * rng.normal(size=(2, 100, 12))
        by_percentiles += np.quantile([stats.spearmanr(a, b).statistic for a, b in zip(*drawn)], 0.975) >= truth
    assert covered >= 53 and by_percentiles < 40


def test_noise_is_read_from_paired_replicates():
    # Two systems, three replicates; by hand: columns (0, 1, 2), (0, 0, 3), (1, 3, 5), (4, 4, 4). Var 1, 3, 4, 0; covariances
    # of the first with the others 1.5, 2, 0. 3 contexts stretch the first board's SD by sqrt(3 / 2), 2 the other's by sqrt 2.
    one, other = [[0, 0], [1, 0], [2, 3]], [[1, 4], [3, 4], [5, 4]]
    noise = joint_noise(one, other, 3, 2)
    assert np.diag(noise) == pytest.approx([1.5, 4.5, 8, 0])
    assert noise[0] == pytest.approx([1.5, 1.5 * 1.5, 2 * np.sqrt(3), 0])


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="at least 3 systems, not 2"):
        board_agreement([1, 2], [2, 1], np.zeros((4, 4)))
    with pytest.raises(ValueError, match="no order to compare"):
        board_agreement([1, 1, 1], [1, 2, 3], np.zeros((6, 6)))
    with pytest.raises(ValueError, match="6 rows and columns"):
        board_agreement([1, 2, 3], [1, 2, 3], np.zeros((3, 3)))
    with pytest.raises(ValueError, match="finite"):
        board_agreement([1, 2, 3], [1, 2, 3], np.full((6, 6), np.nan))
    with pytest.raises(ValueError, match="same replicates"):
        joint_noise(np.zeros((3, 2)), np.zeros((4, 2)), 5, 5)
