"""Parts that share no text, patience, and what is said of trainings whose best checkpoint is known."""

import numpy as np
import pytest

from benchmarks.selection.kept_checkpoint import Answered, Outcome, chosen, dealt, patience, summary
from evaluator.generators.dialogue import AnsweredTurn

SHARED = "this is what two of them say"


def dialogue(number: int) -> list[Answered]:
    replies = [f"reply {number} {i} of five words" for i in range(3)] + [SHARED] * (number in (4, 17))
    return [Answered(AnsweredTurn((f"question {number} {i}",), reply), (reply,), number) for i, reply in enumerate(replies)]


def test_dialogues_that_share_a_text_lie_in_one_part():
    parts = dealt([dialogue(number) for number in range(20)], seed=3)
    numbers = {name: {one.dialogue for row in rows for one in row} for name, rows in parts.items()}
    assert sorted(number for part in numbers.values() for number in part) == list(range(20))
    assert any({4, 17} <= part for part in numbers.values())
    assert [len(part) for part in numbers.values()] == pytest.approx([7, 1, 2.4, 3.6, 6], abs=1.6)
    assert chosen(parts, "watched")[0].dialogue in numbers["watched"]


def test_patience_keeps_the_lowest_before_it_ends():
    assert patience([3, 2, 1, 2, 2, 2, 2, 2, 0]) == (2, 8)  # five evaluations without a new lowest one
    assert patience([3, 2, 1]) == (2, None)


def test_a_checkpoint_two_away_is_near_and_three_away_is_not():
    quality = np.array([0.1, 0.4, 0.3, 0.2, 0.2])
    near = Outcome(quality, best=1, ours=3, patience=1, patience_stopped=None, stopped=None, lowest=1, gain=0.0)
    far = Outcome(quality, best=1, ours=4, patience=4, patience_stopped=4, stopped=10, lowest=1, gain=0.0)
    said = summary({"overfits": [near, far], "improves": [near, far]})
    assert said[0] == (
        "Within 2 checkpoints of the best: ours 1, validation loss with patience 5 1, the last checkpoint 0, of 2 trainings."
    )
    assert said[1] == "Mean quality lost against the best: ours 0.2000, validation loss 0.1000."
    assert said[2] == "A training that improves was not stopped in 1 of 2."
