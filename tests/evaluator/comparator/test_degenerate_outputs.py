"""What counts for nothing in an output, by example."""

from dataclasses import replace

import numpy as np
import pytest

from evaluator.comparator.architectures import load
from evaluator.judges.calibration import NO_GUARD
from evaluator.judges.degenerate_outputs import copied_share, degenerate_shares, lowered, repeated_share, words_of
from evaluator.judges.texts import Text

ASKED = ("Hello there !", "Do you know where to get them from ?")


@pytest.mark.parametrize(
    ("output", "share"),
    [
        ("", 1),
        (" . . . ", 1),
        ("no", 0),
        ("Do you know where to get them from ?", 1),
        ("you said : do you know where to get them from", 8 / 10),
        ("do you know where the station is ?", 4 / 7),
        ("where from ?", 0),
        ("hello there !", 0),  # two words are no run
        ("hello there ! do you know where to get them from ?", 8 / 10),  # a run of one turn and two words of another
        ("well , do you know where it is and to get them from there", 8 / 13),  # two runs
        ("i do not know i do not know i do not know", 7 / 11),
        ("very very good", 0),
        ("no no no no no", 3 / 4),
        ("he said no no no no no and then went home", 3 / 10),
        ("do you know do you know", 1),  # the larger share counts: all is copied, 2 of 5 pairs are repeated
    ],
)
def test_the_share_that_an_output_does_not_say_itself_by_hand(output, share):
    assert degenerate_shares([Text(ASKED, output)]) == pytest.approx([share])


def test_the_two_shares_by_hand():
    words = words_of("Well, do you know where it is?")
    assert copied_share(words, ASKED) == 4 / 7  # "do you know where" of seven words
    assert copied_share([], ASKED) == copied_share(["one"], ()) == 0
    assert repeated_share("a b a b c".split()) == 1 / 4  # (a b) came before, of four pairs
    assert repeated_share(["one"]) == 0


def test_a_guarded_output_stands_among_the_worst_twentieth_and_no_lower_than_it_would(trained, judged):
    comparator = load(trained[1])
    context = judged[0][0].context
    most, found = comparator.head.guard, comparator.utilities([Text(context, "")])[0]
    assert (trained[0].utilities > most).mean() >= 0.95
    comparator.head = replace(comparator.head, guard=NO_GUARD)
    free = comparator.utilities([Text(context, "")])[0]
    assert found == pytest.approx(min(free, most))
    answer = load(trained[1]).compare([Text(context, "good")], [Text(context, "")])
    assert answer.choices.tolist() == ["A"]


def test_an_output_loses_the_share_of_what_it_has_above_the_worst():
    u, texts = (
        np.array([-9.0, 0.5, 1.5, 2.0]),
        [Text(ASKED, output) for output in ("", "- - -", "no no no", "at the station .")],
    )
    assert lowered(u, texts, guard=-1.0) == pytest.approx([-9.0, -1.0, 1.5 - 2.5 / 2, 2.0])
