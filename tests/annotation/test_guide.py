"""The annotators' guide says what the pages say."""

import re

import pytest
from django.conf import settings

from annotation.models import Campaign
from tests.annotation.pages import World, text

pytestmark = pytest.mark.django_db


GRADED = {"1", "7", "x"}
MARKED = {"m", "Shift", "2", "Delete"}  # errors in a text (tests/browser/test_error_spans.py)
OTHER = {
    "likert": {"a", "b", "t", "d", "←", "→", "7", "x"} | MARKED,
    "pairwise": {"0", "9", "Tab"} | GRADED | MARKED,
    "graded": {"0", "9", "Tab", "a", "b", "←", "→"} | MARKED,
}


@pytest.mark.parametrize("kind", OTHER)
def test_it_explains_every_key_of_the_pages(tmp_path, client, kind):
    guide = (settings.BASE_DIR / "docs/annotators.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(\S+?)`", guide[guide.index("| key |") : guide.index("You can press keys")]))
    world = World(tmp_path, client, likert=kind == "likert", pairwise=kind != "likert")
    Campaign.objects.update(asks_reason=True, pairwise_by_criterion=kind != "likert")
    if kind == "graded":
        Campaign.objects.update(pair_points=7, pair_both_bad=True)
    page = text(world.sign_in(world.bob).get("annotate/?start=1"))
    shown = set(re.findall(r"<kbd>(.+?)</kbd>", page))
    between = set("23456") if kind == "graded" else set()
    assert shown - between == documented - OTHER[kind]
