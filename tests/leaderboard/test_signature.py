import pytest

from leaderboard.signature import parse, signature

SETTINGS = {"judge": "comparator", "comparator": "v3", "snapshot": "9f2c", "games": 1200, "seed": 7, "code": "1.0+a1b2"}


def test_a_signature_names_everything_that_made_the_board():
    assert signature(**SETTINGS) == (
        "judge:comparator|comparator:v3|snapshot:9f2c|rating:paper|pairing:random|ties:ratio0.1|games:1200|seed:7|code:1.0+a1b2"
    )


@pytest.mark.parametrize("change", [{}, {"judge": "people", "comparator": None}, {"code": "git:a1"}, {"ties": "half"}])
def test_it_can_be_read_back(change):
    text = signature(**SETTINGS | change)
    assert signature(**parse(text)) == text
    assert parse(text).items() >= (SETTINGS | change).items()


@pytest.mark.parametrize("bad", ["", "a|b", " v3"])
def test_values_cannot_break_it(bad):
    with pytest.raises(ValueError, match="snapshot"):
        signature(**SETTINGS | {"snapshot": bad})


@pytest.mark.parametrize("text", ["", "judge:people", "seed:1|judge:people", signature(**SETTINGS) + "|more:1"])
def test_what_is_no_signature_is_refused(text):
    with pytest.raises(ValueError, match="in this order"):
        parse(text)
