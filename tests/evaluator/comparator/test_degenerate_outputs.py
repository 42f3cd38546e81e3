"""What stands below everything, by example."""

from dataclasses import replace

import numpy as np
import pytest

from evaluator.comparator.degenerate_outputs import copied_share, is_degenerate, lowered, repeated_share, words_of
from evaluator.comparator.examples import Text
from evaluator.comparator.head import NO_GUARD
from evaluator.comparator.predict import Comparator

ASKED = ("Hello there !", "Do you know where to get them from ?")


@pytest.mark.parametrize(
    ("output", "stopped"),
    [
        ("", True),
        (" . . . ", True),
        ("no", False),
        ("Do you know where to get them from ?", True),
        ("you said : do you know where to get them from", True),  # 8 of 10 words
        ("do you know where the station is ?", False),  # 4 of 7 words are less than 70%
        ("where from ?", False),
        ("hello there !", False),  # a greeting returned: fewer than four words
        ("hello there ! do you know where to get them from ?", True),  # runs of one turn and, at its edge, two words of another
        ("well , do you know where it is and to get them from there", False),  # 8 of 12 words in two runs
        ("i do not know i do not know i do not know", True),  # 7 of 11 pairs were there before
        ("very very good", False),  # too short to tell
        ("no no no no no", True),  # 3 of 4 pairs
        ("no no no no", False),  # three pairs are too few
        ("he said no no no no no and then went home after a long while and slept", False),  # 3 of 16 pairs
    ],
)
def test_blank_copied_and_repeating_outputs_are_degenerate(output, stopped):
    assert is_degenerate([Text(ASKED, output)]).tolist() == [stopped]


def test_the_two_shares_by_hand():
    words = words_of("Well, do you know where it is?")
    assert copied_share(words, ASKED) == 4 / 7  # "do you know where" of seven words
    assert copied_share([], ASKED) == copied_share(["one"], ()) == 0
    assert repeated_share("a b a b c".split()) == 1 / 4  # (a b) came before, of four pairs
    assert repeated_share(["one"]) == 0


def test_a_guarded_output_stands_among_the_worst_twentieth_and_no_lower_than_it_would(trained, judged):
    comparator = Comparator.load(trained[1])
    context = judged[0][0].context
    most, found = comparator.head.guard, comparator.utilities([Text(context, "")])[0]
    assert (trained[0].utilities > most).mean() >= 0.95
    comparator.head = replace(comparator.head, guard=NO_GUARD)
    free = comparator.utilities([Text(context, "")])[0]
    assert found == pytest.approx(free if free < most else most + (free - most) / 50)
    answer = Comparator.load(trained[1]).compare([Text(context, "good")], [Text(context, "")])
    assert answer.choices.tolist() == ["A"]


def test_of_what_a_guarded_output_has_above_them_a_fiftieth_is_left():
    u, texts = np.array([-9.0, 0.5, 1.5, 2.0]), [Text(ASKED, output) for output in ("", "", "- - -", "at the station .")]
    kept = lowered(u, texts, guard=-1.0)
    assert kept == pytest.approx([-9.0, -1.0 + 1.5 / 50, -1.0 + 2.5 / 50, 2.0])
