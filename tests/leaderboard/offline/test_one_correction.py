"""The gap that `check_judge` reports and the board's calibrated win rate are one estimate, H - w (L - A), found in two ways:
from sums over contexts, and from resampled contexts. On the same answers they agree."""

import numpy as np
import pytest

from leaderboard.offline.correction import Correction, Judged, Labels
from leaderboard.rating.bootstrap import context_draws
from leaderboard.rating.games import Games
from leaderboard.rating.prediction_powered import win_rates


@pytest.mark.parametrize(("labelled", "errs"), [(100, 0.1), (400, 0.3), (400, 0.5)])
def test_check_judge_and_the_board_agree(labelled, errs):
    """Two systems on 2,000 contexts, one person, who judged on the first ones; with chance errs, the judge does not say what
    the person says and likes the first system."""
    rng, contexts = np.random.default_rng(labelled + round(100 * errs)), 2000
    people = rng.random(contexts) < 0.6
    judge = np.where(rng.random(contexts) < errs, rng.random(contexts) < 0.7, people)
    points = lambda wins: 2.0 * wins - 1.0
    context, none = np.arange(contexts), np.zeros(contexts, dtype=int)
    labels = Labels(none[:labelled], points(people[:labelled]), points(judge[:labelled]), context[:labelled], none[:labelled])
    gap = Correction(1, labels, Judged(none, points(judge), context), 2.0)
    offline = gap.of_corrected(np.array([1.0]))
    games = lambda wins, n: Games(none[:n], none[:n] + 1, points(wins[:n]).astype(int), context[:n])
    board = win_rates(
        2, games(people, labelled), games(judge, labelled), games(judge, contexts), context_draws(contexts, 1000, 0)
    )
    half = board.high[0, 1] - board.low[0, 1]  # of win rates: half of that of wins less losses
    assert 2 * board.rate[0, 1] - 1 == pytest.approx(offline.value, abs=0.1 * offline.half)
    assert half == pytest.approx(offline.half, rel=0.1)
    assert board.weight[0, 1] == pytest.approx(gap.weight, abs=0.1)
