"""The suite of attacks itself: what it makes, by hand."""

import numpy as np

from evaluator.judges.degenerate_outputs import words_of
from evaluator.metaevaluation.robustness import BROKEN, GENERIC, GENERIC_HELD_OUT, NAMES, attacks, negated, preferred

CONTEXTS = [("hi", "where is it ?"), ("bye",)]
ANSWERS = ["it is over there .", "see you soon ."]


def test_every_kind_is_made_twice_and_the_negation_once():
    made = {(attack.name, attack.held_out): attack for attack in attacks(CONTEXTS, ANSWERS)}
    kinds = {"generic", "off-topic", "other context", "repeated", "shuffled", "empty", "padded", "parroted"}
    assert set(made) == {(kind, held_out) for kind in kinds for held_out in (False, True)} | {
        (kind, False) for kind in ("negated", *BROKEN)
    }
    generic = made["generic", False]
    assert generic.bad == [*GENERIC, *GENERIC] and generic.good == [ANSWERS[0]] * 5 + [ANSWERS[1]] * 5
    assert made["other context", False].bad == ["see you soon .", "it is over there ."]
    assert made["parroted", False].bad == ["where is it ?", "bye"]
    assert made["parroted", True].bad == ["you said : where is it ?", "you said : bye"]
    assert made["repeated", False].bad == ["it is it is it is", "see you see you see you"]
    assert made["empty", False].bad == ["", ""]
    assert made["shuffled", True].bad == [". there over is it", ". soon you see"]
    assert (made["negated", False].good, made["negated", False].bad) == ([ANSWERS[0]], ["it is not over there ."])
    for attack in made.values():
        assert len(attack.contexts) == len(attack.good) == len(attack.bad)
        assert all(good != bad for good, bad in zip(attack.good, attack.bad))


def test_whole_answers_are_broken():
    answer, context = "We met Anna in 2019 , it was raining hard .", ("Where did you meet ?",)
    other = "Nobody goes there ."
    made = {attack.name: attack.bad for attack in attacks([context, ("x",)], [answer, other]) if attack.answer[:1] == [0]}
    words = "raining anna 2019 hard met"  # of nine different ones the five longest, those of a length in their order
    assert made["keyword list"][0].split(", ") == words.split()
    assert made["keyword list"][1].split() == ["where", "meet", *words.split()]
    assert made["cut"][0] == "We met Anna in 2019"  # the first 5 of 11
    swapped = made["swapped"][0].split()
    assert swapped[2] in NAMES and swapped[4].isdigit() and len(swapped[4]) == 4 and swapped[4] != "2019"
    assert [*swapped[:2], swapped[3], *swapped[5:]] == [*answer.split()[:2], "in", *answer.split()[5:]]
    changed = made["one word changed"][0].split()
    assert sum(one != two for one, two in zip(changed, answer.split())) == 1
    assert made["appended"][0].startswith(f"{answer} ")
    assert sum(word in words_of(f"{answer} {context[0]}") for word in words_of(made["gibberish"][0])) == 7  # a third of 21


def test_held_out_attacks_are_worded_otherwise():
    assert not set(GENERIC) & set(GENERIC_HELD_OUT)


def test_negation_is_put_in_or_taken_out():
    assert negated("i do n't know") == "i do know"
    assert negated("it is not mine") == "it is mine"
    assert negated("we can go") == "we can not go"
    assert negated("hello") is None


def test_equal_utilities_count_half():
    assert preferred(np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, 4.0])) == 0.5
    assert np.isnan(preferred(np.empty(0), np.empty(0)))
