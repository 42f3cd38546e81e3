"""What stands below everything, by example."""

import numpy as np
import pytest

from evaluator.comparator.examples import Text
from evaluator.comparator.guards import guarded, lowered
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
    ],
)
def test_blank_copied_and_repeating_outputs_are_guarded(output, stopped):
    assert guarded([Text(ASKED, output)]).tolist() == [stopped]


def test_a_guarded_output_stands_among_the_worst_twentieth_and_no_lower_than_it_would(trained, judged):
    comparator = Comparator.load(trained[1])
    context = judged[0][0].context
    assert (trained[0].utilities > comparator.utilities([Text(context, "")])[0]).mean() >= 0.95
    worst, most = np.array([-9.0, 0.5, 2.0]), -1.0
    assert lowered(worst, [Text(context, ""), Text(context, ""), Text(context, "good")], most).tolist() == [-9.0, -1.0, 2.0]
    assert comparator.compare([Text(context, "good")], [Text(context, "")]).choices.tolist() == ["A"]
