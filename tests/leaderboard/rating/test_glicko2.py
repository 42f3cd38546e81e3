import numpy as np
import pyglicko2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.rating.glicko2 import START_RATING, START_RD, START_VOLATILITY, update, update_single

RATINGS, RDS = st.floats(500, 2500), st.floats(20, 350)
VOLATILITIES, SCORES = st.floats(0.02, 0.2), st.sampled_from([0.0, 0.5, 1.0])
PLAYERS = st.tuples(RATINGS, RDS, VOLATILITIES)


def test_glickmans_worked_example():
    # Glickman 2012, "Example calculation": he prints 1464.06 / 151.52 / 0.05999 from rounded steps.
    after = update(1500, 200, 0.06, [1400, 1550, 1700], [30, 100, 300], [1, 0, 0])
    assert after == pytest.approx((1464.0507, 151.5165, 0.059996), abs=5e-5)
    assert after[2] == pytest.approx(0.059996, abs=5e-7)


def test_an_independent_package_on_a_thousand_random_periods():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        games = rng.integers(1, 9)
        player = rng.uniform(800, 2200), rng.uniform(30, 350), rng.uniform(0.03, 0.12)
        opponents = rng.uniform(800, 2200, games), rng.uniform(30, 350, games)
        scores = rng.choice([0.0, 0.5, 1.0], games)
        with pyglicko2.system(0.5):
            theirs = pyglicko2.Player(*player)
            theirs.update([pyglicko2.Player(*o) for o in zip(*opponents)], [pyglicko2.Outcome(s) for s in scores])
        assert update(*player, *opponents, scores) == pytest.approx((theirs.r, theirs.RD, theirs.σ), rel=1e-9)


@given(PLAYERS, RATINGS, RDS, SCORES)
def test_one_game_in_plain_floats_is_the_same_rule(player, opponent, rd, score):
    assert update_single(*player, opponent, rd, score) == pytest.approx(update(*player, [opponent], [rd], [score]), rel=1e-6)


@given(st.lists(st.tuples(PLAYERS, st.lists(st.tuples(RATINGS, RDS, SCORES), max_size=4)), min_size=1, max_size=5))
def test_many_players_at_once_are_each_alone(periods):
    # Pad to four games; the padding is masked out.
    pad = (START_RATING, START_RD, 0.5)
    games = np.array([list(played) + [pad] * (4 - len(played)) for _, played in periods])  # (players, 4, 3)
    mask = np.array([[k < len(played) for k in range(4)] for _, played in periods])
    players = np.array([player for player, _ in periods]).T
    together = update(*players, *np.moveaxis(games, -1, 0), mask=mask)
    for row, (player, played) in enumerate(periods):
        alone = update(*player, *np.array(played).reshape(-1, 3).T)
        assert [column[row] for column in together] == pytest.approx(alone, rel=1e-6)


def test_an_idle_player_only_becomes_less_certain_or_stays():
    # Glickman 2012, step 6: phi* = sqrt(phi^2 + sigma^2).
    idle = update(1600, 200, 0.06, [], [], [])
    assert idle == pytest.approx((1600, 173.7178 * np.sqrt((200 / 173.7178) ** 2 + 0.06**2), 0.06))
    assert update(1600, 200, 0.06, [], [], [], idle_growth=False) == pytest.approx((1600, 200, 0.06))


@given(RDS, VOLATILITIES, RATINGS, RDS, SCORES)
def test_winning_is_the_mirror_of_losing(rd, volatility, opponent, opponent_rd, score):
    up = update_single(1500, rd, volatility, opponent, opponent_rd, score)
    down = update_single(1500, rd, volatility, 3000 - opponent, opponent_rd, 1 - score)
    assert (up[0] - 1500, up[1], up[2]) == pytest.approx((1500 - down[0], down[1], down[2]), rel=1e-6, abs=1e-6)


def test_everyone_starts_where_glickman_says():
    # Glickman 2012, step 1.
    assert (START_RATING, START_RD, START_VOLATILITY) == (1500, 350, 0.06)
