"""Who agrees with each other is a minority view; who agrees with nobody is none."""

import numpy as np
import pytest

from annotation.quality.answer_arrays import Answers
from annotation.quality.people.annotator_cards import cards
from annotation.quality.people.camps import camps
from annotation.quality.people.suspicion import suspicion

ITEMS = 80


def campaign(seed: int, two) -> Answers:
    """Eight people who see one quality, and two of their own; `two` gives what these see: (2, items) of two qualities."""
    rng = np.random.default_rng(seed)
    quality, another = rng.normal(size=(2, ITEMS))
    seen = np.vstack([two(quality, another, rng), np.tile(quality, (8, 1))]) + 0.6 * rng.normal(size=(10, ITEMS))
    return Answers.of_table(np.clip(np.round(3 + 1.2 * seen), 1, 5))


EXPERTS = lambda quality, another, rng: np.tile(another, (2, 1))
OPPOSITE = lambda quality, another, rng: np.tile(-quality, (2, 1))
AT_RANDOM = lambda quality, another, rng: rng.normal(size=(2, ITEMS))


def unusual(answers: Answers) -> list[int]:
    return [one.annotator for one in suspicion(cards(answers)) if one.is_unusual]


@pytest.mark.parametrize("two", [EXPERTS, OPPOSITE])
def test_two_who_agree_with_each_other_are_a_camp(two):
    answers = campaign(0, two)
    assert {0, 1} <= set(unusual(answers))
    (camp,) = camps(answers, 10, unusual(answers))
    assert camp.annotators == (0, 1)
    table = answers.value.reshape(10, ITEMS)  # no severity: Pearson's correlation of two, by numpy
    assert camp.within == pytest.approx(np.corrcoef(table[0], table[1])[0, 1], abs=1e-6)
    assert camp.within > 0.4 > camp.with_rest and camp.usual > 0.4
    assert camp.sentence.startswith("A minority view") and "no carelessness" in camp.sentence


def test_two_who_answer_at_random_are_none():
    found = [camps(campaign(seed, AT_RANDOM), 10, [0, 1]) for seed in range(20)]
    assert sum(map(bool, found)) <= 1


def test_one_alone_is_none():
    answers = campaign(1, lambda quality, another, rng: np.vstack([another, quality]))
    assert camps(answers, 10, [0]) == [] and camps(answers, 10, []) == []


def test_what_two_have_not_answered_together_says_nothing():
    table = np.full((4, 40), np.nan)
    rng = np.random.default_rng(0)
    table[0, :20], table[1, 20:] = rng.integers(1, 6, (2, 20))
    table[2:] = rng.integers(1, 6, (2, 40))
    assert camps(Answers.of_table(table), 4, [0, 1]) == []


def test_a_camp_is_not_flagged_for_its_view_but_for_other_things():
    answers = campaign(0, EXPERTS)
    first = next(one for one in suspicion(cards(answers)) if one.annotator == 0)
    assert first.is_flagged
    from dataclasses import replace

    assert not replace(first, in_camp=True).is_flagged and replace(first, in_camp=True).reasons == []
    other = replace(first.concerns[0], kind="speed")
    assert replace(first, in_camp=True, concerns=(*first.concerns, other)).is_flagged
