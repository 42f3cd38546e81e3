"""A time in one unit, in the singular where it is one."""

import pytest

from core.wall_clock import in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "under a second"),
        (0.99, "under a second"),
        (1, "1 second"),
        (1.4, "1 second"),
        (2, "2 seconds"),
        (89, "89 seconds"),
        (90, "2 minutes"),
        (600, "10 minutes"),
        (89 * 60, "89 minutes"),
        (90 * 60, "1.5 hours"),
        (2 * 3600, "2 hours"),
        (1234 * 3600, "1,234 hours"),
    ],
)
def test_in_words(seconds, words):
    assert in_words(seconds) == words
