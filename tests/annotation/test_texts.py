"""How the pages write numbers."""

import pytest

from annotation.templatetags.texts import p_value
from core.column_shapes import cell_text


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "< 0.001"), (0.0004, "< 0.001"), (0.0006, "0.001"), (0.04, "0.040"), (1.0, "1.000"), (None, "–")]
    + [(0.0498, "0.0498"), (0.04996, "0.04996"), (0.05, "0.050"), (0.0502, "0.0502"), (0.0251, "0.0251"), (0.0396, "0.040")],
)
def test_a_p_value_is_never_shown_as_zero(value, shown):
    assert p_value(value) == shown


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ([{"role": "user", "content": "Why?"}, {"role": "gpt", "content": "So."}], "user: Why? gpt: So."),
        ([{"role": "user", "content": None}], '[{"role": "user", "content": null}]'),
        (["schön", True], '["schön", true]'),
        (0, "0"),
        ("", ""),
    ],
)
def test_a_cell_of_a_file_is_written_as_people_read_it(cell, shown):
    assert cell_text(cell) == shown
