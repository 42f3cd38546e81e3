"""The benchmark's promises on a small crowd."""

import pytest

from benchmarks.crowd import SECRET, simulate

pytestmark = pytest.mark.django_db


def test_every_item_has_its_answers_none_is_lost_and_every_code_is_right(tmp_path, settings):
    settings.PROLIFIC_SECRET = SECRET
    found = simulate(tmp_path, workers=16, contexts=8, k=2, quota=3, seed=4)
    assert found["wrong"] == [] and found["answers that count"] == 2 * found["items"]
    ways = {way.split(":")[0] for way in found["codes"]}
    assert {"returns", "two tabs", "works"} <= ways
