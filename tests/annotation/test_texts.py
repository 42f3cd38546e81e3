"""How the pages write numbers."""

import pytest

from annotation.templatetags.texts import p_value


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "< 0.001"), (0.0004, "< 0.001"), (0.0006, "0.001"), (0.04, "0.040"), (1.0, "1.000"), (None, "–")]
)
def test_a_p_value_is_never_shown_as_zero(value, shown):
    assert p_value(value) == shown
