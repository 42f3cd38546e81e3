"""What is learnt without annotators; the dialogues and every expected value are written out here."""

import numpy as np
import pytest

from evaluator.comparator.examples import Exchange
from evaluator.comparator.supervision import curriculum
from evaluator.comparator.supervision.negatives import Negatives
from evaluator.comparator.supervision.self_supervision import Origin, exchanges, strong_pairs, unseen, weak_pairs
from evaluator.judges.texts import Text
from evaluator.metaevaluation.pairs import JudgedPair

TEA = ("tea", ["Tea ?", "Yes , please .", "With milk ?", "No ."], [["yes , please .", "No , coffee .", ""], [], ["Yes ."]])
BUS = ("bus", ["When is the bus ?", "At ten ."], [])
HERE = ("same context",)


def test_an_exchange_for_each_turn_that_answers():
    assert exchanges([TEA, BUS]) == [
        Exchange(("Tea ?",), ("Yes , please .", "No , coffee ."), "tea"),  # the same in lower case, and "", are left out
        Exchange(("Tea ?", "Yes , please ."), ("With milk ?",), "tea"),
        Exchange(("Tea ?", "Yes , please .", "With milk ?"), ("No .", "Yes ."), "tea"),
        Exchange(("When is the bus ?",), ("At ten .",), "bus"),
    ]


def test_a_dialogue_that_a_judged_context_comes_from_is_left_out():
    given = exchanges([TEA, BUS])
    judged = [("Hello !", "tea?", "yes, please.")]  # its last two turns, spelt otherwise
    assert {exchange.dialogue for exchange in unseen(given, judged)} == {"bus"}
    assert unseen(given, [("with milk ?",)]) == given  # one turn alone is no ending of those


def test_human_written_is_better_and_equals_tie():
    texts = [Text(HERE, "a"), Text(HERE, "b"), Text(HERE, "c"), Text(HERE, "d"), Text(HERE, "e"), Text(("other",), "f")]
    origins = [
        Origin("Ann", human=True),
        Origin("Bob", human=True),
        Origin("m", checkpoint="1"),
        Origin("m", checkpoint="1"),
        Origin("m", checkpoint="2"),
        Origin("Ann", human=True),
    ]
    assert strong_pairs(texts, origins) == [
        JudgedPair(0, 1, (0.0, 1.0, 0.0), 1.0, "strong"),
        JudgedPair(0, 2, (1.0, 0.0, 0.0), 1.0, "strong"),
        JudgedPair(0, 3, (1.0, 0.0, 0.0), 1.0, "strong"),
        JudgedPair(0, 4, (1.0, 0.0, 0.0), 1.0, "strong"),
        JudgedPair(1, 2, (1.0, 0.0, 0.0), 1.0, "strong"),
        JudgedPair(1, 3, (1.0, 0.0, 0.0), 1.0, "strong"),
        JudgedPair(1, 4, (1.0, 0.0, 0.0), 1.0, "strong"),
        JudgedPair(2, 3, (0.0, 1.0, 0.0), 1.0, "strong"),  # two samples of one checkpoint
    ]


def test_a_later_checkpoint_is_better_unless_both_are_almost_converged():
    reached = [0.1, 0.15, 0.8, 0.9, 1.0, None]
    texts = [Text(HERE, str(share)) for share in reached] + [Text(HERE, "another system's")]
    origins = [Origin("m", reached=share) for share in reached] + [Origin("n", reached=0.5)]
    pairs = weak_pairs(texts, origins)
    assert [(p.a, p.b, p.target, p.margin) for p in pairs] == [
        (0, 2, (0.0, 0.0, 1.0), 0.7),
        (0, 3, (0.0, 0.0, 1.0), 0.8),
        (0, 4, (0.0, 0.0, 1.0), 0.9),
        (1, 2, (0.0, 0.0, 1.0), 0.65),
        (1, 3, (0.0, 0.0, 1.0), 0.75),
        (1, 4, (0.0, 0.0, 1.0), 0.85),
        (2, 3, (0.0, 0.0, 1.0), 0.1),  # exactly a tenth apart
        (2, 4, (0.0, 0.0, 1.0), 0.2),
    ]  # 0.1 and 0.15 lie less than a tenth apart; 0.9 and 1.0 are both in the last fifth
    assert {pair.source for pair in pairs} == {"weak"}


def test_the_smallest_margin_falls_from_80_to_10_percent():
    shown = [curriculum.weak_margin(progress) for progress in (0, 0.124, 0.125, 0.5, 0.874, 0.875, 1)]
    assert shown == [0.8, 0.8, 0.7, 0.4, 0.2, 0.1, 0.1]


def test_every_pair_of_checkpoints_is_shown_when_its_margin_is_due():
    """Ten checkpoints, one at each tenth. 10 - k pairs of them lie k tenths apart, so that 1 + 2 + ... + (10 - k) lie k tenths
    apart or more: 3, 6, 10, 15, 21, 28, 36, 45 for k = 8, 7, ... 1. The last counts one less: 0.9 and 1.0 are both almost
    converged."""
    texts = [Text(HERE, str(tenth)) for tenth in range(1, 11)]
    pairs = weak_pairs(texts, [Origin("m", reached=tenth / 10) for tenth in range(1, 11)])
    shown = [sum(pair.margin >= curriculum.weak_margin(eighth / 8) for pair in pairs) for eighth in range(8)]
    assert shown == [3, 6, 10, 15, 21, 28, 36, 44]


def test_random_negatives_first_broken_ones_among_them_later():
    assert curriculum.EASY == {"random": 1.0}
    assert sum(curriculum.HARD.values()) == pytest.approx(1)
    assert "random" in curriculum.HARD


@pytest.mark.parametrize("kind", curriculum.HARD)
def test_every_negative_is_another_text_and_the_same_for_a_seed(kind):
    given = exchanges([TEA, BUS, ("walk", ["Shall we walk to the old town ?", "It is too far for me , I think ."], [])])
    source = Negatives(given)
    made = [source.make(kind, 4, given[4].replies[0], np.random.default_rng(seed)) for seed in range(20)]
    assert made == [source.make(kind, 4, given[4].replies[0], np.random.default_rng(seed)) for seed in range(20)]
    assert any(text != given[4].replies[0] for text in made)  # chance may leave a text as it was, but not each time


def test_a_reply_from_elsewhere_is_never_of_this_dialogue():
    given = exchanges([TEA, BUS])
    source = Negatives(given)
    rng = np.random.default_rng(0)
    assert {source.make("random", 0, "Yes .", rng) for _ in range(20)} == {"At ten ."}


def test_one_dialogue_is_too_few():
    with pytest.raises(ValueError, match="two dialogues"):
        Negatives(exchanges([BUS]))
