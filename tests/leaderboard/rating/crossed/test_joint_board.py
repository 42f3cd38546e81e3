"""Scores and judgments of pairs on one board."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.validity.crowds import Crowd, draw
from leaderboard.rating import mixed_model
from leaderboard.rating.crossed import joint_board
from leaderboard.rating.crossed.joint_board import read_both
from leaderboard.rating.people_board import read_pairs, read_scores

STRENGTHS = (0.0, 0.2, 0.4, 0.6, 0.8)


def readings(crowd, seed):
    e = draw(crowd, seed)
    return (
        read_scores(crowd.systems, e.system, e.context, e.person, e.value),
        read_pairs(crowd.systems, e.first, e.second, e.outcome, e.pair_context, e.pair_person),
    )


@pytest.mark.long
@pytest.mark.parametrize("pairs, contexts", [(50, 40), (600, 20)])
def test_more_answers_never_say_less(pairs, contexts):
    """As the people's board promises: fifty judgments took a half-width from 34 to 63 when scores became games."""
    ratio = []
    for seed in range(5):
        scores, judged = readings(Crowd(STRENGTHS, contexts=contexts, pairs_too=pairs), seed)
        both = read_both(scores, judged)
        ratio.append(both.width() / scores.width())
        assert both.omitted in (0, pairs, contexts * 5 * 3) and np.corrcoef(both.rating, scores.rating)[0, 1] > 0.8
    assert max(ratio) <= 1 and (pairs < 600 or np.median(ratio) < 0.97)


def test_two_kinds_that_are_equally_sure_meet_in_the_middle():
    """One difference, t from scores and from judgments with variance v each and k = 1 to begin with. With d1 = d2 nothing has
    to give way, so t = d1 and k = 1; the precisions add up. By hand: t's column of W is (1, 1) / 2 before k, and an error in
    log k of SD log 2 moves d2 by t log 2: as if d2 had the variance v + (t log 2)^2."""
    basis, v, d = np.array([[1.0], [-1.0]]) / np.sqrt(2), 400.0, 60.0
    precise = basis @ basis.T / v
    rating = d * basis[:, 0]
    k = joint_board._sharpness(basis, [rating, rating], [precise, precise])
    assert k == pytest.approx(1.0, abs=1e-4)
    t = joint_board._together(basis, [rating, rating], [precise, precise], 1.0)
    assert t == pytest.approx([d])
    first, second = joint_board._turns(basis, t, [precise, precise], 1.0)
    other = v + (d * np.log(2)) ** 2
    assert first @ basis == pytest.approx(np.array([[other / (v + other)]]))
    assert second @ basis == pytest.approx(np.array([[v / (v + other)]]))


def test_pairs_join_systems_that_no_score_compares():
    e = draw(Crowd(STRENGTHS[:3], people=8, contexts=30, pairs_too=300), 1)
    rows, sides = e.system != 2, (e.first + e.second == 3)  # scores of 0 and 1, pairs of 1 and 2
    scores = read_scores(3, *(c[rows] for c in (e.system, e.context, e.person, e.value)))
    pairs = read_pairs(3, *(c[sides] for c in (e.first, e.second, e.outcome, e.pair_context, e.pair_person)))
    both = read_both(scores, pairs)
    board = both.board()
    assert len(np.unique(board.component)) == 1 and np.isfinite(board.se).all() and both.omitted == 0
    assert board.se[0, 2] > max(board.se[0, 1], board.se[1, 2])


def test_many_judgments_have_weights_as_well(monkeypatch):
    crowd = Crowd(STRENGTHS, people=8, contexts=30, pairs_too=500)
    scores, pairs = readings(crowd, 2)
    exact = read_both(scores, pairs)
    monkeypatch.setattr(mixed_model, "MOST_DENSE", 30)
    e = draw(crowd, 2)
    many = read_pairs(5, e.first, e.second, e.outcome, e.pair_context, e.pair_person)
    found = read_both(scores, many)
    assert found.rating == pytest.approx(exact.rating, abs=10)
    off = ~np.eye(5, dtype=bool)
    assert found.board().se[off] == pytest.approx(exact.board().se[off], rel=0.2)
    assert read_both(scores, replace(many, answered=None)) is None
