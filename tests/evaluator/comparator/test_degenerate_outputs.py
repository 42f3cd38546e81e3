"""What stands below everything, by example."""

from dataclasses import replace

import numpy as np
import pytest

from evaluator.comparator.degenerate_outputs import guarded, lowered, says_little
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
        ("you said : do you know where to get them from", True),  # 8 of 10 words in a row
        ("do you know where the station is ?", False),  # 4 of 7 in a row are less than 70%
        ("where from ?", False),
        ("hello there !", False),  # a greeting returned: fewer than four words
        ("i do not know i do not know i do not know", True),  # 4 different pairs of 11
        ("very very good", False),  # too short to tell
        ("no no no no no", True),  # four words twice
        ("he said no no no no no and then went home after a long while and slept", False),  # 4 of 16 pairs
        ("my my name name is is paul paul", True),  # 4 of 7
        ("hello there ! do you know where to get them from ?", True),  # both turns
        ("do you know where they get them from", True),  # 7 of 8 words of both
        ("from them get to where know you do", True),
        ("well do you er know where um to get like them you know from", True),  # the turn's 8 words in their order, of 13
        ("do i know where to get him from", True),  # with "I" and "you" the same, 7 of 8 words of both
        ("i know where you can get the shoes from", False),
        ("well , do you know where to get them from ? i would like to know that myself very much", True),  # 8 of 19 words
        (f"do you know where to get them from ? {' '.join(map(str, range(19)))}", False),  # 8 of 27 words
    ],
)
def test_blank_copied_and_repeating_outputs_are_guarded(output, stopped):
    assert guarded([Text(ASKED, output)]).tolist() == [stopped]


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
    kept = lowered(u, texts, np.zeros(4), most=-1.0, apart=-1.0, loss=0.0)
    assert kept == pytest.approx([-9.0, -1.0 + 1.5 / 50, -1.0 + 2.5 / 50, 2.0])


@pytest.mark.parametrize(
    ("output", "little"),
    [
        ("I see .", True),
        ("that 's nice .", True),
        ("i don't know", True),
        ("thank you so much indeed", False),  # five words
        ("i see a bird .", False),  # of a bird
        ("", False),
    ],
)
def test_a_phrase_that_fits_everywhere_says_little(output, little):
    assert says_little([Text(ASKED, output)]).tolist() == [little]


def test_a_phrase_that_fits_everywhere_loses_where_it_has_little_to_do_with_its_context():
    texts = [Text(ASKED, output) for output in ("i see .", "thank you .", "at the station .", "station")]
    cosines = np.array([0.1, 0.5, 0.1, 0.1])
    assert lowered(np.ones(4), texts, cosines, most=9.0, apart=0.3, loss=0.4).tolist() == [0.6, 1.0, 1.0, 1.0]


def test_a_lone_word_that_fits_everywhere_loses_as_much_once_more():
    texts, cosines = [Text(ASKED, "ok ."), Text(ASKED, "Ok!")], np.array([0.5, 0.1])
    assert lowered(np.ones(2), texts, cosines, most=9.0, apart=0.3, loss=0.4) == pytest.approx([0.6, 0.2])
