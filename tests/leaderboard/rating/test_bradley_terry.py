from itertools import combinations

import evalica
import numpy as np
import pytest
from scipy import optimize

from leaderboard.rating.bradley_terry import Disconnected, Separated, chances, fit
from leaderboard.rating.games import Games
from leaderboard.rating.glicko2 import SCALE
from leaderboard.rating.pair_counts import scores

# Won, tied, lost by the first of each pair of five systems, in the order of combinations(range(5), 2).
TABLE = [(12, 5, 7), (15, 3, 4), (20, 6, 2), (9, 1, 9), (11, 8, 6), (14, 2, 5), (6, 4, 13), (10, 10, 3), (5, 7, 12), (1, 6, 18)]
WINNER = {1: evalica.Winner.X, 0: evalica.Winner.Draw, -1: evalica.Winner.Y}


def from_table(table, n=5):
    rows = [
        (i, j, outcome, 0)
        for (i, j), counts in zip(combinations(range(n), 2), table, strict=True)
        for outcome, times in zip((1, 0, -1), counts, strict=True)
        for _ in range(times)
    ]
    return Games(*np.array(rows).T)


@pytest.fixture
def games():
    return from_table(TABLE)


def strengths(found):
    return (found.rating - 1500) / SCALE


def test_half_a_win_is_evalicas(games):
    winners = [WINNER[outcome] for outcome in games.outcome.tolist()]
    theirs = evalica.bradley_terry(games.first.tolist(), games.second.tolist(), winners, tolerance=1e-12, limit=10_000)
    log = np.log(theirs.scores.sort_index().to_numpy())
    assert strengths(fit(*scores(5, games)[:2])) == pytest.approx(log - log.mean(), abs=1e-4)


def test_half_a_win_is_arena_ranks(games):
    # arena-rank 0.1.1 on TABLE, centred: its BradleyTerry(5, hessian_reg=1e-12, ftol=1e-15, gtol=1e-12).
    theirs = [0.60176843, 0.06064523, -0.28947887, -0.94006307, 0.56712828]
    assert strengths(fit(*scores(5, games)[:2])) == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize("prior_sd", [None, 350.0])
def test_davidson_is_the_likelihoods_maximum(games, prior_sd):
    def minus_log_likelihood(parameters):
        theta, log_nu = parameters[:-1], parameters[-1]
        p = np.exp(theta)
        a, b = p[games.first], p[games.second]
        tie = np.exp(log_nu) * np.sqrt(a * b)  # Davidson 1970, equation 2.3
        likely = np.select([games.outcome > 0, games.outcome < 0], [a, b], tie) / (a + b + tie)
        return -np.log(likely).sum() + (0 if prior_sd is None else (theta**2).sum() * (SCALE / prior_sd) ** 2 / 2)

    found = fit(*scores(5, games), prior_sd=prior_sd)
    best = optimize.minimize(minus_log_likelihood, np.zeros(6), method="BFGS", options={"gtol": 1e-8})
    assert strengths(found) == pytest.approx(best.x[:-1] - best.x[:-1].mean(), abs=1e-5)
    assert found.nu == pytest.approx(np.exp(best.x[-1]), abs=1e-5)
    # Standard errors against the mean of all: the inverse of the Hessian by finite differences, projected.
    steps = 1e-4 * np.eye(6)
    f = minus_log_likelihood
    hessian = (
        np.array(
            [[f(best.x + a + b) - f(best.x + a - b) - f(best.x - a + b) + f(best.x - a - b) for b in steps] for a in steps]
        )
        / 4e-8
    )
    projected = (np.eye(5) - 1 / 5) @ np.linalg.pinv(hessian, rcond=1e-7)[:5, :5] @ (np.eye(5) - 1 / 5)
    assert found.se == pytest.approx(SCALE * np.sqrt(np.diag(projected)), rel=1e-3)


def test_two_systems_by_hand():
    # 6 wins, 3 ties, 1 loss: p_0 / p_1 = 6 / 1 and nu = 3 / sqrt(6 x 1) reproduce the shares exactly.
    found = fit(*scores(2, from_table([(6, 3, 1)], 2)))
    assert strengths(found) == pytest.approx([np.log(6) / 2, -np.log(6) / 2])
    assert found.nu == pytest.approx(3 / np.sqrt(6))
    assert np.array(chances(found.rating[0] - found.rating[1], found.nu)) == pytest.approx([0.6, 0.3, 0.1])
    # A tie as half a win: odds of 7.5 to 2.5.
    assert strengths(fit(*scores(2, from_table([(6, 3, 1)], 2))[:2])) == pytest.approx([np.log(3) / 2, -np.log(3) / 2])


def test_four_hundred_points_are_ten_to_one():
    win, tie, lose = chances(400.0)
    assert (win / lose, tie) == (pytest.approx(10, rel=1e-5), 0)


def test_many_records_at_once_are_each_alone(games):
    other = from_table([(4, 4, 4)] * 10)
    no_tie, all_ties = from_table([(3, 0, 1)] * 10), from_table([(0, 2, 0)] * 10)
    records = [scores(5, g) for g in (games, other, no_tie, all_ties)]
    together = fit(*(np.stack(x) for x in zip(*records, strict=True)), prior_sd=350.0)
    for row, record in enumerate(records):
        alone = fit(*record, prior_sd=350.0)
        assert together.rating[row] == pytest.approx(alone.rating)
        assert together.nu[row] == pytest.approx(alone.nu)
    assert together.nu[2] == 0 and together.nu[3] == np.inf
    assert together.rating[3] == pytest.approx([1500] * 5)


def test_swapping_and_renaming(games):
    names = np.array([3, 0, 4, 1, 2])
    renamed = Games(names[games.first], names[games.second], games.outcome, games.context).swapped()
    found, other = fit(*scores(5, games)), fit(*scores(5, renamed))
    assert other.rating[names] == pytest.approx(found.rating) and other.se[names] == pytest.approx(found.se)


def test_systems_that_never_met_have_no_common_scale():
    games = Games([0, 1, 2, 3], [1, 0, 3, 2], [1, 1, 1, 1], [0] * 4)
    with pytest.raises(Disconnected, match="Systems 0, 1 never met 2, 3"):
        fit(*scores(4, games))


def test_a_system_that_never_lost_has_no_bound():
    games = Games([0, 0, 1, 2], [1, 2, 2, 1], [1, 1, 1, 1], [0] * 4)
    with pytest.raises(Separated, match="Systems 0 never lost or tied against 1, 2"):
        fit(*scores(3, games))
    # A prior bounds it; a single tie does as well.
    assert np.isfinite(fit(*scores(3, games), prior_sd=350.0).rating).all()
    tied = games.then(Games([0], [1], [0], [0]))
    assert np.isfinite(fit(*scores(3, tied)).rating).all()
