"""Several judges together: by hand."""

import numpy as np
import pytest

from core.errors import Refused
from evaluator.judges.jury import Juror, Jury, joined
from evaluator.judges.protocol import Preferences, by_order
from evaluator.judges.texts import Text

NOTHING = (np.nan, np.nan, np.nan)
FIRST = Preferences.likeliest(np.array([(0.6, 0.2, 0.2), (0.1, 0.8, 0.1), NOTHING, NOTHING]))
SECOND = Preferences.likeliest(np.array([(0.1, 0.2, 0.7), (0.2, 0.2, 0.6), (0.9, 0.1, 0.0), NOTHING]))
THIRD = Preferences.likeliest(np.array([(0.5, 0.3, 0.2), (0.3, 0.3, 0.4), (0.5, 0.3, 0.2), (0.0, 0.0, 1.0)]))


def test_the_mean_of_those_that_answered():
    said = joined([FIRST, SECOND, THIRD], "mean")
    expected = [(1.2 / 3, 0.7 / 3, 1.1 / 3), (0.6 / 3, 1.3 / 3, 1.1 / 3), (0.7, 0.2, 0.1), NOTHING]
    np.testing.assert_allclose(said.probabilities, expected)
    assert said.choices.tolist() == ["A", "tie", "A", ""]


def test_the_vote():
    """A, B, A: A. tie, B, B: B. of two A's: A. One of three is too few."""
    said = joined([FIRST, SECOND, THIRD], "vote")
    np.testing.assert_allclose(said.probabilities, [(2 / 3, 0, 1 / 3), (0, 1 / 3, 2 / 3), (1, 0, 0), NOTHING])
    assert said.choices.tolist() == ["A", "B", "A", ""]
    assert joined([FIRST, SECOND], "vote").choices.tolist() == ["tie", "tie", "A", ""]


@pytest.mark.parametrize("by", ["mean", "vote"])
def test_sides_exchange(by):
    turned = joined([one.swapped() for one in (FIRST, SECOND, THIRD)], by)
    assert turned.choices.tolist() == joined([FIRST, SECOND, THIRD], by).swapped().choices.tolist()


class Lengths:
    kind = "pointwise"

    def utilities(self, texts, *, on_progress=None):
        return np.array([len(text.output) if text.output != "?" else np.nan for text in texts])

    preferences = staticmethod(by_order)


def test_what_is_missing_is_counted_and_too_much_ends_it():
    texts = [Text(("Hi",), output) for output in ("one", "three", "?")]
    jury = Jury([Juror("long", Lengths()), Juror("longer", Lengths())], "vote")
    assert jury.compare(texts[:2], texts[1:]).choices.tolist() == ["B", ""]
    assert jury.used == {"pairs_of_jury": 2, "unjudged": 1, "why_unjudged": {"long said nothing": 1, "longer said nothing": 1}}
    with pytest.raises(Refused, match=r"on 1 of 2 pairs, more than 5%. Who said nothing: long \(1\), longer \(1\)"):
        jury.check()
