"""A training that overfits by construction: what its replies are worth, and what is told of it."""

import json
from random import Random

import numpy as np
import pytest

from benchmarks.selection import overfitting
from benchmarks.selection.overfitting import CHECKPOINTS, EVERY, WRONG, Outcome, made, patience, quality, requests, summary

pytestmark = pytest.mark.one_database


def test_a_reply_is_right_where_it_names_what_was_wished_and_nothing_else():
    asked = made(Random(1))
    other = next(food for food in overfitting.FOODS if food != asked.wish)
    assert quality(asked, f"Yes, I found {asked.wish} food.") == 1
    assert [quality(asked, said) for said in ("", f"{other} food", f"{asked.wish} and {other} food")] == [0, 0, 0]


def test_a_third_of_what_is_learned_is_wrong_and_nothing_of_what_is_asked():
    parts = requests(0, "overfits")
    wrong = [1 - quality(one, one.exchange.reply) for one in parts["learned"]]
    expected = WRONG["overfits"] * 5 / 6  # one in six that are drawn anew is right
    assert abs(sum(wrong) / len(wrong) - expected) < 0.1  # 3.7 standard errors of .027
    assert {quality(one, one.exchange.reply) for one in parts["independent"]} == {1.0}


def test_the_table_tells_best_kept_and_stopped(tmp_path, capsys):
    """From one training, written by hand, that is best at its fourth checkpoint by quality and at its second by loss."""
    right = [one.references[0] for one in requests(0, "overfits")["watched"]]
    share = [abs(i - 3) / CHECKPOINTS for i in range(CHECKPOINTS)]  # of wrong replies
    row = {
        "steps": [EVERY * (i + 1) for i in range(CHECKPOINTS)],
        "validation": [1.0, 0.5, *[1.0] * (CHECKPOINTS - 2)],
        "watched": [["no" if k < part * len(right) else text for k, text in enumerate(right)] for part in share],
        "quality": [[float(k >= part * 100) for k in range(100)] for part in share],
    }
    (tmp_path / "overfits-0.json").write_text(json.dumps(row))
    assert overfitting.main(["--tables", "--seeds", "2", "--store", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "| 0 | 4 | 4 | 2 | 1.000 / 1.000 / 0.900 / 0.200 |" in printed
    assert "ours 1, validation loss with patience 5 1, the last checkpoint 0, of 1 trainings." in printed


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
