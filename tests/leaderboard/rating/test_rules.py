import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.rating import glicko2_sequential, glicko2_static
from leaderboard.rating.bootstrap import context_draws
from leaderboard.rating.games import Games
from leaderboard.rating.pair_counts import scores
from leaderboard.rating.rules import DEFAULT, PAPER, RATINGS, TIES, Rules, replicates, standings

ALL = [Rules(rating=rating, ties="ratio0.1" if ties == "ratio" else ties) for rating in RATINGS for ties in TIES[rating]]
ORDER_FREE = [rules for rules in ALL if rules.rating != "by-game"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rating": "elo"}, "rating must be one of glicko2, by-game, bradley-terry"),
        ({"ties": "davidson"}, "ties of a glicko2 rating must be one of half, drop"),
        ({"rating": "by-game", "ties": "ratio2"}, "number from 0 to 1"),
        ({"rating": "by-game", "ties": "ratio"}, "number from 0 to 1"),
        ({"pairing": "swiss"}, "pairing must be"),
        ({"stop": "never"}, "stop must be"),
        ({"pairing": "again", "stop": "all"}, "never come to an end"),
        ({"idle_growth": True}, "by-game"),
    ],
)
def test_what_means_nothing_is_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        Rules(**settings)


def test_the_papers_settings_by_name():
    # Zhou & Xu 2020, section 3.2.
    assert PAPER == Rules(rating="by-game", ties="ratio0.1", pairing="again", stop="order", idle_growth=False)
    assert (PAPER.draw_ratio, DEFAULT.draw_ratio) == (0.1, None)


def test_each_rating_is_the_one_it_names(noisy_games):
    games = noisy_games(5, 300, 20)
    rating, rd = glicko2_static.settle(*scores(5, games)[:2])
    found = standings(5, games)
    assert (found.rating == rating).all() and (found.rd == rd).all() and (found.volatility == 0).all()
    assert (standings(5, games, PAPER).rating == glicko2_sequential.rate(5, games).rating).all()
    dropped, without = standings(5, games, Rules(ties="drop")), games.take(games.outcome != 0)
    assert dropped.rating == pytest.approx(standings(5, without).rating)
    assert dropped.ties.sum() > 0 and (dropped.games == found.games).all()


@pytest.mark.parametrize("rules", ALL, ids=str)
def test_a_replicate_in_which_each_context_counts_once_is_the_board(noisy_games, rules):
    games = noisy_games(4, 200, 10)
    once = replicates(4, games, np.ones((2, 10), dtype=int), rules)
    if rules in ORDER_FREE:
        assert once[0] == pytest.approx(standings(4, games, rules).rating, abs=1e-6)
    assert once.shape == (2, 4)


@pytest.mark.parametrize("rules", ORDER_FREE, ids=str)
def test_a_replicate_is_the_board_of_its_games(noisy_games, rules):
    games, draws = noisy_games(4, 200, 10), context_draws(10, 3, seed=1)
    for ratings, times in zip(replicates(4, games, draws, rules), draws, strict=True):
        again = games.take(np.repeat(np.arange(200), times[games.context]))
        assert ratings == pytest.approx(standings(4, again, rules).rating, abs=1e-5)


@pytest.mark.parametrize("rules", ALL, ids=str)
@given(seed=st.integers(0, 10**6), names=st.permutations(range(4)))
def test_sides_and_names_do_not_matter(rules, seed, names):
    rng, names = np.random.default_rng(seed), np.array(names)
    first = rng.integers(4, size=25)
    games = Games(first, (first + rng.integers(1, 4, 25)) % 4, rng.integers(-1, 2, 25), rng.integers(5, size=25))
    renamed = Games(names[games.first], names[games.second], games.outcome, games.context)
    board = standings(4, games, rules)
    assert standings(4, games.swapped(), rules).rating == pytest.approx(board.rating, abs=1e-5)
    assert standings(4, renamed, rules).rating[names] == pytest.approx(board.rating, abs=1e-5)
    assert standings(4, renamed, rules).rd[names] == pytest.approx(board.rd, abs=1e-5)


@pytest.mark.parametrize("rules", ALL, ids=str)
def test_draws_between_equals_change_no_rating(rules):
    found = standings(2, Games([0] * 7, [1] * 7, [0] * 7, range(7)), rules)
    assert found.rating == pytest.approx([1500, 1500])
    assert found.ties.tolist() == [7, 7]
