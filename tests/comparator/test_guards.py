"""What stands below everything, by example."""

import numpy as np
import pytest

from evaluator.comparator.examples import Text
from evaluator.comparator.guards import guarded
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


def test_a_guarded_output_stands_below_every_other(trained, judged):
    comparator = Comparator.load(trained[1])
    context = judged[0][0].context
    assert comparator.utilities([Text(context, "")])[0] < np.nanmin(trained[0].utilities)
    assert comparator.compare([Text(context, "good")], [Text(context, "")]).choices.tolist() == ["A"]
