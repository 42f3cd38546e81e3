"""The comparators' page and a comparator's card in a browser, with every section that a card can have."""

import pytest

from evaluator.models import ComparatorVersion
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in

METRICS = {
    "heldout_pairwise_accuracy": 0.755, "heldout_pairwise_interval": [0.709, 0.803], "heldout_three_way_accuracy": 0.61,
    "longer_is_better_accuracy": 0.662, "pairs": 812, "contexts": 60, "texts": 360, "seconds": 300.0, "tie_threshold": 0.2,
    "sources": {"scores": 863, "judgments": 0}, "cut_texts": 3, "calibration_error": 0.031,
    "ceilings": {"scored": {"scores": {
        "pairwise_accuracy": 0.83, "pairwise_interval": [0.8, 0.86], "pairs": 2000, "pearson": 0.71, "spearman": 0.7,
    }}},
    "reliability": [{"said": 0.55, "right": 0.52, "n": 200}, {"said": 0.72, "right": 0.7, "n": 90}],
    "attacks": [{"attack": "parroted last turn", "share": 0.9, "low": 0.84, "high": 0.95, "n": 120}],
    "transfer": [{
        "campaign": "Other talk", "accuracy": 0.6, "low": 0.5, "high": 0.7, "calibration_error": 0.1, "pairs": 80
    }],
}  # fmt: skip


@pytest.fixture
def version(scores):
    version = ComparatorVersion.objects.create(
        name="scored-overall-0a1b2c3d", criterion="Overall", settings={"epochs": 3, "sources": {}}, seed=1, code="0.1",
        snapshots=["0" * 64], metrics=METRICS, warning="The scores of Overall are not accepted: alpha is 0.55.",
        gates={scores.campaign.slug: [{"question": "Better than chance?", "passed": False, "answer": "Hardly: 51%."}]},
    )  # fmt: skip
    version.campaigns.add(scores.campaign)
    return version


@pytest.mark.parametrize("width", [360, 1280])
def test_the_pages_are_clean_and_nothing_hangs_over_the_side(open_page, scores, version, width):
    page = open_page(viewport={"width": width, "height": 900})
    sign_in(page, "alice")
    for path in ("", f"{version.name}/"):
        page.goto(f"/c/{scores.campaign.slug}/comparator/{path}")
        assert_axe_clean(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_promoting_against_the_gate_asks_why(open_page, scores, version):
    page = open_page()
    sign_in(page, "alice")
    page.goto(f"/c/{scores.campaign.slug}/comparator/")
    page.get_by_role("link", name=version.name).click()
    page.get_by_label("Why, although the gate did not pass").fill("It is all we have.")
    page.get_by_role("button", name="Let it serve").click()
    page.get_by_text("serves this campaign from now on").wait_for()
    assert page.get_by_text("It is all we have.").is_visible()
    page.get_by_role("button", name="Retire").click()
    page.get_by_text("is retired").wait_for()
    assert page.get_by_role("button", name="Let it serve").count() == 0
