"""Meaning representations as they stand in releases: BAGEL and SF Hotel / SF Restaurant (Novikova et al. 2017), E2E."""

import pytest

from annotation.annotating.meaning import read


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        (
            "inform(name='hotel boheme',has_internet=yes,price_range=dont_care)",
            [("inform", [("name", "hotel boheme"), ("has_internet", "yes"), ("price_range", "dont_care")])],
        ),
        ("inform(name='joe's, downtown';area=X)", [("inform", [("name", "joe's, downtown"), ("area", "X")])]),
        ("?select(has_internet='yes or no')", [("?select", [("has_internet", "yes or no")])]),
        ("goodbye()", [("goodbye", [])]),
        ("?request(area)", [("?request", [("area", "")])]),
        ("inform(food=thai)&request(area)", [("inform", [("food", "thai")]), ("request", [("area", "")])]),
        ("name[The Eagle], eatType[coffee shop]", [("", [("name", "The Eagle"), ("eatType", "coffee shop")])]),
    ],
)
def test_both_notations_are_read(text, acts):
    assert read(text) == acts


@pytest.mark.parametrize("text", ["", "Once upon a time (long ago) there was a king.", "hello", "f(x) = y", "See [1], [2]."])
def test_other_texts_are_left_alone(text):
    assert read(text) is None
