import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.outcome import Outcome
from leaderboard.rating.games_from_answers import games_from_judgments, games_from_scores


def rows(games):
    columns = (games.first, games.second, games.outcome, games.context)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def test_one_annotator_one_context_two_systems_is_a_game():
    # Annotator 0 on context 5: system 0 gets 3, 1 gets 4, 2 gets 3. Annotator 1 scored only one output there.
    games = games_from_scores([0, 1, 2, 0], [5, 5, 5, 5], [0, 0, 0, 1], [3, 4, 3, 5])
    assert rows(games) == [(0, 1, -1, 5), (0, 2, 0, 5), (1, 2, 1, 5)]


def test_samples_all_meet_but_never_their_own_system():
    games = games_from_scores([1, 0, 1], [0, 0, 0], [0, 0, 0], [5, 3, 1])
    assert rows(games) == [(0, 1, -1, 0), (0, 1, 1, 0)]


def test_contexts_and_annotators_do_not_mix():
    assert len(games_from_scores([0, 1], [0, 1], [0, 0], [1, 2])) == 0
    assert len(games_from_scores([0, 1], [0, 0], [0, 1], [1, 2])) == 0
    assert len(games_from_scores([], [], [], [])) == 0


ANSWER = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.integers(1, 5))


@given(st.lists(ANSWER, max_size=25), st.randoms())
def test_they_are_all_pairs_in_whatever_order_the_scores_come(answers, random):
    expected = sorted(
        (*sorted((a[0], b[0])), int(np.sign(a[3] - b[3])) * (1 if a[0] < b[0] else -1), a[1])
        for i, a in enumerate(answers)
        for b in answers[:i]
        if a[0] != b[0] and a[1:3] == b[1:3]
    )
    random.shuffle(answers)
    assert rows(games_from_scores(*np.array(answers, dtype=int).reshape(-1, 4).T)) == expected


def test_judgments_are_games_whichever_side_was_a():
    choices = [outcome.code for outcome in (Outcome.A, Outcome.TIE, Outcome.B, Outcome.A)]
    games = games_from_judgments([0, 0, 0, 2], [1, 1, 1, 2], [4, 5, 6, 7], choices)
    assert rows(games) == [(0, 1, -1, 6), (0, 1, 0, 5), (0, 1, 1, 4)]
    swapped = games_from_judgments([1, 1, 1, 2], [0, 0, 0, 2], [4, 5, 6, 7], [2 - choice for choice in choices])
    assert rows(swapped) == rows(games)


def test_what_is_no_answer_is_refused():
    with pytest.raises(ValueError, match="finite"):
        games_from_scores([0, 1], [0, 0], [0, 0], [1, np.nan])
    with pytest.raises(ValueError, match="0, 1 or 2"):
        games_from_judgments([0], [1], [0], [3])
